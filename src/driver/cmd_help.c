/* `risec help`, `risec explain`, `risec --version`, and the documents that are made from tables of the source. */
#include <stdlib.h>

#include "driver/driver.h"
#include "frontend/token_class.h"
#include "driver/profile.h"
#include "ir/prim.h"
#include "rewrite/manual.h"
#include "version.h"

typedef struct Topic {
    const char *name, *title, *text;
} Topic;

static const Topic topics[] = {
    {"levels", "which thread computes what",
     "A program says at which level of the GPU each pattern runs:\n"
     "\n"
     "  mapGlobal               one element to each thread of the whole grid\n"
     "  mapBlock                one element to each block of threads\n"
     "    mapThreads            one element to each thread of the block\n"
     "    mapWarp               one element to each warp: 32 neighbouring threads\n"
     "      mapLane             one element to each lane of the warp\n"
     "        mapSeq, reduceSeq one thread, in order\n"
     "\n"
     "A level stands inside its parent: lanes in a warp, warps and threads in a block. mapGlobal, mapBlock and mapThreads take an axis: "
     "mapBlock[y](f). Where there are more elements than blocks, threads or lanes, the code strides.\n"
     "\n"
     "What one level computes and the next one reads is stored: toShared for all threads of the block, toPrivate for the thread that "
     "computed it, toGlobal for the grid. Layout views (split, join, transpose, zip, ...) move no data.\n"
     "\n"
     "See `risec help mapWarp`, `risec help toShared`, `risec help primitives`.\n"},
    {"sizes", "sizes, tunables, and where they come from",
     "A nat parameter of an entry is a size, known at launch:\n"
     "\n"
     "  entry f {n: nat} (xs: n.f32): ...\n"
     "\n"
     "With a default it is a tunable, a constant of the compilation:\n"
     "\n"
     "  entry f {n: nat} (block: nat = 256 in [128, 256, 512]) (xs: n.f32): ...\n"
     "\n"
     "  risec f.rise --set block=512                compile with another value\n"
     "  risec run f.rise --set n=1000 --arg xs=iota generated inputs need sizes\n"
     "  risec run f.rise --arg xs=data.npy          n follows from the file's shape\n"
     "  risec run f.rise --set n=2^20+1 ...         sums of products and powers\n"
     "\n"
     "`where n % block == 0` says what must hold; it is checked before anything is launched.\n"},
    {"launch", "threads and blocks of a kernel",
     "Behind the result type of an entry, for its first kernel; in brackets of nextKernel for the one that it begins:\n"
     "\n"
     "  entry f {n: nat} (xs: n.f32): n.f32 launch [threads = 128, blocks = 4 * numSM] =\n"
     "  xs |> mapGlobal(f) |> nextKernel[threads = 256](g)\n"
     "\n"
     "  threads             a constant, up to 1024; what makes no whole warps of 32 is\n"
     "                      refused. Maps over [y] and [z] multiply it. Default: the\n"
     "                      largest constant extent of mapThreads, 32 times that of\n"
     "                      mapWarp, else 256\n"
     "  blocks              a size. Default: the extent of mapBlock; that of mapGlobal,\n"
     "                      divided by the threads\n"
     "  minBlocks           a constant: the second argument of __launch_bounds__\n"
     "\n"
     "The result never depends on the launch: with fewer threads or blocks each takes several elements. See `risec help numSM`.\n"},
    {"numSM", "numSM and maxResident: sizes of the device",
     "`numSM` is the number of multiprocessors of the device, `maxResident` how many blocks of the kernel fit on it at once. Both are sizes that "
     "are known at launch, at least 1, and stand wherever a size does: in `launch [blocks = 4 * numSM]`, and in the body, too:\n"
     "\n"
     "  entry f {n: nat} (xs: n.f32): (256 * numSM).f32 =\n"
     "    xs |> padTo(256 * numSM, 0) |> split(256 * numSM) |> transpose\n"
     "       |> mapGlobal(reduceSeq((+), 0))\n"
     "\n"
     "The simulator and the reference are no device: there numSM is 1 and maxResident 4, unless the command line says otherwise:\n"
     "\n"
     "  risec run f.rise --set n=3000 --arg xs=ones --set numSM=4\n"},
    {"vec", "short vectors: vec[4, f32]",
     "  xs |> asVector(4)        n.f32 as (n / 4).vec[4, f32]; 4 divides n\n"
     "  vs |> asScalar           the other way round; of one v, its components\n"
     "  v[0]                     a component\n"
     "  v + w, 2.0 * v + 1       component by component\n"
     "  cast(vec[4, f16])(v)     converts\n"
     "  asVector(2, generate{n = 2}(fun i => if i == 0 then x else y))[0]\n"
     "                           the vector of the components x and y\n"
     "\n"
     "A vector moves in one access of up to 16 bytes where its index is known to be a multiple of its width. See `risec help asVector`.\n"},
    {"idx", "indices: idx[n]",
     "A value of type idx[n] is a whole number from 0 to n - 1: the argument of `generate(fun i => ...)`, an element of an input such as "
     "`(is: m.idx[n])`, whose values are checked before the launch. It indexes any array that is known to have n elements or more, without a "
     "check: `xs[i]`.\n"
     "\n"
     "  i + 1, i / k, i % k      is an index again, of the range that follows\n"
     "  i < k, i == 0            comparisons; in `if i + 1 < n then xs[i + 1] ...`\n"
     "                           risec knows that i + 1 is an index\n"
     "  cast(i32)(i)             the number: an index is no number by itself\n"
     "  cast(idx[n])(k)          is not there: data are no indices. Take an input of\n"
     "                           type idx[n]\n"},
    {"inputs", "what --arg takes",
     "Each input of the entry needs one --arg NAME=VALUE; each component of a tuple one --arg NAME.1=VALUE, --arg NAME.2=VALUE.\n"
     "\n"
     "  FILE.npy            an array as numpy.save writes it, of the very type that\n"
     "                      the entry says\n"
     "  [[1,2],[3,4]]       the array itself, in brackets; a blank or a comma between\n"
     "                      numbers\n"
     "  FILE                a text: an array in brackets, or lines of numbers with\n"
     "                      commas, semicolons or blanks between them, as in CSV\n"
     "  iota                0, 1, 2, ...\n"
     "  ones, zeros         as they say\n"
     "  const:V             V everywhere\n"
     "  uniform[:LO:HI]     pseudo-random, from --seed: floats in [0, 1), integers\n"
     "                      from 0 to 99\n"
     "  normal              pseudo-random floats with the normal distribution\n"
     "  special             NaN, infinities, both zeros, the ends of the type and the\n"
     "                      like, one in six, among other numbers\n"
     "  small               integers from -8 to 8, for floats, too\n"
     "  2.5                 a number, for a scalar\n"
     "\n"
     "Results are printed, or written as .npy by --out.\n"},
    {"sim", "the simulator of a GPU",
     "`risec run` executes the compiled kernels on a simulator: a grid of blocks, each of warps of 32 lanes in lockstep, with shared and "
     "global memory, shuffles and barriers. It checks every access, and reports with the line of the program:\n"
     "\n"
     "  races between threads; reads of memory that nobody wrote; accesses out of\n"
     "  bounds; barriers that some threads skip; shuffles that some lanes do not\n"
     "  reach; cells of the result that nothing wrote\n"
     "\n"
     "  --seed N            another order of blocks and warps\n"
     "  --grid N            another number of blocks; the result must not change\n"
     "  --max-findings N    when to stop\n"
     "  --stats             what was executed: instructions, memory accesses, barriers\n"
     "  --profile           what it costs, line by line: see `risec help profile`\n"
     "\n"
     "It says nothing about time. `--device ref` is the reference interpreter instead: the meaning of the program as mathematics, without "
     "threads or memory.\n"},
    {"plan", "what kernels there will be, and why",
     "  risec lower soft.rise --plan --set n=8 --set m=512 --set k=1024\n"
     "\n"
     "prints what an entry becomes: nothing runs. Without sizes there are formulas; with them, given by --set, also their values and the class of each kernel that is launched, marked "
     "by a star. Where that depends on the device, `--set numSM=132 --set maxResident=4` say which one.\n"
     "\n"
     "First the arrays: inputs and results with their bytes, those that are stored between kernels and why, those that are not stored. Then each kernel: its term as the scheduler leaves "
     "it to the rules, who computes an element, what it reads and how often, why it is no part of the kernel before, and for each class of sizes the blocks and threads.\n"
     "\n"
     "`each element n times` counts what the term asks for: a read that stands twice in one function is one. Where threads of a "
     "block keep what they read on chip, there are two bounds: once, if all of that fits, and what the term asks for.\n"
     "\n"
     "Entries that are lowered by hand or by another strategy have kernels, stored arrays and blocks, and no reasons.\n"
     "\n"
     "With --json: \"arrays\", \"notStored\", \"stages\" (what one kernel, or several that follow each other, compute) and \"launches\". A formula has its value at the sizes "
     "beside it: \"bytes\" and \"bytesHere\". Kernels and stages count from 1; a variant that is \"launched\" has its blocks in \"gridHere\".\n"},
    {"profile", "what the simulator counts, and `expect` clauses",
     "`risec run FILE --profile` prints a table with a row for each line of the program: what a GPU would do for it, and a verdict in words. "
     "With --json it is \"profile\". Nothing is measured in time; docs/profiling.md says how each counter is counted.\n"
     "\n"
     "An entry asserts on its counters, before its body, for sizes that it names:\n"
     "\n"
     "  entry f {n: nat} (xs: n.f32): n.f32\n"
     "    expect [barriers == 0, sectorsPerWarp <= 4] for n = 4096\n"
     "    expect [divergentBranches <= warps] for n = 1000 =\n"
     "    xs |> mapGlobal(id)\n"
     "\n"
     "`risec check` runs it and reports what does not hold; `risec check FILE --expect CLAUSES` takes clauses from another file, where `expect "
     "f [...]` names the entry if there are several. The numbers may be computed from the counters, sizes and tunables by `+ - * / % ^ min "
     "max ceilDiv log2 pow2`. `for` gives every size, perhaps tunables, and how inputs are made (`xs = iota`; uniform, where nothing is "
     "said).\n"
     "\n"
     "The counters:\n"
     "\n"},
    {"verify", "how results are compared",
     "`risec run --verify` also runs the reference interpreter, and compares; `--expect FILE.npy` compares with results of --out.\n"
     "\n"
     "The line says what was found:\n"
     "\n"
     "  equals the reference\n"
     "      All bits are equal (any NaN equals any NaN).\n"
     "  differs by at most A (relative R); bound B\n"
     "      Rounding explains every difference. A is the largest one, R its ratio to the element, B that element's bound.\n"
     "  ...; 3 of 1000 elements undecided\n"
     "      A comparison or a conversion to an integer is too close to call for these elements, or a scatter wrote their places several "
     "times, and any of the writes may stay. They were not compared.\n"
     "\n"
     "Exit code 1 says that an element is wrong (E0631) or that there is no check (E0637).\n"
     "\n"
     "The bound belongs to an element. risec runs the program again in about twice the precision, and carries along how far a correct kernel "
     "may be from that value: the roundings of each operation (of exp, sin and the like, the largest error that CUDA documents), passed on by "
     "the derivatives of what follows. A sum of d roundings one after the other may be off by d times the unit roundoff times the sum of the "
     "absolute values. The simulator counts d for this launch: its sizes, its grid, its number of multiprocessors.\n"
     "\n"
     "Integers, bools, and floats that nothing has rounded must be equal to the bit. Sums and products of small integers kept as floats "
     "(iota, ones, const:V) are such floats, whatever the order. min, max and abs decide nothing.\n"
     "\n"
     "There is no check where more than one element in a hundred is undecided, or has a bound above 1 % and above 16 units in the last "
     "place of the sum of magnitudes that it is made of. Long sums of f16 and bf16 are like that.\n"
     "\n"
     "`--expect` allows twice the bound, because the file's values may be rounded, too. `risec bench --vs` judges every kernel by the same bounds, "
     "and allows kernels written by hand eight times as much, because their trees are not known.\n"
     "\n"
     "The reference keeps the order of a low-level program. Where an operator of the program leaves the order open "
     "(atomicReduce), the reference takes the elements in another order than the kernel. An operator that declares laws which do not hold then gives another "
     "result, and --verify says so.\n"},
    {"json", "what --json prints",
     "One object on one line:\n"
     "\n"
     "  {\"entry\": \"sum\", \"device\": \"sim\", \"sizes\": {\"n\": 1000},\n"
     "   \"tunables\": {\"block\": 256},\n"
     "   \"results\": [{\"type\": \"f32\", \"shape\": [4],\n"
     "                \"values\": [1.5, 2, \"nan\", \"-inf\"]}]}\n"
     "\n"
     "values are in row-major order, whatever the rank, and read back as the very same numbers; what JSON has no number for stands in "
     "quotes: \"inf\", \"-inf\", \"nan\". A result of more than 1,000,000 elements has \"values\": null: write it with --out.\n"
     "\n"
     "check --json prints what it would have said:\n"
     "\n"
     "  {\"diagnostics\": [{\"code\": \"E0303\", \"severity\": \"error\",\n"
     "    \"file\": \"a.rise\", \"line\": 2, \"column\": 9, \"span\": [52, 61],\n"
     "    \"message\": \"...\", \"label\": null, \"notes\": [],\n"
     "    \"hints\": [{\"message\": \"...\", \"edits\":\n"
     "      [{\"file\": \"a.rise\", ..., \"span\": [40, 40],\n"
     "        \"text\": \" where n % 32 == 0\"}]}]}],\n"
     "   \"errors\": 1, \"warnings\": 0, \"not_shown\": 0}\n"
     "\n"
     "span is [first byte, byte behind the last], column counts bytes from 1. Each edit puts its text in the place of its span; the edits of a hint belong "
     "together. A hint without edits explains. What stands nowhere in a file has \"file\": null.\n"
     "\n"
     "test --json prints {\"files\": [{\"file\": ..., \"checks\": [...], \"report\": {...}}], \"checks\": 3, \"failed\": 0, \"exit\": 0}: a check has "
     "entry, line, kind (result or counters), against, holds, runs, failed, and the first run that failed; report is as check --json prints it.\n"
     "\n"
     "With --verify or --expect there is \"compared\": {\"with\", \"verdict\", \"error\", \"relative\", \"bound\", \"elements\", \"undecided\"}, "
     "where the verdict is \"equal\", \"near\", \"different\" or \"no check\"; with --stats \"stats\"; with --profile \"profile\".\n"},
    {"bench", "timing an entry on the GPU",
     "  risec bench sum.rise --sizes n=2^10,2^20,2^24\n"
     "  risec bench sum.rise --set n=2^20 --vs sum.cu --vs other.cu --csv\n"
     "\n"
     "Inputs that no --arg gives are uniform; of large ones 2^22 elements are made and repeated. For each size, all kernels are measured turn by turn in one "
     "run:\n"
     "\n"
     "  chain     a call of up to 20 in a CUDA graph, over copies of inputs and\n"
     "            results that together are larger than the second-level cache\n"
     "  alone     one call between two events\n"
     "  GB/s      bytes of the inputs, read once, and of the results, written once, in\n"
     "            the time of the chain\n"
     "  of copy   that as a part of what copying memory on the device reaches\n"
     "\n"
     "Times are medians, with the 10th and the 90th percentile; what an empty kernel takes is beside them: no call can take less. A difference that is smaller than the "
     "spread is none.\n"
     "\n"
     "--vs FILE.cu is compiled by nvcc ($NVCC, or of the PATH, or of the CUDA toolkit) and must define\n"
     "\n"
     "  extern \"C\" int ENTRY_hand(results..., inputs..., sizes..., cudaStream_t stream)\n"
     "\n"
     "with a pointer to device memory for each component of the results, then of the inputs (scalars by value), and each size of the entry as int or long long. It gives 0 or a "
     "cudaError_t, or nothing. Its results and ours are judged as by `risec run --verify`, and exit code 1 says that some differ. What cannot be captured in a graph (a "
     "cudaMalloc, a wait) has no chain. --keep DIR keeps what nvcc made; files that FILE.cu includes are not looked at for changes.\n"},
    {"tuning", "the best values of tunables",
     "  risec tune sum.rise --sizes n=2^12,2^16,2^20      on the GPU\n"
     "  risec tune sum.rise --sizes n=2^12,2^16 --device sim\n"
     "  risec sum.rise -o sum.cu --tuned \"NVIDIA H200\"\n"
     "\n"
     "Tries all combinations of the values that tunables have behind `in`, at each of the sizes, and keeps the best in FILE.rise.tune: by the classes of sizes between those that "
     "were tried, for this entry and device. `risec run`, `risec bench` and librise use the file where it fits the device, unless --untuned or a --set of a tunable says otherwise, and "
     "compiling uses it with --tuned. What callers would see (types, facts about sizes) is never tuned. A change of the entry makes its tuning void, with a warning.\n"
     "\n"
     "--device sim estimates cycles from the simulator's counters and knows no latency; what it finds is used on the simulator alone. docs/tuning.md says how, and what the file looks "
     "like.\n"},
    {"header", "headers for C and C++",
     "  risec sum.rise -o sum.h\n"
     "  risec sum.rise -o sum.h --arch=sm_80,sm_90\n"
     "\n"
     "Writes one file with compiled kernels and the C functions that launch them. It compiles as C99 and C++20 without nvcc, CUDA's headers or librise, and finds the driver when "
     "the program runs. In one file of the program write `#define SUM_IMPLEMENTATION` before it is included. All names begin with the name of the file. docs/header.md says what the "
     "functions are.\n"
     "\n"
     "It has cubins for sm_75, 80, 86, 89, 90, 100 and 120, as far as NVRTC knows them, or for those that --arch lists, and PTX of the oldest for all later GPUs.\n"},
    {"aot", "compiled ahead of time: PTX and cubins",
     "  risec sum.rise -o sum.cubin --arch=sm_90 -o sum.json\n"
     "  risec sum.rise -o sum.ptx -o sum.json\n"
     "\n"
     "A cubin runs on the GPU that --arch names. PTX is compiled by the driver when it is loaded, for the GPU that --arch names and all later "
     "ones; without --arch, for sm_75 and all later ones. Both hold all kernels of the file. What a host needs to launch them is in the manifest "
     "(docs/manifest.md); examples/c/aot_launch.c does it with the driver API and nothing of ours. With --line they have tables of lines for profilers.\n"
     "\n"
     "They are made by NVRTC, a library of the CUDA toolkit. It is looked for by its names (libnvrtc.so.13, .12, .11.2, .11) where the system "
     "looks for libraries (LD_LIBRARY_PATH, too), then in lib64 and lib of $CUDA_HOME and $CUDA_PATH, in wheels of pip in $VIRTUAL_ENV and "
     "$CONDA_PREFIX, and in /usr/local/cuda. No GPU is needed.\n"},
    {"cache", "the cache of compiled kernels",
     "  risec cache           shows the directory, entries, bytes, hits and misses\n"
     "  risec cache --json    the same as a JSON object\n"
     "  risec cache clear     removes all entries, and the counts\n"
     "\n"
     "Kernels that NVRTC has compiled are kept in $XDG_CACHE_HOME/rise, else in ~/.cache/rise, so that the same text is compiled once. An entry "
     "is found by a hash of all that decides it: the CUDA C, the options, the architecture, the versions of NVRTC and of risec. Whatever is wrong "
     "with an entry or the directory costs a compilation and nothing else. Beyond 256 MiB, entries go that were not used for longest. The folder may "
     "be deleted at any time.\n"},
    {"exit", "exit codes",
     "  0   good\n"
     "  1   the program is wrong, or a check failed: an error in the text, a fact\n"
     "      that the sizes break, a finding of the simulator, a result that differs\n"
     "  2   usage, or a file that cannot be read or written\n"
     "  3   device: no GPU, or no NVRTC to compile for one\n"
     "  4   out of memory\n"
     "  70  a bug in risec\n"},
    {"emit", "the forms of a program",
     "  risec --emit=ast FILE       as parsed, printed again\n"
     "  risec --emit=core FILE      typed: definitions expanded, sizes inferred; it is\n"
     "                              RISE text again\n"
     "  risec --emit=imp FILE       loops, buffers, barriers: pseudo-code\n"
     "  risec --emit=cuda FILE      CUDA C; the default\n"
     "  risec --emit=manifest FILE  JSON: kernels, launch sizes, buffers\n"
     "  risec --emit=ptx FILE       the kernels, compiled by NVRTC to PTX\n"
     "  risec --emit=cubin FILE     the same for one GPU: `risec help aot`\n"
     "  risec --emit=header FILE    a header for C and C++: `risec help header`\n"
     "\n"
     "`--stop-after=PASS` shows imp as it is after one of the passes: translate, prefetch, literals, registers, conditions, units, memory, barriers, sink, strides, tiles, unrolling, values, roll, zeros, indices, dead, steps, names, outline.\n"
     "\n"
     "-o OUT writes to a file; without --emit its suffix chooses: .cu, .h, .json, .ptx, .cubin. -o may be given several times.\n"},
};
enum { TOPIC_COUNT = sizeof topics / sizeof topics[0] };

