/* Checks of arguments: shapes, weights, caches and passes that the kernels can run. */
#include <math.h>

#include "model.h"

/* radians a position: rope.c takes angles that are far below 2^63 quarter turns */
#define MAX_FREQUENCY 1e6

static int in(int number, int least, int most) { return number >= least && number <= most; }

int linear_fits(const specedit_linear *l, int outputs, int inputs, int group_size) {
    return l->panels && l->scales && l->offsets && l->outputs == outputs && l->inputs == inputs
        && l->group_size == group_size && outputs % LANES == 0 && inputs % 64 == 0
        && group_size % 64 == 0 && outputs >= LANES && in(group_size, 64, SPECEDIT_MAX_INPUTS)
        && group_size <= inputs && l->bits == 8;
}

/* the same of the model's own, which may have fewer bits */
static int weights_fit(const specedit_linear *l, int outputs, int inputs, int group_size) {
    specedit_linear one = *l;
    one.bits = l->bits == 4 || l->bits == 6 ? 8 : l->bits;
    return linear_fits(&one, outputs, inputs, group_size);
}

/* of recurrent layers; all 0 where there are none */
static int states_fit(const specedit_shape *s) {
    if (!s->key_heads)
        return !s->value_heads && !s->key_size && !s->value_size && !s->taps;
    return in(s->key_heads, 1, SPECEDIT_MAX_HEADS) && in(s->value_heads, 1, SPECEDIT_MAX_HEADS)
        && s->value_heads % s->key_heads == 0 && in(s->key_size, 64, SPECEDIT_MAX_STATE)
        && in(s->value_size, 64, SPECEDIT_MAX_STATE) && s->key_size % 64 == 0 && s->value_size % 64 == 0
        && s->value_heads * s->value_size <= SPECEDIT_MAX_INPUTS
        && s->key_heads * s->key_size <= SPECEDIT_MAX_INPUTS && in(s->taps, 1, SPECEDIT_MAX_TAPS);
}

static int experts_fit(const specedit_shape *s) {
    if (!s->experts)
        return !s->chosen && !s->shared;
    return in(s->experts, 1, SPECEDIT_MAX_EXPERTS) && in(s->shared, 0, 1)
        && in(s->chosen, 1, s->experts < SPECEDIT_MAX_CHOSEN ? s->experts : SPECEDIT_MAX_CHOSEN);
}

static int numbers_fit(const specedit_shape *s) {
    return in(s->layers, 1, SPECEDIT_MAX_LAYERS) && in(s->hidden, 64, SPECEDIT_MAX_INPUTS)
        && s->hidden % 64 == 0 && in(s->hidden_true, 1, s->hidden)
        && in(s->inner, 64, SPECEDIT_MAX_INNER) && s->inner % 64 == 0
        && in(s->group_size, 64, SPECEDIT_MAX_INPUTS) && s->group_size % 64 == 0
        && s->group_size <= s->inner && in(s->half, LANES, MAX_HALF) && s->half % LANES == 0
        && in(s->half_true, 1, s->half) && in(s->heads, 1, SPECEDIT_MAX_HEADS)
        && in(s->kv_heads, 1, s->heads) && s->heads % s->kv_heads == 0
        && s->heads * 2 * s->half <= SPECEDIT_MAX_INPUTS
        && in(s->vocabulary, 1, SPECEDIT_MAX_VOCABULARY) && states_fit(s) && experts_fit(s);
}

static int layer_fits(const specedit_shape *s, const specedit_layer *l) {
    int size = 2 * s->half, qkv = ((s->gated ? 2 : 1) * s->heads + 2 * s->kv_heads) * size;
    int attended = up_to(s->heads * size, 64), hidden = up_to(s->hidden_true, LANES);
    int each = s->experts ? s->experts + s->shared : 1;
    if (l->convolution) {
        if (!s->key_heads || !l->projection || !l->decay || !l->shift || !l->state_norm || l->bias)
            return 0;
        attended = s->value_heads * s->value_size;
        qkv = 2 * s->key_heads * s->key_size + 2 * attended;
    }
    return l->norm && l->inner_norm && !l->query_norm == !l->key_norm && !l->router == !s->experts
        && !(l->unrotated && l->query_norm) && !(s->gated && l->bias)
        && weights_fit(&l->qkv, qkv, s->hidden, s->hidden)
        && weights_fit(&l->out, hidden, attended, attended)
        && weights_fit(&l->gate_up, each * 2 * s->inner, s->hidden, s->hidden)
        && weights_fit(&l->down, each * hidden, s->inner, s->group_size);
}

