/* Recurrent layers: gated delta nets as in Qwen3.5.
 *
 * Ids change a state one after the other, so a state and all logits are the same however ids are cut into passes.
 * A pass reads the states behind the last position and leaves the new ones in another buffer; it notes what each
 * row did. When ids are rejected, the rows that stay are done again, on the states from before the pass.
 */
#include <string.h>

#include "model.h"
#include "threads.h"

enum { ROWS_TOGETHER = 16 /* rows of one task of a projection: its panel stays in the cache */ };

#define UNIT_EPSILON 1e-6f /* of the norm of keys and queries */

/* -- exp and softplus: double arithmetic in fixed steps, as every C library's differ ---------------- */

static double scaled(double x, int exponent) {
    union {
        uint64_t bits;
        double number;
    } power = {(uint64_t)(1023 + exponent) << 52};
    return x * power.number;
}

double exp_of(double x) {
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    x = x < -700.0 ? -700.0 : x < 700.0 ? x : 700.0; /* what is not a number becomes 700 */
    double n = (x * 1.44269504088896338700 + magic) - magic;
    double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double sum = 1.0;
    for (int i = 13; i; i--) /* Taylor's series: |r| is at most 0.35 */
        sum = 1.0 + sum * r / i;
    return scaled(sum, (int)n);
}

/* log(1 + e^x) */
static double softplus(double x) {
    double y = exp_of(x < 40.0 ? x : 40.0) + 1.0, exponent = 0.0;
    for (; y > 1.5; y *= 0.5)
        exponent += 1.0;
    double s = (y - 1.0) / (y + 1.0), z = s * s, sum = 0.0;
    for (int i = 31; i > 0; i -= 2) /* log(y) = 2 atanh(s); |s| is at most 0.2 */
        sum = sum * z + 1.0 / i;
    double found = exponent * 6.93147180559945309417e-01 + 2.0 * s * sum;
    return x < 40.0 ? found : x;
}

/* -- projections in float32 ------------------------------------------------------------------------- */

int project_tasks(const specedit_model *m, int outputs) {
    return up_to(outputs, LANES) / LANES * ((m->pass->width + ROWS_TOGETHER - 1) / ROWS_TOGETHER);
}

void project_task(specedit_model *m, const float *panels, int task) {
    int blocks = (m->pass->width + ROWS_TOGETHER - 1) / ROWS_TOGETHER, hidden = m->shape.hidden;
    int panel = task / blocks, from = task % blocks * ROWS_TOGETHER;
    for (int row = from; row < from + ROWS_TOGETHER && row < m->pass->width; row++)
        m->kernel->project(m->normed + (size_t)row * hidden, panels + (size_t)panel * hidden * LANES, hidden,
            m->projected + (size_t)row * m->projected_size + panel * LANES);
}

void project_gates(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    (void)thread;
    project_task(m, m->layers[layer].projection, task);
}

/* -- one layer -------------------------------------------------------------------------------------- */

static float *state_of(const specedit_model *m, int which, int layer) {
    return m->cache->states[which] + (size_t)m->places[layer] * m->state_floats;
}

static int value_width(const specedit_model *m) { return m->shape.value_heads * m->shape.value_size; }

/* the last inputs of the convolution in a state */
static float *tail_of(const specedit_model *m, int which, int layer) {
    return state_of(m, which, layer) + (size_t)value_width(m) * m->shape.key_size;
}

/* where a row's inputs of the convolution, and its decays and betas, are noted */
static float *noted_inputs(const specedit_model *m, int layer, int row) {
    return m->journal.inputs + ((size_t)m->places[layer] * m->journal.capacity + row) * m->channels;
}

static float *noted_gates(const specedit_model *m, int layer, int row) {
    return m->journal.gates + ((size_t)m->places[layer] * m->journal.capacity + row) * 2 * m->shape.value_heads;
}

