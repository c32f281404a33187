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
    """The host function's parameters: (type, name). Outputs, inputs, the workspace if there is one, sizes, stream."""
    found = re.search(r'extern "C" int %s_launch\(([^)]*)\)' % entry, text)
    if not found:
        sys.exit(f"bench: no {entry}_launch in what risec emitted")
    return [re.match(r"(.*?)(\w+)$", " ".join(p.split())).groups() for p in found.group(1).split(",")]


def argument(kind, state):
    if "cudaStream_t" in kind:
        return "stream"
    if "*" not in kind:
        state["sizes"] += 1
        return "s.n" if state["square"] else ("s.n", "s.m")[state["sizes"] - 1]
    if kind.startswith("const"):
        state["in"] += 1
        return f"({kind})b.in[{state['in'] - 1}]"
    if kind.startswith("void"):
        return "b.work"
    state["out"] += 1
    return f"({kind})b.out[{state['out'] - 1}]"


def emit(risec, program, entry, work):
    """The file risec writes for an entry, the lines that declare its host functions, and from bench.h's Buffers and Sizes a launch, and what makes its workspace ready."""
    source = os.path.join(work, entry + ".cu")
    subprocess.run([risec, program, "--entry", entry, "-o", source], check=True)
    with open(source, encoding="utf-8") as file:
        found = parameters(file.read(), entry)
    sizes = [kind + name for kind, name in found if "*" not in kind and "cudaStream_t" not in kind]
    state = {"in": 0, "out": 0, "sizes": 0, "square": len(sizes) > 2}  # three sizes are a matrix product's, of square matrices
    arguments = [argument(kind.strip(), state) for kind, _ in found]
    declared = f'extern "C" int {entry}_launch({", ".join(kind + name for kind, name in found)});'
    if "b.work" not in arguments:
        return source, declared, ", ".join(arguments), "nullptr"
    declared += f'\nextern "C" int {entry}_workspace({", ".join(sizes + ["size_t *bytes"])});\nextern "C" int {entry}_workspace_init(void *workspace, cudaStream_t stream);'
    of_sizes = ", ".join([a for a in arguments if a.startswith("s.")] + ["&bytes"])
    ready = (f"[](const Buffers &b, Sizes s, cudaStream_t stream) {{ size_t bytes = 0; const int error = {entry}_workspace({of_sizes}); "
             f"return error ? error : bytes > WORK_BYTES ? (int)cudaErrorMemoryAllocation : {entry}_workspace_init(b.work, stream); }}")
    return source, declared, ", ".join(arguments), ready


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
static void add(std::vector<Workload> &all, const char *workload, const char *name, Run run, Run ready)
{
    for (Workload &w : all)
        if (w.name == workload) {
            w.contenders.push_back({name, run, ready});
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
            source, declaration, arguments, ready = emit(options.risec, program, entry, work)
            declared.append(declaration)
            added.append(f'    add(all, "{workload}", "{label}", [](const Buffers &b, Sizes s, cudaStream_t stream) {{ return {entry}_launch({arguments}); }}, {ready});')
            sources.append(source)
        sources.append(os.path.join(work, "ours.cu"))
        with open(sources[-1], "w", encoding="utf-8") as file:
            file.write(OURS % (HERE, "\n".join(declared), "\n".join(added)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiler.object_of, sources))
        compiler.link(objects, options.out)


if __name__ == "__main__":
    main()
