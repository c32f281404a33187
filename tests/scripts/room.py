#!/usr/bin/env python3
"""What a device has no room for is refused before a launch, with its bytes: by the function of a .cu file that says how much workspace is needed. librise is for
tests/unit/test_api_gpu.c."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

RISEC, CXX = os.environ["RISEC"], os.environ.get("CXX", "c++")
DEVICE = 150_000_000_000
PRODUCTS = """
entry abc {n m k l: nat} (a: n.m.f32) (b: m.k.f32) (c: k.l.f32): n.l.f32 =
  let ab = a |> map(fun r => b |> transpose |> map(fun s => zip(r, s) |> map(fun (x, y) => x * y) |> reduce((+), 0))) in
  ab |> map(fun r => c |> transpose |> map(fun s => zip(r, s) |> map(fun (x, y) => x * y) |> reduce((+), 0)))
"""
HEAD = f"""
#include <cstddef>
#include <cstdio>
#define __host__
#define __device__
#define __forceinline__ inline
enum cudaError_t {{ cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 }};
static int asked;
static cudaError_t cudaMemGetInfo(size_t *unused, size_t *all) {{ asked++; *unused = 0; *all = {DEVICE}; return cudaSuccess; }}
static cudaError_t rise_multiprocessors(long long *count) {{ *count = 132; return cudaSuccess; }}
"""
MAIN = """
int main()
{
    const long long sizes[] = {1000, 65536, 1000000, 67108864};
    for (long long n : sizes) {
        size_t bytes = 0;
        int code = abc_workspace(n, 2, n, 2, &bytes);
        printf("%d %zu %d\\n", code, bytes, asked);
    }
}
"""
# The code, the bytes of the first product, and how often the device was asked. Parts of the second one take less than 2 %.
WANTED = [(0, 4 * 1000**2, 0), (0, 4 * 65536**2, 1), (2, 4 * 1000000**2, 2), (1, None, 2)]


def main():
    if not shutil.which(CXX):
        print(f"skip room: there is no {CXX}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/p"
        with open(path + ".rise", "w") as file:
            file.write(PRODUCTS)
        text = subprocess.run([RISEC, path + ".rise", "-o", "-"], check=True, capture_output=True, text=True).stdout
        parts = re.findall(r"^template[^;{]*(?:nat|floor)_\w+\([^{]*\{.*?\}$", text, re.M | re.S) + [
            re.search(rf"^{head}.*?^\}}", text, re.M | re.S).group() for head in ("static cudaError_t rise_fits", 'extern "C" int abc_workspace')]
        with open(path + ".cpp", "w") as file:
            file.write(HEAD + "\n".join(parts) + MAIN)
        subprocess.run([CXX, "-std=c++17", "-o", path, path + ".cpp"], check=True)
        lines = subprocess.run([path], check=True, capture_output=True, text=True).stdout.splitlines()
    wrong = []
    for line, (code, product, asked) in zip(lines, WANTED, strict=True):
        got = [int(word) for word in line.split()]
        near = product is None or product <= got[1] <= product + product // 50 + 8192
        if got[0] != code or got[2] != asked or not near:
            wrong.append(f"{line}, and not {code} {product} {asked}")
    print("not ok workspace that no device has" if wrong else "ok workspace that no device has")
    print("\n".join("# " + line for line in wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
