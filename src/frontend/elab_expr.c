/* Expressions: from syntax and an environment to a static value. See Note [Static values]. */
#include "frontend/elab_internal.h"

/* ---- binding -------------------------------------------------------------------------------------------------------- */

Value project(Elab *e, Value v, int64_t index, Span span)
{
    Ctx *ctx = e->ctx;
    if (v.kind == V_ERROR)
        return v;
    if (v.kind == V_TUPLE) {
        if (index >= 1 && index <= v.tuple.n) {
            Value item = v.tuple.items[index - 1];
            item.span = span;
            return v_with_lets(e, item, v.lets);
        }
        elab_error(e, E0315, span, "this tuple has %d components, and number %lld is asked for", v.tuple.n, (long long)index);
        return v_error(span);
    }
    Core *core = value_core(e, v);
    if (core->kind == CORE_UNIT_ERROR)
        return v_error(span);
    Type t = type_resolve(e, core->type);
    if (t->kind != TY_TUPLE) {
        Diag *d = elab_error(e, E0315, span, "`.%lld` takes a component of a tuple, and this is %s", (long long)index, tyt(e, t));
        if (t->kind == TY_ARRAY)
            diag_help(ctx, d, type_resolve(e, t->elem)->kind == TY_TUPLE ? "`unzip` makes an array of tuples a tuple of arrays" : "the element at i is `xs[i]`");
        return v_error(span);
    }
    if (index < 1 || index > t->n_items) {
        Diag *d = elab_error(e, E0315, span, "%s has %d components, and number %lld is asked for", tyt(e, t), t->n_items, (long long)index);
        diag_label(ctx, d, "components are counted from 1");
        return v_error(span);
    }
    return v_core(e, core_proj(e, core, (int)index - 1, span));
}

static bool bind_tuple(Elab *e, const Pattern *pattern, Value v, const Env **env, LetBind **lets)
{
    int have = -1;
    if (v.kind == V_TUPLE) {
        have = v.tuple.n;
        *lets = lets_join(e, *lets, v.lets);
        v.lets = NULL;
    } else if (v.kind == V_CORE) {
        *lets = lets_join(e, *lets, v.lets);
        v.lets = NULL;
        while (v.core->kind == CORE_LET) {
            *lets = let_bind(e, v.core->let.var, v.core->let.value, *lets);
            v.core = v.core->let.body;
        }
        Type t = type_resolve(e, v.core->type);
        have = t->kind == TY_TUPLE ? t->n_items : -1;
        if (v.core->kind != CORE_TUPLE)
            v = bind_value(e, v, "t", pattern->span, lets);
    } else if (v.kind != V_NAT && v.kind != V_LIT) {
        value_core(e, v);
        return false;
    }
    if (have != pattern->n_items) {
        Diag *d;
        if (have < 0)
            d = elab_error(e, E0316, pattern->span, "this pattern takes a tuple of %d apart, and meets %s", pattern->n_items, value_text(e, v));
        else
            d = elab_error(e, E0316, pattern->span, "this pattern takes a tuple of %d apart, and meets %s with %d components", pattern->n_items, value_text(e, v), have);
        if (v.span.file && v.span.lo != pattern->span.lo)
            diag_note(e->ctx, d, v.span, "from here");
        if (v.kind == V_CORE && type_resolve(e, v.core->type)->kind == TY_ARRAY)
            diag_help(e->ctx, d, "the elements of an array are `p[0]`, `p[1]`: write `fun p => ...`");
        return false;
    }
    for (int i = 0; i < pattern->n_items; i++)
        if (!bind_pattern(e, &pattern->items[i], project(e, v, i + 1, pattern->items[i].span), env, lets))
            return false;
    return true;
}

