/* A model: made and freed, and its passes. */
#include <string.h>

#include "model.h"
#include "threads.h"

enum { LAYER_STEPS = 15, OTHER_STEPS = 5 };

_Static_assert(SPECEDIT_MAX_LAYERS * LAYER_STEPS + OTHER_STEPS <= POOL_MAX_STEPS,
    "the pool counts a pass's steps");

static int count_steps(const specedit_model *m) {
    return m->shape.layers * LAYER_STEPS + OTHER_STEPS;
}

static void most_expanded(specedit_model *m, const specedit_linear *linear) {
    if (linear->bits < 8 && linear->group_size > m->expanded)
        m->expanded = linear->group_size;
}

specedit_model *specedit_model_new(
    int variant, const specedit_shape *shape, const specedit_weights *weights) {
    const kernel *kernel = dispatch_kernel(variant);
    if (!kernel || !shape || !weights || !shape_fits(shape, weights))
        return 0;
    specedit_model *m = calloc(1, sizeof *m);
    if (!m)
        return 0;
    m->kernel = kernel;
    m->shape = *shape;
    m->weights = *weights;
    m->size = 2 * shape->half;
    m->per_kv = shape->heads / shape->kv_heads;
    m->channels = 2 * shape->key_heads * shape->key_size + shape->value_heads * shape->value_size;
    m->state_floats = (size_t)shape->value_heads * shape->value_size * shape->key_size
        + (size_t)(shape->taps ? shape->taps - 1 : 0) * m->channels;
    m->entries = shape->experts ? shape->chosen + shape->shared : 0;
    int projected = 2 * shape->value_heads, routed = shape->experts + shape->shared;
    m->projected_size = up_to(projected > routed ? projected : routed, LANES);
    m->groups = (shape->inner + shape->group_size - 1) / shape->group_size;
    m->hidden.groups = m->out.groups = m->expert.rows.groups = 1;
    m->inner.groups = m->groups;
    m->layers = malloc((size_t)shape->layers * sizeof *m->layers);
    m->steps = malloc((size_t)count_steps(m) * sizeof *m->steps);
    m->places = malloc((size_t)shape->layers * sizeof *m->places);
    if (!m->layers || !m->steps || !m->places) {
        specedit_model_free(m);
        return 0;
    }
    memcpy(m->layers, weights->layers, (size_t)shape->layers * sizeof *m->layers);
    most_expanded(m, &m->weights.head);
    most_expanded(m, &m->weights.fuse);
    for (int l = 0; l < shape->layers; l++) {
        most_expanded(m, &m->layers[l].qkv);
        most_expanded(m, &m->layers[l].out);
        most_expanded(m, &m->layers[l].gate_up);
        most_expanded(m, &m->layers[l].down);
        const specedit_layer *layer = &m->layers[l];
        m->places[l] = layer->convolution ? m->recurrent++ : l - m->recurrent;
        m->outputs = layer->qkv.outputs > m->outputs ? layer->qkv.outputs : m->outputs;
        m->attended_size = layer->out.inputs > m->attended_size ? layer->out.inputs : m->attended_size;
    }
    return m;
}

void specedit_model_free(specedit_model *m) {
    if (!m)
        return;
    free_memory(m);
    free_guess(m);
    thread_memory_free(m->journal.inputs);
    thread_memory_free(m->journal.gates);
    thread_memory_free(m->journal.middle);
    free(m->places);
    free(m->layers);
    free(m->steps);
    free(m);
}

/* -- passes --------------------------------------------------------------------------------------- */

/* Memory in the caches for what a pass writes, and in the model for what it works in. */
static int reserve_pass(
    specedit_model *m, specedit_cache *cache, int threads, const specedit_pass *pass) {
    int w = pass->width, last = pass->start + w - 1;
    if (pass->caches) {
        last = 0;
        for (int i = 0; i < w; i++) {
            if (specedit_cache_reserve(pass->caches[i], pass->starts[i] + 1))
                return SPECEDIT_NO_MEMORY;
            last = pass->starts[i] > last ? pass->starts[i] : last;
        }
    } else if (specedit_cache_reserve(cache, last + 1))
        return SPECEDIT_NO_MEMORY;
    m->last = last;
    if (m->recurrent && pass->choices && reserve_journal(m, w))
        return SPECEDIT_NO_MEMORY;
    return reserve_buffers(m, w, threads, last / TILE + 1);
}

int specedit_run(
    specedit_model *m, specedit_cache *cache, specedit_pool *pool, const specedit_pass *arguments) {
    if (!m || !pool || !arguments || !pass_fits(m, cache, arguments))
        return SPECEDIT_BAD_ARGUMENT;
    specedit_pass pass = *arguments;
    int threads = pool_threads(pool), w = pass.width, chain = 1;
    if (reserve_pass(m, cache, threads, &pass))
        return SPECEDIT_NO_MEMORY;
    for (int i = 0; i < w; i++) {
        int parent = pass.parents ? pass.parents[i] : i - 1;
        m->depths[i] = pass.caches ? pass.starts[i] : parent < 0 ? 0 : m->depths[parent] + 1;
        chain &= parent == i - 1;
    }
    if (chain)
        pass.parents = 0;
    m->pass = &pass;
    m->cache = cache;
    m->head_tasks = gemm_tasks(pass.subset ? &pass.subset->rows : &m->weights.head, threads);
    pool_run(pool, m->steps, pass_steps(m, threads), m, pass.progress);
    if (m->recurrent)
        end_recurrent_pass(m, cache, &pass);
    m->pass = 0;
    m->cache = 0;
    return pass.progress && pass.progress[1] ? SPECEDIT_STOPPED : SPECEDIT_OK;
}

int specedit_products(specedit_model *m, specedit_pool *pool, int width) {
    if (!m || !pool || width < 1 || width > SPECEDIT_MAX_WIDTH || m->shape.experts)
        return SPECEDIT_BAD_ARGUMENT;
    int threads = pool_threads(pool);
    specedit_pass pass = {.width = width};
    if (reserve_buffers(m, width, threads, 1))
        return SPECEDIT_NO_MEMORY;
    m->pass = &pass;
    m->discard = 1;
    pool_run(pool, m->steps, gemm_steps(m, threads), m, 0);
    m->discard = 0;
    m->pass = 0;
    return SPECEDIT_OK;
}

int specedit_attention(
    specedit_model *m, specedit_cache *cache, specedit_pool *pool, int start, int width) {
    if (!m || !pool || !cache_fits(m, cache) || !rows_fit(m, start, width, width))
        return SPECEDIT_BAD_ARGUMENT;
    int threads = pool_threads(pool), tiles = (start + width + TILE - 1) / TILE;
    specedit_pass pass = {.width = width, .start = start};
    if (specedit_cache_reserve(cache, start + width) || reserve_buffers(m, width, threads, tiles))
        return SPECEDIT_NO_MEMORY;
    for (int i = 0; i < width; i++)
        m->depths[i] = i;
    m->pass = &pass;
    m->cache = cache;
    m->last = start + width - 1;
    int steps = 0;
    for (int l = 0; l < m->shape.layers; l++)
        if (!m->layers[l].convolution)
            m->steps[steps++] = (pool_step){attention_task, l, attention_tasks(m)};
    if (steps) /* all layers may be recurrent */
        pool_run(pool, m->steps, steps, m, 0);
    m->pass = 0;
    m->cache = 0;
    return SPECEDIT_OK;
}
