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

/* A row's queries, keys and values from the product: turned, made integers, put where they belong. */
void attention_heads(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    const kernel *k = m->kernel;
    const specedit_shape *shape = &m->shape;
    const specedit_layer *weights = &m->layers[layer];
    int size = m->size, row = piece;
    float *heads = m->qkv + (size_t)row * m->outputs;
    const float *cosines = m->cosines + (size_t)row * shape->half;
    const float *sines = m->sines + (size_t)row * shape->half;
    (void)thread;
    for (int h = 0; h < shape->heads; h++, heads += size) {
        size_t at = ((size_t)(h / m->group) * m->pass->width + row) * m->group + h % m->group;
        k->turn(heads, weights->query_norm, shape->half, shape->half_true, shape->epsilon, cosines,
            sines);
        k->shorts(heads, size, QUERY_LIMIT, m->queries + at * size, &m->query_scales[at]);
    }
    const float *values = heads + (size_t)shape->kv_heads * size;
    int slot = slot_of(m, row);
    for (int h = 0; h < shape->kv_heads; h++, heads += size, values += size) {
        int16_t key[2 * MAX_HALF];
        int8_t value[2 * MAX_HALF];
        float key_scale, value_scale;
        k->turn(heads, weights->key_norm, shape->half, shape->half_true, shape->epsilon, cosines,
            sines);
        k->shorts(heads, size, KEY_LIMIT, key, &key_scale);
        k->bytes(values, size, value, &value_scale);
        cache_write(cache_part_of(cache_of(m, row), slot / TILE, layer, h), size, slot % TILE, key,
            key_scale, value, value_scale);
    }
}

/* A tree's row's own part of a tile: the cache's positions of it that share a block with what comes
 * behind them, then its ancestors and itself. Returns the first position that is in there. */
static int gather(specedit_model *m, int layer, int head, int row, int tile, cache_part own) {
    int size = m->size, start = m->pass->start, begin = tile * TILE;
    int first = start / BLOCK * BLOCK, end = position_of(m, row) + 1;
    if (first < begin)
        first = begin;
    cache_part here = cache_part_of(m->cache, tile, layer, head);
    memcpy(own.key_scales, here.key_scales, 2 * TILE * sizeof(float));
    if (first < start && first < begin + TILE) /* the block that the cache ends in */
        cache_copy_block(own, here, first - begin, start - first, size);
    for (int one = row, at = end - 1; one >= 0; one = m->pass->parents[one], at--) {
        int slot = start + one;
        if (at >= begin && at < begin + TILE)
            cache_move(own, at - begin, cache_part_of(m->cache, slot / TILE, layer, head),
                slot % TILE, size);
    }
    return first - begin;
}

/* Rows `from` to `to` of a pass against one tile: sum, most and mixed of each of their queries. */
static void tile_of(specedit_model *m, bench_of_thread *bench, int layer, int head, int from,
    int to, int tile, float *sum, float *most, float *mixed) {
    const kernel *k = m->kernel;
    int size = m->size, group = m->group, rows = (to - from) * group;
    int keys = position_of(m, to - 1) + 1 - tile * TILE;
    if (keys > TILE)
        keys = TILE;
    cache_part part = cache_part_of(cache_of(m, from), tile, layer, head), tail = part;
    int split = TILE; /* what lies behind comes from `tail` */
    if (is_own(m, tile)) {
        tail = cache_part_at(bench->gathered, size);
        split = gather(m, layer, head, from, tile, tail);
        if (split < 0)
            split = 0;
    }
    int panels = (keys + LANES - 1) / LANES, before = split / LANES;
    if (before > panels)
        before = panels;
    size_t at = ((size_t)head * m->pass->width + from) * group;
    const int16_t *queries = m->queries + at * size;
    size_t panel = (size_t)LANES * size, step = (size_t)rows * LANES;
    k->pairs(queries, size, rows, part.keys, panel, before, size, bench->scores);
    k->pairs(queries, size, rows, tail.keys + before * panel, panel, panels - before, size,
        bench->scores + before * step);
    int padded = (keys + BLOCK - 1) / BLOCK * BLOCK, blocks = padded / BLOCK;
    for (int r = 0; r < rows; r++) {
        int seen = position_of(m, from + r / group) + 1 - tile * TILE;
        memset(mixed + (size_t)r * size, 0, (size_t)size * sizeof(float));
        if (seen <= 0) { /* this row ends before the tile begins */
            sum[r] = 0.0f;
            most[r] = -__builtin_inff();
            memset(bench->weights + (size_t)r * TILE, 0, (size_t)padded);
            memset(bench->units + (size_t)r * (TILE / BLOCK), 0, TILE / BLOCK * sizeof(float));
            continue;
        }
        float scale = m->query_scales[at + r] * (LOG2E / __builtin_sqrtf((float)(2 * m->shape.half_true)));
        k->weigh(bench->scores + (size_t)r * LANES, step, seen < TILE ? seen : TILE, padded, scale,
            tail.key_scales, tail.value_scales, bench->weights + (size_t)r * TILE,
            bench->units + (size_t)r * (TILE / BLOCK), &sum[r], &most[r]);
    }
    for (int b = 0; b < blocks; b++) {
        cache_part from_part = b * BLOCK < split ? part : tail;
        const int8_t *values = from_part.values + (size_t)b * BLOCK * size;
        k->dots(bench->weights + (size_t)b * BLOCK, TILE, rows, values, (size_t)LANES * BLOCK,
            size / LANES, BLOCK, bench->sums, 0, 0);
        for (int r = 0; r < rows; r++)
            k->mix(bench->sums + (size_t)r * LANES, step, size / LANES,
                bench->units[(size_t)r * (TILE / BLOCK) + b], mixed + (size_t)r * size);
    }
}

/* As tile_of, of whatever rows; those that end before the tile get nothing. */
static void tile_of_rows(specedit_model *m, bench_of_thread *bench, int layer, int head, int from,
    int to, int tile, float *sum, float *most, float *mixed) {
    if (!is_own(m, tile)) {
        tile_of(m, bench, layer, head, from, to, tile, sum, most, mixed);
        return;
    }
    for (int row = from; row < to; row++) {
        int at = (row - from) * m->group;
        if (tile < tiles_of(position_of(m, row)))
            tile_of(m, bench, layer, head, row, row + 1, tile, sum + at, most + at,
                mixed + (size_t)at * m->size);
    }
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
        size_t at = part_at(m, tile, ((size_t)head * width + from) * group);
        if (tile < last)
            tile_of_rows(m, bench, layer, head, from, to, tile, m->part_sum + at, m->part_most + at,
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
        tile_of_rows(m, bench, layer, head, from, to, t, sum, most, bench->tile);
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
        size_t query = ((size_t)(h / m->group) * m->pass->width + row) * m->group + h % m->group;
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
