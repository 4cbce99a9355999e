/* A model's passes: the steps of a layer, one after the other, each in small pieces.
 *
 * Knows the Qwen2, Qwen3 and Llama layer. Does not know how a product is computed (a variant does)
 * nor attention (attention.c).
 */
#include "model.h"

#include <string.h>

#include "threads.h"

/* -- room --------------------------------------------------------------------------------------- */

static void free_room(specedit_model *m) {
    void *all[] = {m->rows, m->qkv, m->attended, m->gates, m->cosines, m->sines, m->queries,
        m->query_scales, m->hidden.digits, m->hidden.scales, m->out.digits, m->out.scales,
        m->inner.digits, m->inner.scales, m->best, m->choice, m->depths};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        thread_memory_free(all[i]);
    m->rows = m->qkv = m->attended = m->gates = m->cosines = m->sines = m->query_scales = 0;
    m->queries = 0;
    m->hidden.digits = m->out.digits = m->inner.digits = 0;
    m->hidden.scales = m->out.scales = m->inner.scales = 0;
    m->best = 0;
    m->choice = m->depths = 0;
    m->width = 0;
}

static void free_parts(specedit_model *m) {
    thread_memory_free(m->part_mixed);
    thread_memory_free(m->part_sum);
    thread_memory_free(m->part_most);
    m->part_mixed = m->part_sum = m->part_most = 0;
    m->tiles = 0;
}

static void free_benches(specedit_model *m) {
    for (int t = 0; t < m->threads; t++) {
        bench_of_thread *b = &m->benches[t];
        void *all[] = {b->row, b->sums, b->scores, b->weights, b->units, b->tile, b->mixed, b->sum,
            b->most, b->gathered};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            thread_memory_free(all[i]);
    }
    free(m->benches);
    m->benches = 0;
    m->threads = 0;
}

static void *floats_of(size_t count) { return thread_memory(count * sizeof(float)); }

static int grain_of(int panels, int threads) {
    int grain = panels / (threads * 8) / 4 * 4;
    return grain < 4 ? 4 : grain > 32 ? 32 : grain;
}

/* of the output layer, or of any part of it: a small product may have more pieces than a large one */
static int most_head_pieces(const specedit_model *m, int threads) {
    int all = product_pieces(&m->weights.head, threads);
    return all > 16 * threads ? all : 16 * threads;
}

static int room_for_width(specedit_model *m, int width, int threads) {
    const specedit_shape *s = &m->shape;
    free_room(m);
    size_t w = (size_t)up_to(width, 8), digits = s->two ? 2 : 1;
    m->rows = floats_of(w * s->hidden);
    m->qkv = floats_of(w * m->outputs);
    m->attended = floats_of(w * m->mixed);
    m->gates = floats_of(w * s->inner);
    m->cosines = floats_of(w * s->half);
    m->sines = floats_of(w * s->half);
    m->queries = thread_memory(w * s->heads * m->size * sizeof(int16_t));
    m->query_scales = floats_of(w * s->heads);
    m->hidden.digits = thread_memory(w * digits * s->hidden);
    m->hidden.scales = floats_of(w);
    m->out.digits = thread_memory(w * digits * m->mixed);
    m->out.scales = floats_of(w);
    m->inner.digits = thread_memory(w * digits * s->inner);
    m->inner.scales = floats_of(w * m->pieces);
    m->best = floats_of(w * most_head_pieces(m, threads));
    m->choice = thread_memory(w * most_head_pieces(m, threads) * sizeof(int32_t));
    m->depths = thread_memory(w * sizeof(int32_t));
    void *all[] = {m->rows, m->qkv, m->attended, m->gates, m->cosines, m->sines, m->queries,
        m->query_scales, m->hidden.digits, m->hidden.scales, m->out.digits, m->out.scales,
        m->inner.digits, m->inner.scales, m->best, m->choice, m->depths};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i]) {
            free_room(m);
            return SPECEDIT_NO_MEMORY;
        }
    m->width = (int)w;
    return SPECEDIT_OK;
}

