#!/bin/bash
# Inside a root with the .deb files in /test: installed, used, and purged. A library of 0.1 is there before, stays beside them, and
# is there afterwards.
. /test/report.sh
cd "$HERE" || exit 2
lib=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")

# What people have: a compiler, and nothing of risec. What changes at every installation is no file of a package.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /test -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log \) -prune -o -print | sort
}
check tools install gcc libc6-dev pkg-config cmake make

# A stand-in for the library of 0.1, in a package as it would be.
mkdir -p old/DEBIAN "old$lib"
echo 'const char *rise_version(void); const char *rise_version(void) { return "0.1.0"; }' >old.c
echo 'RISE_0.1 { global: rise_*; local: *; };' >old.map
printf 'Package: librise0.1\nVersion: 0.1.0-1\nArchitecture: %s\nMaintainer: nobody <nobody@risec.invalid>\nDescription: librise of 0.1\n' \
    "$(dpkg --print-architecture)" >old/DEBIAN/control
printf 'activate-noawait ldconfig\n' >old/DEBIAN/triggers
cc -shared -fPIC -Wl,-soname,librise.so.0.1 -Wl,--version-script=old.map old.c -o "old$lib/librise.so.0.1.0"
ln -s librise.so.0.1.0 "old$lib/librise.so.0.1"
mkdir before_ours
dpkg-deb --root-owner-group -b old before_ours/librise0.1.deb >"$log" 2>&1
check old install ./before_ours/librise0.1.deb
cat >version.c <<'C'
#include <stdio.h>
const char *rise_version(void);
int main(void)
{
    puts(rise_version());
    return 0;
}
C
check old-program cc version.c -l:librise.so.0.1 -o old_program
prints old-alone 0.1.0 ./old_program
files >before

check install install ./*.deb
prints risec 'equals the reference' risec run sum.rise --set n=100003 --arg xs=iota --verify
prints lsp Content-Length sh -c "printf 'Content-Length: 58\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}' | risec lsp"
check pkg-config sh -c 'cc -Wall -Werror sum.c $(pkg-config --cflags --libs rise) -o sum'
prints pkg-config-runs 'SIMT simulator: the sum of 100003 numbers is 300006' ./sum sim sum.rise 100003
check static sh -c 'cc sum.c $(pkg-config --static --cflags --libs rise | sed s/-lrise/-l:librise.a/) -o sum_static'
prints static-runs 'SIMT simulator: the sum of 100003 numbers is 300006' ./sum_static sim sum.rise 100003
check find-package sh -c 'cmake -S c -B built -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON && cmake --build built'
prints find-package-runs 'SIMT simulator: the sum of 100003 numbers is 300006' built/sum sim sum.rise 100003
prints python right python3 ten_lines.py
python3 -c 'import numpy, importlib.metadata as m; print(numpy.__file__, m.version("risec"))' >"$log" 2>&1
grep -q '^/usr/lib/python3/dist-packages/.* 0\.2' "$log"
report python-packaged $?
for page in man1/risec.1 man1/risec-run.1 man3/rise.h.3; do
    check "man-${page#*/}" gzip -t "/usr/share/man/$page.gz"
done
for file in bash-completion/completions/risec zsh/vendor-completions/_risec fish/vendor_completions.d/risec.fish; do
    check "completion-${file%%[-/]*}" test -s "/usr/share/$file"
done

# Both libraries at once, each for its program.
check new-program cc version.c -lrise -o new_program
prints new-beside 0.2 ./new_program
prints old-beside 0.1.0 ./old_program

check purge apt-get purge -q -y risec librise0.2 librise-dev python3-risec
check autoremove apt-get autoremove -q -y --purge
files >after
diff before after >"$log" 2>&1
report nothing-left $?
refuse purged risec --version
prints old-stays 0.1.0 ./old_program
exit "$failed"
