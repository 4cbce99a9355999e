/* The steps of a pass: layers with attention or a recurrent state, and a gated layer or experts. Each step is
 * cut into small tasks. */
#include <string.h>

#include "model.h"

/* -- tasks: one row ------------------------------------------------------------------------------ */

static void row_begins(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    const specedit_shape *s = &m->shape;
    const specedit_weights *w = &m->weights;
    float *to = m->rows + (size_t)row * s->hidden, *id = w->id_norm ? m->scratch[thread].row : to;
    size_t size = (size_t)s->hidden * sizeof *to;
    (void)layer;
    m->kernel->widen_bf16(w->embedding + (size_t)m->pass->ids[row] * s->hidden, s->hidden, id);
    if (w->id_norm) {
        float *state = id + s->hidden;
        memset(state, 0, size);
        memcpy(state, m->pass->states + (size_t)row * s->hidden_true, (size_t)s->hidden_true * sizeof *to);
        m->kernel->rms_norm(id, w->id_norm, s->hidden, s->hidden_true, s->epsilon, id);
        m->kernel->rms_norm(state, w->state_norm, s->hidden, s->hidden_true, s->epsilon, state);
        quantize_row(m, id, 2 * s->hidden, 2 * s->hidden, &m->hidden, row);
        memset(to, 0, size); /* its padding */
    }
    rope_angles((double)(m->pass->start + m->depths[row]), m->weights.frequencies, s->half_true,
        s->half, m->cosines + (size_t)row * s->half, m->sines + (size_t)row * s->half);
}

static void row_normed(specedit_model *m, const float *weight, int row, float *normed) {
    const specedit_shape *s = &m->shape;
    m->kernel->rms_norm(
        m->rows + (size_t)row * s->hidden, weight, s->hidden, s->hidden_true, s->epsilon, normed);
    quantize_row(m, normed, s->hidden, s->hidden, &m->hidden, row);
}

/* where a row goes that `then` takes as it is */
static float *normed_of(const specedit_model *m, const float *then, int row, int thread) {
    return then ? m->normed + (size_t)row * m->shape.hidden : m->scratch[thread].row;
}

static void row_norm(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    const specedit_layer *l = &m->layers[layer];
    row_normed(m, l->norm, row, normed_of(m, l->projection, row, thread));
}

static void row_inner_norm(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    const specedit_layer *l = &m->layers[layer];
    row_normed(m, l->inner_norm, row, normed_of(m, l->router, row, thread));
}

static void row_last_norm(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    (void)layer;
    row_normed(m, m->weights.norm, row, m->scratch[thread].row);
    if (m->pass->hidden)
        memcpy(m->pass->hidden + (size_t)row * m->shape.hidden_true, m->scratch[thread].row,
            (size_t)m->shape.hidden_true * sizeof(float));
}

static void row_attended(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    const specedit_layer *l = &m->layers[layer];
    float *attended = m->attended + (size_t)row * m->attended_size;
    int used = m->shape.heads * m->size; /* behind it lies what the buffer held before */
    (void)thread;
    if (l->convolution) {
        recurrent_attended(m, layer, row);
        return;
    }
    memset(attended + used, 0, (size_t)(l->out.inputs - used) * sizeof(float));
    if (attention_split(m))
        attention_row(m, row, attended);
    for (int h = 0; m->shape.gated && h < m->shape.heads; h++)
        m->kernel->sigmoid(attended + h * m->size,
            m->qkv + (size_t)row * l->qkv.outputs + (2 * h + 1) * m->size, m->size);
    quantize_row(m, attended, l->out.inputs, l->out.inputs, &m->out, row);
}

static void row_inner(void *context, int layer, int row, int thread) {
    specedit_model *m = context;
    (void)layer;
    (void)thread;
    quantize_row(m, m->gates + (size_t)row * m->shape.inner, m->shape.inner, m->shape.group_size,
        &m->inner, row);
}

static void row_choice(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    (void)layer;
    (void)task;
    (void)thread;
    for (int r = 0; r < m->pass->width; r++) {
        float best = m->best[r], second = m->second[r];
        int32_t choice = m->choice[r];
        for (int p = 1; p < m->head_tasks; p++) { /* rising ids: the first of equals is the lowest */
            size_t at = (size_t)p * m->width + r;
            float lesser = m->best[at] < best ? m->best[at] : best;
            if (m->best[at] > best) {
                best = m->best[at];
                choice = m->choice[at];
            }
            second = lesser > second ? lesser : second;
            second = m->second[at] > second ? m->second[at] : second;
        }
        m->pass->choices[r] = choice;
        if (m->pass->margins)
            m->pass->margins[r] = best - second;
    }
}

