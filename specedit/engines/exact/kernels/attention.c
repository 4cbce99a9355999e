/* Attention: queries and keys of 16 bits, softmax weights of 8 bits, values of 8 bits.
 *
 * Keys come in tiles of 512 that begin at multiples of 512. What a tile gives (a sum of weights, the
 * maximum they are relative to, an output) depends on the row and the tile alone, and tiles are
 * merged in order, so neither the pass nor the threads change a bit.
 *
 * Each row of a batch reads and writes its own cache. In a tree a row sees the cache and its own
 * ancestors, which are gathered to where they would be had they been read as a chain.
 */
#include <string.h>

#include "model.h"

enum { TOGETHER = 16 }; /* rows whose keys and values are stored by one task */

#define LOG2E 1.44269504088896341f

int attention_split(const specedit_model *model) { return model->pass->width <= SPLIT_WIDTH; }

static int position_of(const specedit_model *model, int row) {
    return model->pass->start + model->depths[row];
}

static specedit_cache *cache_of(const specedit_model *model, int row) {
    return model->pass->caches ? model->pass->caches[row] : model->cache;
}

/* where a row's key and value lie in its cache */
static int slot_of(const specedit_model *model, int row) {
    return model->pass->caches ? model->pass->starts[row] : model->pass->start + row;
}

static cache_part part_of(const specedit_model *m, const specedit_cache *cache, int tile, int layer, int head) {
    return cache_part_of(cache, tile, m->places[layer], head);
}

static int is_tree(const specedit_model *model) { return model->pass->parents != 0; }

static int chunk_of(const specedit_model *model) { return model->pass->caches ? 1 : QUERY_ROWS; }

/* Whether rows of a tree see different keys in this tile: each then has a tile of its own. */
static int is_own(const specedit_model *model, int tile) {
    return is_tree(model) && (tile + 1) * TILE > model->pass->start;
}

static int chunks(const specedit_model *model) {
    int chunk = chunk_of(model);
    return (model->pass->width + chunk - 1) / chunk;
}

static int tiles_of(int last) { return last / TILE + 1; }

static int max_tiles(const specedit_model *model) { return tiles_of(model->last); }

int attention_tasks(const specedit_model *model) {
    int tasks = model->shape.kv_heads * chunks(model);
    return attention_split(model) ? tasks * max_tiles(model) : tasks;
}

/* where a row's queries of a key head begin */
static size_t query_at(const specedit_model *m, int head, int row) {
    return ((size_t)head * m->pass->width + row) * m->per_kv;
}

/* how many keys of a tile a row sees */
static int seen_of(const specedit_model *m, int row, int tile) {
    int seen = position_of(m, row) + 1 - tile * TILE;
    return seen < 0 ? 0 : seen < TILE ? seen : TILE;
}

int store_kv_tasks(const specedit_model *m) {
    return m->shape.kv_heads * ((m->pass->width + TOGETHER - 1) / TOGETHER);
}

/* A row's queries of a key head, its key and value: RoPE, quantization, and the KV cache. */
static void store_kv_row(specedit_model *m, int layer, int head, int row) {
    const kernel *k = m->kernel;
    const specedit_shape *shape = &m->shape;
    const specedit_layer *weights = &m->layers[layer];
    int size = m->size, slot = slot_of(m, row);
    const float *cosines = m->cosines + (size_t)row * shape->half;
    const float *sines = m->sines + (size_t)row * shape->half;
    float *all = m->qkv + (size_t)row * weights->qkv.outputs;
    int apart = shape->gated ? 2 * size : size; /* a head's gate follows its query */
    float *query = all + (size_t)head * m->per_kv * apart;
    float *key = all + (size_t)shape->heads * apart + (size_t)head * size;
    const float *value = key + (size_t)shape->kv_heads * size;
    size_t at = query_at(m, head, row);
    for (int q = 0; q < m->per_kv; q++, query += apart, at++) {
        if (!weights->unrotated)
            k->rope(query, weights->query_norm, shape->half, shape->half_true, shape->epsilon,
                cosines, sines);
        k->quantize16(query, size, QUERY_LIMIT, m->queries + at * size, &m->query_scales[at]);
    }
    int16_t keys[2 * MAX_HALF];
    int8_t values[2 * MAX_HALF];
    float key_scale, value_scale;
    if (!weights->unrotated)
        k->rope(
            key, weights->key_norm, shape->half, shape->half_true, shape->epsilon, cosines, sines);
    k->quantize16(key, size, shape->half > WIDE_HALF ? WIDE_KEY_LIMIT : KEY_LIMIT, keys, &key_scale);
    k->quantize8(value, size, values, &value_scale);
    cache_write(part_of(m, cache_of(m, row), slot / TILE, layer, head), size, slot % TILE, keys,
        key_scale, values, value_scale);
}

