/* Streams and events of the driver: what is enqueued, and the record. */
#include "fake_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 64, PARAMS = 32 };

typedef enum NodeKind { NODE_KERNEL, NODE_COPY_IN, NODE_COPY_OUT, NODE_COPY_DEVICE, NODE_SET } NodeKind;

typedef struct Node {
    NodeKind kind;
    FakeLaunch launch;
    uint64_t values[PARAMS]; /* of the parameters; recorded by value, as CUDA does */
    void *params[PARAMS];
    void *to;
    const void *from;
    size_t bytes;
    unsigned char value;
} Node;

static Node nodes[NODES];
static int n_nodes;
static bool recording;
static _Thread_local int capture_mode; /* global */
static CUstream recorder;

static void note(const char *fmt, ...)
{
    va_list args;
    if (!fake_gpu.log)
        return;
    pthread_mutex_lock(&fake_lock);
    size_t at = strlen(fake_gpu.log);
    va_start(args, fmt);
    vsnprintf(fake_gpu.log + at, fake_gpu.log_room - at, fmt, args);
    va_end(args);
    pthread_mutex_unlock(&fake_lock);
}

void fake_gpu_record(CUstream stream)
{
    n_nodes = 0;
    recording = true;
    recorder = stream;
}

void fake_gpu_record_end(void) { recording = false; }

void fake_not_recording(const char *what)
{
    if (recording)
        fake_misuse(what);
}

bool fake_is_recording(CUstream stream) { return recording && recorder == stream; }

static const char *node_name(const Node *n)
{
    static const char *const names[] = {[NODE_KERNEL] = "launch", [NODE_COPY_IN] = "copy in", [NODE_COPY_OUT] = "copy out", [NODE_COPY_DEVICE] = "copy", [NODE_SET] = "clear"};
    return n->kind == NODE_KERNEL ? n->launch.name : names[n->kind];
}

static void run_node(const Node *n)
{
    note("%s\n", node_name(n));
    if (n->kind == NODE_KERNEL) {
        fake_count(&fake_gpu.launches, 1);
        if (fake_gpu.kernel)
            fake_gpu.kernel(&n->launch);
    } else if (n->kind == NODE_SET) {
        memset(n->to, n->value, n->bytes);
    } else {
        memcpy(n->to, n->from, n->bytes);
    }
}

/* Bytes of the parameters of a kernel, from its text: a pointer, or a type's name. */
static int param_bytes(const char *param)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"long long", 8}, {"double", 8}, {"short", 2}, {"char", 1}, {"bool", 1}};
    size_t end = strcspn(param, ",)");
    if (memchr(param, '*', end))
        return 8;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const char *at = strstr(param, types[i].name);
        if (at && at < param + end)
            return types[i].bytes;
    }
    return 4;
}

static void keep_params(Node *n)
{
    const FakeFunction *f = n->launch.function;
    const char *param = fake_declaration(f->text, f->name) + strlen(f->name) + 1;
    int k = 0;
    for (bool more = *param != ')'; more && k < PARAMS; k++) {
        memcpy(&n->values[k], n->launch.params[k], (size_t)param_bytes(param));
        n->params[k] = &n->values[k];
        param += strcspn(param, ",)");
        more = *param++ == ',';
    }
    n->launch.params = n->params;
}

/* Now, or as a node of the record. */
static CUresult enqueue(CUstream stream, const Node *n)
{
    if (!fake_is_recording(stream)) {
        run_node(n);
        return CU_SUCCESS;
    }
    note("record %s\n", node_name(n));
    if (n_nodes == NODES) {
        fake_misuse("a record that is too long for the test");
        return 1;
    }
    Node *kept = &nodes[n_nodes++];
    *kept = *n;
    if (kept->kind == NODE_KERNEL)
        keep_params(kept);
    return CU_SUCCESS;
}

void fake_gpu_replay(void)
{
    note("replay\n");
    for (int i = 0; i < n_nodes; i++)
        run_node(&nodes[i]);
}

static CUresult launch(CUstream stream, const FakeLaunch *l)
{
    for (int a = 0; a < 3; a++)
        if (l->grid[a] < 1 || l->block[a] < 1 || (a > 0 && l->grid[a] > 65535))
            fake_misuse("a launch without blocks or threads, or with too many");
    if (l->shared > (unsigned)fake_gpu.max_shared || (l->cooperative && l->grid[0] * l->grid[1] * l->grid[2] > (unsigned)(fake_gpu.sms * fake_gpu.resident)))
        fake_misuse("a launch that is too large");
    Node n = {.kind = NODE_KERNEL, .launch = *l};
    return enqueue(stream, &n);
}