/* whether rows are done again: then the states from before the pass are not the cache's newest */
static int is_again(const specedit_model *m) { return m->pass->ids == 0; }

static int before(const specedit_model *m) { return is_again(m) ? !m->cache->now : m->cache->now; }

/* the inputs of a row, or of one before the pass */
static const float *inputs_of(const specedit_model *m, int layer, int row) {
    if (row < 0)
        return tail_of(m, before(m), layer) + (size_t)(m->shape.taps - 1 + row) * m->channels;
    return is_again(m) ? noted_inputs(m, layer, row) : m->qkv + (size_t)row * m->layers[layer].qkv.outputs;
}

static void unit_norms(const specedit_model *m, float *heads, float times) {
    int size = m->shape.key_size;
    float weight[SPECEDIT_MAX_STATE];
    for (int i = 0; i < size; i++)
        weight[i] = times;
    for (int h = 0; h < m->shape.key_heads; h++, heads += size)
        m->kernel->rms_norm(heads, weight, size, 1, UNIT_EPSILON, heads);
}

/* The row's queries, keys and values; and its decays and betas, in the place of alphas and betas. */
void convolve_row(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    const specedit_shape *s = &m->shape;
    const specedit_layer *l = &m->layers[layer];
    row += m->again;
    float *mixed = m->mixed + (size_t)row * m->channels;
    const float *own = inputs_of(m, layer, row);
    int keys = s->key_heads * s->key_size, begin = is_again(m) ? keys : 0; /* then no query is needed */
    (void)thread;
    const float *from[SPECEDIT_MAX_TAPS];
    for (int tap = 0; tap < s->taps; tap++)
        from[tap] = inputs_of(m, layer, row + 1 + tap - s->taps);
    for (int c = begin; c < m->channels; c += LANES) {
        float sum[LANES] = {0};
        for (int tap = 0; tap < s->taps; tap++)
            for (int i = 0; i < LANES; i++)
                sum[i] = sum[i] + from[tap][c + i] * l->convolution[(size_t)tap * m->channels + c + i];
        memcpy(mixed + c, sum, sizeof sum);
    }
    m->kernel->silu(mixed + begin, 0, m->channels - begin);
    unit_norms(m, mixed + keys, 1.0f);
    if (is_again(m))
        return;
    unit_norms(m, mixed, 1.0f / __builtin_sqrtf((float)s->key_size));
    float *decay = m->projected + (size_t)row * m->projected_size, *beta = decay + s->value_heads;
    for (int h = 0; h < s->value_heads; h++) {
        decay[h] = (float)exp_of(l->decay[h] * softplus((double)decay[h] + l->shift[h]));
        beta[h] = (float)(1.0 / (1.0 + exp_of(-(double)beta[h])));
    }
    if (m->pass->choices) {
        memcpy(noted_inputs(m, layer, row), own, (size_t)m->channels * sizeof(float));
        memcpy(noted_gates(m, layer, row), decay, (size_t)s->value_heads * 2 * sizeof(float));
    }
}

/* Some rows of the pass on one head's state. */
static void recur_rows(specedit_model *m, int layer, int head, const float *from, float *to, int begin, int end) {
    const specedit_shape *s = &m->shape;
    int again = is_again(m), keys = s->key_heads * s->key_size;
    int key_head = s->tiled ? head % s->key_heads : head / (s->value_heads / s->key_heads);
    size_t gate_stride = again ? (size_t)2 * s->value_heads : (size_t)m->projected_size;
    const float *gates = (again ? noted_gates(m, layer, 0) : m->projected) + begin * gate_stride + head;
    size_t at = (size_t)head * s->value_size * s->key_size;
    for (int v = 0; v < s->value_size; v += LANES) {
        const float *mixed = m->mixed + (size_t)begin * m->channels;
        const float *query = mixed + (size_t)key_head * s->key_size;
        recurrence of = {query + keys, again ? 0 : query, mixed + 2 * keys + head * s->value_size + v,
            (size_t)m->channels, gates, gates + s->value_heads, gate_stride,
            m->attended + (size_t)begin * m->attended_size + head * s->value_size + v, (size_t)m->attended_size};
        size_t place = at + (size_t)v * s->key_size;
        m->kernel->recur(from + place, to + place, s->key_size, end - begin, &of);
    }
}

