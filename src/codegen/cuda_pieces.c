/* The text of one kernel alone, cut out of the text of its entry: what a host that compiles kernels one by one hands to NVRTC. */
#include "codegen/cuda_internal.h"

void cuda_pieces_init(Ctx *ctx, CudaPieces *pieces, int n)
{
    *pieces = (CudaPieces){.n = n,
                           .at = NEWN(ctx, CudaPiece, n + 1),
                           .helpers = NEWN(ctx, uint16_t, 1),
                           .functions = NEWN(ctx, CudaRange, 1)};
}

static void add_helpers(Ctx *ctx, CudaPieces *pieces, const uint32_t *helpers)
{
    int n = pieces->n_helpers;
    for (int h = 0; h < HELP_COUNT; h++)
        n += __builtin_popcount(helpers[h]);
    uint16_t *all = NEWN(ctx, uint16_t, n + 1);
    memcpy(all, pieces->helpers, sizeof *all * (size_t)pieces->n_helpers);
    for (int h = 0; h < HELP_COUNT; h++)
        for (int t = 0; t < SC_COUNT; t++)
            if (helpers[h] & 1u << t)
                all[pieces->n_helpers++] = (uint16_t)(h * SC_COUNT + t);
    pieces->helpers = all;
}

void cuda_pieces_add(Ctx *ctx, CudaPieces *pieces, int k, CudaPiece piece, const Cuda *c,
                     const ImpKernel *kernel)
{
    uint32_t helpers[HELP_COUNT];
    int n = pieces->n_functions;
    for (const CudaFunction *f = c->functions; f->imp; f++)
        n += cuda_is_called(f, kernel);
    CudaRange *all = NEWN(ctx, CudaRange, n + 1);
    memcpy(helpers, c->helpers, sizeof helpers);
    memcpy(all, pieces->functions, sizeof *all * (size_t)pieces->n_functions);
    piece.first_helper = pieces->n_helpers;
    piece.first_function = pieces->n_functions;
    for (const CudaFunction *f = c->functions; f->imp; f++) {
        if (!cuda_is_called(f, kernel))
            continue;
        all[pieces->n_functions++] = (CudaRange){f->from, f->to};
        for (int h = 0; h < HELP_COUNT; h++)
            helpers[h] |= f->helpers[h];
    }
    pieces->functions = all;
    add_helpers(ctx, pieces, helpers);
    piece.end_helper = pieces->n_helpers;
    piece.end_function = pieces->n_functions;
    pieces->at[k] = piece;
}

/* Takes the words out that let loads pass stores. */
static void put_in_place(uint32_t *helpers, StrBuf *out)
{
    sb_puts(out, "/* Results may be stored over inputs: each load is where it stands. */\n"
                 "#define __restrict__\n#define __ldcs(at) (*(at))\n"
                 "template <typename T> static __device__ __forceinline__ T load_kept(const T *at) { return *at; }\n"
                 "template <typename T> static __device__ __forceinline__ T load_once(const T *at) { return *at; }\n\n");
    helpers[HELP_LOAD_KEPT] = helpers[HELP_LOAD_ONCE] = 0;
}

void cuda_piece_text(const CudaPieces *pieces, int k, const char *text, bool in_place, StrBuf *out)
{
    const CudaPiece *piece = &pieces->at[k];
    uint32_t helpers[HELP_COUNT] = {0};
    for (int i = piece->first_helper; i < piece->end_helper; i++)
        helpers[pieces->helpers[i] / SC_COUNT] |= 1u << pieces->helpers[i] % SC_COUNT;
    if (in_place)
        put_in_place(helpers, out);
    cuda_put_helpers(helpers, out);
    for (int i = piece->first_function; i < piece->end_function; i++)
        sb_putn(out, text + pieces->functions[i].from,
                pieces->functions[i].to - pieces->functions[i].from);
    sb_putn(out, text + piece->body, piece->end_body - piece->body);
    sb_putn(out, text + piece->from, piece->to - piece->from);
}
