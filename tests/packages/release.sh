#!/bin/bash
# Inside a root with the source release in /test: built by itself, by FetchContent and by add_subdirectory. There is a C compiler,
# CMake and make, and none of what the release does without.
. /test/report.sh
cd "$HERE" || exit 2
check tools install gcc libc6-dev cmake make
refuse bare sh -c 'command -v re2c || command -v lemon || command -v git || command -v node || command -v python3'
jobs=$(nproc)
release=$(echo "$HERE"/risec-*.tar.gz)
mkdir source && tar -xzf "$release" -C source --strip-components=1

check alone cmake -S source -B alone -DRISE_BUILD_TESTS=OFF
check alone-builds cmake --build alone -j "$jobs"
check alone-installs cmake --install alone --prefix "$HERE/prefix"
prints alone-runs 'equals the reference' prefix/bin/risec run source/examples/sum.rise --set n=1000 --arg xs=uniform --verify
check alone-manual test -s prefix/share/man/man1/risec-run.1

# Kernels as headers, by the stand-in for NVRTC.
mkdir lib
check stand-in cc -shared -fPIC source/tests/header/fake_nvrtc.c -o lib/libnvrtc.so.13
export LD_LIBRARY_PATH=$HERE/lib
check fetched cmake -S source/tests/cmake -B fetched -DRISE_FROM=release "-DRISE_RELEASE=$release"
check fetched-builds cmake --build fetched -j "$jobs"
prints fetched-runs driver fetched/test_api
check folder cmake -S source/tests/cmake -B folder -DRISE_FROM=folder "-DRISE_FOLDER=$HERE/source"
check folder-builds cmake --build folder -j "$jobs"
prints folder-runs driver folder/test_api
exit "$failed"