static void put(Ctx *ctx, Driver *d, const StrBuf *text) { driver_write(ctx, d, "-", text->text, text->len); }

/* ---- help ----------------------------------------------------------------------------------------------------- */

/* The names of a class of primitives, in lines. */
static void put_primitives(StrBuf *out)
{
    static const struct {
        PrimId first;
        const char *title;
    } groups[] = {
        {P_id, "Data layout:"}, {P_map, "Order left open:"}, {P_mapSeq, "One thread:"}, {P_mapGlobal, "Parallel:"},
        {P_toGlobal, "Memory:"}, {P_shflDown, "Warp:"}, {P_nextKernel, "Grid:"}, {P_add, "Scalar functions:"},
    };
    enum { GROUPS = sizeof groups / sizeof groups[0], WIDTH = 76 };
    for (int g = 0; g < GROUPS; g++) {
        int end = g + 1 < GROUPS ? (int)groups[g + 1].first : P_COUNT, column = 0;
        sb_printf(out, "%s\n ", groups[g].title);
        for (int id = groups[g].first; id < end; id++) {
            int n = (int)strlen(prim_name((PrimId)id)) + 1;
            if (column + n > WIDTH) {
                sb_puts(out, "\n ");
                column = 0;
            }
            sb_printf(out, " %s", prim_name((PrimId)id));
            column += n;
        }
        sb_putc(out, '\n');
    }
}