/* Neighbouring rows' keys lie in the same lines of memory, so one thread writes a few of them. */
void store_kv_task(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    int from = task / m->shape.kv_heads * TOGETHER;
    (void)thread;
    for (int row = from; row < from + TOGETHER && row < m->pass->width; row++)
        store_kv_row(m, layer, task % m->shape.kv_heads, row);
}

/* A row of a tree and its ancestors, from the last: their positions in the tile and their slots. */
#define EACH_ANCESTOR(one, at, slot, row, tile)                                                    \
    for (int one = row, at = position_of(m, row) - tile * TILE, slot = m->pass->start + one;       \
        one >= 0; one = m->pass->parents[one], at--, slot = m->pass->start + one)                  \
        if (at >= 0 && at < TILE)

/* What all rows of a tree see of the tile in which the pass begins: all scales, and the keys and values
 * that share a panel or a block with their own. */
static void gather_shared(
    specedit_model *m, int layer, int head, int tile, int shared, cache_part own) {
    int size = m->size;
    cache_part here = part_of(m, m->cache, tile, layer, head);
    memcpy(own.key_scales, here.key_scales, (size_t)shared * sizeof(float));
    memcpy(own.value_scales, here.value_scales, (size_t)shared * sizeof(float));
    if (shared % LANES)
        memcpy(cache_key(own, size, shared / LANES * LANES),
            cache_key(here, size, shared / LANES * LANES), (size_t)LANES * size * sizeof(int16_t));
    if (shared % BLOCK)
        memcpy(cache_value(own, size, shared / BLOCK * BLOCK),
            cache_value(here, size, shared / BLOCK * BLOCK), (size_t)BLOCK * size);
}

/* A query's scores of a tile become weights. `first`: the first query of these rows */
static void tile_softmax(const specedit_model *m, thread_scratch *scratch, cache_part part,
    size_t first, int query, int queries, int seen, int padded, float *sum, float *maximum) {
    float root = __builtin_sqrtf((float)(2 * m->shape.half_true));
    m->kernel->softmax(scratch->scores + (size_t)query * LANES, (size_t)queries * LANES, seen,
        padded, m->query_scales[first + query] * (LOG2E / root), part.key_scales, part.value_scales,
        scratch->weights + (size_t)query * TILE, scratch->units + (size_t)query * (TILE / BLOCK),
        sum, maximum);
}

/* Adds values from `block` to block `end`, weighted for queries `from` to `to`. */
static void add_value_blocks(const specedit_model *m, const thread_scratch *scratch, cache_part part,
    int block, int end, int from, int to, float *output) {
    int size = m->size;
    m->kernel->add_values(scratch->weights + (size_t)from * TILE + (size_t)block * BLOCK,
        scratch->units + (size_t)from * (TILE / BLOCK) + block, to - from,
        part.values + (size_t)block * BLOCK * size, size / LANES, end - block,
        output + (size_t)from * size);
}

