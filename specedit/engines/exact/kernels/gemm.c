/* Products of quantized rows with weights of 8, 6 or 4 bits: how a product is cut into tasks, and one task.
 *
 * A variant multiplies (gemm8) and writes the result (an epilogue); here is the order in which panels,
 * groups of inputs and blocks of rows come, and which weights are fetched ahead. */
#include "model.h"

static int grain_of(int panels, int threads) {
    int grain = panels / (threads * 8) / 4 * 4;
    return grain < 4 ? 4 : grain > 32 ? 32 : grain;
}

int gemm_tasks(const specedit_linear *linear, int threads) {
    int panels = linear->outputs / LANES, grain = grain_of(panels, threads);
    return (panels + grain - 1) / grain;
}

int logits_of(const specedit_model *m) {
    return m->pass->subset ? m->pass->subset->count : m->shape.vocabulary;
}

/* inputs of the group that begins at `input`: the last one may be shorter */
static int group_inputs(const specedit_linear *linear, int input) {
    int left = linear->inputs - input;
    return left < linear->group_size ? left : linear->group_size;
}

/* The weights that a thread most likely reads behind some panels: of the same group of inputs, of the next
 * group, or of the task that it claims next if the other threads claim one each. Null: none. */
static const int8_t *panels_behind(const specedit_model *m, const specedit_linear *linear, int task,
    int panel, int now, int input, int *inputs) {
    int panels = linear->outputs / LANES, grain = grain_of(panels, m->threads);
    int begin = task * grain, end = begin + grain < panels ? begin + grain : panels;
    if (panel + now < end)
        panel += now;
    else if (input + linear->group_size < linear->inputs) {
        panel = begin;
        input += linear->group_size;
    } else {
        panel = begin + m->threads * grain;
        input = 0;
    }
    if (panel >= panels)
        return 0;
    *inputs = group_inputs(linear, input);
    return linear->panels + panel * panel_bytes(linear, linear->inputs) + panel_bytes(linear, input);
}

/* A few panels by all rows: one group of inputs after the other, one block of rows after the other. */
void gemm_task(specedit_model *m, const specedit_linear *linear, const quantized_rows *rows,
    gemm_epilogue epilogue, const float *bias, float *out, size_t stride, int task, int thread) {
    const kernel *k = m->kernel;
    int panels = linear->outputs / LANES, grain = grain_of(panels, m->threads);
    int begin = task * grain, end = begin + grain < panels ? begin + grain : panels;
    int width = rows->count ? rows->count : m->pass->width, terms = m->shape.residual ? 2 : 1;
    int few = width * terms <= k->few, block = few ? width : k->rows / terms;
    int groups = (linear->inputs + linear->group_size - 1) / linear->group_size;
    int row_blocks = (width + block - 1) / block;
    int rows_each = (width + row_blocks - 1) / row_blocks;
    if (block >= 32)
        rows_each = up_to(rows_each, 32); /* whole AMX tiles */
    size_t step = panel_bytes(linear, linear->inputs), input_stride = linear->inputs;
    int32_t *sums = m->scratch[thread].sums;
    int8_t *expanded = m->scratch[thread].expanded;
    if (m->discard)
        epilogue = DISCARD;
    if (k->begin)
        k->begin();
    for (int p = 0; p < groups; p++) {
        int at = p * linear->group_size;
        int inputs = group_inputs(linear, at);
        for (int panel = begin; panel < end; panel += PANELS_PER_CALL) {
            int now = end - panel < PANELS_PER_CALL ? end - panel : PANELS_PER_CALL, wanted = 0;
            const int8_t *weights = linear->panels + panel * step + panel_bytes(linear, at);
            size_t weights_step = step;
            const int8_t *ahead = panels_behind(m, linear, task, panel, now, at, &wanted);
            int lines = (int)(panel_bytes(linear, wanted) / 64);
            size_t first = ((size_t)panel * groups + p) * LANES;
            for (int q = 0; q < now; q++) {
                __builtin_prefetch(linear->scales + first + (size_t)q * groups * LANES);
                __builtin_prefetch(linear->offsets + first + (size_t)q * groups * LANES);
            }
            for (int g = 0; g < row_blocks; g++) {
                int from = g * rows_each;
                int count = width - from < rows_each ? width - from : rows_each;
                int fetched = lines * g / row_blocks,
                    share = lines * (g + 1) / row_blocks - fetched;
                int late = few && linear->bits < 8 ? 0 : share / LATE_SHARE / count * count;
                const int8_t *fetch = ahead ? ahead + (size_t)fetched * 64 : linear->panels;
                gemm_output of = {linear->scales + first, linear->offsets + first,
                    (size_t)groups * LANES, rows->scales + (size_t)from * rows->groups + p,
                    (size_t)rows->groups, m->shape.residual, fetch + (size_t)(share - late) * 64,
                    step, late};
                const uint8_t *values = rows->values + (size_t)from * terms * input_stride + at;
                if (linear->bits < 8 && !g) { /* expanded once, for all rows */
                    k->packed(values, input_stride, count * terms, weights, step, now, inputs, sums, fetch,
                        step, share - late, linear->bits, !few, expanded);
                    weights = expanded;
                    weights_step = (size_t)inputs * LANES;
                } else
                    k->gemm8(values, input_stride, count * terms, weights, weights_step, now, inputs,
                        sums, fetch, step, share - late);
                float *to_row = out ? out + (size_t)from * stride : 0;
                switch (epilogue) {
                case STORE:
                    k->store(sums, now, count, &of, bias ? bias + panel * LANES : 0,
                        to_row + panel * LANES, stride);
                    break;
                case ADD: k->add(sums, now, count, &of, to_row + panel * LANES, stride); break;
                case SWIGLU:
                    k->swiglu(sums, now, count, &of, to_row + panel / 2 * LANES, stride);
                    break;
                case LOGITS:
                    k->logits(sums, now, count, &of, panel * LANES, logits_of(m),
                        m->best + (size_t)task * m->width + from,
                        m->second + (size_t)task * m->width + from,
                        m->choice + (size_t)task * m->width + from, to_row, stride);
                    break;
                case DISCARD: break;
                }
            }
        }
    }
    if (k->end)
        k->end();
}

/* A row's quantized values, with a scale for each group of its inputs. */
void quantize_row(specedit_model *m, const float *row, int inputs, int group_size,
    quantized_rows *to, int index) {
    int terms = m->shape.residual ? 2 : 1;
    uint8_t *first = to->values + (size_t)index * terms * inputs;
    uint8_t *second = m->shape.residual ? first + inputs : 0;
    for (int at = 0, g = 0; at < inputs; at += group_size, g++)
        m->kernel->quantize(row + at, inputs - at < group_size ? inputs - at : group_size,
            first + at, second ? second + at : 0, to->scales + (size_t)index * to->groups + g);
}