static void put_topics(StrBuf *out)
{
    sb_puts(out, "risec help TOPIC, with TOPIC one of\n\n");
    for (int i = 0; i < TOPIC_COUNT; i++)
        sb_printf(out, "  %-12s %s\n", topics[i].name, topics[i].title);
    sb_puts(out, "  options      all options\n"
                 "  primitives   the names of all primitives; `risec help split` is about one of them\n"
                 "  std          the modules of the library; `risec help std.warp` prints one\n"
                 "  rules        the rules and strategies of the library\n"
                 "  run, check   the options of a verb\n"
                 "\nA code such as E0303 is explained by `risec explain E0303`.\n");
}

/* False: there is no such verb. */
static bool put_verb_options(StrBuf *out, const char *word, const char *before)
{
    for (int v = 0; v < VERB_COUNT; v++) {
        if (strcmp(verb_rows[v].name, word) == 0 || (v == VERB_COMPILE && strcmp(word, "compile") == 0)) {
            sb_puts(out, before);
            options_usage_verb(out->ctx, out, (Verb)v);
            return true;
        }
    }
    return false;
}

static bool put_topic(Ctx *ctx, StrBuf *out, const char *word)
{
    for (int i = 0; i < TOPIC_COUNT; i++) {
        if (strcmp(topics[i].name, word) == 0) {
            options_put_wrapped(out, topics[i].text);
            if (strcmp(word, "profile") == 0)
                profile_put_counters(out);
            put_verb_options(out, word, "\n");
            return true;
        }
    }
    /* `run` and the others before the primitives: no primitive has such a name. */
    if (put_verb_options(out, word, ""))
        return true;
    if (strcmp(word, "options") == 0) {
        options_usage(ctx, out);
        return true;
    }
    if (strcmp(word, "topics") == 0) {
        put_topics(out);
        return true;
    }
    if (strcmp(word, "primitives") == 0) {
        put_primitives(out);
        return true;
    }
    return false;
}