static int room_for_threads(specedit_model *m, int threads) {
    const specedit_shape *s = &m->shape;
    free_benches(m);
    m->benches = calloc((size_t)threads, sizeof *m->benches);
    if (!m->benches)
        return SPECEDIT_NO_MEMORY;
    m->threads = threads;
    size_t queries = (size_t)CHUNK * m->group;
    size_t sums = (size_t)MANY * GROUP * LANES, values = queries * m->size;
    size_t own = (size_t)m->group * TILE; /* a tree's row's scores */
    sums = sums > values ? sums : values;
    sums = sums > own ? sums : own;
    for (int t = 0; t < threads; t++) {
        bench_of_thread *b = &m->benches[t];
        b->row = floats_of(s->hidden);
        b->sums = thread_memory(sums * sizeof(int32_t));
        b->scores = thread_memory(queries * TILE * sizeof(int32_t));
        b->weights = thread_memory(queries * TILE);
        b->units = floats_of(queries * (TILE / BLOCK));
        b->tile = floats_of(values);
        b->mixed = floats_of(values);
        b->sum = floats_of(2 * queries);
        b->most = floats_of(2 * queries);
        b->gathered = thread_memory(cache_part_bytes(m->size));
        if (!b->row || !b->sums || !b->scores || !b->weights || !b->units || !b->tile || !b->mixed
            || !b->sum || !b->most || !b->gathered) {
            free_benches(m);
            return SPECEDIT_NO_MEMORY;
        }
    }
    return SPECEDIT_OK;
}

int model_room(specedit_model *m, int width, int threads, int tiles) {
    if (threads != m->threads) {
        free_room(m); /* the output layer's pieces follow from the threads */
        if (room_for_threads(m, threads))
            return SPECEDIT_NO_MEMORY;
    }
    if (width > m->width && room_for_width(m, width, threads))
        return SPECEDIT_NO_MEMORY;
    if (width <= NARROW && tiles > m->tiles) {
        size_t queries = (size_t)NARROW * m->shape.heads * (size_t)up_to(tiles, 4);
        free_parts(m);
        m->part_mixed = floats_of(queries * m->size);
        m->part_sum = floats_of(queries);
        m->part_most = floats_of(queries);
        if (!m->part_mixed || !m->part_sum || !m->part_most) {
            free_parts(m);
            return SPECEDIT_NO_MEMORY;
        }
        m->tiles = up_to(tiles, 4);
    }
    return SPECEDIT_OK;
}

/* -- rows --------------------------------------------------------------------------------------- */

static void row_begins(void *of, int layer, int row, int thread) {
    specedit_model *m = of;
    const specedit_shape *s = &m->shape;
    (void)layer;
    (void)thread;
    m->kernel->widen(m->weights.embedding + (size_t)m->pass->ids[row] * s->hidden, s->hidden,
        m->rows + (size_t)row * s->hidden);
    turn_of((double)(m->pass->start + m->depths[row]), m->weights.speeds, s->half_true, s->half,
        m->cosines + (size_t)row * s->half, m->sines + (size_t)row * s->half);
}

/* digits of a row, a scale for each piece of it */
void row_digits(specedit_model *m, const float *row, int inputs, int piece, digit_rows *to,
    int index) {
    int digits = m->shape.two ? 2 : 1;
    uint8_t *first = to->digits + (size_t)index * digits * inputs;
    uint8_t *second = m->shape.two ? first + inputs : 0;
    for (int at = 0, p = 0; at < inputs; at += piece, p++)
        m->kernel->digits(row + at, inputs - at < piece ? inputs - at : piece, first + at,
            second ? second + at : 0, to->scales + (size_t)index * to->pieces + p);
}

