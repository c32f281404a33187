/* What stands in brackets and braces behind a function: options of patterns, elements, types, and arguments by name. */
#include "frontend/elab_internal.h"

static bool allows(const char *options, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = options; (at = strstr(at, name)); at += n)
        if ((at == options || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return true;
    return false;
}

/* Options without a value. */
static const struct BareWord {
    const char *name;
    unsigned given;
    size_t at; /* of its flag in PrimOptions */
} bare_words[] = {{"swizzle", GIVEN_SWIZZLE, offsetof(PrimOptions, swizzle)},
                  {"inPlace", GIVEN_IN_PLACE, offsetof(PrimOptions, in_place)},
                  {"prefetch", GIVEN_PREFETCH, offsetof(PrimOptions, prefetch)},
                  {"once", GIVEN_ONCE, offsetof(PrimOptions, once)}};

static void unknown_option(Elab *e, Span span, PrimId prim, const char *option)
{
    const char *options = prim_rows[prim].options;
    Diag *d;
    if (!options[0]) {
        d = elab_error(e, E0214, span, "`%s` takes no options", prim_name(prim));
    } else {
        d = elab_error(e, E0214, span, option ? "`%s` has no option `%s`" : "`%s` has no such option", prim_name(prim), option);
        StrBuf sb;
        sb_init(&sb, e->ctx);
        bool first = true;
        for (const char *at = options; *at;) {
            size_t n = strcspn(at, " ");
            const char *word = ctx_printf(e->ctx, "%.*s", (int)n, at);
            bool axis = strcmp(word, "axis") == 0, bare = false;
            for (size_t k = 0; k < sizeof bare_words / sizeof *bare_words; k++)
                bare |= strcmp(word, bare_words[k].name) == 0;
            sb_printf(&sb, "%s%s", first ? "" : ", ", axis ? "x, y, z" : bare ? word : ctx_printf(e->ctx, "%s = ...", word));
            first = false;
            at += n + (at[n] == ' ');
        }
        diag_label(e->ctx, d, "it takes %s", sb.text);
    }
}

/* An option is given once, also over several brackets. */
static bool option_again(Elab *e, Fun *f, Span span, unsigned given, const char *what)
{
    bool again = f->options_given & given;
    f->options_given |= given;
    if (again) {
        Diag *d = elab_error(e, E0214, span, "%s of `%s` is given twice", what, prim_name(f->prim));
        const Source *source = source_get(e->ctx, span.file);
        uint32_t lo = span.lo;
        while (source && lo > 0 && source->text[lo - 1] == ' ')
            lo--;
        if (given == GIVEN_AXIS)
            diag_note(e->ctx, d, NO_SPAN, "two axes take two patterns: `%s[y](%s[x](f))`", prim_name(f->prim), prim_name(f->prim));
        else if (lo > 0 && source->text[lo - 1] == ',')
            diag_propose(e->ctx, d, (Span){span.file, lo - 1, span.hi}, "leave one out", "%s", "");
        else
            diag_help(e->ctx, d, "leave one out");
    }
    return again;
}

/* An option that is a word alone: an axis, or one of these. */
static bool bare_option(Elab *e, Fun *f, const Ast *item, Span span)
{
    const char *allowed = prim_rows[f->prim].options, *word = item->kind == AST_NAME ? item->name.text : "";
    if (allows(allowed, "axis") && word[0] >= 'x' && word[0] <= 'z' && !word[1]) {
        f->options.axis = word[0] - 'x';
        return !option_again(e, f, span, GIVEN_AXIS, "the axis");
    }
    for (size_t k = 0; k < sizeof bare_words / sizeof *bare_words; k++)
        if (strcmp(word, bare_words[k].name) == 0 && allows(allowed, word)) {
            *(bool *)((char *)&f->options + bare_words[k].at) = true;
            return !option_again(e, f, span, bare_words[k].given, ctx_printf(e->ctx, "`%s`", word));
        }
    if (*word && allows(allowed, word))
        elab_error(e, E0214, span, "`%s` of `%s` wants a value: `%s = ...`", word, prim_name(f->prim), word);
    else
        unknown_option(e, span, f->prim, item->kind == AST_NAME ? word : NULL);
    return false;
}

bool size_option_fits(Elab *e, const char *name, int64_t least, Nat n, Span span)
{
    if (strcmp(name, "minBlocks") == 0 && !launch_has_min_blocks(n))
        elab_error(e, E0332, span, MIN_BLOCKS_FAULT, nat_text(e->ctx, n));
    else if (strcmp(name, "lanes") == 0 && (lanes_fit(n) || !nat_is_const(n))) /* what is not known here, launch.c asks */
        return true;
    else if (strcmp(name, "lanes") == 0)
        elab_error(e, E0332, span, LANES_FAULT, nat_text(e->ctx, n));
    else if (!nat_le(e->ctx, e->facts, nat_const(e->ctx, least), n))
        elab_error(e, E0332, span, "`%s` is at least %lld, and this is %s", name, (long long)least, nat_text(e->ctx, n));
    else
        return true;
    return false;
}

/* `name = item`. */
static bool named_option(Elab *e, Fun *f, const char *name, const Ast *item, Span span, const Env *env)
{
    const struct {
        const char *name;
        Nat *at;
        unsigned given;
        int64_t least;
    } sizes[] = {{"pad", &f->options.pad, GIVEN_PAD, 0},
                 {"lanes", &f->options.lanes, GIVEN_LANES, 1},
                 {"blocks", &f->options.blocks, GIVEN_BLOCKS, 1},
                 {"threads", &f->options.threads, GIVEN_THREADS, 1},
                 {"minBlocks", &f->options.min_blocks, GIVEN_MIN_BLOCKS, 1}};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    bool place = strcmp(name, "place") == 0;
    int k = 0;
    while (k < SIZES && strcmp(sizes[k].name, name) != 0)
        k++;
    if (!allows(prim_rows[f->prim].options, name) || (k == SIZES && !place)) {
        unknown_option(e, span, f->prim, name);
        return false;
    }
    if (option_again(e, f, span, place ? GIVEN_PLACE : sizes[k].given, ctx_printf(e->ctx, "`%s`", name)))
        return false;
    if (place) {
        Value *own = NEW(e->ctx, Value);
        *own = eval(e, item, env, NULL);
        f->place = own;
        if (own->kind != V_ERROR && own->kind != V_FUN)
            elab_error(e, E0332, item->span, "`place` is a function of the element's index, and this is %s", value_text(e, *own));
        return own->kind == V_FUN;
    }
    Nat n = eval_nat(e, item, env);
    if (nat_is_error(n))
        return false;
    if (!size_option_fits(e, name, sizes[k].least, n, item->span))
        return false;
    bool whole = sizes[k].at == &f->options.lanes && nat_is(n, WARP_LANES); /* a whole warp, as without it */
    *sizes[k].at = whole ? NULL : n;
    return true;
}

Value bracket_options(Elab *e, const Ast *ast, Value fn, const Env *env)
{
    Fun *f = NEW(e->ctx, Fun);
    *f = *fn.fun;
    for (int i = 0; i < ast->call.n; i++) {
        const Ast *item = ast->call.items[i];
        const char *name = ast->call.names ? ast->call.names[i] : NULL;
        Span span = name && ast->call.name_spans ? span_join(ast->call.name_spans[i], item->span) : item->span;
        if (!(name ? named_option(e, f, name, item, span, env) : bare_option(e, f, item, span)))
            return v_error(ast->span);
    }
    return v_fun(f, ast->span);
}

/* `t[0]` of a tuple is `t.1`. n: its components. */
static void propose_component(Elab *e, Diag *d, const Ast *ast, const char *words, int n, Value index)
{
    bool constant = words && ast->call.n == 1 && index.kind == V_NAT && nat_is_const(index.nat);
    if (constant && index.nat->value >= 0 && index.nat->value < n)
        diag_propose(e->ctx, d, ast->span, "the components of a tuple are counted from 1: $", "%s.%lld", words, (long long)index.nat->value + 1);
    else
        diag_note(e->ctx, d, NO_SPAN, "its components are `%s.1` to `%s.%d`", words ? words : "t", words ? words : "t", n);
}

Value eval_bracket(Elab *e, const Ast *ast, const Env *env)
{
    const Ast *fn = ast->call.fn;
    const char *word = fn->kind == AST_NAME ? fn->name.text : fn->kind == AST_DOT && fn->bin.rhs->kind == AST_NAME ? fn->bin.rhs->name.text : "";
    if (strcmp(word, "idx") == 0 || strcmp(word, "vec") == 0)
        return (Value){.kind = V_TYPE, .span = ast->span, .type = eval_type(e, ast, env)};
    if (fn->kind == AST_NAME && strcmp(word, "toMem") == 0) {
        const char *space = ast->call.n == 1 && ast->call.items[0]->kind == AST_NAME && !(ast->call.names && ast->call.names[0]) ? ast->call.items[0]->name.text : "";
        PrimId id = strcmp(space, "global") == 0 ? P_toGlobal : strcmp(space, "shared") == 0 ? P_toShared : strcmp(space, "private") == 0 ? P_toPrivate : P_COUNT;
        if (id != P_COUNT)
            return fun_value(e, (Fun){.kind = F_PRIM, .prim = id}, ast->span);
        elab_error(e, E0214, ast->span, "the spaces of `toMem` are global, shared and private");
        return v_error(ast->span);
    }
    Value base = eval(e, fn, env, NULL);
    if (base.kind == V_ERROR)
        return base;
    if (base.kind == V_FUN) {
        if (base.fun->kind == F_PRIM && base.fun->n_args == 0)
            return bracket_options(e, ast, base, env);
        Diag *d = elab_error(e, E0214, ast->span, "square brackets give a primitive its options, or an array an index; this is %s", value_text(e, base));
        diag_label(e->ctx, d, "a function is applied with `( )`");
        return v_error(ast->span);
    }
    for (int i = 0; i < ast->call.n; i++) {
        if (ast->call.names && ast->call.names[i]) {
            elab_error(e, E0214, ast->span, "an index has no name");
            return v_error(ast->span);
        }
        if (is_vector(e, base))
            base = vector_components(e, base);
        /* What an `if` is, whose branches are indices, follows from the array. */
        Type array = base.kind == V_CORE ? type_resolve(e, base.core->type) : NULL;
        Type place = array && array->kind == TY_ARRAY ? type_idx(e->ctx, array->size) : NULL;
        Value args[2] = {eval(e, ast->call.items[i], env, place), base};
        if (args[0].kind == V_ERROR)
            return args[0];
        if (base.kind == V_CORE && type_resolve(e, base.core->type)->kind != TY_ARRAY) {
            Diag *d = elab_error(e, E0333, ast->span, "an array is indexed, and this is %s", tyt(e, base.core->type));
            const char *words = span_text(e, base.span);
            Type tuple = type_resolve(e, base.core->type);
            if (tuple->kind == TY_TUPLE)
                propose_component(e, d, ast, words, tuple->n_items, args[0]);
            return v_error(ast->span);
        }
        if (base.kind == V_NAT || base.kind == V_LIT || base.kind == V_TUPLE) {
            elab_error(e, E0333, ast->span, "an array is indexed, and this is %s", value_text(e, base));
            return v_error(ast->span);
        }
        base = apply(e, fun_value(e, (Fun){.kind = F_PRIM, .prim = P_index}, ast->span), 2, args, ast->span, NULL);
        if (base.kind == V_ERROR)
            return base;
    }
    return base;
}

Value eval_named(Elab *e, const Ast *ast, const Env *env)
{
    Value fn = eval(e, ast->call.fn, env, NULL);
    if (fn.kind == V_ERROR)
        return fn;
    const Item *header = fn.kind == V_FUN ? fun_header(e, fn.fun) : NULL;
    if (!header) {
        elab_error(e, E0213, ast->span, "`{...}` gives a definition or a primitive its sizes and types, and this is %s", value_text(e, fn));
        return v_error(ast->span);
    }
    Fun *f = NEW(e->ctx, Fun);
    *f = *fn.fun;
    for (int i = 0; i < ast->call.n; i++) {
        const char *name = ast->call.names[i];
        Span name_span = ast->call.name_spans ? ast->call.name_spans[i] : ast->call.items[i]->span;
        if (!name)
            return v_error(ast->span);
        const Param *param = NULL;
        VEC(const char *) names = {0};
        for (int k = 0; k < header->n_params; k++)
            if (header->params[k].implicit) {
                vec_push(e->ctx, &names, header->params[k].name);
                if (header->params[k].name == name)
                    param = &header->params[k];
            }
        if (!param) {
            Diag *d = elab_error(e, E0213, name_span, "`%s` has no parameter `%s` in braces", fun_name(f), name);
            const char *near = did_you_mean(e->ctx, name, names.n, names.at);
            if (near) {
                diag_propose(e->ctx, d, name_span, "did you mean $?", "%s", near);
            } else if (names.n) {
                StrBuf sb;
                sb_init(&sb, e->ctx);
                for (int k = 0; k < names.n; k++)
                    sb_printf(&sb, k ? ", %s" : "%s", names.at[k]);
                diag_label(e->ctx, d, "it has %s", sb.text);
            }
            return v_error(ast->span);
        }
        Named *named = NEW(e->ctx, Named);
        *named = (Named){.name = name, .span = ast->call.items[i]->span, .up = f->named};
        if (param_kind(param) == KIND_NAT) {
            Nat n = eval_nat(e, ast->call.items[i], env);
            if (nat_is_error(n))
                return v_error(ast->span);
            if (!nat_nonneg(e, n)) {
                elab_error(e, E0306, ast->call.items[i]->span, nat_is_const(n) ? "`%s` of `%s` is %s: sizes are not negative" : "`%s` of `%s` may be negative: it is `%s`",
                           name, fun_name(f), nat_text(e->ctx, n));
                return v_error(ast->span);
            }
            named->value = v_nat(n, named->span);
        } else {
            Type t = eval_type(e, ast->call.items[i], env);
            if (t->kind == TY_ERROR)
                return v_error(ast->span);
            named->value = (Value){.kind = V_TYPE, .span = named->span, .type = t};
        }
        f->named = named;
    }
    return v_fun(f, ast->span);
}
