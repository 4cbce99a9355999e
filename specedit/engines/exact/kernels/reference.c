/* The definition of the arithmetic, in plain C: every variant must equal it bit for bit.
 *
 * A sum of floats runs in lanes: lane i has the numbers i, i + 16 and
 * so on (of a whole row, i + 64: four sums of lanes, then (a + b) + (c + d)), and lanes are added
 * in halves. The rounding to integers is to the nearest, ties to even.
 */
#include <string.h>

#include "variant.h"

#define LOG2E 1.44269504088896341f
#define MAGIC 12582912.0f
#define TINY 1e-30f

static void gemm8(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step, int lines) {
    (void)ahead;
    (void)ahead_step;
    (void)lines;
    for (int p = 0; p < panels; p++)
        for (int r = 0; r < count; r++)
            for (int o = 0; o < LANES; o++) {
                int32_t sum = 0;
                for (int i = 0; i < inputs; i++)
                    sum += (int32_t)rows[(size_t)r * stride + i]
                        * panel[(size_t)p * step + (size_t)(i / 4) * 64 + o * 4 + i % 4];
                sums[((size_t)p * count + r) * LANES + o] = sum;
            }
}

static void gemm16(const int16_t *rows, size_t stride, int count, const int16_t *panel, size_t step,
    int panels, int inputs, int32_t *sums) {
    for (int p = 0; p < panels; p++)
        for (int r = 0; r < count; r++)
            for (int o = 0; o < LANES; o++) {
                uint32_t sum = 0; /* damaged weights wrap, as they do in vectors */
                for (int i = 0; i < inputs; i++)
                    sum += (uint32_t)((int32_t)rows[(size_t)r * stride + i]
                        * panel[(size_t)p * step + (size_t)(i / 2) * 32 + o * 2 + i % 2]);
                sums[((size_t)p * count + r) * LANES + o] = (int32_t)sum;
            }
}

/* weights are rounded down; of damaged ones these are the lower eight bits */
static void expand(const uint8_t *codes, int inputs, int bits, int8_t *panel) {
    for (int i = 0; i < inputs; i++)
        for (int o = 0; o < LANES; o++) {
            const uint8_t *block = codes + (size_t)(i / 64) * block_of(bits);
            int at = i % 64, byte = o * 4 + i % 4, weight;
            int code = block[64 + at / 8 * 64 + byte] >> at % 8 / 4 * 4 & 15;
            if (bits == 4) {
                const uint8_t *of_group = block + at / 32 * 32 + o * 2;
                weight = (code * of_group[0] - 8 * of_group[1]) >> 4;
            } else {
                int upper = block[64 + 512 + at / 16 * 64 + byte] >> at % 16 / 4 * 2 & 3;
                uint8_t by = block[at / 16 * 16 + o];
                weight = ((code + 16 * upper) * (uint8_t)(by + 1) - 32 * by) >> 6;
            }
            panel[(size_t)(i / 4) * 64 + byte] = (int8_t)weight;
        }
}

static void packed(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step, int lines,
    int bits, int keep, int8_t *expanded) {
    (void)keep;
    for (int p = 0; p < panels; p++)
        expand((const uint8_t *)panel + p * step, inputs, bits, expanded + (size_t)p * inputs * LANES);
    gemm8(rows, stride, count, expanded, (size_t)inputs * LANES, panels, inputs, sums, ahead, ahead_step,
        lines);
}

static float larger(float a, float b) { return a > b ? a : b; }

static float folded(float *lane) {
    for (int width = LANES / 2; width; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] = lane[i] + lane[i + width];
    return lane[0];
}

static int32_t bits_of(float x) {
    int32_t found;
    memcpy(&found, &x, sizeof found);
    return found;
}

static float float_of(int32_t bits) {
    float found;
    memcpy(&found, &bits, sizeof found);
    return found;
}

