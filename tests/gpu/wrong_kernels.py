#!/usr/bin/env python3
"""Kernels with one planted fault each: `risec bench --vs` must not call their results equal.

    tests/gpu/wrong_kernels.py RISEC FOLDER [JOBS]        needs a GPU and nvcc
    tests/gpu/wrong_kernels.py RISEC FOLDER texts         needs neither: says how many faults there are

A fault is one change to what risec emits for an example, made in each of its kernels, as one of them is launched: a constant, a
guard, an index, an operator, a barrier that is missing. The text, a right copy of it, and a host function for the bench around
both go to FOLDER. On its first call that function runs both and compares their bits, so what a fault really changed is known
without the judge. A line for each fault: what it changed, and what the judge says. Fails where the judge calls different bits
equal or a change of 0.1 % of the largest element right, and where fewer than two fifths of the faults change anything: some
stand in loops that these sizes run once, or behind barriers that a warp's own order replaces.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = {
    "sum": "--sizes n=1000 --arg xs=iota",
    "dot": "--sizes n=1001 --arg xs=iota --arg ys=const:2",
    "max": "--sizes n=1000 --arg xs=iota",
    "axpy": "--sizes n=1003 --arg alpha=2 --arg xs=iota --arg ys=ones",
    "row_sums": "--sizes n=33 --sizes m=77 --arg xs=iota",
    "column_sums": "--sizes n=33 --sizes m=77 --arg xs=iota",
    "transpose_padded": "--sizes n=45 --sizes m=70 --arg xs=iota",
    "softmax": "--sizes n=33 --sizes m=100",
    "stencil": "--sizes n=65 --sizes m=70",
    "harris7": "--sizes n=5000 --arg xs=iota",
    "scal": "--sizes n=1000 --arg alpha=3 --arg xs=iota",
    "block_scan": "--sizes n=5000 --arg xs=ones",
}
# (name, pattern, what is put there): the first place in each kernel that matches; only the faults of a loop are put into heads of loops.
FAULTS = [
    ("constant", r"= 0\.0f;", "= 1.0f;"),
    ("constant of an index", r"\*(\d+) \+", lambda m: f"*{int(m[1]) + 1} +"),
    ("guard", r"\b(\w+) < (n|m)\)", r"\1 + 1 < \2)"),
    ("end of a loop", r"; (\w+) < (n|m);", r"; \1 + 1 < \2;"),
    ("step of a loop", r"\bfor \((.*); (\w+) \+= (\w+)", r"for (\1; \2 += 2 * \3"),
    ("guard of a value", r"\? (\w+)\[", r"&& threadIdx.x != 3 ? \1["),
    ("index", r"= (\w+)\[(\w+)\]", r"= \1[(\2) / 2]"),
    ("index of a sum", r"\+= (\w+)\[([^\]]+)\]", r"+= \1[(\2) / 2]"),
    ("operator", r" \+= ", " -= "),
    ("operator of a product", r"(\w\]?\)?) \* (\w+[\[(;.])", r"\1 + \2"),
    ("operator of an extreme", r"\bfmaxf\(", "fminf("),
    ("barrier", r"__syncthreads\(\);", ""),
    ("shuffle", r"0xffffffff, (\w+), 16\)", r"0xffffffff, \1, 15)"),
]
RACES = {"barrier"}  # what comes of it may differ from call to call
HEAD = """
#include <cstdio>
#include <cstring>
#include <cmath>
#include <vector>
static inline long long ceilDiv(long long a, long long b) { return (a + b - 1) / b; }
// Says once what the fault changes: `planted: CHANGED of CELLS, by PART` of the largest element.
template <typename T> static void compare_planted(const T *wrong, const T *right, long long cells)
{
    std::vector<T> a(cells), b(cells);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return;
    cudaMemcpy(a.data(), wrong, cells * sizeof(T), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), right, cells * sizeof(T), cudaMemcpyDeviceToHost);
    long long changed = 0;
    double largest = 0, most = 0;
    for (long long i = 0; i < cells; i++) {
        changed += memcmp(&a[i], &b[i], sizeof(T)) != 0;
        largest = std::fmax(largest, std::fabs((double)b[i]));
        double off = std::fabs((double)a[i] - (double)b[i]);
        most = off <= most ? most : off; // NaN counts
    }
    fprintf(stderr, "planted: %lld of %lld, by %g\\n", changed, cells, changed == 0 ? 0.0 : most / (largest > 0 ? largest : 1));
}
"""


def emit(risec, name):
    return subprocess.run([risec, f"{ROOT}/examples/{name}.rise", "--emit=cuda"], capture_output=True, text=True, check=True).stdout


def plant(kernels, pattern, by, in_heads):
    """The first place of each body that matches, in heads of loops or in other lines."""
    out, fresh = [], False
    for line in kernels.splitlines(keepends=True):
        fresh = fresh or line.startswith(('extern "C"', "static __device__"))
        if fresh and line.lstrip().startswith("for") == in_heads and not line.lstrip().startswith("//"):
            new = re.sub(pattern, by, line, count=1)
            fresh = new == line
            line = new
        out.append(line)
    return "".join(out)


def host_function(text, entry):
    """A function for the bench around the emitted one and its right copy: the workspace is allocated once, and made ready before each launch."""
    head = re.search(rf'extern "C" int {entry}_launch\((.*?)\)\s*\{{', text, re.S)
    parameters = [" ".join(p.split()) for p in head[1].split(",")]
    cells = dict(re.findall(r"^//   (\w+): (.+) (?:float|double|int|unsigned|long long)$", text, re.M))
    outer, inner, clear, both, compared, again = [], [], [], [], [], ""
    for p in parameters:
        name, kind = re.search(r"(\w+)$", p)[1], re.sub(r"\*?\s*\w+$", "", p).strip()
        inner.append(name)
        if p.startswith("void *"):
            clear.append(f"    static void *{name} = nullptr;\n    if (!{name}) cudaMalloc(&{name}, 1 << 24);\n    {entry}_workspace_init({name}, stream);\n")
            again = f"        {entry}_workspace_init({name}, stream);\n"
            both.append(name)
            continue
        outer.append(p)
        if "*" in p and not p.startswith("const"):
            n = f"(long long)({cells[name]})"
            compared.append((f"        {kind} *{name}_right;\n        cudaMalloc(&{name}_right, {n} * sizeof({kind}) + 1);\n"
                             f"        cudaMemset({name}_right, 0x5a, {n} * sizeof({kind}));\n        cudaMemset({name}, 0x5a, {n} * sizeof({kind}));\n",
                             f"        compare_planted({name}, {name}_right, {n});\n        cudaFree({name}_right);\n"))
            both.append(f"{name}_right")
        else:
            both.append(name)
    return f"""
