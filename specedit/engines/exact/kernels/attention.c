/* Attention: queries and keys as integers, weights of 8 bits, values as bytes.
 *
 * A row's keys come in tiles of 512 that begin at multiples of 512. What a tile gives (a sum of
 * weights, the maximum they are relative to, mixed values) depends on the row and the tile alone,
 * and tiles are folded in order: so neither the pass nor the threads can change a bit.
 *
 * Rows of texts of their own each read and write the cache that is theirs.
 *
 * In a tree a row sees the cache and its own ancestors, which are gathered so that they lie where
 * they would lie had they been read alone.
 */
#include <string.h>

#include "model.h"

enum { TOGETHER = 16 }; /* rows whose heads are one piece */

#define LOG2E 1.44269504088896341f

int attention_split(const specedit_model *model) { return model->pass->width <= NARROW; }

static int position_of(const specedit_model *model, int row) {
    return model->pass->start + model->depths[row];
}

static specedit_cache *cache_of(const specedit_model *model, int row) {
    return model->pass->apart ? model->pass->apart[row] : model->cache;
}

/* where a row's key and value lie in its cache */
static int slot_of(const specedit_model *model, int row) {
    return model->pass->apart ? model->pass->starts[row] : model->pass->start + row;
}

static int is_tree(const specedit_model *model) { return model->pass->parents != 0; }

static int chunk_of(const specedit_model *model) { return model->pass->apart ? 1 : CHUNK; }

/* Whether rows of a tree see different keys in this tile: each then has a tile of its own. */
static int is_own(const specedit_model *model, int tile) {
    return is_tree(model) && (tile + 1) * TILE > model->pass->start;
}

static int chunks(const specedit_model *model) {
    int chunk = chunk_of(model);
    return (model->pass->width + chunk - 1) / chunk;
}

static int tiles_of(int last) { return last / TILE + 1; }

static int most_tiles(const specedit_model *model) {
    return tiles_of(model->last);
}

int attention_pieces(const specedit_model *model) {
    int pieces = model->shape.kv_heads * chunks(model);
    return attention_split(model) ? pieces * most_tiles(model) : pieces;
}

/* where a row's queries of a key head begin */
static size_t query_at(const specedit_model *m, int head, int row) {
    return ((size_t)head * m->pass->width + row) * m->group;
}

/* how many keys of a tile a row sees */
static int seen_of(const specedit_model *m, int row, int tile) {
    int seen = position_of(m, row) + 1 - tile * TILE;
    return seen < 0 ? 0 : seen < TILE ? seen : TILE;
}

int attention_head_pieces(const specedit_model *m) {
    return m->shape.kv_heads * ((m->pass->width + TOGETHER - 1) / TOGETHER);
}

/* A row's queries of a key head, its key and value: turned, made integers, put where they belong. */
static void row_heads(specedit_model *m, int layer, int head, int row) {
    const kernel *k = m->kernel;
    const specedit_shape *shape = &m->shape;
    const specedit_layer *weights = &m->layers[layer];
    int size = m->size, slot = slot_of(m, row);
    const float *cosines = m->cosines + (size_t)row * shape->half;
    const float *sines = m->sines + (size_t)row * shape->half;
    float *all = m->qkv + (size_t)row * m->outputs;
    float *query = all + (size_t)head * m->group * size;
    float *key = all + (size_t)(shape->heads + head) * size;
    const float *value = key + (size_t)shape->kv_heads * size;
    size_t at = query_at(m, head, row);
    for (int q = 0; q < m->group; q++, query += size, at++) {
        k->turn(query, weights->query_norm, shape->half, shape->half_true, shape->epsilon, cosines,
            sines);
        k->shorts(query, size, QUERY_LIMIT, m->queries + at * size, &m->query_scales[at]);
    }
    int16_t keys[2 * MAX_HALF];
    int8_t values[2 * MAX_HALF];
    float key_scale, value_scale;
    k->turn(key, weights->key_norm, shape->half, shape->half_true, shape->epsilon, cosines, sines);
    k->shorts(key, size, KEY_LIMIT, keys, &key_scale);
    k->bytes(value, size, values, &value_scale);
    cache_write(cache_part_of(cache_of(m, row), slot / TILE, layer, head), size, slot % TILE, keys,
        key_scale, values, value_scale);
}

/* Neighbouring rows' keys lie in the same lines of memory, so one thread writes a few of them. */
void attention_heads(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    int from = piece / m->shape.kv_heads * TOGETHER;
    (void)thread;
    for (int row = from; row < from + TOGETHER && row < m->pass->width; row++)
        row_heads(m, layer, piece % m->shape.kv_heads, row);
}

/* A tree's row's ancestors and itself, from the last: their positions in the tile and their slots. */
#define EACH_ANCESTOR(one, at, slot, row, tile)                                                    \
    for (int one = row, at = position_of(m, row) - tile * TILE, slot = m->pass->start + one;        \
         one >= 0; one = m->pass->parents[one], at--, slot = m->pass->start + one)                  \
        if (at >= 0 && at < TILE)

