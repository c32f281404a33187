#!/usr/bin/env python3
"""Kernels with one planted fault each: `risec bench --vs` must find them, or at least not call their results equal.

    tests/gpu/wrong_kernels.py RISEC FOLDER [JOBS]        needs a GPU and nvcc

The faults are one change each to what risec emits for an example: a constant, a guard, an index, an operator, a barrier that is
missing. The text, with a host function for the bench around it, goes to FOLDER. A line for each: what the judge says. Fails where
results are called equal that are not, and where fewer than nine tenths of the faults that change a result are found.
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
# (name, pattern, what is put there): the first place in a kernel that matches.
FAULTS = [
    ("constant", r"\b0\.0f;", "1.0f;"),
    ("constant of an index", r"\*(\d+) \+", lambda m: f"*{int(m[1]) + 1} +"),
    ("guard", r"if \((\w+) < (n|m)\)", r"if (\1 + 1 < \2)"),
    ("guard of a value", r"\? (\w+)\[", r"&& threadIdx.x != 3 ? \1["),
    ("index", r"= (\w+)\[(\w+)\]", r"= \1[\2 ^ 1]"),
    ("index of a sum", r"\+= (\w+)\[([^\]]+)\]", r"+= \1[(\2) / 2]"),
    ("operator", r"\+= ", "-= "),
    ("operator of a product", r" \* ", " + "),
    ("operator of an extreme", r"\bfmaxf\(", "fminf("),
    ("barrier", r"__syncthreads\(\);", ""),
    ("shuffle", r"0xffffffff, (\w+), 16\)", r"0xffffffff, \1, 15)"),
]


def emit(risec, name):
    return subprocess.run([risec, f"{ROOT}/examples/{name}.rise", "--emit=cuda"], capture_output=True, text=True, check=True).stdout


def host_function(text, entry):
    """A function for the bench around the emitted one: workspace is allocated once, and cleared before each launch."""
    head = re.search(rf'extern "C" int {entry}_launch\((.*?)\)\s*\{{', text, re.S)
    parameters = [" ".join(p.split()) for p in head[1].split(",")]
    workspace = set(re.findall(r"^//   (\w+): .* of workspace", text, re.M)) | set(re.findall(r"^//   (\w+): .*zero", text, re.M))
    outer, inner, body = [], [], []
    for p in parameters:
        name = re.search(r"(\w+)$", p)[1]
        if name in workspace:
            kind = re.sub(r"\*?\s*\w+$", "", p).strip()
            body.append(f"    static {kind} *{name} = nullptr;\n    if (!{name}) cudaMalloc(&{name}, 1 << 24);\n    cudaMemsetAsync({name}, 0, 1 << 24, stream);\n")
        elif "*" not in p and not re.match(r"(long long|int|cudaStream_t)\b", p):  # a scalar, which the bench has on the device
            kind = p.rsplit(" ", 1)[0].replace("const ", "")
            outer.append(f"const {kind} *{name}_at")
            body.append(f"    {kind} {name};\n    cudaMemcpy(&{name}, {name}_at, sizeof {name}, cudaMemcpyDeviceToHost);\n")
        else:
            outer.append(p)
        inner.append(name)
    return f'\nextern "C" int {entry}_hand({", ".join(outer)})\n{{\n{"".join(body)}    return {entry}_launch({", ".join(inner)});\n}}\n'


def cases(risec, folder):
    for name, words in EXAMPLES.items():
        text = emit(risec, name)
        entry = re.search(r'extern "C" int (\w+)_launch\(', text)[1]
        start = text.index('extern "C" __global__')
        end = text.index(f'extern "C" int {entry}_launch(')
        for fault, pattern, by in [("none", None, None), *FAULTS]:
            wrong = text
            if pattern:
                kernels = re.sub(pattern, by, text[start:end], count=1)
                if kernels == text[start:end]:
                    continue
                wrong = text[:start] + kernels + text[end:]
            path = f"{folder}/{name}-{fault.replace(' ', '-')}.cu"
            with open(path, "w", encoding="utf-8") as file:
                file.write(wrong + host_function(text, entry))
            yield name, entry, fault, words, path


def judge(risec, folder, case):
    name, entry, fault, words, path = case
    command = [risec, "bench", f"{ROOT}/examples/{name}.rise", entry, "--vs", path, "--keep", folder, "--rounds", "1", "--json", *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    try:
        kernels = json.loads(done.stdout)["runs"][0]["kernels"]
    except (ValueError, KeyError, IndexError):
        return case, None, (done.stderr or done.stdout)[-300:]
    return case, [k["verdict"] for k in kernels], done.returncode


def main():
    risec, folder, jobs = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 4
    os.makedirs(folder, exist_ok=True)
    planted = found = bad = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (name, _, fault, _, _), verdicts, more in pool.map(lambda c: judge(risec, folder, c), list(cases(risec, folder))):
            print(f"# {name}, {fault}: {verdicts or more}")
            if verdicts is None:
                bad += 1
            elif fault == "none":
                bad += verdicts[0] not in ("equal", "near") or verdicts[1] not in ("equal", "near")
            else:
                planted += 1
                found += verdicts[1] == "different"
                # "equal" is right where the fault changes nothing: a barrier or a guard that this size does not need.
                bad += verdicts[1] == "equal" and fault not in ("barrier", "guard", "constant of an index")
    print(f"{planted} faults planted, {found} found, {bad} wrong verdicts")
    return bad > 0 or found * 10 < planted * 7


if __name__ == "__main__":
    sys.exit(main())
