/* The cache: tiles that are added and copied. What a position holds is written by attention.c. */
#include "cache.h"

#include <string.h>

#include "model.h"
#include "threads.h"

static size_t tile_bytes(const specedit_cache *cache) {
    return (size_t)cache->layers * cache->kv_heads * cache_part_bytes(cache->size);
}

specedit_cache *specedit_cache_new(const specedit_model *model) {
    specedit_cache *cache = model ? calloc(1, sizeof *cache) : 0;
    if (!cache)
        return 0;
    cache->layers = model->shape.layers - model->recurrent;
    cache->state_floats = (size_t)model->recurrent * model->state_floats;
    cache->kv_heads = model->shape.kv_heads;
    cache->size = 2 * model->shape.half;
    return cache;
}

void specedit_cache_free(specedit_cache *cache) {
    if (!cache)
        return;
    for (int t = 0; t < cache->tiles; t++)
        thread_memory_free(cache->tile[t]);
    thread_memory_free(cache->states[0]);
    thread_memory_free(cache->states[1]);
    free(cache->tile);
    free(cache);
}

int specedit_cache_reserve(specedit_cache *cache, int positions) {
    if (!cache || positions < 0 || positions > SPECEDIT_MAX_POSITIONS)
        return SPECEDIT_BAD_ARGUMENT;
    for (int i = 0; i < 2 && cache->state_floats && !cache->states[i]; i++)
        if (!(cache->states[i] = thread_memory(cache->state_floats * sizeof(float))))
            return SPECEDIT_NO_MEMORY;
    int wanted = (positions + TILE - 1) / TILE;
    if (wanted <= cache->tiles)
        return SPECEDIT_OK;
    char **grown = realloc(cache->tile, (size_t)wanted * sizeof *grown);
    if (!grown)
        return SPECEDIT_NO_MEMORY;
    cache->tile = grown;
    while (cache->tiles < wanted) {
        char *tile = thread_memory(tile_bytes(cache));
        if (!tile)
            return SPECEDIT_NO_MEMORY;
        cache->tile[cache->tiles++] = tile;
    }
    return SPECEDIT_OK;
}

uint64_t specedit_cache_bytes(const specedit_cache *cache) {
    return cache ? (uint64_t)cache->tiles * tile_bytes(cache)
            + (cache->states[1] ? 2 * specedit_cache_state_bytes(cache) : 0)
                 : 0;
}

uint64_t specedit_cache_state_bytes(const specedit_cache *cache) {
    return cache ? cache->state_floats * sizeof(float) : 0;
}

int specedit_cache_state(specedit_cache *cache, char *state, int length, int out) {
    if (!cache || !cache->state_floats || length < 0 || length > SPECEDIT_MAX_POSITIONS
        || (out && (!state || !cache->states[1])) || (!state && length))
        return SPECEDIT_BAD_ARGUMENT;
    if (specedit_cache_reserve(cache, length))
        return SPECEDIT_NO_MEMORY;
    float *own = cache->states[cache->now];
    size_t size = specedit_cache_state_bytes(cache);
    if (out) {
        memcpy(state, own, size);
        return SPECEDIT_OK;
    }
    state ? memcpy(own, state, size) : memset(own, 0, size);
    cache->length = length;
    cache->pass = 0;
    return SPECEDIT_OK;
}

int specedit_cache_copy(specedit_cache *to, const specedit_cache *from, int length) {
    if (!to || !from || length < 0 || length > from->tiles * TILE || to->layers != from->layers
        || to->kv_heads != from->kv_heads || to->size != from->size
        || to->state_floats != from->state_floats)
        return SPECEDIT_BAD_ARGUMENT;
    if (to == from)
        return SPECEDIT_OK;
    if (specedit_cache_reserve(to, length))
        return SPECEDIT_NO_MEMORY;
    for (int t = 0; t * TILE < length; t++)
        memcpy(to->tile[t], from->tile[t], tile_bytes(to));
    return SPECEDIT_OK;
}

uint64_t specedit_cache_row_bytes(const specedit_cache *cache) {
    return cache ? (uint64_t)cache->layers * cache->kv_heads * (3 * cache->size + 2 * sizeof(float)) : 0;
}

int specedit_cache_rows(specedit_cache *cache, char *rows, int length, int out) {
    if (!cache || !rows || length < 0 || (out && length > cache->tiles * TILE))
        return SPECEDIT_BAD_ARGUMENT;
    int code = specedit_cache_reserve(cache, length);
    for (int at = 0; code == SPECEDIT_OK && at < length; at++)
        for (int layer = 0; layer < cache->layers; layer++)
            for (int head = 0; head < cache->kv_heads; head++) {
                cache_part part = cache_part_of(cache, at / TILE, layer, head);
                rows = cache_row(part, cache->size, at % TILE, rows, out);
            }
    return code;
}

int specedit_cache_keep(specedit_cache *cache, int start, const int32_t *rows, int count) {
    if (!cache || start < 0 || count < 0 || (count && !rows))
        return SPECEDIT_BAD_ARGUMENT;
    int end = cache->tiles * TILE;
    for (int i = 0; i < count; i++)
        if (start > end || rows[i] < i || rows[i] >= end - start || (i && rows[i] <= rows[i - 1]))
            return SPECEDIT_BAD_ARGUMENT;
    for (int i = 0; i < count; i++) {
        int to = start + i, from = start + rows[i];
        if (to == from)
            continue;
        for (int layer = 0; layer < cache->layers; layer++)
            for (int head = 0; head < cache->kv_heads; head++) {
                cache_part there = cache_part_of(cache, to / TILE, layer, head);
                cache_part here = cache_part_of(cache, from / TILE, layer, head);
                cache_move_key(there, to % TILE, here, from % TILE, cache->size);
                cache_move_value(there, to % TILE, here, from % TILE, cache->size);
            }
    }
    return SPECEDIT_OK;
}
