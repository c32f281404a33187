"""What a cubin for sm_90 says of its kernels: registers, bytes of local and of shared memory, and
how many instructions of some kinds each has.

CUDA's toolkit may come without a disassembler, so this reads the instructions itself. Each has 16
bytes. Its lowest 9 bits are the operation, whatever form its operands have. PROBE is a kernel of
known instructions: it shows whether all this holds for the release of NVRTC at hand."""
import struct

import ptx_text

OPERATIONS = {0x181: "LDG", 0x186: "STG", 0x023: "FFMA", 0x11D: "BAR", 0x189: "SHFL"}
WIDE = {"LDG": "LDG.128", "STG": "STG.128"}  # accesses of 16 bytes have their own names
SIZE_BIT, SIZE_OF_16_BYTES = 73, 6
REGISTERS, STACK = 0x2F, 0x12                # attributes in .nv.info
RESERVED_SHARED = 1024                       # of each block, for the device itself
INSTRUCTIONS = ("LDG.128", "LDG", "STG.128", "STG", "FFMA", "BAR", "SHFL")


def cubin_of(nvrtc, text, arch="sm_90"):
    """With the options of librise. An exception has what the compiler says."""
    return ptx_text.compiled(nvrtc, text, ["--gpu-architecture=" + arch, "--std=c++17"], "CUBIN")


def text_at(data, offset):
    return data[offset : data.index(b"\0", offset)].decode()


def sections(cubin):
    """{name: (its size, its bytes)}; some sections have a size and no bytes."""
    (first,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    heads = [struct.unpack_from("<IIQQQQIIQQ", cubin, first + k * size) for k in range(count)]
    where = heads[names][4]
    return {text_at(cubin, where + name): (size, cubin[start : start + size])
            for name, _, _, _, start, size, *_ in heads}


def attributes(found):
    """{(attribute, kernel): value} of .nv.info: of those that give a number for a symbol."""
    symbols, strings, info = found[".symtab"][1], found[".strtab"][1], found[".nv.info"][1]
    values, at = {}, 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        if form == 4 and size == 8:
            symbol, value = struct.unpack_from("<II", info, at + 4)
            (name,) = struct.unpack_from("<I", symbols, 24 * symbol)
            values[attribute, text_at(strings, name)] = value
        at += 4 + (size if form == 4 else 0)
    return values


def instruction(low, high):
    """Its name, if it is one of INSTRUCTIONS."""
    name = OPERATIONS.get(low & 0x1FF)
    return WIDE[name] if name in WIDE and high >> (SIZE_BIT - 64) & 7 == SIZE_OF_16_BYTES else name


def kernels(cubin):
    """{kernel: {"registers", "local", "shared", and INSTRUCTIONS: how many}}."""
    found = sections(cubin)
    values, result = attributes(found), {}
    for section, (size, code) in found.items():
        if not section.startswith(".text."):
            continue
        name = section[len(".text.") :]
        counts = dict.fromkeys(INSTRUCTIONS, 0)
        for at in range(0, size, 16):
            kind = instruction(*struct.unpack_from("<QQ", code, at))
            if kind:
                counts[kind] += 1
        shared = found.get(".nv.shared." + name, (RESERVED_SHARED, b""))[0] - RESERVED_SHARED
        result[name] = {"registers": values[REGISTERS, name], "local": values[STACK, name],
                        "shared": shared, **counts}
    return result


# ---- a kernel of known instructions -------------------------------------------------------------

PROBE_COUNTS = {"local": 0, "shared": 512, "LDG.128": 2, "LDG": 3, "STG.128": 1, "STG": 4, "FFMA": 5,
                "BAR": 2, "SHFL": 6}
PROBE = r"""
extern "C" __global__ __launch_bounds__(128) void probe(
    const float4 *wide, const float *xs, const double *ys, float4 *to, float *us, double *vs,
    unsigned char *ws)
{
    __shared__ volatile float cells[128];
    int i = threadIdx.x;
    float4 a, b;
    float x, y, p, q;
    double z;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a.x), "=f"(a.y), "=f"(a.z), "=f"(a.w) : "l"(wide + i));
    asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(b.x), "=f"(b.y), "=f"(b.z), "=f"(b.w) : "l"(wide + i + 128));
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(xs + i));
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(z) : "l"(ys + i));
    asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(p), "=f"(q) : "l"(xs + 2 * i));
    asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a.x), "f"(b.x), "f"(x));
    asm volatile("fma.rn.f32 %0, %1, 0f40A00000, %2;" : "=f"(x) : "f"(y), "f"(a.y));
    asm volatile("fma.rn.f32 %0, %1, %2, 0f3F800000;" : "=f"(y) : "f"(x), "f"(b.y));
    asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(x) : "f"(y), "f"(p), "f"(q));
    asm volatile("fma.rn.f32 %0, %1, %1, %2;" : "=f"(y) : "f"(x), "f"(a.z));
    cells[i] = y;
    asm volatile("bar.sync 0;" ::: "memory");
    float c = cells[127 - i];
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("shfl.sync.down.b32 %0, %0, 16, 31, 0xffffffff;" : "+f"(c));
    asm volatile("shfl.sync.up.b32 %0, %0, 8, 0, 0xffffffff;" : "+f"(c));
    asm volatile("shfl.sync.bfly.b32 %0, %0, 4, 31, 0xffffffff;" : "+f"(c));
    asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, 0xffffffff;" : "+f"(c) : "r"(i / 2));
    asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, 0xffffffff;" : "+f"(c) : "r"(i % 8));
    asm volatile("shfl.sync.idx.b32 %0, %0, 3, 31, 0xffffffff;" : "+f"(c));
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
                 :: "l"(to + i), "f"(a.w), "f"(b.z), "f"(b.w), "f"(c) : "memory");
    asm volatile("st.global.f32 [%0], %1;" :: "l"(us + i), "f"(x) : "memory");
    asm volatile("st.global.v2.f32 [%0], {%1, %2};"
                 :: "l"(us + 2 * i + 1024), "f"(x), "f"(c) : "memory");
    asm volatile("st.global.f64 [%0], %1;" :: "l"(vs + i), "d"(z) : "memory");
    asm volatile("st.global.u8 [%0], %1;" :: "l"(ws + i), "r"(i) : "memory");
}

// More values than there are registers.
extern "C" __global__ __launch_bounds__(1024, 2) void spilling(float *xs, int n)
{
    float kept[80];
#pragma unroll
    for (int i = 0; i < 80; i++)
        kept[i] = xs[i * n];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 80; i++)
        xs[i] = kept[79 - i];
}
"""


def wrong_about_probe(nvrtc):
    """What this module reads otherwise than it stands in PROBE; nothing, if all is well."""
    found = kernels(cubin_of(nvrtc, PROBE))
    probe, spilling = found["probe"], found["spilling"]
    wrong = [f"{name}: {probe[name]}, and the kernel has {count}"
             for name, count in PROBE_COUNTS.items() if probe[name] != count]
    if spilling["registers"] != 32 or spilling["local"] < 4 * (80 - 32):
        wrong.append(f"{spilling}: 32 registers are allowed, and 80 values kept")
    return wrong
