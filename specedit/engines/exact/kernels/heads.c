/* One step of draft heads: states and ids in, next states and likeliest outputs out.
 *
 * A guess changes the speed, never the text. Its bits are nevertheless the same on every processor. */
#include <string.h>

#include "model.h"
#include "threads.h"

enum { MOST_GUESSES = 64, MOST_STATES = 1 << 12 };

static float logarithm_of(float x) { /* x >= 1: a sum in which the largest is 1 */
    int32_t bits, whole;
    memcpy(&bits, &x, sizeof bits);
    whole = ((bits >> 23) & 255) - 127;
    bits = (bits & 0x7fffff) | 0x3f800000;
    memcpy(&x, &bits, sizeof x);
    float t = (x - 1.0f) / (x + 1.0f), s = t * t;
    return 2.0f * t * (1.0f + s * (0.33333333f + s * (0.2f + s * (0.14285714f + s * 0.11111111f))))
        + 0.69314718f * (float)whole;
}

void free_guess(specedit_model *m) {
    guess_buffers *g = &m->guess;
    void *all[] = {g->rows, g->inner_rows, g->logits, g->states.values, g->states.scales,
        g->ids.values, g->ids.scales, g->inside.values, g->inside.scales, g->made.values,
        g->made.scales};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        thread_memory_free(all[i]);
    memset(g, 0, sizeof *g);
}

static int reserve_quantized(quantized_rows *of, int width, int terms, int inputs) {
    of->values = thread_memory((size_t)width * terms * inputs);
    of->scales = thread_memory((size_t)width * sizeof(float));
    of->groups = 1;
    return of->values && of->scales;
}

static int reserve_guess(specedit_model *m, int width, int inner, int outputs) {
    guess_buffers *g = &m->guess;
    if (width <= g->width && inner <= g->inner && outputs <= g->outputs)
        return SPECEDIT_OK;
    width = width > g->width ? width : g->width;
    inner = inner > g->inner ? inner : g->inner;
    outputs = outputs > g->outputs ? outputs : g->outputs;
    free_guess(m);
    int terms = m->shape.residual ? 2 : 1, hidden = m->shape.hidden;
    g->rows = thread_memory((size_t)width * hidden * sizeof(float));
    g->inner_rows = thread_memory((size_t)width * inner * sizeof(float));
    g->logits = thread_memory((size_t)width * outputs * sizeof(float));
    if (!g->rows || !g->inner_rows || !g->logits
        || !reserve_quantized(&g->states, width, terms, hidden)
        || !reserve_quantized(&g->ids, width, terms, hidden)
        || !reserve_quantized(&g->inside, width, terms, inner)
        || !reserve_quantized(&g->made, width, terms, hidden)) {
        free_guess(m);
        return SPECEDIT_NO_MEMORY;
    }
    g->width = width;
    g->inner = inner;
    g->outputs = outputs;
    return SPECEDIT_OK;
}

/* -- the steps ---------------------------------------------------------------------------------- */

static void guess_begins(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    guess_buffers *g = &m->guess;
    int hidden = m->shape.hidden, true_hidden = m->shape.hidden_true;
    float *at = g->rows + (size_t)row * hidden;
    (void)layer;
    memset(at, 0, (size_t)hidden * sizeof(float));
    memcpy(at, g->guess->states + (size_t)row * true_hidden, (size_t)true_hidden * sizeof(float));
    quantize_row(m, at, hidden, hidden, &g->states, row);
    if (g->head->of_id.panels) {
        float *id = m->scratch[thread].row;
        m->kernel->widen_bf16(
            m->weights.embedding + (size_t)g->guess->ids[row] * hidden, hidden, id);
        quantize_row(m, id, hidden, hidden, &g->ids, row);
    }
}

static void guess_of_state(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    const specedit_head *h = m->guess.head;
    (void)layer;
    gemm_task(m, &h->of_state, &m->guess.states, STORE, h->bias, m->guess.inner_rows,
        (size_t)h->of_state.outputs, task, thread);
}

static void guess_of_id(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    const specedit_head *h = m->guess.head;
    (void)layer;
    gemm_task(m, &h->of_id, &m->guess.ids, ADD, 0, m->guess.inner_rows, (size_t)h->of_id.outputs,
        task, thread);
}

static void guess_inside(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    guess_buffers *g = &m->guess;
    int count = g->head->of_state.outputs, inputs = g->head->down.inputs;
    float *x = g->inner_rows + (size_t)row * count;
    (void)layer;
    (void)thread;
    m->kernel->silu(x, g->head->gated ? x + inputs : 0, inputs);
    quantize_row(m, x, inputs, inputs, &g->inside, row);
}

static void guess_down(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    (void)layer;
    gemm_task(m, &m->guess.head->down, &m->guess.inside, ADD, 0, m->guess.rows,
        (size_t)m->shape.hidden, task, thread);
}

static void guess_made(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    guess_buffers *g = &m->guess;
    int hidden = m->shape.hidden, true_hidden = m->shape.hidden_true;
    const float *at = g->rows + (size_t)row * hidden;
    (void)layer;
    (void)thread;
    memcpy(g->guess->made + (size_t)row * true_hidden, at, (size_t)true_hidden * sizeof(float));
    quantize_row(m, at, hidden, hidden, &g->made, row);
}

