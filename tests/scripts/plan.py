#!/usr/bin/env python3
"""What `risec lower --plan` says is what is compiled and launched. For the programs of tests/nests and a few others:

- its launches are those of the manifest: kernels, conditions, grids, how often they repeat,
- the conditions of a kernel in its text, which leaves out what others imply, hold at the same sizes as all of them,
- every stage has a kernel, and every launch a stage; stored arrays have the bytes of their buffers, as partial results have,
- kernels that read an input are those that have it as a parameter,
- each name of a kernel is that of one launch, and numbers count without a gap,
- what is said to be stored because of its cost is no fold,
- kernels and blocks that it says are launched at sizes are those that the simulator launches, no more than it says, and some of each stage,
- a kernel without blocks reads as many elements as it says, counted by the simulator; fewer where it says `at most`,
- the reference, which evaluates the stage's term, reads not far fewer elements than are said.

One entry in eight; all of them at the level `all` (RISEC_LEVEL). RISEC names the binary."""
import collections
import functools
import glob
import itertools
import json
import os
import random
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RISEC = os.path.abspath(os.environ.get("RISEC", f"{ROOT}/build/release/risec"))
SIZES = (3, 40)
LANES = 32
MOST = 6  # times as many elements as the reference reads: conditions and lengths may leave some out
compared = []  # stages, with the reference
MANY = 20
TRIED = 100  # sizes for each kernel
STEP = 1 if os.environ.get("RISEC_LEVEL") == "all" else 8  # one entry in so many