static bool put_option_help(StrBuf *out, const char *word)
{
    while (*word == '-')
        word++;
    for (int id = 0; id < OPT_COUNT; id++) {
        const OptRow *row = &option_rows[id];
        if (row->hidden || strcmp(row->name, word) != 0)
            continue;
        sb_printf(out, "--%s%s%s\n\n  %s\n\nIt belongs to", row->name, row->arg[0] ? " " : "", row->arg, row->help);
        const char *between = " ";
        for (int v = 0; v < VERB_COUNT; v++) {
            if (row->verbs & 1u << v) {
                sb_printf(out, "%s`risec %s`", between, verb_rows[v].usage);
                between = ", ";
            }
        }
        sb_puts(out, ".\n");
        return true;
    }
    return false;
}

static bool put_library(Ctx *ctx, StrBuf *out, const char *word)
{
    StrBuf text;
    sb_init(&text, ctx);
    bool found = library_help(ctx, &text, word);
    if (found)
        options_put_wrapped(out, text.text);
    return found;
}

static void unknown_topic(Ctx *ctx, Driver *d, const char *word)
{
    Nearest nearest;
    nearest_init(&nearest, word);
    for (int i = 0; i < TOPIC_COUNT; i++)
        nearest_try(&nearest, topics[i].name);
    for (int v = 0; v < VERB_COUNT; v++) {
        if (verb_rows[v].name[0])
            nearest_try(&nearest, verb_rows[v].name);
    }
    for (int id = 0; id < P_COUNT; id++)
        nearest_try(&nearest, prim_name((PrimId)id));
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!option_rows[id].hidden)
            nearest_try(&nearest, option_rows[id].name);
    }
    Diag *diag = driver_usage(ctx, d, E0621, "there is no help on `%s`", word);
    if (nearest.best)
        diag_help(ctx, diag, "did you mean `risec help %s`?", nearest.best);
    else
        diag_help(ctx, diag, "`risec help topics` and `risec help primitives` list what there is");
}

