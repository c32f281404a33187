/* The text of one kernel alone, cut out of the text of its entry: what a host that compiles kernels one by one hands to NVRTC. */
#include "codegen/cuda_internal.h"

void cuda_pieces_init(Ctx *ctx, CudaPieces *pieces, int n)
{
    pieces->n = n;
    pieces->at = NEWN(ctx, CudaPiece, n + 1);
    pieces->helpers = NEWN(ctx, uint16_t, 1);
    pieces->n_helpers = 0;
}

void cuda_pieces_add(Ctx *ctx, CudaPieces *pieces, int k, CudaPiece piece, const uint32_t *helpers)
{
    int n = pieces->n_helpers;
    for (int h = 0; h < HELP_COUNT; h++)
        n += __builtin_popcount(helpers[h]);
    uint16_t *all = NEWN(ctx, uint16_t, n + 1);
    memcpy(all, pieces->helpers, sizeof *all * (size_t)pieces->n_helpers);
    piece.first_helper = pieces->n_helpers;
    piece.end_helper = n;
    pieces->at[k] = piece;
    for (int h = 0; h < HELP_COUNT; h++)
        for (int t = 0; t < SC_COUNT; t++)
            if (helpers[h] & 1u << t)
                all[pieces->n_helpers++] = (uint16_t)(h * SC_COUNT + t);
    pieces->helpers = all;
}

void cuda_piece_text(const CudaPieces *pieces, int k, const char *text, StrBuf *out)
{
    const CudaPiece *piece = &pieces->at[k];
    uint32_t helpers[HELP_COUNT] = {0};
    for (int i = piece->first_helper; i < piece->end_helper; i++)
        helpers[pieces->helpers[i] / SC_COUNT] |= 1u << pieces->helpers[i] % SC_COUNT;
    cuda_put_helpers(helpers, out);
    sb_putn(out, text + piece->body, piece->end_body - piece->body);
    sb_putn(out, text + piece->from, piece->to - piece->from);
}
