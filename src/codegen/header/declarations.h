/* What all functions give: 0, one of these numbers, which never change, or an error of the CUDA
 * driver (CUresult), which is above 0. */
enum sum_error {
    SUM_OK = 0,
    SUM_ERROR_NO_DRIVER = -1,     /* there is no libcuda.so.1 */
    SUM_ERROR_OLD_DRIVER = -2,    /* the driver is too old for this code */
    SUM_ERROR_DEVICE = -3,        /* there is no such GPU, or no code here for it */
    SUM_ERROR_NO_CONTEXT = -4,    /* no CUDA context is current in this thread */
    SUM_ERROR_SIZE = -5,          /* a size is out of range, or breaks a condition of the program */
    SUM_ERROR_OVERFLOW = -6,      /* an array would have more elements than kernels can count */
    SUM_ERROR_WORKSPACE = -7,     /* too few bytes, NULL, or no multiple of 16 */
    SUM_ERROR_DEVICE_MEMORY = -8, /* the GPU has less memory than the workspace needs */
    SUM_ERROR_MEMORY = -9         /* the host has no memory left */
};

/* A sentence, which lives as long as the program. */
const char *sum_error_text(int error);

/* Loads all kernels into the current CUDA context. A launch loads what it needs, so this only says
 * when: before a stream records, for one. */
int sum_load(void);
/* Takes them out of the current CUDA context again, when all launches there are done. */
int sum_unload(void);

/* For programs that use nothing else of CUDA. The first makes the GPU's primary context current in
 * this thread. Copies wait until they are done, after what the stream has before them. */
int sum_use_device(int device);
int sum_device_alloc(void **memory, size_t bytes);
int sum_device_free(void *memory);
int sum_copy_to_device(void *to, const void *from, size_t bytes, void *stream);
int sum_copy_to_host(void *to, const void *from, size_t bytes, void *stream);
int sum_wait(void *stream);
