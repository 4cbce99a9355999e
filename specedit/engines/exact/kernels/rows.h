/* The float32 work on rows, in portable vectors of 16: included by each variant's file.
 *
 * The bits are the same for every variant, because each step is one IEEE operation in a written
 * order: sums run in lanes that are added in halves, nothing is contracted, and exp is made of
 * additions and multiplications. reference.c is the same in plain C.
 */
#include "variant.h"

#include <string.h>

#include "expand.h"
#include "pack.h"

INLINE float sum_of(floats a) {
    float lane[LANES];
    store(lane, a);
    for (int width = LANES / 2; width; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] += lane[i + width];
    return lane[0];
}

/* 2^n for whole n from -126 to 127, times p in [0.7, 1.5] */
INLINE floats scaled(floats p, ints n) { return (floats)((ints)p + (n << 23)); }

/* 2^x for x <= 0; from -100 down it is 2^-100. Relative error 3e-6. */
INLINE floats power(floats x) {
    x = larger(x, all(-100.0f));
    floats shifted = x + MAGIC;
    floats f = x - (shifted - MAGIC);
    floats p = f * 1.3333558e-3f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    return scaled(p, (ints)shifted - 0x4b400000);
}

/* e^x, held to 2^-124 and 2^124. Relative error 2e-7. */
INLINE floats exponential(floats x) {
    x = larger(x, all(-86.0f));
    x = -larger(-x, all(-86.0f));
    floats shifted = x * LOG2E + MAGIC;
    floats n = shifted - MAGIC;
    floats r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    floats p = r * 1.3981999507e-3f + 8.3333337680e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r;
    p = p + 1.0f;
    return scaled(p, (ints)shifted - 0x4b400000);
}

INLINE floats largest_part(const float *row, int count) {
    floats a = all(0.0f), b = a, c = a, d = a;
    int i = 0;
    for (; i + 64 <= count; i += 64) {
        a = larger(absolute(load(row + i)), a);
        b = larger(absolute(load(row + i + 16)), b);
        c = larger(absolute(load(row + i + 32)), c);
        d = larger(absolute(load(row + i + 48)), d);
    }
    for (; i < count; i += LANES)
        a = larger(absolute(load(row + i)), a);
    return larger(larger(a, b), larger(c, d));
}

/* steps to a unit of a row, and a step's size */
INLINE float steps_of(const float *row, int count, float limit, float *scale) {
    float most = largest_of(largest_part(row, count));
    if (!(most >= TINY)) {
        *scale = 0.0f;
        return 0.0f;
    }
    *scale = most / limit;
    return limit / most;
}

static void rows_quantize(
    const float *row, int count, uint8_t *first, uint8_t *second, float *scale) {
    floats steps = all(steps_of(row, count, 127.0f, scale));
    for (int i = 0; i < count; i += LANES) {
        floats x = load(row + i) * steps;
        floats shifted = x + MAGIC;
        small code = __builtin_convertvector((ints)shifted, small) ^ (uint8_t)ZERO_POINT;
        memcpy(first + i, &code, sizeof code);
        if (second) {
            floats rest = (x - (shifted - MAGIC)) * RESIDUAL_STEPS + MAGIC;
            code = __builtin_convertvector((ints)rest, small) ^ (uint8_t)ZERO_POINT;
            memcpy(second + i, &code, sizeof code);
        }
    }
}

static void rows_rms_norm(const float *row, const float *weight, int count, int count_true,
    float epsilon, float *out) {
    floats a = all(0.0f), b = a, c = a, d = a;
    for (int i = 0; i < count; i += 64) {
        floats e = load(row + i), f = load(row + i + 16);
        floats g = load(row + i + 32), h = load(row + i + 48);
        a = a + e * e;
        b = b + f * f;
        c = c + g * g;
        d = d + h * h;
    }
    float sum = sum_of((a + b) + (c + d));
    float factor = 1.0f / __builtin_sqrtf(sum / (float)count_true + epsilon);
    for (int i = 0; i < count; i += LANES)
        store(out + i, load(row + i) * factor * load(weight + i));
}