/* Rows `from` to `to` of a pass against one tile: sum, maximum and output of each of their queries. */
static void tile_of(specedit_model *m, thread_scratch *scratch, int layer, int head, int from,
    int to, int tile, float *sum, float *maximum, float *output) {
    const kernel *k = m->kernel;
    int size = m->size, per_kv = m->per_kv, rows = (to - from) * per_kv;
    int keys = seen_of(m, to - 1, tile);
    cache_part part = part_of(m, cache_of(m, from), tile, layer, head);
    size_t at = query_at(m, head, from);
    k->gemm16(m->queries + at * size, size, rows, part.keys, (size_t)LANES * size,
        (keys + LANES - 1) / LANES, size, scratch->scores);
    int padded = (keys + BLOCK - 1) / BLOCK * BLOCK;
    for (int r = 0; r < rows; r++) {
        int seen = seen_of(m, from + r / per_kv, tile);
        memset(output + (size_t)r * size, 0, (size_t)size * sizeof(float));
        if (!seen) { /* this row ends before the tile begins */
            sum[r] = 0.0f;
            maximum[r] = -__builtin_inff();
            memset(scratch->weights + (size_t)r * TILE, 0, (size_t)padded);
            memset(scratch->units + (size_t)r * (TILE / BLOCK), 0, TILE / BLOCK * sizeof(float));
            continue;
        }
        tile_softmax(m, scratch, part, at, r, rows, seen, padded, &sum[r], &maximum[r]);
    }
    add_value_blocks(m, scratch, part, 0, padded / BLOCK, 0, rows, output);
}

/* The same for rows of a tree that see different keys of the tile: first the positions before the pass,
 * for all rows together, then each row's own keys, moved to where a chain would have them. What an
 * earlier row left behind a row's last key has no weight. */
static void tile_of_tree(specedit_model *m, thread_scratch *scratch, int layer, int head, int from,
    int to, int tile, float *sum, float *maximum, float *output) {
    const kernel *k = m->kernel;
    int size = m->size, per_kv = m->per_kv, rows = (to - from) * per_kv;
    cache_part part = part_of(m, m->cache, tile, layer, head);
    cache_part own = cache_part_at(scratch->gathered, size);
    int shared = m->pass->start - tile * TILE; /* positions that all rows see */
    shared = shared < 0 ? 0 : shared < TILE ? shared : TILE;
    int panels = shared / LANES, blocks = shared / BLOCK;
    size_t at = query_at(m, head, from), panel = (size_t)LANES * size;
    const int16_t *queries = m->queries + at * size;
    k->gemm16(queries, size, rows, part.keys, panel, panels, size, scratch->scores);
    gather_shared(m, layer, head, tile, shared, own);
    for (int row = from, r = 0; row < to; row++, r += per_kv) {
        int seen = seen_of(m, row, tile), more = (seen + LANES - 1) / LANES - panels;
        if (!seen)
            continue;
        EACH_ANCESTOR(one, to_at, slot, row, tile)
        cache_move_key(
            own, to_at, part_of(m, m->cache, slot / TILE, layer, head), slot % TILE, size);
        k->gemm16(queries + (size_t)r * size, size, per_kv, own.keys + panels * panel, panel, more,
            size, scratch->sums);
        for (int p = 0; p < more; p++)
            memcpy(scratch->scores + ((size_t)(panels + p) * rows + r) * LANES,
                scratch->sums + (size_t)p * per_kv * LANES,
                (size_t)per_kv * LANES * sizeof(int32_t));
        for (int q = r; q < r + per_kv; q++)
            tile_softmax(m, scratch, own, at, q, rows, seen, (seen + BLOCK - 1) / BLOCK * BLOCK,
                &sum[q], &maximum[q]);
    }
    memset(output, 0, (size_t)rows * size * sizeof(float));
    add_value_blocks(m, scratch, part, 0, blocks, 0, rows, output);
    for (int row = from, r = 0; row < to; row++, r += per_kv) {
        EACH_ANCESTOR(one, to_at, slot, row, tile)
        cache_move_value(
            own, to_at, part_of(m, m->cache, slot / TILE, layer, head), slot % TILE, size);
        int end = (seen_of(m, row, tile) + BLOCK - 1) / BLOCK;
        if (end > blocks)
            add_value_blocks(m, scratch, own, blocks, end, r, r + per_kv, output);
    }
}