void recur_head(void *context, int layer, int head, int thread) {
    specedit_model *m = context;
    int again = is_again(m), width = m->pass->width, half = again || m->pass->choices ? m->journal.half : 0;
    float *from = state_of(m, before(m), layer), *to = state_of(m, !before(m), layer);
    float *middle = half ? m->journal.middle + (size_t)m->places[layer] * m->state_floats : from;
    (void)thread;
    if (half && !again)
        recur_rows(m, layer, head, from, middle, 0, half);
    if (again)
        recur_rows(m, layer, head, m->again ? middle : from, to, m->again, width);
    else
        recur_rows(m, layer, head, middle, to, half, width);
    for (int tap = 1; !head && tap < m->shape.taps; tap++)
        memcpy(tail_of(m, !before(m), layer) + (size_t)(tap - 1) * m->channels,
            inputs_of(m, layer, width + tap - m->shape.taps), (size_t)m->channels * sizeof(float));
}

void recurrent_attended(specedit_model *m, int layer, int row) {
    const specedit_shape *s = &m->shape;
    float *found = m->attended + (size_t)row * m->attended_size;
    float *gate = m->qkv + (size_t)row * m->layers[layer].qkv.outputs + m->channels;
    for (float *head = found; head < found + value_width(m); head += s->value_size)
        m->kernel->rms_norm(head, m->layers[layer].state_norm, s->value_size, s->value_size, s->epsilon, head);
    m->kernel->silu(gate, found, value_width(m));
    quantize_row(m, gate, value_width(m), value_width(m), &m->out, row);
}

/* -- passes and going back -------------------------------------------------------------------------- */

void end_recurrent_pass(specedit_model *m, specedit_cache *cache, const specedit_pass *pass) {
    cache->pass = 0;
    if (pass->progress && pass->progress[1]) /* stopped: the states from before it are whole */
        return;
    cache->now = !cache->now;
    cache->length = pass->start + pass->width;
    if (pass->choices) {
        cache->pass = m->journal.pass;
        m->journal.start = pass->start;
        m->journal.width = pass->width;
    }
}

int specedit_cache_crop(specedit_model *m, specedit_cache *cache, specedit_pool *pool, int length) {
    if (!m || !pool || !m->recurrent || !cache_fits(m, cache) || length < 0 || length > cache->length)
        return SPECEDIT_BAD_ARGUMENT;
    if (length == cache->length)
        return SPECEDIT_OK;
    int rows = length - m->journal.start, steps = 0;
    if (!cache->pass || cache->pass != m->journal.pass || rows < 0)
        return SPECEDIT_BAD_ARGUMENT;
    if (!rows) {
        cache->now = !cache->now;
        cache->pass = 0;
    } else {
        specedit_pass pass = {.width = rows};
        if (reserve_buffers(m, rows, pool_threads(pool), 1))
            return SPECEDIT_NO_MEMORY;
        m->again = rows > m->journal.half ? m->journal.half : 0;
        for (int l = 0; l < m->shape.layers; l++)
            if (m->layers[l].convolution) {
                m->steps[steps++] = (pool_step){convolve_row, l, rows - m->again};
                m->steps[steps++] = (pool_step){recur_head, l, m->shape.value_heads};
            }
        m->pass = &pass;
        m->cache = cache;
        pool_run(pool, m->steps, steps, m, 0);
        m->pass = 0;
        m->cache = 0;
        m->again = 0;
    }
    cache->length = length;
    return SPECEDIT_OK;
}