static void rows_widen_bf16(const uint16_t *from, int count, float *to) {
    for (int i = 0; i < count; i += LANES) {
        middle_unsigned half;
        memcpy(&half, from + i, sizeof half);
        store(to + i, (floats)(__builtin_convertvector(half, ints) << 16));
    }
}

/* one row's product with one panel as floats: times the row's scale and the outputs' */
INLINE floats dequantized(
    const int32_t *sums, int row, const gemm_output *of, floats scales, ints offsets) {
    floats found;
    if (of->residual) {
        floats first = to_floats(load_ints(sums + (size_t)(2 * row) * LANES) - offsets);
        floats second = to_floats(load_ints(sums + (size_t)(2 * row + 1) * LANES) - offsets);
        found = first + second * (1.0f / RESIDUAL_STEPS);
    } else {
        found = to_floats(load_ints(sums + (size_t)row * LANES) - offsets);
    }
    return found * scales * of->row_scales[(size_t)row * of->row_step];
}

#define PANEL_SUMS(p) (sums + (size_t)(p) * (size_t)(of->residual ? 2 * rows : rows) * LANES)
#define PANEL_SCALES(p) load(of->scales + (size_t)(p) * of->step)
#define PANEL_OFFSETS(p) load_ints(of->offsets + (size_t)(p) * of->step)

/* each row's share of the lines to prefetch of the panel that comes after panel p */
INLINE void fetch_share(const gemm_output *of, int p, int row, int each) {
    const int8_t *from = of->ahead + (size_t)p * of->ahead_step + (size_t)(row * each) * 64;
    for (int line = 0; line < each; line++)
        __builtin_prefetch(from + line * 64, 0, 2);
}

static void rows_store(const int32_t *sums, int panels, int rows, const gemm_output *of,
    const float *bias, float *out, size_t stride) {
    int each = of->lines / rows;
    for (int p = 0; p < panels; p++) {
        floats scales = PANEL_SCALES(p), constant = all(0.0f);
        ints offsets = PANEL_OFFSETS(p);
        if (bias)
            constant = load(bias + p * LANES);
        for (int r = 0; r < rows; r++) {
            fetch_share(of, p, r, each);
            store(out + (size_t)r * stride + p * LANES,
                dequantized(PANEL_SUMS(p), r, of, scales, offsets) + constant);
        }
    }
}

static void rows_add(const int32_t *sums, int panels, int rows, const gemm_output *of, float *out,
    size_t stride) {
    int each = of->lines / rows;
    for (int p = 0; p < panels; p++) {
        floats scales = PANEL_SCALES(p);
        ints offsets = PANEL_OFFSETS(p);
        for (int r = 0; r < rows; r++) {
            fetch_share(of, p, r, each);
            float *at = out + (size_t)r * stride + p * LANES;
            store(at, load(at) + dequantized(PANEL_SUMS(p), r, of, scales, offsets));
        }
    }
}

static void rows_swiglu(const int32_t *sums, int panels, int rows, const gemm_output *of, float *out,
    size_t stride) {
    int each = of->lines / rows;
    for (int p = 0; p < panels; p += 2) {
        floats gate_scales = PANEL_SCALES(p), up_scales = PANEL_SCALES(p + 1);
        ints gate_offsets = PANEL_OFFSETS(p), up_offsets = PANEL_OFFSETS(p + 1);
        for (int r = 0; r < rows; r++) {
            fetch_share(of, p, r, each);
            fetch_share(of, p + 1, r, each);
            floats gate = dequantized(PANEL_SUMS(p), r, of, gate_scales, gate_offsets);
            floats up = dequantized(PANEL_SUMS(p + 1), r, of, up_scales, up_offsets);
            store(out + (size_t)r * stride + p / 2 * LANES,
                gate * up / (exponential(-gate) + 1.0f));
        }
    }
}

