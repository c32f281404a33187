/* ---- the CUDA driver ---- */

struct sum_driver_ {
    void *library;
    int (*init)(unsigned flags);
    int (*error_string)(int error, const char **text);
    int (*device_get)(int *device, int ordinal);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*primary_retain)(void **context, int device);
    int (*context_current)(void **context);
    int (*context_set)(void *context);
    int (*context_device)(int *device);
    int (*context_id)(void *context, unsigned long long *id); /* NULL before CUDA 12 */
    int (*module_load)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    int (*function_set)(void *function, int attribute, int value);
    int (*occupancy)(int *blocks, void *function, int threads, size_t shared);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, void *stream, void **args, void **extra);
    int (*launch_cooperative)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void *stream, void **args);
    int (*set_bytes)(unsigned long long memory, unsigned char value, size_t bytes, void *stream);
    int (*memory_info)(size_t *unused, size_t *all);
    int (*memory_alloc)(unsigned long long *memory, size_t bytes);
    int (*memory_free)(unsigned long long memory);
    int (*copy_in)(unsigned long long to, const void *from, size_t bytes, void *stream);
    int (*copy_out)(void *to, unsigned long long from, size_t bytes, void *stream);
    int (*stream_wait)(void *stream);
};

/* A CUDA context in which kernels were asked for. */
struct sum_context_ {
    struct sum_context_ *next;
    void *context;
    unsigned long long id; /* a later context may have the same address */
    int arch, multiprocessors;
    void *module;
    struct {
        void *function;
        size_t shared; /* that it may have */
    } kernels[SUM_KERNELS_];
};

static pthread_mutex_t sum_lock_ = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static struct sum_driver_ sum_cuda_;
static struct sum_context_ *sum_contexts_;

static int sum_open_(void)
{
    static const struct {
        const char *name;
        size_t at;
    } symbols[] = {
        {"cuInit", offsetof(struct sum_driver_, init)},
        {"cuGetErrorString", offsetof(struct sum_driver_, error_string)},
        {"cuDeviceGet", offsetof(struct sum_driver_, device_get)},
        {"cuDeviceGetAttribute", offsetof(struct sum_driver_, device_attribute)},
        {"cuDevicePrimaryCtxRetain", offsetof(struct sum_driver_, primary_retain)},
        {"cuCtxGetCurrent", offsetof(struct sum_driver_, context_current)},
        {"cuCtxSetCurrent", offsetof(struct sum_driver_, context_set)},
        {"cuCtxGetDevice", offsetof(struct sum_driver_, context_device)},
        {"cuModuleLoadData", offsetof(struct sum_driver_, module_load)},
        {"cuModuleUnload", offsetof(struct sum_driver_, module_unload)},
        {"cuModuleGetFunction", offsetof(struct sum_driver_, module_function)},
        {"cuFuncSetAttribute", offsetof(struct sum_driver_, function_set)},
        {"cuOccupancyMaxActiveBlocksPerMultiprocessor", offsetof(struct sum_driver_, occupancy)},
        {"cuLaunchKernel", offsetof(struct sum_driver_, launch)},
        {"cuLaunchCooperativeKernel", offsetof(struct sum_driver_, launch_cooperative)},
        {"cuMemsetD8Async", offsetof(struct sum_driver_, set_bytes)},
        {"cuMemGetInfo_v2", offsetof(struct sum_driver_, memory_info)},
        {"cuMemAlloc_v2", offsetof(struct sum_driver_, memory_alloc)},
        {"cuMemFree_v2", offsetof(struct sum_driver_, memory_free)},
        {"cuMemcpyHtoDAsync_v2", offsetof(struct sum_driver_, copy_in)},
        {"cuMemcpyDtoHAsync_v2", offsetof(struct sum_driver_, copy_out)},
        {"cuStreamSynchronize", offsetof(struct sum_driver_, stream_wait)},
        {"cuCtxGetId", offsetof(struct sum_driver_, context_id)}};
    enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };
    struct sum_driver_ found;
    int error;
    if (sum_cuda_.library)
        return SUM_OK;
    found.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!found.library)
        return SUM_ERROR_NO_DRIVER;
    for (int i = 0; i < SYMBOLS; i++) {
        void *address = dlsym(found.library, symbols[i].name);
        if (!address && i < SYMBOLS - 1)
            return SUM_ERROR_OLD_DRIVER;
        memcpy((char *)&found + symbols[i].at, &address, sizeof address);
    }
    error = found.init(0);
    if (!error)
        sum_cuda_ = found;
    /* The linker's stub; no GPU. */
    return error == 34 ? SUM_ERROR_NO_DRIVER : error == 100 ? SUM_ERROR_DEVICE : error;
}

