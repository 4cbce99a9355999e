/* How keys and values lie in memory: tiles of 512 positions, each with all layers and key heads.
 *
 * A head's keys are panels of 16 positions: channel pair, position, 2 channels, as 16-bit integers.
 * Its values are blocks of 64 positions: 16 channels, position / 4, channel, 4 positions, as bytes.
 * Each position has a scale for its key and one for its value.
 */
#ifndef CACHE_H
#define CACHE_H

#include <string.h>

#include "variant.h"

struct specedit_cache {
    int layers, kv_heads, size; /* layers with attention */
    int tiles;
    char **tile;
    size_t state_floats; /* of all recurrent layers */
    float *states[2];    /* behind the last position, and before the last pass */
    int now;             /* which of them is which */
    int length;          /* positions, where there are states */
    uint64_t pass;       /* the last one with choices, as the model numbers them; 0: another */
    int taken; /* by a row of the pass whose arguments are checked: finds a cache that is passed twice */
};

/* one head's part of a tile */
typedef struct {
    int16_t *keys;
    int8_t *values;
    float *key_scales;
    float *value_scales;
} cache_part;

static inline size_t cache_part_bytes(int size) {
    return (size_t)TILE * (size_t)(3 * size) + 2 * TILE * sizeof(float);
}

static inline cache_part cache_part_at(char *at, int size) {
    cache_part part;
    part.keys = (int16_t *)at;
    part.values = (int8_t *)(at + (size_t)TILE * size * 2);
    part.key_scales = (float *)(at + (size_t)TILE * size * 3);
    part.value_scales = part.key_scales + TILE;
    return part;
}

static inline cache_part cache_part_of(const specedit_cache *cache, int tile, int layer, int head) {
    size_t index = (size_t)layer * cache->kv_heads + head;
    return cache_part_at(cache->tile[tile] + index * cache_part_bytes(cache->size), cache->size);
}

/* a position of a tile: where its channel 0 lies */
static inline int16_t *cache_key(cache_part part, int size, int at) {
    return part.keys + (size_t)(at / LANES) * LANES * size + at % LANES * 2;
}

static inline int8_t *cache_value(cache_part part, int size, int at) {
    return part.values + (size_t)(at / BLOCK) * BLOCK * size + at % BLOCK / 4 * 64 + at % 4;
}

static inline void cache_write(cache_part part, int size, int at, const int16_t *key,
    float key_scale, const int8_t *value, float value_scale) {
    int16_t *keys = cache_key(part, size, at);
    int8_t *values = cache_value(part, size, at);
    for (int c = 0; c < size; c += 2) {
        keys[c * LANES] = key[c];
        keys[c * LANES + 1] = key[c + 1];
    }
    for (int c = 0; c < size; c += LANES)
        for (int i = 0; i < LANES; i++)
            values[c * BLOCK + i * 4] = value[c + i];
    part.key_scales[at] = key_scale;
    part.value_scales[at] = value_scale;
}

/* What `cache_write` stored at a position, read back (`out`) or stored again. */
static inline char *cache_row(cache_part part, int size, int at, char *row, int out) {
    int16_t key[2 * MAX_HALF];
    int8_t value[2 * MAX_HALF];
    float scales[2];
    if (out) {
        const int16_t *keys = cache_key(part, size, at);
        const int8_t *values = cache_value(part, size, at);
        for (int c = 0; c < size; c++) {
            key[c] = keys[c / 2 * 2 * LANES + c % 2];
            value[c] = values[c / LANES * LANES * BLOCK + c % LANES * 4];
        }
        scales[0] = part.key_scales[at];
        scales[1] = part.value_scales[at];
    }
    struct {
        void *at;
        size_t bytes;
    } fields[] = {{key, 2 * (size_t)size}, {value, (size_t)size}, {scales, sizeof scales}};
    for (int i = 0; i < 3; row += fields[i++].bytes)
        memcpy(out ? row : fields[i].at, out ? fields[i].at : row, fields[i].bytes);
    if (!out)
        cache_write(part, size, at, key, scales[0], value, scales[1]);
    return row;
}

/* A position's key with the scales of both, and its value: two functions, for trees move keys first. */
static inline void cache_move_key(
    cache_part to, int to_at, cache_part from, int from_at, int size) {
    int16_t *to_key = cache_key(to, size, to_at), *key = cache_key(from, size, from_at);
    for (int c = 0; c < size; c += 2)
        memcpy(to_key + c * LANES, key + c * LANES, 2 * sizeof *key);
    to.key_scales[to_at] = from.key_scales[from_at];
    to.value_scales[to_at] = from.value_scales[from_at];
}

static inline void cache_move_value(
    cache_part to, int to_at, cache_part from, int from_at, int size) {
    int8_t *to_value = cache_value(to, size, to_at), *value = cache_value(from, size, from_at);
    for (int c = 0; c < size; c += LANES)
        for (int i = 0; i < LANES; i++)
            to_value[c * BLOCK + i * 4] = value[c * BLOCK + i * 4];
}

#endif
