#!/usr/bin/env python3
"""Emits the programs of contenders.txt, and builds the benchmark OUT of them and their rivals with nvcc.

Needs nvcc with CUB and cuBLAS. OUT runs on any machine with the GPU, the driver and cuBLAS: see README.md. What was compiled is kept under a name that
comes from its text, so that only what has changed is compiled again; several builds may share that folder."""
import argparse
import concurrent.futures
import hashlib
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


def contenders(only):
    """(workload, program, entry, label) of each line of contenders.txt whose workload is wanted."""
    found, known = [], set()
    with open(os.path.join(HERE, "contenders.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split(None, 3)
            if not words:
                continue
            known.add(words[0])
            if not only or words[0] in only:
                found.append((words[0], os.path.normpath(os.path.join(HERE, words[1])), words[2], words[3].strip() if len(words) > 3 else "risec"))
    for workload in only or ():
        if workload not in known:
            sys.exit(f"bench: contenders.txt has no workload {workload}; it has {', '.join(sorted(known))}")
    return found


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
        return "s.n" if state["square"] else ("s.n", "s.m")[state["sizes"] - 1]
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


def emit(risec, program, entry, work):
    """The file risec writes for an entry, and the line that declares its host function, and the arguments for it from bench.h's Buffers and Sizes."""
    source = os.path.join(work, entry + ".cu")
    subprocess.run([risec, program, "--entry", entry, "-o", source], check=True)
    with open(source, encoding="utf-8") as file:
        found = parameters(file.read(), entry)
    outputs = sum(bool(re.fullmatch(r"result(_\d+)?", name)) for _, name in found)
    sizes = sum("*" not in kind and "cudaStream_t" not in kind for kind, _ in found)
    state = {"in": 0, "out": 0, "work": 0, "sizes": 0, "square": sizes > 2}  # three sizes are a matrix product's, of square matrices
    arguments = ", ".join(argument(kind, name, outputs, state) for kind, name in found)
    return source, f'extern "C" int {entry}_launch({", ".join(kind + name for kind, name in found)});', arguments


class Compiler:
    def __init__(self, arch, folder):
        self.nvcc, self.folder = nvcc(), folder
        self.options = ["-O3", "-std=c++17", f"-arch={arch}"]
        self.version = subprocess.run([self.nvcc, "--version"], check=True, stdout=subprocess.PIPE).stdout
        os.makedirs(folder, exist_ok=True)

    def object_of(self, source):
        """The object file of a source, compiled unless it is there already."""
        text = [self.version, " ".join(self.options).encode()]
        for path in (source, os.path.join(HERE, "bench.h")):
            with open(path, "rb") as file:
                text.append(file.read())
        name = os.path.splitext(os.path.basename(source))[0] + "-" + hashlib.sha256(b"\0".join(text)).hexdigest()[:16] + ".o"
        target = os.path.join(self.folder, name)
        if not os.path.exists(target):
            part = f"{target}.{os.getpid()}.part"
            subprocess.run([self.nvcc, *self.options, "-c", source, "-o", part], check=True)
            os.replace(part, target)
        return target

    def link(self, objects, out):
        subprocess.run([self.nvcc, *self.options, *objects, "-lcublas", "-o", out], check=True)


OURS = """#include "%s/bench.h"
#include <cstdio>
#include <cstdlib>
%s
static void add(std::vector<Workload> &all, const char *workload, const char *name, Run run)
{
    for (Workload &w : all)
        if (w.name == workload) {
            w.contenders.push_back({name, run});
            return;
        }
    std::fprintf(stderr, "contenders.txt has %%s for the workload %%s, which rivals.cu lacks\\n", name, workload);
    std::exit(2);
}
void ours(std::vector<Workload> &all)
{
%s
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("risec")
    parser.add_argument("out")
    parser.add_argument("arch", nargs="?", default="sm_90")
    parser.add_argument("--only", metavar="NAMES", help="build these workloads' contenders alone (names with commas between)")
    parser.add_argument("--objects", metavar="DIR", help="where compiled files are kept (OUT.objects)")
    options = parser.parse_args()
    compiler = Compiler(options.arch, options.objects or options.out + ".objects")
    declared, added, sources = [], [], [os.path.join(HERE, "harness.cu"), os.path.join(HERE, "rivals.cu")]
    with tempfile.TemporaryDirectory() as work:
        for workload, program, entry, label in contenders(options.only.split(",") if options.only else None):
            source, declaration, arguments = emit(options.risec, program, entry, work)
            declared.append(declaration)
            added.append(f'    add(all, "{workload}", "{label}", [](const Buffers &b, Sizes s, cudaStream_t stream) {{ return {entry}_launch({arguments}); }});')
            sources.append(source)
        sources.append(os.path.join(work, "ours.cu"))
        with open(sources[-1], "w", encoding="utf-8") as file:
            file.write(OURS % (HERE, "\n".join(declared), "\n".join(added)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiler.object_of, sources))
        compiler.link(objects, options.out)


if __name__ == "__main__":
    main()