static int sum_describe_(struct sum_context_ *here)
{
    int device = 0, major = 0, minor = 0;
    int error = sum_cuda_.context_device(&device);
    if (!error)
        error = sum_cuda_.device_attribute(&here->multiprocessors, 16, device);
    if (!error)
        error = sum_cuda_.device_attribute(&major, 75, device);
    if (!error)
        error = sum_cuda_.device_attribute(&minor, 76, device);
    here->arch = 10 * major + minor;
    return error;
}

/* The current context, which *here gets; NULL: nothing was asked for in it. `add`: it is now. */
static int sum_find_(int add, struct sum_context_ **here)
{
    void *context = NULL;
    unsigned long long id = 0;
    struct sum_context_ *at;
    int error = sum_open_();
    *here = NULL;
    if (!error)
        error = sum_cuda_.context_current(&context);
    if (!error && !context)
        error = SUM_ERROR_NO_CONTEXT;
    if (!error && sum_cuda_.context_id)
        error = sum_cuda_.context_id(context, &id);
    if (error)
        return error;
    for (at = sum_contexts_; at && at->context != context; at = at->next)
        continue;
    if (at && at->id != id) { /* that one is gone, and its module with it */
        struct sum_context_ *next = at->next;
        memset(at, 0, sizeof *at);
        at->next = next;
        at->context = context;
        error = sum_describe_(at);
        at->id = error ? ~id : id;
    }
    if (!at && add) {
        at = (struct sum_context_ *)calloc(1, sizeof *at);
        if (!at)
            return SUM_ERROR_MEMORY;
        at->context = context;
        at->id = id;
        error = sum_describe_(at);
        if (error) {
            free(at);
            return error;
        }
        at->next = sum_contexts_;
        sum_contexts_ = at;
    }
    *here = at;
    return error;
}

/* The newest cubin that the GPU runs and the driver knows, else PTX, which the driver compiles. */
static int sum_load_module_(struct sum_context_ *here)
{
    int error = SUM_ERROR_DEVICE;
    for (int i = 0; !here->module && i < SUM_CODES_; i++) {
        const int arch = sum_codes_[i].arch;
        void *module = NULL;
        if (arch > here->arch || (!sum_codes_[i].ptx && arch / 10 != here->arch / 10))
            continue;
        error = sum_cuda_.module_load(&module, sum_codes_[i].bytes);
        if (!error)
            here->module = module;
        else if (error == 200 || error == 209 || error == 222) /* image, GPU or PTX unknown to it */
            error = SUM_ERROR_OLD_DRIVER;
        else
            break;
    }
    return here->module ? SUM_OK : error;
}

static int sum_load_kernel_(struct sum_context_ *here, int kernel, size_t shared)
{
    enum { MAX_DYNAMIC_SHARED = 8 };
    int error = shared > 0x7fffffff ? SUM_ERROR_SIZE : sum_load_module_(here);
    if (!error && !here->kernels[kernel].function)
        error = sum_cuda_.module_function(&here->kernels[kernel].function, here->module,
                                          sum_kernel_names_[kernel]);
    if (!error && shared > here->kernels[kernel].shared) {
        error = sum_cuda_.function_set(here->kernels[kernel].function, MAX_DYNAMIC_SHARED,
                                       (int)shared);
        if (!error)
            here->kernels[kernel].shared = shared;
    }
    return error;
}

/* ---- numbers ---- */

