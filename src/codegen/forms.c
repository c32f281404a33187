/* The one table of what the translation does with each primitive. Rows of the same kind stand together. */
#include "codegen/lowering.h"

const LowerForm lower_forms[P_COUNT] = {
    /* layout without index maps */
    [P_id] = {.write = lower_write_through},
    [P_readOnce] = {lower_cache_hint, lower_write_through},
    [P_keepCached] = {lower_cache_hint, lower_write_through},
    [P_readTogether] = {.read = lower_read_together},
    [P_zip] = {lower_read_zip, lower_write_zip},
    [P_zip3] = {lower_read_zip, lower_write_zip},
    [P_zip4] = {lower_read_zip, lower_write_zip},
    [P_unzip] = {.write = lower_write_unzip},
    [P_generate] = {.read = lower_read_generate},
    [P_gather] = {.read = lower_read_gather},
    [P_reorder] = {.read = lower_read_gather},
    [P_scatter] = {lower_read_scatter, lower_write_scatter},
    [P_scatterUnchecked] = {lower_read_scatter, lower_write_scatter},
    [P_scatterDrop] = {lower_read_scatter, lower_write_scatter},
    [P_concat] = {.read = lower_read_concat},
    [P_asVector] = {lower_read_vectors, lower_write_vectors},
    [P_asScalar] = {lower_read_vectors, lower_write_vectors},
    /* of views */
    [P_map] = {lower_read_map, lower_write_map_view},
    /* scalars */
    [P_indexOr] = {.read = lower_read_index_or},
    /* sequential */
    [P_mapSeq] = {.write = lower_write_map},
    [P_mapSeqUnroll] = {.write = lower_write_map},
    [P_reduceSeq] = {lower_read_reduce, lower_write_reduce},
    [P_reduceSeqUnroll] = {lower_read_reduce, lower_write_reduce},
    [P_scanSeq] = {.write = lower_write_scan},
    [P_scanSeqExcl] = {.write = lower_write_scan},
    [P_circularBuffer] = {.read = lower_read_windows},
    [P_rotateValues] = {.read = lower_read_windows},
    [P_iterate] = {lower_read_iterate, lower_write_iterate},
    /* parallel */
    [P_mapGlobal] = {.write = lower_write_map},
    [P_mapBlock] = {.write = lower_write_map},
    [P_mapThreads] = {.write = lower_write_map},
    [P_mapWarp] = {.write = lower_write_map},
    [P_mapLane] = {.write = lower_write_map},
    /* memory */
    [P_toGlobal] = {lower_read_memory, lower_write_through},
    [P_toShared] = {lower_read_memory, lower_write_through},
    [P_toPrivate] = {lower_read_memory, lower_write_through},
    /* grid */
    [P_repeatKernels] = {lower_read_repeat, NULL},
    [P_nextKernel] = {lower_read_next_kernel, lower_write_next_kernel},
    [P_lastBlock] = {.write = lower_write_last_block},
    [P_gridSync] = {.write = lower_write_grid_sync},
    [P_scanBlocks] = {.write = lower_write_scan_blocks},
    [P_scanRowBlocks] = {.write = lower_write_scan_blocks},
    [P_atomicReduce] = {.write = lower_write_atomic_reduce},
    /* warp */
    [P_shflDown] = {.read = lower_read_shuffle},
    [P_shflUp] = {.read = lower_read_shuffle},
    [P_shflXor] = {.read = lower_read_shuffle},
    [P_shfl] = {.read = lower_read_shuffle},
    [P_broadcast] = {.read = lower_read_shuffle},
    [P_reduceWarp] = {.read = lower_read_reduce_warp},
};