static void row_normed(specedit_model *m, const float *weight, int row, int thread) {
    const specedit_shape *s = &m->shape;
    float *normed = m->benches[thread].row;
    m->kernel->norm(m->rows + (size_t)row * s->hidden, weight, s->hidden, s->hidden_true,
        s->epsilon, normed);
    row_digits(m, normed, s->hidden, s->hidden, &m->hidden, row);
}

static void row_norm(void *of, int layer, int row, int thread) {
    specedit_model *m = of;
    row_normed(m, m->layers[layer].norm, row, thread);
}

static void row_inner_norm(void *of, int layer, int row, int thread) {
    specedit_model *m = of;
    row_normed(m, m->layers[layer].inner_norm, row, thread);
}

static void row_last_norm(void *of, int layer, int row, int thread) {
    specedit_model *m = of;
    (void)layer;
    row_normed(m, m->weights.norm, row, thread);
    if (m->pass->hidden)
        memcpy(m->pass->hidden + (size_t)row * m->shape.hidden_true, m->benches[thread].row,
            (size_t)m->shape.hidden_true * sizeof(float));
}

static void row_attended(void *of, int layer, int row, int thread) {
    specedit_model *m = of;
    float *attended = m->attended + (size_t)row * m->mixed;
    (void)layer;
    (void)thread;
    if (attention_split(m))
        attention_row(m, row, attended);
    row_digits(m, attended, m->mixed, m->mixed, &m->out, row);
}

static void row_inner(void *of, int layer, int row, int thread) {
    specedit_model *m = of;
    (void)layer;
    (void)thread;
    row_digits(m, m->gates + (size_t)row * m->shape.inner, m->shape.inner, m->shape.piece,
        &m->inner, row);
}

static void row_choice(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    (void)layer;
    (void)piece;
    (void)thread;
    for (int r = 0; r < m->pass->width; r++) {
        float best = m->best[r];
        int32_t choice = m->choice[r];
        for (int p = 1; p < m->head_pieces; p++) /* rising ids: the first of equals is the lowest */
            if (m->best[(size_t)p * m->width + r] > best) {
                best = m->best[(size_t)p * m->width + r];
                choice = m->choice[(size_t)p * m->width + r];
            }
        m->pass->choices[r] = choice;
    }
}

/* -- products ----------------------------------------------------------------------------------- */

int product_pieces(const specedit_linear *linear, int threads) {
    int panels = linear->outputs / LANES, grain = grain_of(panels, threads);
    return (panels + grain - 1) / grain;
}

/* how many logits a row has */
static int outputs_of(const specedit_model *m) {
    return m->pass->among ? m->pass->among->count : m->shape.vocabulary;
}

/* What a thread most likely meets behind some panels of a product: of the same piece of inputs, of the
 * next one, or of the piece that it claims next, if the others claim one each. Null: nothing. */
static const int8_t *panels_behind(const specedit_model *m, const specedit_linear *linear,
    int piece, int panel, int now, int input, int *inputs) {
    int panels = linear->outputs / LANES, grain = grain_of(panels, m->threads);
    int begin = piece * grain, end = begin + grain < panels ? begin + grain : panels;
    if (panel + now < end)
        panel += now;
    else if (input + linear->piece < linear->inputs) {
        panel = begin;
        input += linear->piece;
    } else {
        panel = begin + m->threads * grain;
        input = 0;
    }
    if (panel >= panels)
        return 0;
    *inputs = linear->inputs - input < linear->piece ? linear->inputs - input : linear->piece;
    return linear->panels + (size_t)panel * linear->inputs * LANES + (size_t)input * LANES;
}

