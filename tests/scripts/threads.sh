#!/bin/sh
# librise under the thread sanitizer: 16 threads with 200 operations each on the simulator and the reference, and the threads of the tests on a driver of our own, work that is
# given up at 1,000 moments, and entries that are made and freed by 8 threads. First a race planted in a program
# of a few lines, which must be found. Builds build/thread where that is not up to date. About 30 seconds on two cores.
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
CC=${CC:-cc}
failed=0
export TSAN_OPTIONS=exitcode=66

cat >"$dir/race.c" <<'C'
#include <pthread.h>
static int sum;
static void *add(void *user) { for (int i = 0; i < 1000; i++) sum += *(int *)user; return 0; }
int main(void)
{
    pthread_t a, b;
    int one = 1;
    pthread_create(&a, 0, add, &one);
    pthread_create(&b, 0, add, &one);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return sum == 0;
}
C
if ! "$CC" -O1 -g -fsanitize=thread "$dir/race.c" -o "$dir/race" -lpthread >"$dir/log" 2>&1; then
    echo "skip threads: $CC has no thread sanitizer"
    exit 0
fi
"$dir/race" >"$dir/log" 2>&1
if [ $? -eq 66 ] && grep -q 'WARNING: ThreadSanitizer: data race' "$dir/log"; then
    echo 'ok planted-race'
else
    echo 'not ok planted-race'
    sed 's/^/# /' "$dir/log" | head -20
    exit 1
fi

cd "$root" || exit 2
if ! { cmake --preset thread && cmake --build --preset thread --target rise_test_api rise_test_api_handles rise_test_api_gpu rise_test_api_memory rise_test_kernels rise_test_entries \
    rise_test_guest -j2; } >"$dir/log" 2>&1; then
    echo 'not ok threads-build'
    sed 's/^/# /' "$dir/log" | tail -20
    exit 1
fi

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$dir/log" 2>&1 && grep -Eq '[1-9][0-9]* checks, 0 failed$' "$dir/log"; then
        echo "ok $name"
    else
        echo "not ok $name"
        sed 's/^/# /' "$dir/log" | head -60
        failed=1
    fi
}
check threads-16x200 build/thread/unit/test_api --threads 16 --operations 200
check threads-gpu build/thread/unit/test_api_gpu
check threads-memory build/thread/unit/test_api_memory
check threads-handles build/thread/unit/test_api_handles --no-fork
check threads-kernels build/thread/unit/test_kernels --ranges 0
check threads-entries build/thread/unit/test_entries --threads 20
check threads-guest build/thread/unit/test_guest
exit $failed