static void guess_logits(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    const specedit_head *h = m->guess.head;
    (void)layer;
    gemm_task(m, &h->output, &m->guess.made, STORE, 0, m->guess.logits, (size_t)h->output.outputs,
        task, thread);
}

static void guess_likeliest(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    guess_buffers *g = &m->guess;
    const float *logits = g->logits + (size_t)row * g->head->output.outputs;
    int most = g->guess->most;
    int32_t *ids = g->guess->guesses + (size_t)row * most;
    float *best = g->guess->chances + (size_t)row * most, sharp = g->head->sharpness;
    (void)layer;
    (void)thread;
    float sum = m->kernel->top(logits, g->head->guessed, most, sharp, best, ids);
    float top = best[0], all = logarithm_of(sum);
    for (int i = 0; i < most; i++)
        if (ids[i] >= 0)
            best[i] = (best[i] - top) * sharp - all;
}

/* -- a guess ------------------------------------------------------------------------------------ */

static int head_fits(const specedit_model *m, const specedit_head *h, const specedit_guess *g) {
    int hidden = m->shape.hidden, inner = h->of_state.outputs, inside = h->down.inputs;
    if (!g->states || !g->made || !g->guesses || !g->chances || g->width < 1
        || g->width > MOST_STATES || g->most < 1 || g->most > MOST_GUESSES || !(h->sharpness > 0)
        || !h->bias || inside < 64 || inside > SPECEDIT_MAX_INPUTS
        || inner != (h->gated ? 2 * inside : inside) || h->guessed < 1
        || h->guessed > SPECEDIT_MAX_VOCABULARY)
        return 0;
    if (!linear_fits(&h->of_state, inner, hidden, hidden)
        || !linear_fits(&h->down, up_to(m->shape.hidden_true, LANES), inside, inside)
        || !linear_fits(&h->output, up_to(h->guessed, LANES), hidden, hidden))
        return 0;
    if (!h->of_id.panels)
        return 1;
    if (!g->ids || !linear_fits(&h->of_id, inner, hidden, hidden))
        return 0;
    for (int i = 0; i < g->width; i++)
        if (g->ids[i] < 0 || g->ids[i] >= m->shape.vocabulary)
            return 0;
    return 1;
}

int specedit_guess_run(specedit_model *m, specedit_pool *pool, const specedit_head *head,
    const specedit_guess *guess) {
    if (!m || !pool || !head || !guess || !head_fits(m, head, guess))
        return SPECEDIT_BAD_ARGUMENT;
    int threads = pool_threads(pool), w = guess->width, inner = head->of_state.outputs;
    if (reserve_buffers(m, w, threads, 1) || reserve_guess(m, w, inner, head->output.outputs))
        return SPECEDIT_NO_MEMORY;
    specedit_pass pass = {.width = w}; /* gemm_task reads the width of the pass */
    m->pass = &pass;
    m->guess.head = head;
    m->guess.guess = guess;
    pool_step steps[8], *step = steps;
    *step++ = (pool_step){guess_begins, 0, w};
    *step++ = (pool_step){guess_of_state, 0, gemm_tasks(&head->of_state, threads)};
    if (head->of_id.panels)
        *step++ = (pool_step){guess_of_id, 0, gemm_tasks(&head->of_id, threads)};
    *step++ = (pool_step){guess_inside, 0, w};
    *step++ = (pool_step){guess_down, 0, gemm_tasks(&head->down, threads)};
    *step++ = (pool_step){guess_made, 0, w};
    *step++ = (pool_step){guess_logits, 0, gemm_tasks(&head->output, threads)};
    *step++ = (pool_step){guess_likeliest, 0, w};
    pool_run(pool, steps, (int)(step - steps), m, 0);
    m->pass = 0;
    m->guess.head = 0;
    m->guess.guess = 0;
    return SPECEDIT_OK;
}

int specedit_output_rows(const specedit_model *m, const int32_t *ids, int count, int at,
    int capacity, int8_t *panels, float *scales, int32_t *offsets) {
    if (!m || !ids || count < 0 || at < 0 || capacity < count || at > capacity - count || !panels
        || !scales || !offsets)
        return SPECEDIT_BAD_ARGUMENT;
    const specedit_linear *from = &m->weights.head;
    size_t size = (size_t)from->inputs * LANES, own_size = panel_bytes(from, from->inputs);
    for (int i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= m->shape.vocabulary)
            return SPECEDIT_BAD_ARGUMENT;
    for (int i = 0; i < count; i++) {
        int id = ids[i], to = at + i;
        int8_t *row = panels + (size_t)(to / LANES) * size + (size_t)(to % LANES) * 4;
        const int8_t *own = from->panels + (size_t)(id / LANES) * own_size;
        for (int input = 0; input < from->inputs; input += 64, own += panel_bytes(from, 64)) {
            int8_t block[BLOCK8];
            if (from->bits < 8)
                m->kernel->expand((const uint8_t *)own, 64, from->bits, block);
            const int8_t *at = (from->bits < 8 ? block : own) + (size_t)(id % LANES) * 4;
            for (size_t quad = 0; quad < BLOCK8; quad += (size_t)LANES * 4)
                memcpy(row + (size_t)input * LANES + quad, at + quad, 4);
        }
        scales[to] = from->scales[id];
        offsets[to] = from->offsets[id];
    }
    return SPECEDIT_OK;
}
