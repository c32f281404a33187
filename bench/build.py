#!/usr/bin/env python3
"""bench/build.py RISEC OUT [ARCH]: emits the programs of contenders.txt, and builds the benchmark OUT of them and their rivals with nvcc (ARCH: sm_90).

Needs nvcc with CUB and cuBLAS. OUT runs on any machine with the GPU, the driver and cuBLAS: see README.md."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORK_PART = 4 << 20  # bytes of workspace for each array of an entry; tickets lie in the first 4 KiB


def nvcc():
    found = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not found:
        sys.exit("bench: no nvcc on PATH or in /usr/local/cuda/bin")
    return found


def contenders():
    with open(os.path.join(HERE, "contenders.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                yield words[0], os.path.normpath(os.path.join(HERE, words[1])), words[2]


def parameters(text, entry):
    """The host function's parameters: (type, name). Outputs, inputs, workspace, sizes, stream, as docs/manifest.md says."""
    found = re.search(r'extern "C" int %s_launch\(([^)]*)\)' % entry, text)
    if not found:
        sys.exit(f"bench: no {entry}_launch in what risec emitted")
    return [re.match(r"(.*?)(\w+)$", " ".join(p.split())).groups() for p in found.group(1).split(",")]


def argument(kind, name, outputs, state):
    kind = kind.strip()
    if "cudaStream_t" in kind:
        return "stream"
    if "*" not in kind:
        state["sizes"] += 1
        return ("s.n", "s.m")[state["sizes"] - 1]
    if kind.startswith("const"):
        state["in"] += 1
        return f"({kind})b.in[{state['in'] - 1}]"
    if state["out"] < outputs:
        state["out"] += 1
        return f"({kind})b.out[{state['out'] - 1}]"
    state["work"] += 1
    if name.startswith("ticket"):
        return f"({kind})(b.work + {64 * state['work']})"
    return f"({kind})(b.work + {4096 + (state['work'] - 1) * WORK_PART})"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    risec, out, arch = sys.argv[1], sys.argv[2], (sys.argv + ["sm_90"])[3]
    options = ["-O3", "-std=c++17", f"-arch={arch}"]
    declared, added, objects = [], [], []
    with tempfile.TemporaryDirectory() as work:
        def compiled(source, name):
            objects.append(os.path.join(work, name + ".o"))
            subprocess.run([nvcc(), *options, "-c", source, "-o", objects[-1]], check=True)

        for workload, program, entry in contenders():
            source = os.path.join(work, entry + ".cu")
            subprocess.run([risec, program, "--entry", entry, "-o", source], check=True)
            with open(source, encoding="utf-8") as file:
                text = file.read()
            found = parameters(text, entry)
            outputs = sum(bool(re.fullmatch(r"result(_\d+)?", name)) for _, name in found)
            state = {"in": 0, "out": 0, "work": 0, "sizes": 0}
            arguments = ", ".join(argument(kind, name, outputs, state) for kind, name in found)
            declared.append(f'extern "C" int {entry}_launch({", ".join(kind + name for kind, name in found)});')
            label = "risec" if "programs" in program else "risec " + os.path.basename(program)
            added.append(f'    add(all, "{workload}", "{label}", [](const Buffers &b, Sizes s, cudaStream_t stream) {{ return {entry}_launch({arguments}); }});')
            compiled(source, entry)
        ours = os.path.join(work, "ours.cu")
        with open(ours, "w", encoding="utf-8") as file:
            file.write(f'#include "{HERE}/bench.h"\n' + "\n".join(declared) + """
static void add(std::vector<Workload> &all, const char *workload, const char *name, Run run)
{
    for (Workload &w : all)
        if (w.name == workload)
            w.contenders.push_back({name, run});
}
void ours(std::vector<Workload> &all)
{
""" + "\n".join(added) + "\n}\n")
        compiled(ours, "ours")
        compiled(os.path.join(HERE, "harness.cu"), "harness")
        compiled(os.path.join(HERE, "rivals.cu"), "rivals")
        subprocess.run([nvcc(), *options, *objects, "-lcublas", "-o", out], check=True)


if __name__ == "__main__":
    main()