/* A few panels of a product, all rows: piece by piece of the inputs, group by group of the rows. */
void product_piece(specedit_model *m, const specedit_linear *linear, const digit_rows *rows,
    after then, const float *bias, float *out, size_t stride, int piece, int thread) {
    const kernel *k = m->kernel;
    int panels = linear->outputs / LANES, grain = grain_of(panels, m->threads);
    int begin = piece * grain, end = begin + grain < panels ? begin + grain : panels;
    int width = m->pass->width, digits = m->shape.two ? 2 : 1;
    int group = GROUP / digits;
    int pieces = (linear->inputs + linear->piece - 1) / linear->piece;
    int groups = (width + group - 1) / group;
    int rows_each = up_to((width + groups - 1) / groups, 32); /* whole tiles, where there are any */
    size_t step = (size_t)linear->inputs * LANES, input_stride = linear->inputs;
    int32_t *sums = m->benches[thread].sums;
    if (k->begin)
        k->begin();
    for (int p = 0; p < pieces; p++) {
        int at = p * linear->piece;
        int inputs = linear->inputs - at < linear->piece ? linear->inputs - at : linear->piece;
        for (int panel = begin; panel < end; panel += MANY) {
            int now = end - panel < MANY ? end - panel : MANY, wanted = 0;
            const int8_t *weights = linear->panels + (size_t)panel * step + (size_t)at * LANES;
            const int8_t *ahead = panels_behind(m, linear, piece, panel, now, at, &wanted);
            int lines = wanted * LANES / 64;
            size_t first = ((size_t)panel * pieces + p) * LANES;
            for (int q = 0; q < now; q++) {
                __builtin_prefetch(linear->scales + first + (size_t)q * pieces * LANES);
                __builtin_prefetch(linear->offsets + first + (size_t)q * pieces * LANES);
            }
            for (int g = 0; g < groups; g++) {
                int from = g * rows_each;
                int count = width - from < rows_each ? width - from : rows_each;
                int fetched = lines * g / groups, share = lines * (g + 1) / groups - fetched;
                int late = share / LATE / count * count; /* each row of sums as many */
                const int8_t *fetch = ahead ? ahead + (size_t)fetched * 64 : linear->panels;
                product of = {linear->scales + first, linear->offsets + first,
                    (size_t)pieces * LANES, rows->scales + (size_t)from * rows->pieces + p,
                    (size_t)rows->pieces, m->shape.two, fetch + (size_t)(share - late) * 64, step,
                    late};
                k->dots(rows->digits + (size_t)from * digits * input_stride + at, input_stride,
                    count * digits, weights, step, now, inputs, sums, fetch, share - late);
                float *to_row = out ? out + (size_t)from * stride : 0;
                switch (then) {
                case PLAIN:
                    k->plain(sums, now, count, &of, bias ? bias + panel * LANES : 0,
                        to_row + panel * LANES, stride);
                    break;
                case ADD: k->add(sums, now, count, &of, to_row + panel * LANES, stride); break;
                case GATE:
                    k->gate(sums, now, count, &of, to_row + panel / 2 * LANES, stride);
                    break;
                case LOGITS:
                    k->logits(sums, now, count, &of, panel * LANES, outputs_of(m),
                        m->best + (size_t)piece * m->width + from,
                        m->choice + (size_t)piece * m->width + from, to_row, stride);
                    break;
                case NOTHING: break;
                }
            }
        }
    }
    if (k->end)
        k->end();
}

static void product_qkv(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    const specedit_layer *l = &m->layers[layer];
    product_piece(m, &l->qkv, &m->hidden, PLAIN, l->bias, m->qkv, m->outputs, piece, thread);
}

static void product_out(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    product_piece(
        m, &m->layers[layer].out, &m->out, ADD, 0, m->rows, m->shape.hidden, piece, thread);
}

static void product_gate_up(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    product_piece(
        m, &m->layers[layer].gate_up, &m->hidden, GATE, 0, m->gates, m->shape.inner, piece, thread);
}

static void product_down(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    product_piece(
        m, &m->layers[layer].down, &m->inner, ADD, 0, m->rows, m->shape.hidden, piece, thread);
}

static void product_head(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    const specedit_outputs *among = m->pass->among;
    (void)layer;
    for (int r = 0; r < m->pass->width; r++) {
        m->best[(size_t)piece * m->width + r] = -__builtin_inff();
        m->choice[(size_t)piece * m->width + r] = 0;
    }
    product_piece(m, among ? &among->rows : &m->weights.head, &m->hidden, LOGITS, 0,
        m->pass->logits, outputs_of(m), piece, thread);
}