/* -- tasks: one part of a product ----------------------------------------------------------------- */

static void gemm_fuse(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    (void)layer;
    gemm_task(m, &m->weights.fuse, &m->hidden, STORE, 0, m->rows, m->shape.hidden, task, thread);
}

static void gemm_qkv(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    const specedit_layer *l = &m->layers[layer];
    gemm_task(m, &l->qkv, &m->hidden, STORE, l->bias, m->qkv, l->qkv.outputs, task, thread);
}

static void gemm_out(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    gemm_task(m, &m->layers[layer].out, &m->out, ADD, 0, m->rows, m->shape.hidden, task, thread);
}

static void gemm_gate_up(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    gemm_task(m, &m->layers[layer].gate_up, &m->hidden, SWIGLU, 0, m->gates, m->shape.inner, task,
        thread);
}

static void gemm_down(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    gemm_task(m, &m->layers[layer].down, &m->inner, ADD, 0, m->rows, m->shape.hidden, task, thread);
}

static void gemm_head(void *context, int layer, int task, int thread) {
    specedit_model *m = context;
    const specedit_subset *subset = m->pass->subset;
    (void)layer;
    for (int r = 0; r < m->pass->width; r++) {
        m->best[(size_t)task * m->width + r] = -__builtin_inff();
        m->second[(size_t)task * m->width + r] = -__builtin_inff();
        m->choice[(size_t)task * m->width + r] = 0;
    }
    gemm_task(m, subset ? &subset->rows : &m->weights.head, &m->hidden, LOGITS, 0, m->pass->logits,
        logits_of(m), task, thread);
}

/* -- the steps ------------------------------------------------------------------------------------ */

int pass_steps(specedit_model *m, int threads) {
    const specedit_pass *pass = m->pass;
    int w = pass->width;
    pool_step *step = m->steps;
    *step++ = (pool_step){row_begins, 0, w};
    if (m->weights.id_norm)
        *step++ = (pool_step){gemm_fuse, 0, gemm_tasks(&m->weights.fuse, threads)};
    for (int l = 0; l < m->shape.layers; l++) {
        const specedit_layer *layer = &m->layers[l];
        int ends = !pass->choices && !pass->hidden && l == m->shape.layers - 1;
        *step++ = (pool_step){row_norm, l, w};
        *step++ = (pool_step){gemm_qkv, l, gemm_tasks(&layer->qkv, threads)};
        if (layer->convolution) {
            *step++ = (pool_step){project_gates, l, project_tasks(m, 2 * m->shape.value_heads)};
            *step++ = (pool_step){convolve_row, l, w};
            *step++ = (pool_step){recur_head, l, m->shape.value_heads};
        } else {
            *step++ = (pool_step){store_kv_task, l, store_kv_tasks(m)};
            if (!ends)
                *step++ = (pool_step){attention_task, l, attention_tasks(m)};
        }
        if (ends)
            break;
        *step++ = (pool_step){row_attended, l, w};
        *step++ = (pool_step){gemm_out, l, gemm_tasks(&layer->out, threads)};
        *step++ = (pool_step){row_inner_norm, l, w};
        if (layer->router) {
            step = expert_steps(m, l, threads, step);
            continue;
        }
        *step++ = (pool_step){gemm_gate_up, l, gemm_tasks(&layer->gate_up, threads)};
        *step++ = (pool_step){row_inner, l, w};
        *step++ = (pool_step){gemm_down, l, gemm_tasks(&layer->down, threads)};
    }
    if (pass->choices || pass->hidden)
        *step++ = (pool_step){row_last_norm, 0, w};
    if (pass->choices) {
        *step++ = (pool_step){gemm_head, 0, m->head_tasks};
        *step++ = (pool_step){row_choice, 0, 1};
    }
    return (int)(step - m->steps);
}

int gemm_steps(specedit_model *m, int threads) {
    pool_step *step = m->steps;
    for (int l = 0; l < m->shape.layers; l++) {
        const specedit_layer *layer = &m->layers[l];
        *step++ = (pool_step){gemm_qkv, l, gemm_tasks(&layer->qkv, threads)};
        *step++ = (pool_step){gemm_out, l, gemm_tasks(&layer->out, threads)};
        *step++ = (pool_step){gemm_gate_up, l, gemm_tasks(&layer->gate_up, threads)};
        *step++ = (pool_step){gemm_down, l, gemm_tasks(&layer->down, threads)};
    }
    *step++ = (pool_step){gemm_head, 0, gemm_tasks(&m->weights.head, threads)};
    return (int)(step - m->steps);
}