/* What all rows of a tree see of the tile that the pass begins in, as far as their own keys and values
 * share a panel or a block with it, and all scales. */
static void gather_shared(specedit_model *m, int layer, int head, int tile, int shared,
    cache_part own) {
    int size = m->size;
    cache_part here = cache_part_of(m->cache, tile, layer, head);
    memcpy(own.key_scales, here.key_scales, (size_t)shared * sizeof(float));
    memcpy(own.value_scales, here.value_scales, (size_t)shared * sizeof(float));
    if (shared % LANES)
        memcpy(cache_key(own, size, shared / LANES * LANES),
            cache_key(here, size, shared / LANES * LANES), (size_t)LANES * size * sizeof(int16_t));
    if (shared % BLOCK)
        memcpy(cache_value(own, size, shared / BLOCK * BLOCK),
            cache_value(here, size, shared / BLOCK * BLOCK), (size_t)BLOCK * size);
}

/* A query's scores of a tile become weights. `first`: of all queries the first of these rows */
static void weighed(const specedit_model *m, bench_of_thread *bench, cache_part part, size_t first,
    int query, int queries, int seen, int padded, float *sum, float *most) {
    float root = __builtin_sqrtf((float)(2 * m->shape.half_true));
    m->kernel->weigh(bench->scores + (size_t)query * LANES, (size_t)queries * LANES, seen, padded,
        m->query_scales[first + query] * (LOG2E / root), part.key_scales, part.value_scales,
        bench->weights + (size_t)query * TILE, bench->units + (size_t)query * (TILE / BLOCK), sum,
        most);
}

/* A block's values, mixed by the weights of queries `from` to `to`. */
static void mixed_block(const specedit_model *m, bench_of_thread *bench, cache_part part, int block,
    int from, int to, float *mixed) {
    int size = m->size, queries = to - from;
    m->kernel->dots(bench->weights + (size_t)from * TILE + (size_t)block * BLOCK, TILE, queries,
        part.values + (size_t)block * BLOCK * size, (size_t)LANES * BLOCK, size / LANES, BLOCK,
        bench->sums, 0, 0);
    for (int q = 0; q < queries; q++)
        m->kernel->mix(bench->sums + (size_t)q * LANES, (size_t)queries * LANES, size / LANES,
            bench->units[(size_t)(from + q) * (TILE / BLOCK) + block],
            mixed + (size_t)(from + q) * size);
}

/* Rows `from` to `to` of a pass against one tile: sum, most and mixed of each of their queries. */
static void tile_of(specedit_model *m, bench_of_thread *bench, int layer, int head, int from,
    int to, int tile, float *sum, float *most, float *mixed) {
    const kernel *k = m->kernel;
    int size = m->size, group = m->group, rows = (to - from) * group;
    int keys = seen_of(m, to - 1, tile);
    cache_part part = cache_part_of(cache_of(m, from), tile, layer, head);
    size_t at = query_at(m, head, from);
    k->pairs(m->queries + at * size, size, rows, part.keys, (size_t)LANES * size,
        (keys + LANES - 1) / LANES, size, bench->scores);
    int padded = (keys + BLOCK - 1) / BLOCK * BLOCK, blocks = padded / BLOCK;
    for (int r = 0; r < rows; r++) {
        int seen = seen_of(m, from + r / group, tile);
        memset(mixed + (size_t)r * size, 0, (size_t)size * sizeof(float));
        if (!seen) { /* this row ends before the tile begins */
            sum[r] = 0.0f;
            most[r] = -__builtin_inff();
            memset(bench->weights + (size_t)r * TILE, 0, (size_t)padded);
            memset(bench->units + (size_t)r * (TILE / BLOCK), 0, TILE / BLOCK * sizeof(float));
            continue;
        }
        weighed(m, bench, part, at, r, rows, seen, padded, &sum[r], &most[r]);
    }
    for (int b = 0; b < blocks; b++)
        mixed_block(m, bench, part, b, 0, rows, mixed);
}

/* The same for rows of a tree that see different keys of the tile: what lies before the pass they
 * meet together, and each then its own keys, moved to where they would lie had they been read alone.
 * What a row before it left behind its last key has no weight. */