static void rows_logits(const int32_t *sums, int panels, int rows, const gemm_output *of, int first,
    int limit, float *best, float *second, int32_t *choice, float *out, size_t stride) {
    int each = of->lines / rows;
    for (int p = 0; p < panels; p++) {
        floats scales = PANEL_SCALES(p);
        ints offsets = PANEL_OFFSETS(p);
        int id = first + p * LANES, valid = limit - id < LANES ? limit - id : LANES;
        for (int r = 0; r < rows && valid > 0; r++) {
            fetch_share(of, p, r, each);
            float lane[LANES];
            floats found = dequantized(PANEL_SUMS(p), r, of, scales, offsets);
            if (!out && valid == LANES && !any_larger(found, second[r]))
                continue;
            store(lane, found);
            if (out)
                memcpy(out + (size_t)r * stride + id, lane, (size_t)valid * sizeof(float));
            for (int i = 0; i < valid; i++)
                if (lane[i] > best[r]) {
                    second[r] = best[r];
                    best[r] = lane[i];
                    choice[r] = id + i;
                } else if (lane[i] > second[r])
                    second[r] = lane[i];
        }
    }
}

static void rows_rope(float *head, const float *weight, int half, int half_true, float epsilon,
    const float *cosines, const float *sines) {
    if (weight) {
        floats squares = all(0.0f);
        for (int i = 0; i < 2 * half; i += LANES)
            squares = squares + load(head + i) * load(head + i);
        float mean = sum_of(squares) / (float)(2 * half_true);
        float factor = 1.0f / __builtin_sqrtf(mean + epsilon);
        for (int i = 0; i < 2 * half; i += LANES)
            store(head + i, load(head + i) * factor * load(weight + i));
    }
    for (int i = 0; i < half; i += LANES) {
        floats a = load(head + i), b = load(head + half + i);
        floats c = load(cosines + i), s = load(sines + i);
        store(head + i, a * c - b * s);
        store(head + half + i, b * c + a * s);
    }
}

static void rows_quantize16(const float *head, int count, float limit, int16_t *out, float *scale) {
    floats steps = all(steps_of(head, count, limit, scale));
    for (int i = 0; i < count; i += LANES) {
        ints shifted = (ints)(load(head + i) * steps + MAGIC);
        middle found = __builtin_convertvector(shifted, middle); /* the low 16 bits of MAGIC are 0 */
        memcpy(out + i, &found, sizeof found);
    }
}

static void rows_quantize8(const float *head, int count, int8_t *out, float *scale) {
    floats steps = all(steps_of(head, count, 127.0f, scale));
    for (int i = 0; i < count; i += LANES) {
        ints shifted = (ints)(load(head + i) * steps + MAGIC);
        small_signed found = __builtin_convertvector(shifted, small_signed);
        memcpy(out + i, &found, sizeof found);
    }
}

/* 64 numbers from 0 to 255, rounded to bytes */
INLINE void store_codes(uint8_t *to, const floats number[BLOCK / LANES]) {
#if defined(__AVX512BW__)
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i low = _mm512_packus_epi32(
        _mm512_cvtps_epi32((__m512)number[0]), _mm512_cvtps_epi32((__m512)number[1]));
    __m512i high = _mm512_packus_epi32(
        _mm512_cvtps_epi32((__m512)number[2]), _mm512_cvtps_epi32((__m512)number[3]));
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high)));
#else
    for (int v = 0; v < BLOCK / LANES; v++) {
        small found = __builtin_convertvector((ints)(number[v] + MAGIC), small);
        memcpy(to + v * LANES, &found, sizeof found);
    }
#endif
}