static void tile_of_any(specedit_model *m, thread_scratch *scratch, int layer, int head, int from,
    int to, int tile, float *sum, float *maximum, float *output) {
    (is_own(m, tile) ? tile_of_tree : tile_of)(
        m, scratch, layer, head, from, to, tile, sum, maximum, output);
}

/* where a narrow pass stores what a tile gave for a query */
static size_t part_at(const specedit_model *m, int tile, size_t query) {
    return (size_t)tile * m->shape.heads * m->pass->width + query;
}

void attention_task(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    thread_scratch *scratch = &m->scratch[thread];
    const kernel *k = m->kernel;
    int size = m->size, per_kv = m->per_kv, width = m->pass->width;
    int tile = -1;
    if (attention_split(m)) {
        tile = task % max_tiles(m);
        task /= max_tiles(m);
    }
    int head = task % m->shape.kv_heads, chunk = chunk_of(m);
    int from = task / m->shape.kv_heads * chunk;
    int to = from + chunk < width ? from + chunk : width;
    int last = 0, rows = (to - from) * per_kv;
    for (int row = from; row < to; row++) /* in a tree the last row need not be the deepest */
        last = position_of(m, row) > last ? position_of(m, row) : last;
    last = tiles_of(last);
    if (tile >= 0) {
        size_t at = part_at(m, tile, query_at(m, head, from));
        if (tile < last)
            tile_of_any(m, scratch, layer, head, from, to, tile, m->part_sum + at,
                m->part_maximum + at, m->part_output + at * size);
        return;
    }
    float *sum = scratch->sum, *maximum = scratch->maximum;
    float *row_sum = sum + rows, *row_maximum = maximum + rows;
    for (int r = 0; r < rows; r++) {
        row_sum[r] = 0.0f;
        row_maximum[r] = -__builtin_inff();
    }
    memset(scratch->output, 0, (size_t)rows * size * sizeof(float));
    for (int t = 0; t < last; t++) {
        tile_of_any(m, scratch, layer, head, from, to, t, sum, maximum, scratch->tile_output);
        for (int r = 0; r < rows; r++)
            if (t < tiles_of(position_of(m, from + r / per_kv)))
                k->merge(sum[r], maximum[r], scratch->tile_output + (size_t)r * size, size,
                    &row_sum[r], &row_maximum[r], scratch->output + (size_t)r * size);
    }
    for (int r = 0; r < rows; r++)
        k->divide(row_sum[r], scratch->output + (size_t)r * size, size,
            m->attended + (size_t)(from + r / per_kv) * m->attended_size
                + (size_t)(head * per_kv + r % per_kv) * size);
}

void attention_row(specedit_model *m, int row, float *out) {
    const kernel *k = m->kernel;
    float output[2 * MAX_HALF] __attribute__((aligned(64)));
    int size = m->size, tiles = tiles_of(position_of(m, row));
    for (int h = 0; h < m->shape.heads; h++) {
        size_t query = query_at(m, h / m->per_kv, row) + h % m->per_kv;
        float sum = 0.0f, maximum = -__builtin_inff();
        memset(output, 0, sizeof output);
        for (int t = 0; t < tiles; t++) {
            size_t at = part_at(m, t, query);
            k->merge(m->part_sum[at], m->part_maximum[at], m->part_output + at * size, size, &sum,
                &maximum, output);
        }
        k->divide(sum, output, size, out + (size_t)h * size);
    }
}