int shape_fits(const specedit_shape *s, const specedit_weights *w) {
    if (!numbers_fit(s) || !w->layers || !w->embedding || !w->norm || !w->frequencies
        || !weights_fit(&w->head, up_to(s->vocabulary, LANES), s->hidden, s->hidden))
        return 0;
    int hidden = up_to(s->hidden_true, LANES);
    if (!w->id_norm != !w->state_norm || !w->id_norm != !w->fuse.panels
        || (w->id_norm && !weights_fit(&w->fuse, hidden, 2 * s->hidden, 2 * s->hidden)))
        return 0;
    for (int i = 0; i < s->half_true; i++)
        if (!(fabs(w->frequencies[i]) <= MAX_FREQUENCY))
            return 0;
    for (int l = 0; l < s->layers; l++)
        if (!layer_fits(s, &w->layers[l]))
            return 0;
    return 1;
}

int cache_fits(const specedit_model *m, const specedit_cache *cache) {
    return cache && cache->layers == m->shape.layers - m->recurrent
        && cache->state_floats == (size_t)m->recurrent * m->state_floats && cache->kv_heads == m->shape.kv_heads
        && cache->size == m->size;
}

int rows_fit(const specedit_model *m, int start, int reach, int width) {
    if (!in(width, 1, SPECEDIT_MAX_WIDTH) || !in(start, 0, SPECEDIT_MAX_POSITIONS - reach))
        return 0;
    long long tiles = width <= SPLIT_WIDTH ? (start + reach - 1) / TILE + 1 : 1;
    long long entries = (long long)width * m->entries, panels = m->projected_size / LANES;
    return tiles * m->shape.kv_heads * width <= POOL_MAX_TASKS /* attention's, at most */
        && entries <= POOL_MAX_TASKS && panels * width <= POOL_MAX_TASKS;
}

/* Each row has a cache of its own: one row would read what another writes. */
static int batch_fits(const specedit_model *m, const specedit_pass *pass) {
    int last = 0, count = 0, fits = 1;
    if (!pass->starts || pass->parents || pass->start)
        return 0;
    for (; fits && count < pass->width; count++) {
        specedit_cache *cache = pass->caches[count];
        fits = cache_fits(m, cache) && !cache->taken
            && in(pass->starts[count], 0, SPECEDIT_MAX_POSITIONS - 1);
        if (!fits)
            break;
        cache->taken = 1;
        last = pass->starts[count] > last ? pass->starts[count] : last;
    }
    while (count--)
        pass->caches[count]->taken = 0;
    return fits && rows_fit(m, last, 1, pass->width);
}

int pass_fits(const specedit_model *m, specedit_cache *cache, const specedit_pass *pass) {
    int width = pass->width;
    if (!pass->ids || !in(width, 1, SPECEDIT_MAX_WIDTH) || (pass->logits && !pass->choices)
        || !pass->states != !m->weights.id_norm)
        return 0;
    if (pass->caches ? cache || !batch_fits(m, pass)
                     : !cache_fits(m, cache) || !rows_fit(m, pass->start, width, width))
        return 0;
    for (int i = 0; i < width; i++)
        if (!in(pass->ids[i], 0, m->shape.vocabulary - 1)
            || (pass->parents && !in(pass->parents[i], -1, i - 1)))
            return 0;
    if (m->recurrent && (pass->caches || cache->length != pass->start)) /* a state follows one text */
        return 0;
    for (int i = 0; m->recurrent && pass->parents && i < width; i++)
        if (pass->parents[i] != i - 1)
            return 0;
    const specedit_subset *subset = pass->subset;
    return !subset
        || (in(subset->count, 1, m->shape.vocabulary)
            && linear_fits(
                &subset->rows, up_to(subset->count, LANES), m->shape.hidden, m->shape.hidden));
}