/* ---- documents ------------------------------------------------------------------------------------------------ */

/* `bad:` and `good:` lines of an explanation (and lines that go on from them, indented) become a block of code. */
static void put_explanation(StrBuf *out, const char *text)
{
    bool code = false;
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool example = strncmp(text, "bad:", 4) == 0 || strncmp(text, "good:", 5) == 0 || (code && *text == ' ');
        if (example != code)
            sb_puts(out, example ? "\n```\n" : "```\n\n");
        code = example;
        sb_putn(out, text, n);
        sb_putc(out, '\n');
        text += n + (text[n] == '\n');
    }
    if (code)
        sb_puts(out, "```\n");
}

/* The document docs/errors.md. */
static void errors_manual(Ctx *ctx, StrBuf *out)
{
    static const struct {
        const char *prefix, *title;
    } groups[] = {
        {"E00", "Text"}, {"E01", "Grammar"}, {"E02", "Names and definitions"}, {"E03", "Types and sizes"},
        {"E04", "Levels and memory"}, {"E05", "Limits, and what is not lowered"}, {"E06", "Running"}, {"W07", "Warnings"},
    };
    DiagCode *codes = NEWN(ctx, DiagCode, DIAG_CODE_COUNT + 1);
    int n = 0;
    for (int c = 0; c < (int)DIAG_CODE_COUNT; c++) {
        int at = n++;
        for (; at > 0 && strcmp(diag_code_name(codes[at - 1]), diag_code_name((DiagCode)c)) > 0; at--)
            codes[at] = codes[at - 1];
        codes[at] = (DiagCode)c;
    }
    sb_puts(out, "# Diagnostics\n\nMade from the table `src/support/diag_codes.def`; do not edit. `risec explain CODE` prints the same.\n");
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        bool titled = false;
        for (int i = 0; i < n; i++) {
            if (strncmp(diag_code_name(codes[i]), groups[g].prefix, 3) != 0)
                continue;
            if (!titled)
                sb_printf(out, "\n## %s\n", groups[g].title);
            titled = true;
            sb_printf(out, "\n### %s: %s\n\n", diag_code_name(codes[i]), diag_code_title(codes[i]));
            put_explanation(out, diag_code_explanation(codes[i]));
        }
    }
}