CUresult fake_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
    INSIDE();
    if (extra)
        fake_misuse("both kinds of parameters");
    FakeLaunch l = {((FakeFunction *)f)->name, f, {gx, gy, gz}, {bx, by, bz}, shared, false, stream, params};
    return launch(stream, &l);
}

CUresult fake_launch_cooperative(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params)
{
    INSIDE();
    FakeLaunch l = {((FakeFunction *)f)->name, f, {gx, gy, gz}, {bx, by, bz}, shared, true, stream, params};
    return launch(stream, &l);
}

static CUresult copy(NodeKind kind, CUdeviceptr device, void *to, const void *from, size_t bytes, CUstream stream)
{
    if (!bytes || !fake_gpu_owns(device, bytes)) {
        fake_misuse("a copy to or from what is no memory of the device");
        return CU_SUCCESS;
    }
    Node n = {.kind = kind, .to = to, .from = from, .bytes = bytes};
    return enqueue(stream, &n);
}

CUresult fake_copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    INSIDE();
    return copy(NODE_COPY_IN, to, (void *)(uintptr_t)to, from, bytes, stream);
}

CUresult fake_copy_out(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    INSIDE();
    return copy(NODE_COPY_OUT, from, to, (const void *)(uintptr_t)from, bytes, stream);
}

CUresult fake_copy_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    INSIDE();
    if (!fake_gpu_owns(from, bytes))
        fake_misuse("a copy from what is no memory of the device");
    return copy(NODE_COPY_DEVICE, to, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, stream);
}

CUresult fake_set_bytes(CUdeviceptr memory, unsigned char value, size_t bytes, CUstream stream)
{
    INSIDE();
    Node n = {.kind = NODE_SET, .to = (void *)(uintptr_t)memory, .value = value, .bytes = bytes};
    if (fake_gpu_owns(memory, bytes))
        return enqueue(stream, &n);
    fake_misuse("clearing what is no memory of the device");
    return CU_SUCCESS;
}

CUresult fake_stream_create(CUstream *stream, unsigned flags)
{
    INSIDE();
    if (flags != CU_STREAM_NON_BLOCKING)
        fake_misuse("a stream that waits for others");
    *stream = malloc(1);
    fake_keep(fake_streams, *stream, &fake_gpu.streams);
    return CU_SUCCESS;
}

CUresult fake_stream_destroy(CUstream stream)
{
    BACK();
    if (fake_drop(fake_streams, stream, &fake_gpu.streams))
        free(stream);
    else
        fake_misuse("destroyed what is no stream");
    return CU_SUCCESS;
}

CUresult fake_stream_capturing(CUstream stream, int *status)
{
    INSIDE();
    *status = fake_is_recording(stream);
    return CU_SUCCESS;
}

CUresult fake_capture_mode(int *mode)
{
    INSIDE();
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return CU_SUCCESS;
}

static void fake_not_unsafe(const char *what)
{
    if (capture_mode != CU_CAPTURE_RELAXED)
        fake_not_recording(what);
}

CUresult fake_stream_query(CUstream stream)
{
    INSIDE();
    fake_not_unsafe("asking about a stream while one records");
    if (fake_is_recording(stream))
        fake_misuse("asking a stream that is recording");
    return fake_gpu.busy_stream ? CU_NOT_READY : CU_SUCCESS;
}

CUresult fake_stream_synchronize(CUstream stream)
{
    INSIDE();
    fake_not_unsafe("waiting for a stream while one records");
    if (fake_is_recording(stream))
        fake_misuse("waiting for a stream that is recording");
    return CU_SUCCESS;
}

CUresult fake_stream_wait(CUstream stream, CUevent event, unsigned flags)
{
    INSIDE();
    (void)flags;
    if (!event || fake_is_recording(stream))
        fake_misuse("waiting for no event, or while recording");
    return CU_SUCCESS;
}

CUresult fake_event_create(CUevent *event, unsigned flags)
{
    INSIDE();
    (void)flags;
    *event = malloc(1);
    fake_keep(fake_events, *event, &fake_gpu.events);
    return CU_SUCCESS;
}

CUresult fake_event_record(CUevent event, CUstream stream)
{
    INSIDE();
    if (!event || fake_is_recording(stream))
        fake_misuse("an event that is none, or that would end up in a record");
    return CU_SUCCESS;
}

CUresult fake_event_query(CUevent event)
{
    INSIDE();
    fake_not_unsafe("asking about an event while a stream records");
    if (!event)
        fake_misuse("asking no event");
    return fake_gpu.busy_event ? CU_NOT_READY : CU_SUCCESS;
}

CUresult fake_event_destroy(CUevent event)
{
    BACK();
    if (fake_drop(fake_events, event, &fake_gpu.events))
        free(event);
    else
        fake_misuse("destroyed what is no event");
    return CU_SUCCESS;
}