def risec(*words):
    done = subprocess.run([RISEC, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def variants(launches):
    return [[(v["kernel"], v["when"]) for v in launch["variants"] if not re.search(r"_(64|unaligned)(_\d+)?$", v["kernel"])]
            for launch in launches]


def flat(launches):
    """Launches of the manifest, each with how often it repeats."""
    for launch in launches:
        if "repeat" in launch:
            for inner in launch["launches"]:
                yield {**inner, "repeat": launch["repeat"]}
        else:
            yield launch


def manifest_faults(plan, manifest):
    launches = list(flat(manifest["launches"]))
    kernels = {k["name"]: k for k in manifest["kernels"]}
    if variants(plan["launches"]) != variants(launches):
        yield f"launches {variants(plan['launches'])}, and the manifest has {variants(launches)}"
    if [x.get("repeat") for x in plan["launches"]] != [x.get("repeat") for x in launches]:
        yield "other launches repeat"
    for launch in plan["launches"]:
        for v in launch["variants"]:
            if v["grid"] != kernels[v["kernel"]]["grid"] or v["block"] != kernels[v["kernel"]]["block"]:
                yield f"{v['kernel']}: another grid or block"
            if not v["stages"]:
                yield f"{v['kernel']} is of no stage"
    for number, stage in enumerate(plan["stages"]):
        if not stage["kernels"]:
            yield f"stage {number + 1} has no kernel"
        stored = [a for a in plan["arrays"] if a["name"] == stage["computes"]]
        if re.search(r"\b(reduce|scan)\b", stage.get("term", "")) and any("costs" in a.get("why", "") for a in stored):
            yield f"{stage['computes']} is a fold, and stored because of what an element costs"
    yield from reader_faults(plan, kernels)
    yield from name_faults(plan)
    shares = [(a["name"], i) for a in manifest["arguments"] for i in a.get("inPlace", [])]
    if [(s["result"], s["input"]) for s in plan["inPlace"]] != shares:
        yield f"in place {plan['inPlace']}, and the manifest has {shares}"
    data = [b["bytes"] for b in manifest.get("workspace", {}).get("buffers", []) if not b["zero"]]
    for array in plan["arrays"]:
        if array["place"] == "stored" and plan["scheduled"] and array["buffers"] == 0:
            yield f"{array['name']} is in no buffer"
        if array["place"] == "stored" and array["buffers"] == 1 and array["bytes"] not in data:
            yield f"{array['name']} has {array['bytes']} bytes, the buffers {data}"
    yield from partial_faults(plan, manifest)


def partial_faults(plan, manifest):
    """Of a plan without stored arrays, what several launches have in the workspace is what templates hand on."""
    if "sizes" in plan or any(a["place"] != "input" and a.get("buffers") for a in plan["arrays"]):
        return
    data = {b["name"]: b["bytes"] for b in manifest.get("workspace", {}).get("buffers", []) if not b["zero"]}
    kernels = {k["name"]: {p.get("workspace") for p in k["parameters"]} for k in manifest["kernels"]}
    users = collections.defaultdict(set)
    for launch in plan["launches"]:
        for v in launch["variants"]:
            for name in data.keys() & kernels[v["kernel"]]:
                users[name].add(launch["number"])
    said = {(p["name"], p["bytes"], number) for p in plan["partial"] for number in p["writers"] + p["readers"]}
    have = {(name, data[name], number) for name in users for number in users[name] if len(users[name]) > 1}
    if said != have:
        yield f"partial results {sorted(said)}, and the kernels have {sorted(have)}"


@functools.cache
def compiled(expression):
    return compile(expression.replace("^", "**").replace("/", "//"), "<plan>", "eval")


FUNCTIONS = {"ceilDiv": lambda a, b: -(-a // b), "min": min, "max": max}


def reader_faults(plan, kernels):
    """Inputs that are parameters of a kernel are read by it."""
    for array in plan["arrays"]:
        if array["place"] != "input" or not plan["scheduled"]:
            continue
        said = {(reader["stage"], number) for reader in array["readers"] for number in reader["kernels"]}
        have = set()
        for launch in plan["launches"]:
            for v in launch["variants"]:
                names = [p.get("argument", "").split(".")[0] for p in kernels[v["kernel"]]["parameters"]]
                have |= {(stage, launch["number"]) for stage in v["stages"] if array["name"] in names}
        if said != have:
            yield f"{array['name']} is read by {sorted(said)} (stage, launch), and a parameter of {sorted(have)}"


def name_faults(plan):
    names = {}
    for stage in plan["stages"]:
        if len(stage["names"]) != len(stage["kernels"]):
            yield f"{stage['names']} for {stage['kernels']}"
        for name, number in zip(stage["names"], stage["kernels"]):
            if names.setdefault(name, number) != number:
                yield f"kernel {name} is in launches {names[name]} and {number}"
    numbers = {int(re.sub("[A-Z]", "", name)) for name in names}
    if numbers != set(range(1, plan["kernels"] + 1)):
        yield f"{plan['kernels']} kernels, of which there are {sorted(names)}"


def value(expression, sizes):
    return eval(compiled(expression), FUNCTIONS, dict(sizes))


def holds(conditions, sizes):
    try:
        return all(value(f"({condition})", sizes) for condition in conditions)
    except ZeroDivisionError:
        return None


def tried_sizes(names, conditions):
    """Sizes near the numbers in the conditions."""
    near = sorted({max(int(n) + d, 0) for n in re.findall(r"\d+", " ".join(conditions)) for d in (-1, 0, 1)} | {0, 7, 1000})
    rng = random.Random(1)
    return [{name: rng.choice(near) for name in names} for _ in range(TRIED)]


def text_faults(plan, text, names):
    said, whens = collections.defaultdict(list), collections.defaultdict(list)
    for condition, kernel in re.findall(r"- if ([^:]*): (\w+): ", re.sub(r"\s+", " ", text)):
        said[kernel].append([condition])
    for v in (v for launch in plan["launches"] for v in launch["variants"]):
        whens[v["kernel"]].append(v["when"])
    for kernel, conditions in said.items():
        for sizes in tried_sizes(names, sum(whens[kernel], [])):
            one, other = ([holds(c, sizes) for c in of] for of in (conditions, whens[kernel]))
            if None not in one + other and any(one) != any(other):
                yield f"{kernel}: at {sizes} `{conditions}` is {any(one)}, and {whens[kernel]} {any(other)}"
                break


def cells(array, sizes):
    n = 1
    for size in re.findall(r"(?:\(([^(),]*)\)|(\w+))\.", array["type"]):
        n *= value(size[0] or size[1], sizes)
    return n


def in_memory(array):
    """Kernels get scalars that are inputs by value, in registers."""
    return array["place"] != "input" or "." in array["type"]


def reads(plan, number, kernel):
    """How many elements the kernel of the launch reads, and whether it may be fewer; None: not known."""
    arrays, all_of, at_most = {a["name"]: a for a in plan["arrays"]}, 0, False
    for array in filter(in_memory, plan["arrays"]):
        for reader in array["readers"]:
            if reader["stage"] in kernel["stages"] and number in reader["kernels"]:
                n = reader.get("elementsHere")
                if "," in array["type"] or (n is None and "mostHere" not in reader):
                    return None
                all_of += n if n is not None else reader["mostHere"] * cells(array, plan["sizes"])
                at_most |= reader["atMost"]
    return all_of, at_most


def term_faults(plan, operators):
    """Of the terms of stages, as programs of their own."""
    arrays = {a["name"]: a for a in plan["arrays"]}
    for number, stage in enumerate(plan["stages"]):
        inputs = [(a, reader) for a in plan["arrays"] for reader in a["readers"] if reader["stage"] == number + 1]
        if "term" not in stage or stage["computes"] not in arrays or any("," in a["type"] or "mostHere" not in r for a, r in inputs):
            continue
        sizes = "".join(f"{{{name}: nat}} " for name in plan["sizes"])
        facts = "where " + ", ".join(f"{name} >= 1" for name in plan["sizes"]) if sizes else ""
        header = sizes + " ".join(f"({a['name']}: {a['type']})" for a, _ in inputs) + f": {arrays[stage['computes']]['type']}"
        term = stage["term"].replace("\n", "\n  ")
        with tempfile.NamedTemporaryFile("w", suffix=".rise", encoding="utf-8") as file:
            file.write(f"{operators}entry term {header} {facts} =\n  {term}\n")
            file.flush()
            settings = [word for name, size in plan["sizes"].items() for word in ("--set", f"{name}={size}")]
            ones = [word for a, _ in inputs for word in ("--arg", f"{a['name']}=ones")]
            code, out, _ = risec("run", file.name, "term", "--device=ref", "--stats", "--json", *settings, *ones)
        if code:
            continue
        compared.append(stage)
        loads = json.loads(out)["work"]["loads"]
        said = sum(r["mostHere"] * cells(a, plan["sizes"]) for a, r in inputs if in_memory(a))
        if loads and said > MOST * loads:
            yield f"{stage['computes']} is said to read {said} elements, and the reference reads {loads}"


def sequence(plan):
    """The variants that are launched, one after the other, as often as they repeat."""
    for _, together in itertools.groupby(plan["launches"], lambda launch: launch.get("together", launch["number"])):
        places = list(together)
        for _ in range(places[0].get("repeatHere", 1)):
            yield from ((place["number"], v) for place in places for v in place["variants"]
                        if v["launched"] and 0 not in v.get("gridHere", [1]))


def launch_faults(plan, profile):
    said, kernels = list(sequence(plan)), profile["kernels"]
    if len(kernels) != len(said):
        yield f"{[v['kernel'] for _, v in said]} are said to be launched, and {[k['name'] for k in kernels]} are"
        return
    if len({number for number, _ in said}) > plan["kernels"]:
        yield f"{plan['kernels']} kernels are said to be launched, and {len(said)} are"
    for number, stage in enumerate(plan["stages"]):
        if not any(number + 1 in v["stages"] for _, v in said):
            yield f"no kernel of stage {number + 1} is launched, which computes {stage['computes']}"
    for (number, v), ran in zip(said, kernels):  # in their order: names that CUDA has already are others in the manifest
        name = v["kernel"]
        if v.get("gridHere", ran["grid"]) != ran["grid"]:
            yield f"{name}: {v['gridHere']} blocks are said, and {ran['grid']} launched"
        count = reads(plan, number, v)
        if not plan["scheduled"] or any(plan["stages"][s - 1]["byBlocks"] for s in v["stages"]) or count is None:
            continue
        loads = ran["laneLoads"]
        if loads == LANES * count[0] and ran["block"] == [LANES, 1, 1] and ran["grid"] == [1, 1, 1]:
            loads //= LANES  # which all work out the one number that there is
        if loads > count[0] or (loads < count[0] and not count[1]):
            yield f"{name}: {count[0]} elements are said to be read, and {loads} are"


def judge(path, entry):
    with open(path, encoding="utf-8") as file:
        operators = "".join(re.findall(r"^operator.*\n(?:[ \t]+.*\n)*", file.read(), re.M))
    code, out, _ = risec("lower", path, entry, "--plan", "--json")
    if code:
        return None
    plan = json.loads(out)
    manifest = json.loads(risec(path, "--entry", entry, "--emit=manifest")[1])["entries"][0]
    faults = list(manifest_faults(plan, manifest))
    faults += text_faults(plan, risec("lower", path, entry, "--plan")[1], [*manifest["sizes"], "numSM"])
    for size in SIZES:
        settings = [word for s in manifest["sizes"] for word in ("--set", f"{s}={size}")]
        code, out, _ = risec("lower", path, entry, "--plan", "--json", *settings, "--set", "numSM=1", "--set", "maxResident=4")
        inputs = [word for a in manifest["arguments"] if a["direction"] == "in" for word in ("--arg", f"{a['name']}=ones")]
        again, profile, _ = risec("run", path, entry, "--profile", "--json", *settings, *inputs)
        if code == 0 and again == 0:
            here = json.loads(out)
            faults += [f"at {size}: {f}" for f in launch_faults(here, json.loads(profile)["profile"])]
            faults += [f"at {size}: {f}" for f in (term_faults(here, operators) if size == SIZES[0] and settings else [])]
    return faults


def main():
    tried = seen = 0
    for path in sorted(glob.glob(f"{ROOT}/tests/nests/*.rise")) + [f"{ROOT}/examples/high/chains.rise", f"{ROOT}/examples/high/matrices.rise"]:
        with open(path, encoding="utf-8") as file:
            entries = re.findall(r"^entry (\w+)", file.read(), re.M)
        for entry in entries:
            seen += 1
            if seen % STEP:
                continue
            faults = judge(path, entry)
            if faults is None:
                continue
            tried += 1
            name = f"plan-{os.path.basename(path)[:-5]}-{entry}"
            print(f"{'not ok' if faults else 'ok'} {name}")
            for fault in faults:
                print(f"# {fault}")
    print(f"{'ok' if tried > MANY and len(compared) > MANY else 'not ok'} plan-many")


main()
