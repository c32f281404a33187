"""What the scripts that read PTX share: NVRTC by ctypes, kernels of an emitted text, kernels of its PTX."""
import ctypes
import glob
import re
from dataclasses import dataclass, field

CUDA = "/usr/local/cuda"


# ---- NVRTC ----------------------------------------------------------------------------------------------------------------------------


def find_nvrtc():
    names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", *sorted(glob.glob(f"{CUDA}/lib64/libnvrtc.so.1[23]"), reverse=True)]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def release_of_nvrtc(nvrtc):
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def compiled(nvrtc, text, options, form):
    """What NVRTC makes of the text, as bytes: form is "PTX" or "CUBIN". Or an exception with what the compiler says."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [option.encode() for option in options]
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"text.cu", 0, None, None):
        raise RuntimeError("nvrtcCreateProgram failed")
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value + 1)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(log.value.decode(errors="replace").strip())
        getattr(nvrtc, f"nvrtcGet{form}Size")(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{form}")(program, code)
        return code.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def ptx_of(nvrtc, text, arch="compute_90", more=()):
    """The PTX, or an exception with what the compiler says."""
    options = ["--gpu-architecture=" + arch, "--std=c++17", "--generate-line-info", *more]
    return compiled(nvrtc, text, options, "PTX").rstrip(b"\0").decode()


# ---- graphs of steps: what both kinds of text become --------------------------------------------------------------------------------------


@dataclass
class Step:
    """One place of a kernel, with what it does to global memory, and where it goes on."""

    line: str
    reads: set = field(default_factory=set)   # numbers of parameters
    writes: set = field(default_factory=set)
    rereads: set = field(default_factory=set) # those that it reads in several places
    barrier: bool = False
    place: int = 0                            # line of the emitted text; 0: not known
    next: list = field(default_factory=list)  # numbers of steps


def without_barrier(steps, buffers):
    """Triples (buffer, from, to) for which a way without a barrier leads from one place to an access. from: `begin`, `read`, `write`, or `barrier` with its line."""
    found = set()
    for buffer in buffers:
        starts = {"begin": [0]}
        for i, step in enumerate(steps):
            if buffer in step.reads and buffer in step.writes:
                found.add((buffer, "read", "write"))  # a statement reads before it writes
            if buffer in step.rereads:
                found.add((buffer, "read", "read"))
            for kind, here in (("read", buffer in step.reads), ("write", buffer in step.writes), (f"barrier of line {step.place}", step.barrier and step.place)):
                if here:
                    starts.setdefault(kind, []).extend(step.next)
        for kind, todo in starts.items():
            seen = set()
            while todo:
                i = todo.pop()
                if i in seen or i >= len(steps):
                    continue
                seen.add(i)
                step = steps[i]
                if step.barrier:
                    continue
                if buffer in step.reads:
                    found.add((buffer, kind, "read"))
                if buffer in step.writes:
                    found.add((buffer, kind, "write"))
                todo += step.next
    return found


# ---- kernels of an emitted text -------------------------------------------------------------------------------------------------------------


@dataclass
class TextKernel:
    name: str
    params: list  # (declaration, name) in order
    steps: list
    first: int    # where its head stands in the text
    last: int
    heads: list   # where its parameters are declared, and those of the function that has its body: (first, last)


def unwrapped(text):
    """The text with lines together again that cuda_wrap.c has broken: a statement stands on each."""
    lines = []
    for line in text.splitlines():
        last = lines[-1] if lines else ""
        words = line.lstrip()
        broken = last.endswith((",", "=")) or words.startswith(("{ ", "? ", ": ", "|| ", "&& ", "+ ", "- ", "* ", "/ "))
        broken = broken or (last.endswith(";") and last.count("(") > last.count(")"))
        if broken and not last.lstrip().startswith(("//", "#")):
            lines[-1] = f"{last} {words}"
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


HEAD = re.compile(r'^extern "C" __global__ void [^\n]*\n(\w+)\(([^{]*?)\)\n\{\n(.*?)^\}', re.M | re.S)
# What kernels of one body call, and that call.
BODY = re.compile(r'^static __device__ __forceinline__ void\n(\w+)\(([^{]*?)\)\n\{\n(.*?)^\}', re.M | re.S)
CALL = re.compile(r"\s*(\w+)<[^<>]*>\([\w,\s]*\);\s*")
# What stands in several places, and a call of it.
FUNCTION = re.compile(r"^static __device__ __forceinline__ [\w<>, ]+?[ \n](\w+)"
                      r"\(([^{]*?)\)\n\{\n(.*?)^\}", re.M | re.S)
CALLED = re.compile(r"(?:^|= |return )(\w+)(?:<[^<>()]*>)?\((.*)\);$")
HELPERS = re.compile(r"^#ifndef RISE_HELPERS\n.*?^#endif\n\n", re.M | re.S)
BARRIER = re.compile(r"__sync(?:threads|warp)\(|\b(?:take_ticket|sync_grid|\w+_mail|\w+_prefix|\w+_prefixes)\(")
BOTH = re.compile(r"\batomic\w+\((?:\([^()]*\))?&?$")  # read and written by a call
OWN = re.compile(r"\b(?:take_ticket|sync_grid|\w+_mail|\w+_prefix|\w+_prefixes)\($")  # what barriers are made of


def accesses(line, names):
    """(reads, writes): numbers of the pointers that a line of a kernel reads and writes."""
    reads, writes = set(), set()
    for number, name in names:
        for use in re.finditer(rf"\b{name}\b", line):
            before, after = line[: use.start()], line[use.end() :]
            if OWN.search(before):
                continue
            if BOTH.search(before):
                reads.add(number)
                writes.add(number)
                continue
            stored = re.match(r"^\s*(?:(?:if|for) \(.*\) )?(?:\*reinterpret_cast<[^>]*>\((?=$|[^=]*$))?$", before) and target_ends(before, after)
            stored = stored or (re.search(r"\bstore(?:\d|_cells)<[\w, ]+>\($", before) and "=")
            (writes if stored else reads).add(number)
            if stored and stored != "=":
                reads.add(number)
    return reads, writes


def target_ends(before, after):
    """The operator that assigns to what begins here; "" where nothing is assigned."""
    depth, i = before.count("(") - before.count(")"), 0
    while i < len(after):
        c = after[i]
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif depth <= 0:
            break
        i += 1
    found = re.match(r"\s*((?:[-+*/&|^]|<<|>>)?=)(?!=)", after[i:])
    return found[1] if found else ""


@dataclass
class Function:
    params: list  # names
    body: str
    place: int


def split_list(text):
    """What stands between the commas of a list."""
    depth, items = 0, [""]
    for c in text:
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            items.append("")
        else:
            items[-1] += c
    return [item.strip() for item in items]


def functions_of(text):
    """{name: Function} of those that are no helpers."""
    helpers, functions = HELPERS.search(text), {}
    for found in FUNCTION.finditer(text, helpers.end() if helpers else 0):
        params = [re.search(r"(\w+)(?:\)\[\d+\])?$", p)[1] for p in split_list(found[2]) if p]
        place = text.count("\n", 0, found.start(3)) + 1
        functions[found[1]] = Function(params, found[3], place)
    return functions


def steps_of_call(text, names, functions, first):
    """The steps of the function that a line calls, from number `first` on; none: it calls none."""
    found = CALLED.search(text)
    function = functions.get(found[1]) if found else None
    if not function:
        return []
    given = dict(zip(function.params, split_list(found[2])))
    inside = [(number, param) for param, arg in given.items() for number, name in names
              if re.match(rf"&?{name}\b", arg)]
    steps = text_steps(function.body, inside, function.place, functions)
    for step in steps:
        step.next = [first + to for to in step.next]
    steps[-1].next = [first + len(steps)]
    return steps


def text_steps(body, names, place, functions):
    """The graph of an unwrapped kernel's lines: one statement stands on each, and braces are as
    the printer sets them. place: the line before the first. functions: which it may call; their steps stand in place of the call."""
    steps, open_blocks = [Step("begin", next=[1])], []  # of a block: its kind and the step that opened it
    loop = None  # the step of a loop without braces, until its statement ends
    for number, line in enumerate(body.splitlines(), place):
        text = line.strip()
        if not text or text.startswith("//") or text.startswith("#"):
            continue
        here = len(steps)
        called = steps_of_call(text, names, functions, here)
        if called:
            steps += called
            continue
        step = Step(text, barrier=bool(BARRIER.search(text)), place=number)
        step.reads, step.writes = accesses(line, names)
        step.rereads = {number for number, name in names if number in step.reads - step.writes and len(re.findall(rf"\b{name}\b", line)) > 1}
        if "atomic" in text or re.search(r"\b(?:load|store)(?:\d|_cells)\w*<", text):  # may be a loop; of several cells
            step.next.append(here)
        steps.append(step)
        if text == "} else {":
            kind, opener = open_blocks.pop()
            open_blocks.append(("else", step))
            steps[opener].next.append(here + 1)
            step.line = "join"
            continue
        if text.startswith("}"):
            kind, opener = open_blocks.pop()
            if kind == "else":
                opener.next.append(here)
            elif kind == "always":
                pass
            elif kind == "for":
                step.next.append(opener)
                steps[opener].next.append(here + 1)
                continue
            else:
                steps[opener].next.append(here)
            step.next.append(here + 1)
            continue
        step.next.append(here + 1)
        if re.match(r"for \(.*\)$", text):
            loop = here
        elif loop is not None and text.endswith(";"):
            step.next.append(loop)
            steps[loop].next.append(here + 1)
            loop = None
        if text.endswith("{"):
            kind = "for" if re.match(r"(for|while|do)\b", text) else "always" if text.startswith("full_or_not(") else "if"
            open_blocks.append((kind, here))
        elif re.match(r"(if|for|while) \(", text) and step.barrier:  # taken or not
            step.barrier = False
    steps.append(Step("end"))
    return steps


def text_kernels(text):
    kernels, functions = [], functions_of(text)
    bodies = {found[1]: found for found in BODY.finditer(text)}
    for found in HEAD.finditer(text):
        call = CALL.fullmatch(found[3])
        body = bodies[call[1]] if call and call[1] in bodies else found
        params = []
        for p in filter(None, (" ".join(p.split()) for p in found[2].split(","))):
            params.append((p, re.search(r"(\w+)$", p)[1]))
        names = [(k, name) for k, (p, name) in enumerate(params) if "*" in p]
        place = text.count("\n", 0, body.start(3)) + 1
        steps = text_steps(body[3], names, place, functions)
        kernels.append(TextKernel(found[1], params, steps, found.start(), found.end(),
                                  [(one.start(), one.start(3)) for one in {found, body}]))
    return kernels


def exchanged(kernel):
    """The pointers that the kernel both reads and writes."""
    reads = set().union(*(s.reads for s in kernel.steps))
    writes = set().union(*(s.writes for s in kernel.steps))
    return reads & writes


# ---- kernels of PTX ---------------------------------------------------------------------------------------------------------------------------


def ptx_kernels(ptx):
    """{name: its instructions, labels among them, each without its end}."""
    kernels = {}
    for found in re.finditer(r"\.entry (\w+)\(.*?\)\s*(?:\.\w+ [^\n]*\n\s*)*\{(.*?)^\}", ptx, re.M | re.S):
        body = re.sub(r"//[^\n]*", "", found[2])
        lines = []
        for part in re.split(r"[;\n{}]", body):
            part = part.strip()
            while True:
                label = re.match(r"(\$?\w+):\s*", part)
                if not label:
                    break
                lines.append(label[1] + ":")
                part = part[label.end() :]
            if part and (not part.startswith(".") or re.match(r"\.loc\s", part)):
                lines.append(part)
        kernels[found[1]] = lines
    return kernels


PTX_BARRIER = re.compile(r"(bar|barrier)\.|membar|fence|atom\.acq_rel|ld\.relaxed|st\.relaxed")


def pointers(lines):
    """{register: numbers of the parameters that its address may come from}."""
    of = {}
    flows = []
    for line in lines:
        line = re.sub(r"^@!?%\w+\s+", "", line)
        load = re.match(r"ld\.param\.\S+\s+(%\w+),\s*\[\w+_param_(\d+)\]", line)
        if load:
            of[load[1]] = {int(load[2])}
            continue
        done = re.match(r"(?:mov|add|sub|selp|cvta|mad|max|min)\S*\s+(%\w+),\s*(.*)", line)
        if done:
            flows.append((done[1], re.findall(r"%\w+", done[2])))
    changed = True
    while changed:
        changed = False
        for target, sources in flows:
            known = of.get(target, set())
            more = known.union(*(of.get(s, set()) for s in sources))
            if more != known:
                of[target] = more
                changed = True
    return of


def ptx_steps(lines, places):
    """places: the lines of the emitted text that the kernel's steps may stand on."""
    of = pointers(lines)
    labels, steps, place = {}, [Step("begin", next=[1])], 0
    for line in lines:
        if line.startswith(".loc"):  # its own line, or, of a helper, the one that calls it
            place = next((int(at) for at in re.findall(r"(?:inlined_at|^\.loc)\s+\d+\s+(\d+)", line) if int(at) in places), place)
            continue
        if line.endswith(":"):
            labels[line[:-1]] = len(steps)
        steps.append(Step(line, place=place))
    for i, step in enumerate(steps):
        if i == 0:
            continue
        guard = re.match(r"@!?%\w+\s+", step.line)
        op = step.line[guard.end() :] if guard else step.line
        branch = re.match(r"bra(?:\.uni)?\s+(\$?\w+)", op)
        if branch:
            step.next.append(labels[branch[1]])
        if not (branch and not guard) and not op.startswith(("ret", "exit")):
            step.next.append(i + 1)
        step.barrier = not guard and bool(PTX_BARRIER.match(op))
        access = re.match(r"(ld|st|atom|red)\S*\s.*?\[(%\w+)", op)
        if access and ("global" in op or re.match(r"(ld|st)\.(relaxed|volatile)", op)):
            where = of.get(access[2], set())
            step.reads |= where if access[1] != "st" else set()
            step.writes |= where if access[1] != "ld" else set()
    return steps