/* a - b, which wraps where damaged weights make it too large */
static int32_t less(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

static int32_t whole(float x) { return less(bits_of(x + MAGIC), bits_of(MAGIC)); }

static float scaled(float p, int32_t n) {
    return float_of((int32_t)((uint32_t)bits_of(p) + ((uint32_t)n << 23)));
}

static float power(float x) {
    x = larger(x, -100.0f);
    float shifted = x + MAGIC, f = x - (shifted - MAGIC);
    float p = f * 1.3333558e-3f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    return scaled(p, whole(x));
}

static float exponential(float x) {
    x = larger(x, -86.0f);
    x = -larger(-x, -86.0f);
    float n = (x * LOG2E + MAGIC) - MAGIC;
    float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = r * 1.3981999507e-3f + 8.3333337680e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r;
    return scaled(p + 1.0f, whole(x * LOG2E));
}

static float steps_of(const float *row, int count, float limit, float *scale) {
    float most = 0.0f;
    for (int i = 0; i < count; i++)
        most = larger(float_of(bits_of(row[i]) & 0x7fffffff), most);
    *scale = most >= TINY ? most / limit : 0.0f;
    return most >= TINY ? limit / most : 0.0f;
}

static void quantize(const float *row, int count, uint8_t *first, uint8_t *second, float *scale) {
    float steps = steps_of(row, count, 127.0f, scale);
    for (int i = 0; i < count; i++) {
        float x = row[i] * steps;
        first[i] = (uint8_t)((uint32_t)whole(x) + ZERO_POINT);
        if (second)
            second[i] = (uint8_t)((uint32_t)whole((x - ((x + MAGIC) - MAGIC)) * RESIDUAL_STEPS)
                + ZERO_POINT);
    }
}

static void rms_norm(
    const float *row, const float *weight, int count, int count_true, float epsilon, float *out) {
    float lane[4][LANES] = {{0}};
    for (int i = 0; i < count; i++) {
        float *at = &lane[i / LANES % 4][i % LANES];
        *at = *at + row[i] * row[i];
    }
    for (int i = 0; i < LANES; i++)
        lane[0][i] = (lane[0][i] + lane[1][i]) + (lane[2][i] + lane[3][i]);
    float factor = 1.0f / __builtin_sqrtf(folded(lane[0]) / (float)count_true + epsilon);
    for (int i = 0; i < count; i++)
        out[i] = row[i] * factor * weight[i];
}

static void widen_bf16(const uint16_t *from, int count, float *to) {
    for (int i = 0; i < count; i++)
        to[i] = float_of((int32_t)((uint32_t)from[i] << 16));
}

static float dequantized(
    const int32_t *sums, int rows, int panel, int row, int o, const gemm_output *of) {
    int terms = of->residual ? 2 : 1;
    const int32_t *at = sums + ((size_t)(panel * rows + row) * terms) * LANES + o;
    size_t output = (size_t)panel * of->step + o;
    float found = (float)less(at[0], of->offsets[output]);
    if (of->residual)
        found = found + (float)less(at[LANES], of->offsets[output]) * (1.0f / RESIDUAL_STEPS);
    return found * of->scales[output] * of->row_scales[(size_t)row * of->row_step];
}

#define EACH_PRODUCT                                                                               \
    for (int p = 0; p < panels; p++)                                                               \
        for (int r = 0; r < rows; r++)                                                             \
            for (int o = 0; o < LANES; o++)

static void store(const int32_t *sums, int panels, int rows, const gemm_output *of,
    const float *bias, float *out, size_t stride) {
    EACH_PRODUCT {
        float constant = bias ? bias[p * LANES + o] : 0.0f;
        out[(size_t)r * stride + p * LANES + o] = dequantized(sums, rows, p, r, o, of) + constant;
    }
}

static void add(
    const int32_t *sums, int panels, int rows, const gemm_output *of, float *out, size_t stride) {
    EACH_PRODUCT {
        float *at = out + (size_t)r * stride + p * LANES + o;
        *at = *at + dequantized(sums, rows, p, r, o, of);
    }
}

static void swiglu(
    const int32_t *sums, int panels, int rows, const gemm_output *of, float *out, size_t stride) {
    EACH_PRODUCT {
        if (p % 2)
            continue;
        float gate = dequantized(sums, rows, p, r, o, of);
        float up = dequantized(sums, rows, p + 1, r, o, of);
        out[(size_t)r * stride + p / 2 * LANES + o] = gate * up / (exponential(-gate) + 1.0f);
    }
}

static void logits(const int32_t *sums, int panels, int rows, const gemm_output *of, int first,
    int limit, float *best, float *second, int32_t *choice, float *out, size_t stride) {
    EACH_PRODUCT {
        int id = first + p * LANES + o;
        if (id >= limit)
            continue;
        float found = dequantized(sums, rows, p, r, o, of);
        if (out)
            out[(size_t)r * stride + id] = found;
        if (found > best[r]) {
            second[r] = best[r];
            best[r] = found;
            choice[r] = id;
        } else if (found > second[r])
            second[r] = found;
    }
}

static void rope(float *head, const float *weight, int half, int half_true, float epsilon,
    const float *cosines, const float *sines) {
    if (weight) {
        float lane[LANES] = {0};
        for (int i = 0; i < 2 * half; i++)
            lane[i % LANES] = lane[i % LANES] + head[i] * head[i];
        float factor = 1.0f / __builtin_sqrtf(folded(lane) / (float)(2 * half_true) + epsilon);
        for (int i = 0; i < 2 * half; i++)
            head[i] = head[i] * factor * weight[i];
    }
    for (int i = 0; i < half; i++) {
        float a = head[i], b = head[half + i];
        head[i] = a * cosines[i] - b * sines[i];
        head[half + i] = b * cosines[i] + a * sines[i];
    }
}

static void quantize16(const float *head, int count, float limit, int16_t *out, float *scale) {
    float steps = steps_of(head, count, limit, scale);
    for (int i = 0; i < count; i++)
        out[i] = (int16_t)whole(head[i] * steps);
}

static void quantize8(const float *head, int count, int8_t *out, float *scale) {
    float steps = steps_of(head, count, 127.0f, scale);
    for (int i = 0; i < count; i++)
        out[i] = (int8_t)whole(head[i] * steps);
}

static void softmax(const int32_t *scores, size_t step, int keys, int padded, float query_scale,
    const float *key_scales, const float *value_scales, uint8_t *weights, float *units, float *sum,
    float *most) {
    float kept[TILE], lane[LANES] = {0};
    *most = -__builtin_inff();
    for (int j = 0; j < keys; j++) {
        kept[j] =
            (float)scores[(size_t)(j / LANES) * step + j % LANES] * (key_scales[j] * query_scale);
        *most = larger(kept[j], *most);
    }
    for (int begin = 0; begin < padded; begin += BLOCK) {
        float part[BLOCK] = {0}, unit = 0.0f;
        for (int j = begin; j < begin + BLOCK && j < keys; j++) {
            float share = power(kept[j] - *most);
            lane[j % LANES] = lane[j % LANES] + share;
            part[j - begin] = share * value_scales[j];
            unit = larger(part[j - begin], unit);
        }
        int some = unit >= TINY;
        units[begin / BLOCK] = some ? unit / 255.0f : 0.0f;
        float steps = some ? 255.0f / unit : 0.0f;
        for (int j = 0; j < BLOCK; j++)
            weights[begin + j] = (uint8_t)whole(part[j] * steps);
    }
    *sum = folded(lane);
}

static void add_values(const uint8_t *weights, const float *units, int count, const int8_t *values,
    int panels, int blocks, float *output) {
    int32_t sums[LANES];
    for (int b = 0; b < blocks; b++)
        for (int r = 0; r < count; r++)
            for (int p = 0; p < panels; p++) {
                gemm8(weights + (size_t)r * TILE + b * BLOCK, TILE, 1,
                    values + (size_t)(b * panels + p) * BLOCK * LANES, 0, 1, BLOCK, sums, 0, 0, 0);
                float *to = output + (size_t)(r * panels + p) * LANES;
                for (int i = 0; i < LANES; i++)
                    to[i] = to[i] + (float)sums[i] * units[(size_t)r * (TILE / BLOCK) + b];
            }
}

static void merge(float sum, float most, const float *mixed, int count, float *row_sum,
    float *row_maximum, float *row_output) {
    float high = larger(most, *row_maximum);
    float before = power(*row_maximum - high), now = power(most - high);
    *row_maximum = high;
    *row_sum = *row_sum * before + sum * now;
    for (int i = 0; i < count; i++)
        row_output[i] = row_output[i] * before + mixed[i] * now;
}

static void divide(float sum, const float *mixed, int count, float *out) {
    float share = 1.0f / sum;
    for (int i = 0; i < count; i++)
        out[i] = mixed[i] * share;
}

static void silu(float *row, const float *times, int count) {
    for (int i = 0; i < count; i++) {
        float made = row[i] / (exponential(-row[i]) + 1.0f);
        row[i] = times ? made * times[i] : made;
    }
}

static float top(const float *row, int count, int most, float sharp, float *best, int32_t *places) {
    float lane[LANES] = {0};
    for (int found = 0; found < most; found++) {
        best[found] = -__builtin_inff();
        places[found] = -1;
        for (int i = 0; i < count; i++) {
            int taken = 0;
            for (int j = 0; j < found; j++)
                taken |= places[j] == i;
            if (!taken && row[i] > best[found]) {
                best[found] = row[i];
                places[found] = i;
            }
        }
    }
    for (int i = 0; i < count; i++)
        lane[i % LANES] = lane[i % LANES] + exponential((row[i] - best[0]) * sharp);
    return folded(lane);
}

static void sigmoid(float *row, const float *gates, int count) {
    for (int i = 0; i < count; i++)
        row[i] = row[i] / (exponential(-gates[i]) + 1.0f);
}

static float four_sums(const float *sum) { return (sum[0] + sum[1]) + (sum[2] + sum[3]); }

static void project(const float *row, const float *panel, int inputs, float *out) {
    for (int o = 0; o < LANES; o++) {
        float sum[4] = {0};
        for (int i = 0; i < inputs; i++)
            sum[i % 4] = sum[i % 4] + panel[(size_t)i * LANES + o] * row[i];
        out[o] = four_sums(sum);
    }
}

static void recur(const float *from, float *to, int keys, int count, const recurrence *of) {
    for (int t = 0; t < count; t++, from = to)
        for (int o = 0; o < LANES; o++) {
            size_t row = (size_t)t * of->stride, gate = (size_t)t * of->gate_stride;
            float sum[4] = {0}, out[4] = {0}, decay = of->decays[gate];
            for (int i = 0; i < keys; i++)
                sum[i % 4] = sum[i % 4] + from[(size_t)i * LANES + o] * of->keys[row + i];
            float known = four_sums(sum) * decay;
            float change = (of->values[row + o] - known) * of->betas[gate];
            for (int i = 0; i < keys; i++) {
                size_t at = (size_t)i * LANES + o;
                to[at] = from[at] * decay + change * of->keys[row + i];
                if (of->queries)
                    out[i % 4] = out[i % 4] + to[at] * of->queries[row + i];
            }
            if (of->queries)
                of->out[(size_t)t * of->out_stride + o] = four_sums(out);
        }
}

const kernel kernel_reference = {
    "reference",
    ROW_BLOCK,
    FEW_ROWS,
    gemm8,
    packed,
    expand,
    gemm16,
    0,
    0,
    quantize,
    rms_norm,
    widen_bf16,
    store,
    add,
    swiglu,
    logits,
    rope,
    quantize16,
    quantize8,
    softmax,
    add_values,
    merge,
    divide,
    silu,
    top,
    sigmoid,
    project,
    recur,
    pack_plainly,
};