static void tile_of_tree(specedit_model *m, bench_of_thread *bench, int layer, int head, int from,
    int to, int tile, float *sum, float *most, float *mixed) {
    const kernel *k = m->kernel;
    int size = m->size, group = m->group, rows = (to - from) * group;
    cache_part part = cache_part_of(m->cache, tile, layer, head);
    cache_part own = cache_part_at(bench->gathered, size);
    int shared = m->pass->start - tile * TILE; /* positions that all rows see */
    shared = shared < 0 ? 0 : shared < TILE ? shared : TILE;
    int panels = shared / LANES, blocks = shared / BLOCK;
    size_t at = query_at(m, head, from), panel = (size_t)LANES * size;
    const int16_t *queries = m->queries + at * size;
    k->pairs(queries, size, rows, part.keys, panel, panels, size, bench->scores);
    gather_shared(m, layer, head, tile, shared, own);
    for (int row = from, r = 0; row < to; row++, r += group) {
        int seen = seen_of(m, row, tile), more = (seen + LANES - 1) / LANES - panels;
        if (!seen)
            continue;
        EACH_ANCESTOR (one, to_at, slot, row, tile)
            cache_move_key(own, to_at, cache_part_of(m->cache, slot / TILE, layer, head),
                slot % TILE, size);
        k->pairs(queries + (size_t)r * size, size, group, own.keys + panels * panel, panel, more,
            size, bench->sums);
        for (int p = 0; p < more; p++)
            memcpy(bench->scores + ((size_t)(panels + p) * rows + r) * LANES,
                bench->sums + (size_t)p * group * LANES, (size_t)group * LANES * sizeof(int32_t));
        for (int q = r; q < r + group; q++)
            weighed(m, bench, own, at, q, rows, seen, (seen + BLOCK - 1) / BLOCK * BLOCK, &sum[q],
                &most[q]);
    }
    memset(mixed, 0, (size_t)rows * size * sizeof(float));
    for (int b = 0; b < blocks; b++)
        mixed_block(m, bench, part, b, 0, rows, mixed);
    for (int row = from, r = 0; row < to; row++, r += group) {
        EACH_ANCESTOR (one, to_at, slot, row, tile)
            cache_move_value(own, to_at, cache_part_of(m->cache, slot / TILE, layer, head),
                slot % TILE, size);
        for (int b = blocks; b * BLOCK < seen_of(m, row, tile); b++)
            mixed_block(m, bench, own, b, r, r + group, mixed);
    }
}

static void tile_of_any(specedit_model *m, bench_of_thread *bench, int layer, int head, int from,
    int to, int tile, float *sum, float *most, float *mixed) {
    (is_own(m, tile) ? tile_of_tree : tile_of)(
        m, bench, layer, head, from, to, tile, sum, most, mixed);
}

/* where a narrow pass keeps what a tile gave for a query */
static size_t part_at(const specedit_model *m, int tile, size_t query) {
    return (size_t)tile * m->shape.heads * m->pass->width + query;
}

void attention_piece(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    bench_of_thread *bench = &m->benches[thread];
    const kernel *k = m->kernel;
    int size = m->size, group = m->group, width = m->pass->width;
    int tile = -1;
    if (attention_split(m)) {
        tile = piece % most_tiles(m);
        piece /= most_tiles(m);
    }
    int head = piece % m->shape.kv_heads, chunk = chunk_of(m);
    int from = piece / m->shape.kv_heads * chunk;
    int to = from + chunk < width ? from + chunk : width;
    int last = 0, rows = (to - from) * group;
    for (int row = from; row < to; row++) /* in a tree the last row need not be the deepest */
        last = position_of(m, row) > last ? position_of(m, row) : last;
    last = tiles_of(last);
    if (tile >= 0) {
        size_t at = part_at(m, tile, query_at(m, head, from));
        if (tile < last)
            tile_of_any(m, bench, layer, head, from, to, tile, m->part_sum + at, m->part_most + at,
                m->part_mixed + at * size);
        return;
    }
    float *sum = bench->sum, *most = bench->most;
    float *row_sum = sum + rows, *row_most = most + rows;
    for (int r = 0; r < rows; r++) {
        row_sum[r] = 0.0f;
        row_most[r] = -__builtin_inff();
    }
    memset(bench->mixed, 0, (size_t)rows * size * sizeof(float));
    for (int t = 0; t < last; t++) {
        tile_of_any(m, bench, layer, head, from, to, t, sum, most, bench->tile);
        for (int r = 0; r < rows; r++)
            if (t < tiles_of(position_of(m, from + r / group)))
                k->fold(sum[r], most[r], bench->tile + (size_t)r * size, size, &row_sum[r],
                    &row_most[r], bench->mixed + (size_t)r * size);
    }
    for (int r = 0; r < rows; r++)
        k->finish(row_sum[r], bench->mixed + (size_t)r * size, size,
            m->attended + (size_t)(from + r / group) * m->mixed
                + (size_t)(head * group + r % group) * size);
}

void attention_row(specedit_model *m, int row, float *out) {
    const kernel *k = m->kernel;
    float mixed[2 * MAX_HALF] __attribute__((aligned(64)));
    int size = m->size, tiles = tiles_of(position_of(m, row));
    for (int h = 0; h < m->shape.heads; h++) {
        size_t query = query_at(m, h / m->group, row) + h % m->group;
        float sum = 0.0f, most = -__builtin_inff();
        memset(mixed, 0, sizeof mixed);
        for (int t = 0; t < tiles; t++) {
            size_t at = part_at(m, t, query);
            k->fold(m->part_sum[at], m->part_most[at], m->part_mixed + at * size, size, &sum,
                &most, mixed);
        }
        k->finish(sum, mixed, size, out + (size_t)h * size);
    }
}