bool bind_pattern(Elab *e, const Pattern *pattern, Value v, const Env **env, LetBind **lets)
{
    if (v.kind == V_ERROR)
        return false;
    int before = e->next_var;
    if (pattern->type) {
        const Ast *type = pattern->type;
        Nat n;
        if (type->kind == AST_ARROW) {
            if (v.kind != V_FUN) {
                elab_error(e, E0311, v.span, "a function %s is wanted, and this is %s", pattern_text(e, type, *env), value_text(e, v));
                return false;
            }
        } else if (type->kind == AST_NAME && strcmp(type->name.text, "nat") == 0) {
            if (!value_to_nat(e, v, &n, lets)) {
                elab_error(e, E0322, v.span, "a size is needed here, and this is %s", value_text(e, v));
                return false;
            }
            bool from_idx = v.from_idx || v.kind == V_CORE;
            v = v_nat(n, v.span);
            v.from_idx = from_idx;
        } else {
            Type t = eval_type(e, type, *env);
            if (t->kind == TY_ERROR)
                return false;
            if (!value_typed(e, &v, t)) {
                report_mismatch(e, E0301, v.span, t, "%s is declared %s, and this is %s", pattern->name ? ctx_printf(e->ctx, "`%s`", pattern->name) : "the pattern",
                                tyt(e, t), value_text(e, v));
                return false;
            }
            if (v.kind == V_ERROR)
                return false;
        }
    }
    if (pattern->n_items)
        return bind_tuple(e, pattern, v, env, lets);
    if (!pattern->name)
        return true;
    if (v.kind == V_TYPE) {
        elab_error(e, E0324, v.span, "this is a type, and a value is needed here");
        return false;
    }
    v = bind_value(e, v, pattern->name, pattern->span, lets);
    if (pattern->type && e->next_var > before && v.kind == V_CORE && v.core->kind == CORE_VAR && v.core->var->id >= before)
        e->type_spans.at[v.core->var->id] = pattern->type->span;
    *env = env_push(e, *env, pattern->name, v, pattern->span);
    return true;
}