/* A block's weights and their scale; its first `keys` numbers count, the others may be anything. */
INLINE float block_weights(const float *score, int keys, float highest, const float *value_scales,
    floats *total, uint8_t *weights) {
    static const ints lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    floats weight[BLOCK / LANES], unit = all(0.0f);
    for (int v = 0; v < BLOCK / LANES; v++) {
        floats part = power(load(score + v * LANES) - highest);
        floats times = load(value_scales + v * LANES);
        if (keys < BLOCK) {
            ints seen = lanes < keys - v * LANES;
            part = (floats)(seen & (ints)part);
            times = (floats)(seen & (ints)times);
        }
        *total = *total + part;
        weight[v] = part * times;
        unit = larger(weight[v], unit);
    }
    float largest = largest_of(unit), steps = 255.0f / largest;
    int some = largest >= TINY;
    for (int v = 0; v < BLOCK / LANES; v++)
        weight[v] = weight[v] * (some ? steps : 0.0f);
    store_codes(weights, weight);
    return some ? largest / 255.0f : 0.0f;
}

static void rows_softmax(const int32_t *scores, size_t step, int keys, int padded, float query_scale,
    const float *key_scales, const float *value_scales, uint8_t *weights, float *units, float *sum,
    float *most) {
    static const ints lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    float score[TILE] __attribute__((aligned(64)));
    const floats nothing = all(-__builtin_inff());
    floats top = nothing;
    int full = keys / LANES, b = 0;
    for (int v = 0; v < full; v++) {
        floats one = to_floats(load_ints(scores + (size_t)v * step))
            * (load(key_scales + v * LANES) * query_scale);
        store(score + v * LANES, one);
        top = larger(one, top);
    }
    if (keys % LANES) {
        floats one = to_floats(load_ints(scores + (size_t)full * step))
            * (load(key_scales + full * LANES) * query_scale);
        ints seen = lanes < keys - full * LANES;
        one = (floats)((seen & (ints)one) | (~seen & (ints)nothing));
        store(score + full * LANES, one);
        top = larger(one, top);
    }
    for (int v = (keys + LANES - 1) / LANES; v * LANES < padded; v++)
        store(score + v * LANES, nothing);
    float highest = *most = largest_of(top);
    floats total = all(0.0f);
    for (; (b + 1) * BLOCK <= keys; b++)
        units[b] = block_weights(score + b * BLOCK, BLOCK, highest, value_scales + b * BLOCK, &total,
            weights + b * BLOCK);
    if (b * BLOCK < keys) {
        units[b] = block_weights(score + b * BLOCK, keys - b * BLOCK, highest,
            value_scales + b * BLOCK, &total, weights + b * BLOCK);
        b++;
    }
    for (; b * BLOCK < padded; b++) {
        units[b] = 0.0f;
        memset(weights + b * BLOCK, 0, BLOCK);
    }
    *sum = sum_of(total);
}

#ifndef VARIANT_ADD_VALUES
#define VARIANT_ADD_VALUES rows_add_values
static void rows_add_values(const uint8_t *weights, const float *units, int count,
    const int8_t *values, int panels, int blocks, float *output) {
    enum { TOGETHER = 16, MOST_PANELS = 2 * MAX_HALF / LANES };
    int32_t sums[TOGETHER * MOST_PANELS * LANES] __attribute__((aligned(64)));
    for (int from = 0, now; from < count; from += now) {
        now = count - from < TOGETHER ? count - from : TOGETHER;
        for (int b = 0; b < blocks; b++) {
            gemm8(weights + (size_t)from * TILE + b * BLOCK, TILE, now,
                values + (size_t)b * panels * BLOCK * LANES, BLOCK * LANES, panels, BLOCK, sums, 0, 0,
                0);
            for (int r = 0; r < now; r++)
                for (int p = 0; p < panels; p++) {
                    float *to = output + (size_t)((from + r) * panels + p) * LANES;
                    store(to, load(to)
                            + to_floats(load_ints(sums + (size_t)(p * now + r) * LANES))
                                * units[(size_t)(from + r) * (TILE / BLOCK) + b]);
                }
        }
    }
}
#endif

