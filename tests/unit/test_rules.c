/* Every rule of the library is a claim: here it is tested as one, by rewrite/laws.c, which says how.
 *
 *     test_rules [--trials N] [--seed N] [--rule NAME] [-v] MODULE...        rules.algorithmic and so on
 *
 * Each rule has to fire, no trial may give another result or a term that is not well typed, and each condition has to be shown to be needed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "executors.h"
#include "rewrite/laws.h"

static long checks, wrong, classes, needed[NEEDED_BY_VALUE + 1]; /* needed: conditions of each kind */

static const char *const result_names[LAW_RESULTS] = {"untyped", "refused", "no right side", "ill typed", "same", "another result", "not run"};

/* Each trial, and each result that is another one although all conditions were there. */
static void seen(void *user, const LawTrial *trial, const LawOutcome *o)
{
    const bool *all = user;
    bool other = o->result == LAW_OTHER && trial->without < 0 && !trial->shape;
    if (!*all && !other)
        return;
    printf("%s: %s%s, seed %" PRIu64 ": %s\n%s\n", trial->rule, result_names[o->result], trial->without < 0 ? "" : " without a condition", trial->seed,
           o->why ? o->why : "", o->left ? o->left : "");
    if (!o->after)
        return;
    StrBuf sb;
    sb_init(&sb, o->ctx);
    core_print_entry(&sb, o->after);
    printf("became\n%s\n", sb.text);
}

/* How many branches no trial can enter, by their rule. */
static int out_of_reach(const char *rule)
{
    static const struct {
        const char *rule;
        int branches;
    } rows[] = {{"firstToDevice", 1}, {"firstPlaceToDevice", 1}, {"firstThenToDevice", 1}, {"firstPlaceThenToDevice", 1}}; /* places of 64 bits, which begin with 2^31 elements */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].rule, rule) == 0)
            return rows[i].branches;
    return 0;
}

static void test_rule(Ctx *ctx, const LawFile *file, const Item *rule, long trials, uint64_t seed, bool all)
{
    LawReport r;
    law_test(ctx, file, rule->name, &(LawHow){.seed = seed, .trials = trials, .seen = seen, .user = &all}, &r);
    checks += 2 + rule->n_where;
    wrong += r.wrong;
    if (r.enough && r.counts[LAW_SAME] == 0) {
        wrong++;
        printf("%s never fires: %s\n", rule->name, r.refusal ? r.refusal : "?");
    }
    for (int i = 0; i < rule->n_where && i < LAW_CONDITIONS; i++) {
        needed[r.needed[i]]++;
        if (all && r.needed[i] == NEEDED_BY_CHECK)
            printf("%s: condition %d is needed by another check only\n", rule->name, i + 1);
    }
    for (int i = 0; i < rule->n_where && i < LAW_CONDITIONS && r.enough && !r.wrong; i++)
        if (!r.needed[i]) {
            wrong++;
            printf("%s: condition %d is not shown to be needed\n", rule->name, i + 1);
        }
    long entered = 0;
    int unreached = 0;
    for (int i = 0; i < r.n_classes; i++) {
        entered += r.classes[i].entered;
        if (r.enough && !r.wrong && !r.classes[i].entered && unreached++ >= out_of_reach(rule->name)) {
            wrong++;
            printf("%s: no trial was where the test at %s %s\n", rule->name, r.classes[i].where, r.classes[i].holds ? "holds" : "does not hold");
        }
    }
    checks += r.n_classes;
    classes += entered;
    printf("  %-24s fired %4ld, refused %4ld, left side untyped %4ld%s\n", rule->name, r.counts[LAW_SAME], r.counts[LAW_REFUSED] + r.counts[LAW_NO_RIGHT], r.counts[LAW_UNTYPED],
           r.wrong ? "  WRONG" : "");
}

/* lib/rules/algorithmic.rise of rules.algorithmic */
static char *path_of(const char *module)
{
    size_t size = strlen(module) + sizeof "lib/.rise";
    char *path = malloc(size);
    snprintf(path, size, "lib/%s", module);
    for (char *c = path + 4; *c; c++)
        if (*c == '.')
            *c = '/';
    strcat(path, ".rise");
    return path;
}

static void test_module(const char *module, const char *only, long trials, uint64_t seed, bool all)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    char *path = path_of(module), *text;
    LawFile file = {.path = path};
    printf("%s:\n", module);
    if (ctx->files.read(ctx->files.user, ctx, path, FILE_REGULAR, 1 << 20, &text, &file.size) != FILE_OK) {
        printf("%s cannot be read\n", path);
        wrong++;
    } else {
        file.text = text;
        const AstFile *ast = program_ast(program_from_text(ctx, path, text, file.size));
        for (int k = 0; k < ast->items.n; k++)
            if (ast->items.at[k]->kind == ITEM_RULE && (!only || strcmp(only, ast->items.at[k]->name) == 0))
                test_rule(ctx, &file, ast->items.at[k], trials, seed, all);
    }
    free(path);
    ctx_free(ctx);
}

int main(int argc, char **argv)
{
    long trials = LAW_TRIALS;
    uint64_t seed = LAW_SEED;
    const char *only = NULL;
    bool all = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            all = true;
        else if (i + 1 < argc && strcmp(argv[i], "--trials") == 0)
            trials = strtol(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--rule") == 0)
            only = argv[++i];
        else
            test_module(argv[i], only, trials, seed, all);
    }
    printf("conditions: %ld are needed by value, as without them some result is another one; %ld by a check, as without them another one refuses what they refuse; %ld not shown to be needed\n",
           needed[NEEDED_BY_VALUE], needed[NEEDED_BY_CHECK], needed[NOT_NEEDED]);
    printf("classes: %ld branches of size tests on right sides were entered\n", classes);
    printf("rules: seed %" PRIu64 "\nrules: %ld checks, %ld wrong\n", seed, checks, wrong);
    return wrong != 0;
}