/* A term carries its label; a function gives it to what it makes. */
Value label_value(Elab *e, Value v, const char *label)
{
    if (v.kind == V_CORE) {
        Core *core = NEW(e->ctx, Core);
        *core = *v.core;
        core->label = label;
        v.core = core;
    } else if (v.kind == V_FUN) {
        Fun *f = NEW(e->ctx, Fun);
        *f = *v.fun;
        f->label = label;
        v.fun = f;
    }
    return v;
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

static Value fun_value(Elab *e, Fun f, Span span)
{
    Fun *own = NEW(e->ctx, Fun);
    *own = f;
    own->span = span;
    return v_fun(own, span);
}

static Value item_value(Elab *e, const Item *item, const FileScope *home, Span span, Type want)
{
    if (item->kind == ITEM_ERROR) {
        e->failed = true;
        return v_error(span);
    }
    if (item->kind == ITEM_RULE || item->kind == ITEM_STRATEGY) {
        Diag *d = elab_error(e, E0219, span, "`%s` is a %s, and no part of a program", item->name, item->kind == ITEM_RULE ? "rule" : "strategy");
        diag_help(e->ctx, d, "it is used after `lowered by`, or in a strategy");
        return v_error(span);
    }
    Value v = fun_value(e, (Fun){.kind = F_ITEM, .item = item, .home = home}, span);
    if (fun_arity(e, v.fun) > 0)
        return v;
    /* A definition without parameters is a value. */
    if (item->kind == ITEM_ENTRY) {
        Diag *d = elab_error(e, E0210, span, "`%s` is an entry, which only the outside can call", item->name);
        diag_help(e->ctx, d, "move its body into a `def` and call that from both");
        return v_error(span);
    }
    if (e->depth >= LIMIT_ELAB_DEPTH)
        return v_error(span);
    if (is_unusable(e, item))
        return v_error(span);
    const Ast *result = item->result;
    const FileScope *at = home;
    Frame *frame = NEW(e->ctx, Frame);
    *frame = (Frame){item, span, e->frame};
    const Frame *outer = e->frame;
    e->frame = frame;
    e->depth++;
    Type t = result && result->kind != AST_ARROW && !(result->kind == AST_NAME && strcmp(result->name.text, "nat") == 0) ? eval_type(e, result, at->root) : NULL;
    Value r = item->body && (!t || t->kind != TY_ERROR) ? eval(e, item->body, at->root, t ? t : want) : v_error(span);
    Core *core;
    if (t && r.kind != V_ERROR) {
        if (value_to_core(e, r, t, &core)) {
            r = v_core(e, core);
        } else {
            report_mismatch(e, E0312, r.span, t, "the body of `%s` is %s, and its header says %s", item->name, value_text(e, r), tyt(e, t));
            r = v_error(span);
        }
    }
    e->depth--;
    e->frame = outer;
    r.span = span;
    return r;
}

static Value device_size(Elab *e, const char *name, Span span)
{
    Nat *at = strcmp(name, "numSM") == 0 ? &e->num_sm : &e->max_resident;
    if (!*at)
        *at = nat_var(e->ctx, name, nat_const(e->ctx, 1), NULL);
    return v_nat(*at, span);
}

static Value eval_name(Elab *e, const char *name, Span span, const Env *env, Type want)
{
    const Env *root = NULL;
    const Env *found = env_find(env, name, &root);
    if (found) {
        Value v = found->value;
        if (v.kind == V_HOLE) {
            Hole *hole = v.hole;
            if (!hole->filled) {
                elab_error(e, E0317, span, "`%s` is not known here", name);
                return v_error(span);
            }
            v = hole->kind == KIND_NAT ? v_nat(hole->nat, span) : (Value){.kind = V_TYPE, .type = hole->type};
        }
        if (v.kind == V_CORE) {
            if (core_is_atom(v.core)) {
                /* Its own span, for messages; the term itself may stand in several places. */
                Core *core = v.core;
                if (core->kind == CORE_VAR)
                    core = core_of_var(e, core->var, span);
                v.core = core;
            } else if (v.weight > 0) {
                e->terms += v.weight < LIMIT_CORE_TERMS ? v.weight : LIMIT_CORE_TERMS;
                (void)core_new(e, CORE_UNIT_ERROR, span, type_error(e->ctx)); /* checks the count */
            }
        }
        v.span = span;
        return v;
    }
    const FileScope *home = NULL;
    const Item *item = root && root->scope ? scope_find(root->scope, name, &home) : NULL;
    if (item)
        return item_value(e, item, home, span, want);
    PrimId prim = prim_find(name);
    if (prim != P_COUNT)
        return fun_value(e, (Fun){.kind = F_PRIM, .prim = prim}, span);
    Scalar scalar;
    switch (builtin_find(name)) {
    case BUILTIN_SCALAR:
        scalar_find(name, &scalar);
        return (Value){.kind = V_TYPE, .span = span, .type = type_scalar(e->ctx, scalar)};
    case BUILTIN_CONST:
        return named_constant(e, name, NULL, span);
    case BUILTIN_BOOL:
        return v_core(e, core_bool(e, span, name[0] == 't'));
    case BUILTIN_NATFN:
        return fun_value(e, (Fun){.kind = F_NATFN, .name = name}, span);
    case BUILTIN_DEVICE:
        return device_size(e, name, span);
    case BUILTIN_KIND:
    case BUILTIN_TYPE:
        elab_error(e, E0324, span, "`%s` belongs into types, and a value is needed here", name);
        return v_error(span);
    case BUILTIN_HALVING: {
        Diag *d = elab_error(e, E0329, span, "`halving` gives the list of an `unroll`, and is no value");
        diag_help(e->ctx, d, "write `unroll d in halving(32) (...)`");
        return v_error(span);
    }
    case BUILTIN_TOMEM: {
        Diag *d = elab_error(e, E0214, span, "`toMem` needs a space");
        diag_help(e->ctx, d, "write `toMem[shared]`, or global or private");
        return v_error(span);
    }
    case BUILTIN_NONE:
        break;
    }
    /* The resolver reported it, unless it is a parameter of the same header further on. */
    if (!e->program->failed) {
        Diag *d = elab_error(e, E0217, span, "`%s` is not known yet here", name);
        diag_label(e->ctx, d, "a default uses the sizes before it");
    }
    e->failed = true;
    return v_error(span);
}

/* ---- brackets and braces ---------------------------------------------------------------------------------------------- */

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
        diag_help(e->ctx, d, given == GIVEN_AXIS ? "two axes take two patterns: `%s[y](%s[x](f))`" : "leave one out", prim_name(f->prim), prim_name(f->prim));
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
    unknown_option(e, span, f->prim, item->kind == AST_NAME ? word : NULL);
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
    if (!nat_le(e->ctx, e->facts, nat_const(e->ctx, sizes[k].least), n)) {
        elab_error(e, E0332, item->span, "`%s` is at least %lld, and this is %s", name, (long long)sizes[k].least, nat_text(e->ctx, n));
        return false;
    }
    *sizes[k].at = n;
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

static Value eval_bracket(Elab *e, const Ast *ast, const Env *env)
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
        Value args[2] = {eval(e, ast->call.items[i], env, NULL), base};
        if (args[0].kind == V_ERROR)
            return args[0];
        if (base.kind == V_CORE && type_resolve(e, base.core->type)->kind != TY_ARRAY) {
            Diag *d = elab_error(e, E0333, ast->span, "an array is indexed, and this is %s", tyt(e, base.core->type));
            const char *words = span_text(e, base.span);
            if (type_resolve(e, base.core->type)->kind == TY_TUPLE)
                diag_help(e->ctx, d, "the components of a tuple are `%s.1`, `%s.2`", words ? words : "t", words ? words : "t");
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

static Value eval_named(Elab *e, const Ast *ast, const Env *env)
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
                diag_help(e->ctx, d, "did you mean `%s`?", near);
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

/* ---- calls ------------------------------------------------------------------------------------------------------------ */

static Value eval_call(Elab *e, const Ast *ast, const Env *env, Type want)
{
    const Ast *fn = ast->call.fn;
    const char *name = fn->kind == AST_NAME ? fn->name.text : NULL;
    if (name && ast->call.n >= 1 && !env_find(env, name, NULL)) {
        if (prim_find(name) == P_cast) {
            Type t = eval_type(e, ast->call.items[0], env);
            if (t->kind == TY_ERROR)
                return v_error(ast->span);
            Value f = fun_value(e, (Fun){.kind = F_PRIM, .prim = P_cast, .cast_type = t}, ast->span);
            if (ast->call.n == 1)
                return f;
            Value *args = NEWN(e->ctx, Value, ast->call.n);
            for (int i = 1; i < ast->call.n; i++)
                args[i - 1] = eval(e, ast->call.items[i], env, NULL);
            return apply(e, f, ast->call.n - 1, args, ast->span, want);
        }
        if (builtin_find(name) == BUILTIN_CONST && ast->call.n == 1) {
            Type t = eval_type(e, ast->call.items[0], env);
            return t->kind == TY_ERROR ? v_error(ast->span) : named_constant(e, name, t, ast->span);
        }
    }
    Value f = eval(e, fn, env, NULL);
    Value *args = NEWN(e->ctx, Value, ast->call.n);
    bool good = f.kind != V_ERROR;
    for (int i = 0; i < ast->call.n; i++) {
        args[i] = eval(e, ast->call.items[i], env, NULL);
        good &= args[i].kind != V_ERROR;
    }
    if (!good)
        return v_error(ast->span);
    Value r = apply(e, f, ast->call.n, args, ast->span, want);
    r.span = ast->span;
    return r;
}

/* ---- if --------------------------------------------------------------------------------------------------------------- */

/* `a and b` is `if a then b else false` where b rests on a; `a or b` is `if a then true else b`. */
static bool is_lazy(const Core *cond, bool is_and)
{
    const Core *other = cond->kind != CORE_IF ? NULL : is_and ? cond->cond.otherwise : cond->cond.then;
    return other && other->kind == CORE_LIT && other->lit.type == SC_BOOL && (other->lit.i != 0) == !is_and;
}

void cond_facts(Elab *e, NatFacts *facts, const Core *cond, bool holds)
{
    if (is_lazy(cond, holds)) {
        cond_facts(e, facts, cond->cond.cond, holds);
        cond_facts(e, facts, holds ? cond->cond.then : cond->cond.otherwise, holds);
    }
    if (cond->kind != CORE_PRIM)
        return;
    Core *const *args = cond->prim.args;
    switch ((int)cond->prim.id) {
    case P_and:
    case P_or:
        /* `a or b` says nothing of either; that it does not hold says both do not. */
        if (holds == (cond->prim.id == P_and)) {
            cond_facts(e, facts, args[0], holds);
            cond_facts(e, facts, args[1], holds);
        }
        return;
    case P_not:
        cond_facts(e, facts, args[0], !holds);
        return;
    case P_lt: case P_le: case P_gt: case P_ge: case P_eq: case P_ne:
        break;
    default:
        return;
    }
    if (args[0]->kind != CORE_SIZE || args[1]->kind != CORE_SIZE)
        return;
    Nat a = args[0]->size, b = args[1]->size;
    PrimId id = cond->prim.id;
    if (!holds)
        id = id == P_lt ? P_ge : id == P_le ? P_gt : id == P_gt ? P_le : id == P_ge ? P_lt : id == P_eq ? P_ne : P_eq;
    switch ((int)id) {
    case P_lt:
        nat_fact_le(e->ctx, facts, nat_add_k(e->ctx, a, 1), b);
        break;
    case P_le:
        nat_fact_le(e->ctx, facts, a, b);
        break;
    case P_gt:
        nat_fact_le(e->ctx, facts, nat_add_k(e->ctx, b, 1), a);
        break;
    case P_ge:
        nat_fact_le(e->ctx, facts, b, a);
        break;
    case P_eq:
        nat_fact_eq(e->ctx, facts, a, b);
        break;
    case P_ne:
        nat_fact_ne(e->ctx, facts, a, b);
        break;
    }
}

static bool is_bool(Elab *e, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    return t && t->kind == TY_SCALAR && t->scalar == SC_BOOL;
}

/* The right side is computed only where the left one leaves it open, when it makes sense only there: `i < n and xs[i] > 0`. */
static Value eval_and_or(Elab *e, const Ast *ast, const Env *env)
{
    bool is_and = ast->bin.op == OP_AND;
    Value a = eval(e, ast->bin.lhs, env, NULL), b;
    bool open = is_bool(e, a) && a.core->kind != CORE_LIT;
    NatFacts *outer = e->facts;
    if (open) {
        e->quiet++;
        b = eval(e, ast->bin.rhs, env, NULL);
        e->quiet--;
        open = b.kind == V_ERROR;
        if (open) {
            e->facts = nat_facts_new(e->ctx, outer);
            cond_facts(e, e->facts, a.core, is_and);
        }
    }
    b = eval(e, ast->bin.rhs, env, NULL);
    e->facts = outer;
    if (!open || !is_bool(e, b))
        return eval_binary(e, ast->bin.op, a, b, ast->span, ast->bin.op_span);
    Core *known = core_new(e, CORE_LIT, ast->span, type_scalar(e->ctx, SC_BOOL));
    known->lit = scalar_int(SC_BOOL, !is_and);
    Core *lazy = core_new(e, CORE_IF, ast->span, known->type);
    lazy->cond.cond = a.core;
    lazy->cond.then = is_and ? b.core : core_done(e, known);
    lazy->cond.otherwise = is_and ? core_done(e, known) : b.core;
    return v_core(e, core_done(e, lazy));
}

static Value eval_if(Elab *e, const Ast *ast, const Env *env, Type want)
{
    Ctx *ctx = e->ctx;
    Value c = eval(e, ast->cond.cond, env, NULL);
    if (c.kind == V_ERROR)
        return c;
    Core *cond;
    if (!value_to_core(e, c, type_scalar(ctx, SC_BOOL), &cond)) {
        if (e->mis.kind != MIS_REPORTED) {
            Diag *d = elab_error(e, E0313, c.span, "`if` wants a condition, and this is %s", value_text(e, c));
            Type t = c.kind == V_CORE ? type_resolve(e, c.core->type) : NULL;
            const char *words = span_text(e, c.span);
            if ((t && t->kind == TY_SCALAR) || c.kind == V_NAT)
                diag_help(ctx, d, "compare it: `%s != 0`", words ? words : "...");
        }
        return v_error(ast->span);
    }
    if (cond->kind == CORE_UNIT_ERROR)
        return v_error(ast->span);
    /* Decided by tunables or facts: the other branch need not even make sense for these sizes. */
    if (cond->kind == CORE_LIT)
        return eval(e, cond->lit.i ? ast->cond.then : ast->cond.otherwise, env, want);
    NatFacts *outer = e->facts, *inside[2];
    Value v[2];
    Core *core[2];
    for (int i = 0; i < 2; i++) {
        inside[i] = nat_facts_new(ctx, outer);
        cond_facts(e, inside[i], cond, i == 0);
        e->facts = inside[i];
        v[i] = eval(e, i ? ast->cond.otherwise : ast->cond.then, env, want);
        e->facts = outer;
    }
    if (v[0].kind == V_ERROR || v[1].kind == V_ERROR)
        return v_error(ast->span);
    for (int i = 0; i < 2; i++)
        if (v[i].kind == V_FUN) {
            Diag *d = elab_error(e, E0311, v[i].span, "the branches of an `if` are data, and this is a function");
            diag_help(ctx, d, "apply it in each branch: `fun x => if c then f(x) else g(x)`");
            return v_error(ast->span);
        }
    /* The branch whose type is known says what a literal or an index in the other is. */
    int first = v[0].kind != V_CORE && v[1].kind == V_CORE ? 1 : 0;
    for (int k = 0; k < 2; k++) {
        int i = k == 0 ? first : 1 - first;
        Type t = want ? want : k == 0 ? NULL : core[first]->type;
        e->facts = inside[i];
        bool good = true;
        if (t)
            good = value_to_core(e, v[i], t, &core[i]);
        else
            core[i] = value_core(e, v[i]);
        e->facts = outer;
        if (!good && e->mis.kind != MIS_REPORTED) {
            if (want) {
                report_mismatch(e, E0314, v[i].span, want, "this branch is %s, and %s is needed", value_text(e, v[i]), tyt(e, want));
            } else {
                Diag *d = elab_error(e, E0314, v[i].span, "the branches of this `if` differ: %s and %s", first == 0 ? tyt(e, t) : value_text(e, v[i]),
                                     first == 0 ? value_text(e, v[i]) : tyt(e, t));
                diag_note(ctx, d, v[first].span, "this one is %s", tyt(e, t));
            }
        }
        if (!good || core[i]->kind == CORE_UNIT_ERROR)
            return v_error(ast->span);
    }
    /* What is wanted holds outside of the branches too; the type of a branch may rest on its condition. */
    Core *core_if = core_new(e, CORE_IF, ast->span, type_resolve(e, want ? want : core[0]->type));
    core_if->cond.cond = cond;
    core_if->cond.then = core[0];
    core_if->cond.otherwise = core[1];
    return v_core(e, core_done(e, core_if));
}

/* ---- expressions -------------------------------------------------------------------------------------------------------- */

static Value eval_int(Elab *e, const Ast *ast)
{
    uint64_t value = ast->integer.value;
    if (ast->integer.suffix) {
        Scalar s;
        if (!scalar_find(ast->integer.suffix, &s))
            return v_error(ast->span); /* the lexer reported it */
        return v_core(e, literal_core(e, (Lit){.mag = value}, false, type_scalar(e->ctx, s), ast->span));
    }
    if (value <= INT64_MAX) {
        Value v = v_nat(nat_const(e->ctx, (int64_t)value), ast->span);
        v.literal = true;
        return v;
    }
    Lit *lit = NEW(e->ctx, Lit);
    lit->mag = value;
    return (Value){.kind = V_LIT, .span = ast->span, .lit = lit};
}

static Value eval_float(Elab *e, const Ast *ast)
{
    Lit *lit = NEW(e->ctx, Lit);
    lit->is_float = true;
    lit->f = ast->floating.value;
    if (ast->floating.suffix) {
        Scalar s;
        if (!scalar_find(ast->floating.suffix, &s))
            return v_error(ast->span);
        if (!scalar_is_float(s)) {
            elab_error(e, E0319, ast->span, "%s holds no fractions", scalar_name(s));
            return v_error(ast->span);
        }
        return v_core(e, literal_core(e, *lit, false, type_scalar(e->ctx, s), ast->span));
    }
    return (Value){.kind = V_LIT, .span = ast->span, .lit = lit};
}

static Value eval_tuple(Elab *e, const Ast *ast, const Env *env, Type want)
{
    int n = ast->list.n;
    if (n > LIMIT_TUPLE_ITEMS) {
        elab_error(e, E0342, ast->span, "a tuple of %d; at most %d are possible", n, LIMIT_TUPLE_ITEMS);
        return v_error(ast->span);
    }
    want = want ? type_resolve(e, want) : NULL;
    bool typed = want && want->kind == TY_TUPLE && want->n_items == n;
    Value v = {.kind = V_TUPLE, .span = ast->span};
    v.tuple.n = n;
    v.tuple.items = NEWN(e->ctx, Value, n);
    bool good = true, types = true;
    for (int i = 0; i < n; i++) {
        v.tuple.items[i] = eval(e, ast->list.items[i], env, typed ? want->items[i] : NULL);
        good &= v.tuple.items[i].kind != V_ERROR;
        types &= v.tuple.items[i].kind == V_TYPE;
    }
    if (!good)
        return v_error(ast->span);
    if (types) {
        Type *items = NEWN(e->ctx, Type, n);
        for (int i = 0; i < n; i++)
            items[i] = v.tuple.items[i].type;
        Type t = type_tuple(e->ctx, n, items);
        return (Value){.kind = V_TYPE, .span = ast->span, .type = tuple_fits(e, t, ast->span) ? t : type_error(e->ctx)};
    }
    return v;
}

static Value eval_compose(Elab *e, const Ast *ast, const Env *env)
{
    Value *parts = NEWN(e->ctx, Value, 2);
    LetBind *lets = NULL;
    for (int i = 0; i < 2; i++) {
        const Ast *side = i ? ast->bin.rhs : ast->bin.lhs;
        parts[i] = eval(e, side, env, NULL);
        if (parts[i].kind == V_ERROR)
            return parts[i];
        if (parts[i].kind != V_FUN) {
            elab_error(e, E0310, parts[i].span, "`>>` joins functions, and this is %s", value_text(e, parts[i]));
            return v_error(ast->span);
        }
        lets = lets_join(e, lets, parts[i].lets);
        parts[i].lets = NULL;
    }
    Value v = fun_value(e, (Fun){.kind = F_COMPOSE, .first = &parts[0], .then = &parts[1]}, ast->span);
    v.lets = lets;
    return v;
}

static Value eval_let(Elab *e, const Ast *ast, const Env *env, Type want)
{
    Value v = eval(e, ast->let.value, env, NULL);
    if (v.kind == V_ERROR)
        return v;
    LetBind *lets = NULL;
    const Pattern *pattern = &ast->let.pattern;
    if (v.kind == V_TYPE) {
        elab_error(e, E0324, v.span, "this is a type, and a value is needed here");
        return v_error(ast->span);
    }
    if (!bind_pattern(e, pattern, v, &env, &lets))
        return v_error(ast->span);
    return v_with_lets(e, eval(e, ast->let.body, env, want), lets);
}

/* toShared and the like give what they get. */
static bool is_storing(const Ast *fn)
{
    if (fn->kind == AST_BRACKET)
        fn = fn->call.fn;
    PrimId id = fn->kind == AST_NAME ? prim_find(fn->name.text) : P_COUNT;
    return id != P_COUNT && prim_rows[id].level == LEVEL_MEM;
}

/* xs.f of data: what other languages write so. */
static bool refuse_method(Elab *e, const Ast *ast, const Env *env)
{
    int n;
    const Ast **parts, *last;
    flatten_array(e, ast, &n, &parts, &last);
    const Env *found = n > 0 && parts[0]->kind == AST_NAME ? env_find(env, parts[0]->name.text, NULL) : NULL;
    if (!found || found->value.kind != V_CORE || value_is_natable(e, found->value))
        return false;
    const Ast *member = n > 1 ? parts[1] : last;
    const char *xs = parts[0]->name.text, *word = span_text(e, member->span);
    Diag *d = elab_error(e, E0344, member->span, "`%s` is %s, and has nothing behind a dot but the components of a tuple", xs, value_text(e, found->value));
    if (member->kind == AST_NAME && prim_find(member->name.text) == P_COUNT)
        diag_help(e->ctx, d, "components are `t.1` and `t.2`, elements `xs[i]`; a function is applied by `%s |> f`, and sizes are names in the type of `%s`", xs, xs);
    else
        diag_help(e->ctx, d, "a function is applied by `|>`: `%s |> %s%s`", xs, word ? word : "f", !word || member->kind == AST_NAME ? "(...)" : "");
    return true;
}

static Value eval_in(Elab *e, const Ast *ast, const Env *env, Type want)
{
    switch (ast->kind) {
    case AST_ERROR:
        e->failed = true;
        return v_error(ast->span);
    case AST_NAME:
        return eval_name(e, ast->name.text, ast->span, env, want);
    case AST_INT:
        return eval_int(e, ast);
    case AST_FLOAT:
        return eval_float(e, ast);
    case AST_CALL:
        return eval_call(e, ast, env, want);
    case AST_NAMED:
        return eval_named(e, ast, env);
    case AST_BRACKET:
        return eval_bracket(e, ast, env);
    case AST_DOT:
        if (ast->bin.rhs->kind == AST_INT && !ast->bin.rhs->integer.suffix && !ast->bin.rhs->parens) {
            Value v = eval(e, ast->bin.lhs, env, NULL);
            uint64_t k = ast->bin.rhs->integer.value;
            return project(e, v, k <= INT32_MAX ? (int64_t)k : INT32_MAX, ast->span);
        }
        if (refuse_method(e, ast, env))
            return v_error(ast->span);
        return (Value){.kind = V_TYPE, .span = ast->span, .type = eval_type(e, ast, env)};
    case AST_UNARY: {
        Value v = eval(e, ast->bin.lhs, env, NULL);
        AstKind kind = ast->bin.lhs->kind;
        bool written = kind == AST_INT || kind == AST_FLOAT || (kind == AST_CALL && v.kind == V_CORE && v.core->span.lo == ast->bin.lhs->span.lo);
        if (ast->bin.op == OP_NEG && written && v.kind == V_CORE && negate_literal(e, v.core)) {
            v.core->span = v.span = ast->span;
            return v;
        }
        return eval_unary(e, ast->bin.op, v, ast->span);
    }
    case AST_BINARY: {
        if (ast->bin.op == OP_AND || ast->bin.op == OP_OR)
            return eval_and_or(e, ast, env);
        Value a = eval(e, ast->bin.lhs, env, NULL), b = eval(e, ast->bin.rhs, env, NULL);
        return eval_binary(e, ast->bin.op, a, b, ast->span, ast->bin.op_span);
    }
    case AST_PIPE: {
        Value x = eval(e, ast->bin.lhs, env, is_storing(ast->bin.rhs) ? want : NULL), f = eval(e, ast->bin.rhs, env, NULL);
        if (x.kind == V_ERROR || f.kind == V_ERROR)
            return v_error(ast->span);
        Value r = apply(e, f, 1, &x, ast->bin.rhs->span, want);
        if (r.kind == V_CORE || r.kind == V_ERROR)
            r.span = ast->span;
        return r;
    }
    case AST_COMPOSE:
        return eval_compose(e, ast, env);
    case AST_TUPLE:
        return eval_tuple(e, ast, env, want);
    case AST_OPFUN: {
        PrimId prim = prim_of_op(ast->bin.op);
        if (prim == P_COUNT) {
            Diag *d = elab_error(e, E0322, ast->span, "`^` is of sizes, and no function of data");
            diag_help(e->ctx, d, "of floats it is `pow`");
            return v_error(ast->span);
        }
        return fun_value(e, (Fun){.kind = F_PRIM, .prim = prim}, ast->span);
    }
    case AST_LAMBDA:
        return fun_value(e, (Fun){.kind = F_CLOSURE, .ast = ast, .env = env}, ast->span);
    case AST_LET:
        return eval_let(e, ast, env, want);
    case AST_IF:
        return eval_if(e, ast, env, want);
    case AST_UNROLL:
        return fun_value(e, (Fun){.kind = F_UNROLL, .ast = ast, .env = env}, ast->span);
    case AST_ARROW:
    case AST_BINDER:
        elab_error(e, E0324, ast->span, "this is a function type, and a value is needed here");
        return v_error(ast->span);
    case AST_LIST:
        elab_error(e, E0324, ast->span, "a list stands only after `in`");
        return v_error(ast->span);
    case AST_LABEL:
        return label_value(e, eval(e, ast->label.operand, env, want), ast->label.name);
    case AST_SEQ:
    case AST_ORELSE:
    case AST_AT:
        break; /* the parser lets them stand in strategies only */
    }
    return v_error(ast->span);
}

Value eval(Elab *e, const Ast *ast, const Env *env, Type want)
{
    if (e->stop)
        return v_error(ast->span);
    if (e->depth >= LIMIT_ELAB_DEPTH) {
        elab_error(e, E0340, ast->span, "expressions are nested too deeply once definitions are expanded: more than %d levels", LIMIT_ELAB_DEPTH);
        e->stop = true;
        return v_error(ast->span);
    }
    if (++e->steps > LIMIT_ELAB_STEPS) {
        e->quiet = 0;
        elab_error(e, E0341, ast->span, "this takes too long to expand: more than %d steps", LIMIT_ELAB_STEPS);
        e->stop = true;
        return v_error(ast->span);
    }
    e->depth++;
    Value v = eval_in(e, ast, env, want);
    e->depth--;
    if (v.kind == V_TYPE && v.type->kind == TY_ERROR)
        v = v_error(ast->span);
    if (!v.span.file || v.kind == V_NAT || v.kind == V_LIT || v.kind == V_FUN || v.kind == V_GEN)
        v.span = ast->span;
    return v;
}