void cmd_help(Ctx *ctx, Driver *d)
{
    const CommandLine *line = d->line;
    const char *docs = option_text(line, OPT_EMIT_DOCS);
    StrBuf out;
    sb_init(&out, ctx);
    if (docs && strcmp(docs, "primitives") == 0) {
        prim_manual(ctx, &out);
    } else if (docs && strcmp(docs, "errors") == 0) {
        errors_manual(ctx, &out);
    } else if (docs && strcmp(docs, "counters") == 0) {
        profile_manual(&out);
    } else if (docs && strcmp(docs, "rules") == 0) {
        rules_manual(ctx, &out);
    } else if (docs && strcmp(docs, "library") == 0) {
        library_manual(ctx, &out);
    } else if (docs && strcmp(docs, "words") == 0) {
        token_words_json(&out);
    } else if (docs) {
        options_manual(&out);
    } else if (line->words.n == 0) {
        options_usage(ctx, &out);
    } else if (line->words.n > 1) {
        driver_usage(ctx, d, E0621, "help is given on one topic at a time: `risec help %s`", line->words.at[0]);
        return;
    } else {
        const char *word = line->words.at[0];
        PrimId id = prim_find(word);
        if (id != P_COUNT)
            prim_help(ctx, &out, id);
        else if (diag_code_find(word) != DIAG_CODE_COUNT) {
            cmd_explain(ctx, d);
            return;
        } else if (strcmp(word, "rules") == 0) {
            StrBuf list;
            sb_init(&list, ctx);
            rules_list(ctx, &list);
            options_put_wrapped(&out, list.text);
        } else if (!put_topic(ctx, &out, word) && !put_option_help(&out, word) && !rules_help(ctx, &out, word) && !put_library(ctx, &out, word)) {
            unknown_topic(ctx, d, word);
            return;
        }
    }
    if (driver_no_errors(ctx, d))
        put(ctx, d, &out);
}

