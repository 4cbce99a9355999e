/* A model: made and freed, and its passes. */
#include <string.h>

#include "model.h"
#include "threads.h"

enum { LAYER_STEPS = 10, OTHER_STEPS = 4 };

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
    m->outputs = (shape->heads + 2 * shape->kv_heads) * m->size;
    m->attended_size = up_to(shape->heads * m->size, 64);
    m->groups = (shape->inner + shape->group_size - 1) / shape->group_size;
    m->hidden.groups = m->out.groups = 1;
    m->inner.groups = m->groups;
    m->layers = malloc((size_t)shape->layers * sizeof *m->layers);
    m->steps = malloc((size_t)count_steps(m) * sizeof *m->steps);
    if (!m->layers || !m->steps) {
        specedit_model_free(m);
        return 0;
    }
    memcpy(m->layers, weights->layers, (size_t)shape->layers * sizeof *m->layers);
    most_expanded(m, &m->weights.head);
    for (int l = 0; l < shape->layers; l++) {
        most_expanded(m, &m->layers[l].qkv);
        most_expanded(m, &m->layers[l].out);
        most_expanded(m, &m->layers[l].gate_up);
        most_expanded(m, &m->layers[l].down);
    }
    return m;
}

void specedit_model_free(specedit_model *m) {
    if (!m)
        return;
    free_memory(m);
    free_guess(m);
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
    m->pass = 0;
    m->cache = 0;
    return pass.progress && pass.progress[1] ? SPECEDIT_STOPPED : SPECEDIT_OK;
}

int specedit_products(specedit_model *m, specedit_pool *pool, int width) {
    if (!m || !pool || width < 1 || width > SPECEDIT_MAX_WIDTH)
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
    for (int l = 0; l < m->shape.layers; l++)
        m->steps[l] = (pool_step){attention_task, l, attention_tasks(m)};
    pool_run(pool, m->steps, m->shape.layers, m, 0);
    m->pass = 0;
    m->cache = 0;
    return SPECEDIT_OK;
}