static void rows_merge(float sum, float most, const float *mixed, int count, float *row_sum,
    float *row_maximum, float *row_output) {
    float high = most > *row_maximum ? most : *row_maximum;
    float lane[LANES];
    store(lane, power(all(*row_maximum - high)));
    float before = lane[0];
    store(lane, power(all(most - high)));
    float now = lane[0];
    *row_maximum = high;
    *row_sum = *row_sum * before + sum * now;
    for (int i = 0; i < count; i += LANES)
        store(row_output + i, load(row_output + i) * before + load(mixed + i) * now);
}

static void rows_divide(float sum, const float *mixed, int count, float *out) {
    float share = 1.0f / sum;
    for (int i = 0; i < count; i += LANES)
        store(out + i, load(mixed + i) * share);
}

static void rows_silu(float *row, const float *times, int count) {
    for (int i = 0; i < count; i += LANES) {
        floats x = load(row + i), made = x / (exponential(-x) + 1.0f);
        store(row + i, times ? made * load(times + i) : made);
    }
}

static float rows_top(const float *row, int count, int most, float sharp, float *best,
    int32_t *places) {
    static const ints lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int i = 0; i < most; i++) {
        best[i] = -__builtin_inff();
        places[i] = -1;
    }
    for (int i = 0; i < count; i += LANES) {
        int valid = count - i < LANES ? count - i : LANES;
        if (valid == LANES && !any_larger(load(row + i), best[most - 1]))
            continue;
        for (int place = i; place < i + valid; place++) {
            int at = most - 1;
            if (!(row[place] > best[at]))
                continue;
            for (; at && best[at - 1] < row[place]; at--) {
                best[at] = best[at - 1];
                places[at] = places[at - 1];
            }
            best[at] = row[place];
            places[at] = place;
        }
    }
    floats total = all(0.0f);
    for (int i = 0; i < count; i += LANES) {
        floats part = exponential((load(row + i) - best[0]) * sharp);
        if (count - i < LANES) {
            ints there = lanes < count - i;
            part = (floats)(there & (ints)part);
        }
        total = total + part;
    }
    return sum_of(total);
}

#include "recurrent_rows.h"

#define KERNEL_OF(name) kernel_##name
#define KERNEL_NAME(name) KERNEL_OF(name)
#define QUOTED_OF(name) #name
#define QUOTED(name) QUOTED_OF(name)

#ifndef VARIANT_PACKED
#define VARIANT_PACKED rows_packed
static void rows_packed(const uint8_t *rows, size_t stride, int count, const int8_t *panel,
    size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines, int bits, int keep, int8_t *expanded) {
    size_t size = (size_t)inputs * LANES;
    for (int p = 0; p < panels; p++) { /* where none is kept, one is in the first cache */
        int8_t *at = keep ? expanded + p * size : expanded;
        expand((const uint8_t *)panel + p * step, inputs, bits, at);
        gemm8(rows, stride, count, at, size, 1, inputs, sums + (size_t)p * count * LANES,
            ahead + p * ahead_step, ahead_step, lines);
    }
}
#endif

#ifndef VARIANT_ROWS
#define VARIANT_ROWS ROW_BLOCK
#endif

#ifndef VARIANT_FEW
#define VARIANT_FEW FEW_ROWS
#endif

#ifndef VARIANT_BEGIN
#define VARIANT_BEGIN 0
#define VARIANT_END 0
#endif

const kernel KERNEL_NAME(VARIANT) = {
    QUOTED(VARIANT), VARIANT_ROWS, VARIANT_FEW, gemm8, VARIANT_PACKED, expand, gemm16, VARIANT_BEGIN, VARIANT_END,
    rows_quantize, rows_rms_norm, rows_widen_bf16, rows_store, rows_add, rows_swiglu, rows_logits, rows_rope,
    rows_quantize16, rows_quantize8, rows_softmax, VARIANT_ADD_VALUES, rows_merge, rows_divide,
    rows_silu, rows_top, rows_sigmoid, rows_project, rows_recur, rows_pack,
};