static inline long long sum_nat_min_(long long a, long long b) { return a < b ? a : b; }
static inline long long sum_nat_max_(long long a, long long b) { return a > b ? a : b; }
static inline double sum_nat_min_double_(double a, double b) { return a < b ? a : b; }
static inline double sum_nat_max_double_(double a, double b) { return a > b ? a : b; }
static inline long long sum_floor_div_(long long a, long long b) { return a / b - (a % b < 0); }
static inline long long sum_floor_mod_(long long a, long long b)
{
    return a % b < 0 ? a % b + b : a % b;
}

static inline long long sum_nat_log2_(long long a)
{
    long long r = 0;
    while (a >>= 1)
        r++;
    return r;
}

static inline long long sum_nat_pow_(long long a, long long b)
{
    long long r = 1;
    for (; b > 1; b /= 2, a *= a)
        r = b % 2 ? r * a : r;
    return b ? r * a : r;
}

/* Of whole numbers. */
static inline double sum_nat_pow_double_(double a, double b)
{
    double r = 1;
    for (long long k = (long long)b; k > 0; k /= 2, a *= a)
        r = k % 2 ? r * a : r;
    return r;
}

/* ---- what the functions below ask of the driver ---- */

/* The driver is there, and a context of it current. */
static int sum_ready_(void)
{
    struct sum_context_ *here;
    int error;
    pthread_mutex_lock(&sum_lock_);
    error = sum_find_(0, &here);
    pthread_mutex_unlock(&sum_lock_);
    return error;
}

static inline int sum_multiprocessors_(long long *count)
{
    struct sum_context_ *here;
    int error;
    pthread_mutex_lock(&sum_lock_);
    error = sum_find_(1, &here);
    *count = error ? 0 : here->multiprocessors;
    pthread_mutex_unlock(&sum_lock_);
    return error;
}

static int sum_kernel_(int kernel, size_t shared, void **function, long long *multiprocessors)
{
    struct sum_context_ *here;
    int error;
    pthread_mutex_lock(&sum_lock_);
    error = sum_find_(1, &here);
    if (!error)
        error = sum_load_kernel_(here, kernel, shared);
    *function = error ? NULL : here->kernels[kernel].function;
    *multiprocessors = error ? 0 : here->multiprocessors;
    pthread_mutex_unlock(&sum_lock_);
    return error;
}

/* Blocks of a kernel that fit on the current device at once. */
static inline int sum_resident_(int kernel, int threads, size_t shared, long long *count)
{
    void *function;
    int each = 0;
    int error = sum_kernel_(kernel, shared, &function, count);
    if (!error)
        error = sum_cuda_.occupancy(&each, function, threads, shared);
    *count *= each;
    return error;
}

/* Fails where the current device has less memory. Up to 1 GB it is not asked. */
static inline int sum_fits_(size_t bytes)
{
    size_t unused, all = bytes;
    int error;
    if (bytes <= (size_t)1 << 30)
        return SUM_OK;
    error = sum_ready_();
    if (!error)
        error = sum_cuda_.memory_info(&unused, &all);
    return !error && bytes > all ? SUM_ERROR_DEVICE_MEMORY : error;
}

static inline int sum_clear_(void *memory, size_t bytes, void *stream)
{
    int error = sum_ready_();
    return error ? error
                 : sum_cuda_.set_bytes((unsigned long long)(size_t)memory, 0, bytes, stream);
}

static inline int sum_call_(int kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, size_t shared, void *stream, void **args)
{
    void *function;
    long long unused;
    int error = sum_kernel_(kernel, shared, &function, &unused);
    return error ? error
                 : sum_cuda_.launch(function, gx, gy, gz, bx, by, bz, (unsigned)shared, stream,
                                    args, NULL);
}

static inline int sum_call_cooperative_(int kernel, unsigned gx, unsigned gy, unsigned gz,
                                        unsigned bx, unsigned by, unsigned bz, size_t shared,
                                        void *stream, void **args)
{
    void *function;
    long long unused;
    int error = sum_kernel_(kernel, shared, &function, &unused);
    return error ? error
                 : sum_cuda_.launch_cooperative(function, gx, gy, gz, bx, by, bz, (unsigned)shared,
                                                stream, args);
}

