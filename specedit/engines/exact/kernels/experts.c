/* Layers with experts: a router chooses some for each row, in float32, of equal ones the first.
 *
 * The rows of a pass are grouped by expert, so that each expert's weights are read once. A row's results are added
 * in the order of the experts' numbers, so they do not depend on the other rows.
 */
#include <string.h>

#include "model.h"

static int experts_of(const specedit_model *m) { return m->shape.experts + m->shape.shared; }

static int entries_of(const specedit_model *m) { return m->pass->width * m->entries; }

static void route_task(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    (void)thread;
    project_task(m, m->layers[layer].router, task);
}

/* The chosen experts of a row, in rising order, and their weights. */
static void choose_experts(specedit_model *m, int row, int32_t *chosen, float *weight) {
    const specedit_shape *s = &m->shape;
    const float *logits = m->projected + (size_t)row * m->projected_size;
    float best[SPECEDIT_MAX_CHOSEN];
    int32_t places[SPECEDIT_MAX_CHOSEN];
    double sum = m->kernel->top(logits, s->experts, s->chosen, 1.0f, best, places);
    if (!s->unscaled) {
        sum = 0.0;
        for (int i = 0; i < s->chosen; i++)
            sum += exp_of((double)best[i] - best[0]);
    }
    for (int i = 0; i < s->chosen; i++) {
        int32_t expert = places[i] < 0 ? 0 : places[i]; /* damaged weights: a logit is not a number */
        int at = i;
        for (; at && chosen[at - 1] > expert; at--) {
            chosen[at] = chosen[at - 1];
            weight[at] = weight[at - 1];
        }
        chosen[at] = expert;
        weight[at] = (float)(exp_of((double)best[i] - best[0]) / sum);
    }
    if (s->shared) {
        chosen[s->chosen] = s->experts;
        weight[s->chosen] = (float)(1.0 / (1.0 + exp_of(-(double)logits[s->experts])));
    }
}

/* All rows' choices, and the entries that they make. */
static void group_task(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    expert_buffers *e = &m->expert;
    int experts = experts_of(m), entries = entries_of(m);
    (void)layer;
    (void)task;
    (void)thread;
    memset(e->first, 0, (size_t)(experts + 1) * sizeof *e->first);
    for (int row = 0; row < m->pass->width; row++)
        choose_experts(m, row, e->chosen + (size_t)row * m->entries, e->weight + (size_t)row * m->entries);
    for (int i = 0; i < entries; i++)
        e->first[e->chosen[i] + 1]++;
    e->count = 0;
    for (int i = 0; i < experts; i++) {
        if (e->first[i + 1])
            e->active[e->count++] = i;
        e->first[i + 1] += e->first[i];
    }
    for (int i = 0; i < entries; i++) { /* rising rows: `first` moves on, and back afterwards */
        int32_t entry = e->first[e->chosen[i]]++;
        e->entry[i] = entry;
        e->row[entry] = i / m->entries;
    }
    for (int i = experts; i > 0; i--)
        e->first[i] = e->first[i - 1];
    e->first[0] = 0;
}

/* An entry's quantized row, next to those of the same expert. */
static void gather_task(void *context, int layer, int entry, int thread) {
    specedit_model *m = context;
    expert_buffers *e = &m->expert;
    size_t size = (size_t)m->shape.hidden * (m->shape.residual ? 2 : 1);
    (void)layer;
    (void)thread;
    memcpy(e->rows.values + (size_t)entry * size, m->hidden.values + (size_t)e->row[entry] * size, size);
    e->rows.scales[entry] = m->hidden.scales[e->row[entry]];
}

static specedit_linear of_expert(const specedit_model *m, const specedit_linear *all, int expert) {
    specedit_linear one = *all;
    one.outputs = all->outputs / experts_of(m);
    size_t panel = (size_t)expert * (one.outputs / LANES);
    size_t groups = (size_t)(all->inputs + all->group_size - 1) / all->group_size;
    one.panels += panel * panel_bytes(all, all->inputs);
    one.scales += panel * groups * LANES;
    one.offsets += panel * groups * LANES;
    return one;
}

/* so many tasks, however many of the experts are chosen */
static int product_tasks(const specedit_model *m, const specedit_linear *all, int threads) {
    specedit_linear one = of_expert(m, all, 0);
    int most = entries_of(m) < experts_of(m) ? entries_of(m) : experts_of(m);
    return most * gemm_tasks(&one, threads);
}

static void product_task(specedit_model *m, const specedit_linear *all, const quantized_rows *rows, int inputs,
    gemm_epilogue epilogue, float *out, size_t stride, int task, int thread) {
    expert_buffers *e = &m->expert;
    specedit_linear one = of_expert(m, all, 0);
    int each = gemm_tasks(&one, m->threads);
    if (task / each >= e->count)
        return;
    int expert = e->active[task / each], first = e->first[expert];
    one = of_expert(m, all, expert);
    quantized_rows own = {rows->values + (size_t)first * inputs * (m->shape.residual ? 2 : 1),
        rows->scales + (size_t)first * rows->groups, rows->groups, e->first[expert + 1] - first};
    gemm_task(m, &one, &own, epilogue, 0, out + (size_t)first * stride, stride,
        task % each, thread);
}

static void gate_up_task(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    product_task(m, &m->layers[layer].gate_up, &m->expert.rows, m->shape.hidden, SWIGLU, m->gates,
        m->shape.inner, task, thread);
}

static void inner_task(void *context, int layer, int entry, int thread) {
    specedit_model *m = context;
    (void)layer;
    (void)thread;
    quantize_row(m, m->gates + (size_t)entry * m->shape.inner, m->shape.inner, m->shape.group_size, &m->inner,
        entry);
}

static void down_task(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    product_task(m, &m->layers[layer].down, &m->inner, m->shape.inner, STORE, m->expert.results,
        m->shape.hidden, task, thread);
}

static void add_task(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    const expert_buffers *e = &m->expert;
    int hidden = m->shape.hidden, outputs = up_to(m->shape.hidden_true, LANES);
    float *to = m->rows + (size_t)row * hidden;
    (void)layer;
    (void)thread;
    for (int i = row * m->entries; i < (row + 1) * m->entries; i++) {
        const float *from = e->results + (size_t)e->entry[i] * hidden;
        const float weight = e->weight[i];
        for (int c = 0; c < outputs; c++)
            to[c] = to[c] + from[c] * weight;
    }
}

pool_step *expert_steps(specedit_model *m, int l, int threads, pool_step *step) {
    const specedit_layer *layer = &m->layers[l];
    *step++ = (pool_step){route_task, l, project_tasks(m, experts_of(m))};
    *step++ = (pool_step){group_task, l, 1};
    *step++ = (pool_step){gather_task, l, entries_of(m)};
    *step++ = (pool_step){gate_up_task, l, product_tasks(m, &layer->gate_up, threads)};
    *step++ = (pool_step){inner_task, l, entries_of(m)};
    *step++ = (pool_step){down_task, l, product_tasks(m, &layer->down, threads)};
    *step++ = (pool_step){add_task, l, m->pass->width};
    return step;
}