static void bare_qkv(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    product_piece(m, &m->layers[layer].qkv, &m->hidden, NOTHING, 0, 0, 0, piece, thread);
}

static void bare_out(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    product_piece(m, &m->layers[layer].out, &m->out, NOTHING, 0, 0, 0, piece, thread);
}

static void bare_gate_up(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    product_piece(m, &m->layers[layer].gate_up, &m->hidden, NOTHING, 0, 0, 0, piece, thread);
}

static void bare_down(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    product_piece(m, &m->layers[layer].down, &m->inner, NOTHING, 0, 0, 0, piece, thread);
}

static void bare_head(void *of, int layer, int piece, int thread) {
    specedit_model *m = of;
    (void)layer;
    product_piece(m, &m->weights.head, &m->hidden, NOTHING, 0, 0, 0, piece, thread);
}

/* -- passes ------------------------------------------------------------------------------------- */

enum { LAYER_STEPS = 10, OTHER_STEPS = 4 };

_Static_assert(SPECEDIT_MAX_LAYERS * LAYER_STEPS + OTHER_STEPS <= POOL_MAX_STEPS,
    "the pool counts a pass's steps");

static int count_steps(const specedit_model *m) {
    return m->shape.layers * LAYER_STEPS + OTHER_STEPS;
}

/* Room in the caches for what a pass writes, and in the model for what it works in. */
static int pass_room(
    specedit_model *m, specedit_cache *cache, int threads, const specedit_pass *pass) {
    int w = pass->width, last = pass->start + w - 1;
    if (pass->apart) {
        last = 0;
        for (int i = 0; i < w; i++) {
            if (specedit_cache_reserve(pass->apart[i], pass->starts[i] + 1))
                return SPECEDIT_NO_MEMORY;
            last = pass->starts[i] > last ? pass->starts[i] : last;
        }
    } else if (specedit_cache_reserve(cache, last + 1))
        return SPECEDIT_NO_MEMORY;
    m->last = last;
    return model_room(m, w, threads, last / TILE + 1);
}

int specedit_run(
    specedit_model *m, specedit_cache *cache, specedit_pool *pool, const specedit_pass *given) {
    if (!m || !pool || !given || !pass_fits(m, cache, given))
        return SPECEDIT_BAD_ARGUMENT;
    specedit_pass pass = *given;
    int threads = pool_threads(pool), w = pass.width, chain = 1;
    if (pass_room(m, cache, threads, &pass))
        return SPECEDIT_NO_MEMORY;
    for (int i = 0; i < w; i++) {
        int parent = pass.parents ? pass.parents[i] : i - 1;
        m->depths[i] = pass.apart ? pass.starts[i] : parent < 0 ? 0 : m->depths[parent] + 1;
        chain &= parent == i - 1;
    }
    if (chain)
        pass.parents = 0;
    m->pass = &pass;
    m->cache = cache;
    m->head_pieces = product_pieces(pass.among ? &pass.among->rows : &m->weights.head, threads);
    pool_step *step = m->steps;
    *step++ = (pool_step){row_begins, 0, w};
    for (int l = 0; l < m->shape.layers; l++) {
        const specedit_layer *layer = &m->layers[l];
        *step++ = (pool_step){row_norm, l, w};
        *step++ = (pool_step){product_qkv, l, product_pieces(&layer->qkv, threads)};
        *step++ = (pool_step){attention_heads, l, attention_head_pieces(m)};
        if (!pass.choices && !pass.hidden && l == m->shape.layers - 1)
            break;
        *step++ = (pool_step){attention_piece, l, attention_pieces(m)};
        *step++ = (pool_step){row_attended, l, w};
        *step++ = (pool_step){product_out, l, product_pieces(&layer->out, threads)};
        *step++ = (pool_step){row_inner_norm, l, w};
        *step++ = (pool_step){product_gate_up, l, product_pieces(&layer->gate_up, threads)};
        *step++ = (pool_step){row_inner, l, w};
        *step++ = (pool_step){product_down, l, product_pieces(&layer->down, threads)};
    }
    if (pass.choices || pass.hidden)
        *step++ = (pool_step){row_last_norm, 0, w};
    if (pass.choices) {
        *step++ = (pool_step){product_head, 0, m->head_pieces};
        *step++ = (pool_step){row_choice, 0, 1};
    }
    pool_run(pool, m->steps, (int)(step - m->steps), m);
    m->pass = 0;
    m->cache = 0;
    return SPECEDIT_OK;
}