/* ---- what every header has ---- */

const char *sum_error_text(int error)
{
    const char *text = NULL;
    switch (error) {
    case SUM_OK:
        return "no error";
    case SUM_ERROR_NO_DRIVER:
        return "there is no CUDA driver: looked for libcuda.so.1, which NVIDIA's driver installs";
    case SUM_ERROR_OLD_DRIVER:
        return "the CUDA driver is too old for this code";
    case SUM_ERROR_DEVICE:
        return "there is no such GPU, or this header has no code for it";
    case SUM_ERROR_NO_CONTEXT:
        return "no CUDA context is current in this thread; sum_use_device makes one current";
    case SUM_ERROR_SIZE:
        return "a size is negative or too large, or breaks a condition of the program";
    case SUM_ERROR_OVERFLOW:
        return "for these sizes an array has more elements than the kernels can count";
    case SUM_ERROR_WORKSPACE:
        return "the workspace is NULL, too small for these sizes, or no multiple of 16";
    case SUM_ERROR_DEVICE_MEMORY:
        return "the GPU has less memory than the workspace needs for these sizes";
    case SUM_ERROR_MEMORY:
        return "the host has no memory left";
    }
    pthread_mutex_lock(&sum_lock_);
    if (sum_cuda_.library && sum_cuda_.error_string(error, &text))
        text = NULL;
    pthread_mutex_unlock(&sum_lock_);
    return text ? text : "an error of the CUDA driver, by its number";
}

int sum_load(void)
{
    struct sum_context_ *here;
    int error;
    pthread_mutex_lock(&sum_lock_);
    error = sum_find_(1, &here);
    for (int kernel = 0; !error && kernel < SUM_KERNELS_; kernel++)
        error = sum_load_kernel_(here, kernel, 0);
    pthread_mutex_unlock(&sum_lock_);
    return error;
}

int sum_unload(void)
{
    struct sum_context_ *here, **at = &sum_contexts_;
    int error;
    pthread_mutex_lock(&sum_lock_);
    error = sum_find_(0, &here);
    if (here) {
        if (here->module)
            error = sum_cuda_.module_unload(here->module);
        while (*at != here)
            at = &(*at)->next;
        *at = here->next;
        free(here);
    }
    pthread_mutex_unlock(&sum_lock_);
    return error;
}

int sum_use_device(int device)
{
    void *context = NULL;
    int handle = 0, error;
    pthread_mutex_lock(&sum_lock_);
    error = sum_open_();
    pthread_mutex_unlock(&sum_lock_);
    if (error)
        return error;
    error = sum_cuda_.device_get(&handle, device);
    if (error == 101) /* there is none of this number */
        return SUM_ERROR_DEVICE;
    if (!error)
        error = sum_cuda_.primary_retain(&context, handle);
    return error ? error : sum_cuda_.context_set(context);
}

int sum_device_alloc(void **memory, size_t bytes)
{
    unsigned long long address = 0;
    int error = sum_ready_();
    if (!error)
        error = sum_cuda_.memory_alloc(&address, bytes ? bytes : 1);
    *memory = (void *)(size_t)address;
    return error;
}

int sum_device_free(void *memory)
{
    int error = memory ? sum_ready_() : SUM_OK;
    return error || !memory ? error : sum_cuda_.memory_free((unsigned long long)(size_t)memory);
}

int sum_wait(void *stream)
{
    int error = sum_ready_();
    return error ? error : sum_cuda_.stream_wait(stream);
}

int sum_copy_to_device(void *to, const void *from, size_t bytes, void *stream)
{
    int error = sum_ready_();
    if (!error && bytes)
        error = sum_cuda_.copy_in((unsigned long long)(size_t)to, from, bytes, stream);
    return error ? error : sum_wait(stream);
}

int sum_copy_to_host(void *to, const void *from, size_t bytes, void *stream)
{
    int error = sum_ready_();
    if (!error && bytes)
        error = sum_cuda_.copy_out(to, (unsigned long long)(size_t)from, bytes, stream);
    return error ? error : sum_wait(stream);
}