/* ---- explain, version ----------------------------------------------------------------------------------------- */

void cmd_explain(Ctx *ctx, Driver *d)
{
    const CommandLine *line = d->line;
    if (line->words.n != 1) {
        driver_usage(ctx, d, E0621, "`risec explain` takes one code, as in `risec explain E0303`");
        return;
    }
    DiagCode code = diag_code_find(line->words.at[0]);
    if (code == DIAG_CODE_COUNT) {
        Diag *diag = driver_usage(ctx, d, E0621, "there is no diagnostic `%s`", line->words.at[0]);
        DiagCode meant = diag_code_find(ctx_printf(ctx, "E%04d", atoi(line->words.at[0])));
        if (meant != DIAG_CODE_COUNT)
            diag_help(ctx, diag, "did you mean `risec explain %s`?", diag_code_name(meant));
        else
            diag_help(ctx, diag, "codes look like E0303 and stand in square brackets behind `error` or `warning`");
        return;
    }
    StrBuf out;
    sb_init(&out, ctx);
    sb_printf(&out, "%s: %s\n\n", diag_code_name(code), diag_code_title(code));
    options_put_wrapped(&out, diag_code_explanation(code));
    put(ctx, d, &out);
}

void cmd_version(Ctx *ctx, Driver *d)
{
    StrBuf out;
    sb_init(&out, ctx);
    sb_puts(&out, "risec " RISEC_VERSION "\n");
    put(ctx, d, &out);
}