int specedit_products(specedit_model *m, specedit_pool *pool, int width) {
    if (!m || !pool || width < 1 || width > SPECEDIT_MAX_WIDTH)
        return SPECEDIT_BAD_ARGUMENT;
    int threads = pool_threads(pool);
    specedit_pass pass = {.width = width};
    if (model_room(m, width, threads, 1))
        return SPECEDIT_NO_MEMORY;
    m->pass = &pass;
    pool_step *step = m->steps;
    for (int l = 0; l < m->shape.layers; l++) {
        const specedit_layer *layer = &m->layers[l];
        *step++ = (pool_step){bare_qkv, l, product_pieces(&layer->qkv, threads)};
        *step++ = (pool_step){bare_out, l, product_pieces(&layer->out, threads)};
        *step++ = (pool_step){bare_gate_up, l, product_pieces(&layer->gate_up, threads)};
        *step++ = (pool_step){bare_down, l, product_pieces(&layer->down, threads)};
    }
    *step++ = (pool_step){bare_head, 0, product_pieces(&m->weights.head, threads)};
    pool_run(pool, m->steps, (int)(step - m->steps), m);
    m->pass = 0;
    return SPECEDIT_OK;
}

int specedit_attention(
    specedit_model *m, specedit_cache *cache, specedit_pool *pool, int start, int width) {
    if (!m || !pool || !cache_fits(m, cache) || !rows_fit(m, start, width, width))
        return SPECEDIT_BAD_ARGUMENT;
    int threads = pool_threads(pool), tiles = (start + width + TILE - 1) / TILE;
    specedit_pass pass = {.width = width, .start = start};
    if (specedit_cache_reserve(cache, start + width) || model_room(m, width, threads, tiles))
        return SPECEDIT_NO_MEMORY;
    for (int i = 0; i < width; i++)
        m->depths[i] = i;
    m->pass = &pass;
    m->cache = cache;
    m->last = start + width - 1;
    for (int l = 0; l < m->shape.layers; l++)
        m->steps[l] = (pool_step){attention_piece, l, attention_pieces(m)};
    pool_run(pool, m->steps, m->shape.layers, m);
    m->pass = 0;
    m->cache = 0;
    return SPECEDIT_OK;
}

/* -- a model ------------------------------------------------------------------------------------ */

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
    m->group = shape->heads / shape->kv_heads;
    m->outputs = (shape->heads + 2 * shape->kv_heads) * m->size;
    m->mixed = up_to(shape->heads * m->size, 64);
    m->pieces = (shape->inner + shape->piece - 1) / shape->piece;
    m->hidden.pieces = m->out.pieces = 1;
    m->inner.pieces = m->pieces;
    m->layers = malloc((size_t)shape->layers * sizeof *m->layers);
    m->steps = malloc((size_t)count_steps(m) * sizeof *m->steps);
    if (!m->layers || !m->steps) {
        specedit_model_free(m);
        return 0;
    }
    memcpy(m->layers, weights->layers, (size_t)shape->layers * sizeof *m->layers);
    return m;
}

void specedit_model_free(specedit_model *m) {
    if (!m)
        return;
    free_room(m);
    free_parts(m);
    free_benches(m);
    guess_free(m);
    free(m->layers);
    free(m->steps);
    free(m);
}
