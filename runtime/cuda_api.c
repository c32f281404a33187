#include "cuda_api.h"

static const char SONAME[] = "libcuda.so.1";

int cuda_api_load(const LibraryLoader *loader, CudaApi *api, rise_error *error)
{
    static const LibrarySymbol symbols[] = {
#define CUDA_FN(name, symbol, params) {symbol, offsetof(CudaApi, name), false},
#include "cuda_api.def"
#undef CUDA_FN
    };
    void *library = loader->open(loader->user, SONAME);
    if (!library)
        return rise_fail(error, RISE_ERROR_DEVICE, "there is no CUDA driver: looked for %s, which NVIDIA's driver installs; the simulator needs none", SONAME);
    const char *missing = library_symbols(loader, library, (int)(sizeof symbols / sizeof symbols[0]), symbols, api);
    if (missing)
        return rise_fail(error, RISE_ERROR_DEVICE, "%s has no %s: the driver is older than CUDA %d.%d; the simulator needs none", SONAME, missing,
                         CUDA_DRIVER_OLDEST / 1000, CUDA_DRIVER_OLDEST % 1000 / 10);
    return RISE_OK;
}