extern "C" int {entry}_hand({", ".join(outer)})
{{
{"".join(clear)}    static bool said = false;
    cudaStreamCaptureStatus capturing;
    if (!said && cudaStreamIsCapturing(stream, &capturing) == cudaSuccess && capturing == cudaStreamCaptureStatusNone) {{
        said = true;
{"".join(first for first, _ in compared)}        right::{entry}_launch({", ".join(both)});
{again}        {entry}_launch({", ".join(inner)});
{"".join(last for _, last in compared)}{again}    }}
    return {entry}_launch({", ".join(inner)});
}}
"""


def cases(risec, folder):
    for name, words in EXAMPLES.items():
        text = emit(risec, name)
        entry = re.search(r'extern "C" int (\w+)_launch\(', text)[1]
        # Behind the helpers: functions that kernels share come before the first kernel.
        start = max(text.rfind("\n#endif\n", 0, text.index(f"\n// {entry}")), 0)
        end = text.index("#ifndef __CUDACC_RTC__")
        right = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#")).replace('extern "C" ', "")
        for fault, pattern, by in [("none", None, None), *FAULTS]:
            wrong = text
            if pattern:
                kernels = plant(text[start:end], pattern, by, "loop" in fault)
                if kernels == text[start:end]:
                    continue
                wrong = text[:start] + kernels + text[end:]
            path = f"{folder}/{name}-{fault.replace(' ', '-')}.cu"
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"{wrong}{HEAD}namespace right {{\n{right}}}\n{host_function(text, entry)}")
            yield name, entry, fault, words, path


def judge(risec, folder, case):
    """The case, what the judge says of the planted kernel (or that the launch fails), how many cells changed, by how much."""
    name, entry, fault, words, path = case
    command = [risec, "bench", f"{ROOT}/examples/{name}.rise", entry, "--vs", path, "--keep", folder, "--rounds", "1", "--json", *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    said = re.search(r"planted: (\d+) of \d+, by (\S+)", done.stderr)
    changed, part = (int(said[1]), float(said[2])) if said else (-1, 0.0)
    try:
        verdict = json.loads(done.stdout)["runs"][0]["kernels"][1]["verdict"]
    except (ValueError, KeyError, IndexError):
        verdict = "fails" if "the CUDA driver says" in done.stderr or "its host function gives" in done.stderr else "broken: " + (done.stderr or done.stdout)[-300:]
    return case, verdict, changed, part


def is_wrong(fault, verdict, changed, part):
    if verdict.startswith("broken"):
        return True
    if fault == "none":
        return verdict not in ("equal", "near") or changed != 0
    if verdict in ("fails", "different"):
        return verdict == "different" and changed == 0 and fault not in RACES
    return changed < 0 or fault not in RACES and changed > 0 and (verdict == "equal" or part > 0.001)


def main():
    risec, folder = (os.path.abspath(a) for a in sys.argv[1:3])
    os.makedirs(folder, exist_ok=True)
    if sys.argv[3:] == ["texts"]:
        names = [(name, fault) for name, _, fault, _, _ in cases(risec, folder)]
        faults = [(name, fault) for name, fault in names if fault != "none"]
        print(f"{len(faults)} faults of {len(dict(faults))} examples, {len({f for _, f in faults})} of {len(FAULTS)} kinds")
        return len(faults) < 60 or len(dict(faults)) < len(EXAMPLES) or len({f for _, f in faults}) < len(FAULTS)
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    planted = real = found = bad = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (name, _, fault, _, _), verdict, changed, part in pool.map(lambda c: judge(risec, folder, c), list(cases(risec, folder))):
            wrong = is_wrong(fault, verdict, changed, part)
            print(f"{'not ok' if wrong else '#'} {name}, {fault}: {verdict}, {changed} cells changed, by {part:g} of the largest")
            bad += wrong
            if fault != "none":
                planted += 1
                real += changed > 0 or verdict == "fails"
                found += verdict in ("fails", "different")
    print(f"{planted} faults planted, {real} changed a result or the launch failed, {found} found, {bad} wrong verdicts")
    return bad > 0 or real * 5 < planted * 2


if __name__ == "__main__":
    sys.exit(main())
