/* What the language server works out is given up at each look at the brake, one after the other:
 * nothing crashes or leaks, and the next try gives what it gives without. Run by
 * tests/scripts/lsp.py, also under the sanitizers.
 *
 *     lsp_brakes SEED MOST     at most so many looks of each feature, drawn where there are more */
#include <fcntl.h>
#include <unistd.h>

#include "lsp/diagnostics.h"
#include "lsp/request.h"
#include "unit.h"

static const char text[] = "def twice {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)\n"
                           "entry sum {n: nat} (xs: n.f32): f32 =\n"
                           "  let ys = twice(xs) in ys |> reduce((+), unknown)\n";

static const char good[] = "entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n";

typedef struct Feature {
    const char *name;
    void (*answer)(Request *r);
    const char *params;
    bool resolves; /* it finds its document by itself */
} Feature;

#define OF_TEXT "\"textDocument\":{\"uri\":\"file:///a.rise\"}"
#define RANGE \
    "\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":9,\"character\":0}}"

static const Feature features[] = {
    {"completion", feature_completion, "{" OF_TEXT "}", false},
    {"resolve", feature_completion_resolve, "{\"label\":\"twice\",\"data\":\"file:///a.rise\"}", true},
    {"hover", feature_hover, "{" OF_TEXT "}", false},
    {"definition", feature_definition, "{" OF_TEXT "}", false},
    {"references", feature_references, "{" OF_TEXT "}", false},
    {"highlight", feature_highlight, "{" OF_TEXT "}", false},
    {"rename", feature_rename, "{" OF_TEXT ",\"newName\":\"zs\"}", false},
    {"symbols", feature_symbols, "{" OF_TEXT "}", false},
    {"inlay", feature_inlay, "{" OF_TEXT "," RANGE "}", false},
    {"tokens", feature_semantic_tokens, "{" OF_TEXT "}", false},
    {"diagnostic", feature_diagnostic, "{" OF_TEXT "}", false},
    {"action", feature_code_action, "{" OF_TEXT "," RANGE "}", false},
    {"format", feature_format, "{" OF_TEXT "}", false},
    {"plan", feature_command,
     "{\"command\":\"risec.plan\",\"arguments\":[\"file:///b.rise\",\"sum\"]}", true},
};

typedef struct Run {
    const Feature *feature;
    Request request;
} Run;

static void answer(Ctx *ctx, void *user)
{
    Run *run = user;
    run->request.ctx = ctx;
    sb_init(&run->request.out, ctx);
    run->feature->answer(&run->request);
    ctx_look(ctx);
}

/* The answer, of malloc; NULL: it was given up. */
static char *ask(Workspace *w, const Feature *feature, const json_t *params)
{
    Run run = {.feature = feature, .request = {.workspace = w, .params = params}};
    Request *r = &run.request;
    FileAccess files = workspace_files(w);
    Ctx *ctx = NULL;
    char *result = NULL;
    for (Document *doc = w->documents.first; doc; doc = doc->next)
        document_forget(doc);
    if (feature->resolves) {
        ctx = ctx_new(NULL, &files);
        ctx->brake = w->brake;
    } else {
        r->doc = w->documents.first;
        r->at = (uint32_t)(strstr(text, "ys |>") - text);
        r->analysis = analysis_of(w, r->doc);
        ctx = r->analysis ? ctx_new_inside(r->analysis->ctx, NULL, &files) : NULL;
    }
    if (ctx && ctx_try(ctx, answer, &run))
        result = strdup(r->out.text);
    ctx_free(r->more);
    ctx_free(ctx);
    return result;
}

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static void try_feature(Workspace *w, const Feature *feature, uint64_t most)
{
    json_t *params = json_loads(feature->params, 0, NULL);
    Brake *brake = w->brake;
    *brake = (Brake){0};
    char *wanted = ask(w, feature, params);
    uint64_t looks = brake->looks, given_up = 0;
    CHECK(params && wanted && looks > 10);
    for (uint64_t i = 0; i < (looks < most ? looks : most); i++) {
        *brake = (Brake){.pull_at = looks < most ? i + 1 : 1 + draw(looks)};
        char *got = ask(w, feature, params);
        given_up += got == NULL;
        free(got);
    }
    *brake = (Brake){0};
    char *again = ask(w, feature, params);
    CHECK(again && wanted && strcmp(again, wanted) == 0);
    CHECK(given_up > 0);
    printf("%s: %llu looks, %llu times given up\n", feature->name, (unsigned long long)looks,
           (unsigned long long)given_up);
    free(again);
    free(wanted);
    json_decref(params);
}

/* The search goes on after each time until it is done. */
static void try_search(Workspace *w, Document *doc, size_t errors, uint64_t most)
{
    Transport transport = {.out = open("/dev/null", O_WRONLY)};
    documents_to_front(&w->documents, doc);
    for (uint64_t i = 0; i < most; i++) {
        document_forget(doc);
        json_decref(doc->found_before);
        doc->found_before = NULL;
        doc->version++;
        *w->brake = (Brake){.pull_at = i < most / 2 ? i + 1 : 1 + draw(200000)};
        for (int step = 0; step < 10 && doc->undiagnosed; step++) {
            diagnostics_step(w, &transport);
            if (w->brake->pulled)
                *w->brake = (Brake){0};
        }
        CHECK(!doc->undiagnosed && json_array_size(doc->found) == errors);
    }
    close(transport.out);
}

int main(int argc, char **argv)
{
    Brake brake = {0};
    Ctx *plain = ctx_new(NULL, NULL);
    Workspace w = {.below = plain->files, .brake = &brake};
    ctx_free(plain);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    documents_open(&w.documents, "file:///b.rise", good, sizeof good - 1, 1);
    documents_open(&w.documents, "file:///a.rise", text, sizeof text - 1, 1);
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        try_feature(&w, &features[i], most);
    Document *wrong = w.documents.first, *right = wrong->next;
    try_search(&w, wrong, 1, most);
    try_search(&w, right, 0, most);
    while (w.documents.first)
        documents_close(&w.documents, w.documents.first);
    return unit_end();
}
