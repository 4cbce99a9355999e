/* Products of AVX-512 VNNI, for the variants that have it.
 *
 * A block of rows by a block of panels has its sums in registers: 12 by 2 where there are many
 * rows (24 sums, 2 vectors of weights, 1 of activations), and 1 by 4 where there is one, so that four
 * streams of weights are active.
 */
#ifndef AVX512VNNI_H
#define AVX512VNNI_H

#include <immintrin.h>
#include <string.h>

#include "expand.h"

#define INLINE_BLOCK static inline __attribute__((always_inline))

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 24")
#endif

INLINE_BLOCK __m512i four_of(const uint8_t *from) {
    int32_t found;
    memcpy(&found, from, sizeof found);
    return _mm512_set1_epi32(found);
}

/* R rows by P panels; each vector of weights fetches a line of the panel that comes instead of its own,
 * while there are lines, and one of its own panel that comes soon */
INLINE_BLOCK void gemm8_block(const int R, const int P, const uint8_t *rows, size_t stride,
    const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step,
    const int8_t **ahead, size_t ahead_step, int *lines) {
    enum { NEAR = 1024 };
    __m512i sum[12][4];
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
        _mm512_setzero_si512();
    const int8_t *fetch = *ahead;
    int left = *lines;
    for (int i = 0; i < inputs; i += 4) {
        __m512i weights[4];
        UNROLLED for (int p = 0; p < P; p++) weights[p] =
            _mm512_loadu_si512(panel + (size_t)p * step + (size_t)i * LANES);
        if (left > 0) {
            UNROLLED for (int p = 0; p < P; p++)
                _mm_prefetch((const char *)fetch + (size_t)p * ahead_step, _MM_HINT_T1);
            fetch += 64;
            left--;
        }
        UNROLLED for (int p = 0; p < P; p++) _mm_prefetch(
            (const char *)panel + (size_t)p * step + (size_t)i * LANES + NEAR, _MM_HINT_T0);
        UNROLLED for (int r = 0; r < R; r++) {
            __m512i activations = four_of(rows + (size_t)r * stride + i);
            UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
                _mm512_dpbusd_epi32(sum[r][p], activations, weights[p]);
        }
    }
    *ahead = fetch;
    *lines = left;
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) _mm512_store_si512(
        sums + (size_t)p * sums_step + (size_t)r * LANES, sum[r][p]);
}

/* one row: nothing is used twice, so it is all about reading weights */
INLINE_BLOCK void gemm8_stream(const int R, const int P, const uint8_t *rows, size_t stride,
    const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    enum { FAR = 2048 };
    __m512i sum[12][4];
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
        _mm512_setzero_si512();
    for (int i = 0; i < inputs; i += 4) {
        UNROLLED for (int p = 0; p < P; p++) {
            const int8_t *at = panel + (size_t)p * step + (size_t)i * LANES;
            __m512i weights = _mm512_loadu_si512(at);
            _mm_prefetch((const char *)at + FAR, _MM_HINT_T0);
            UNROLLED for (int r = 0; r < R; r++) sum[r][p] = _mm512_dpbusd_epi32(
                sum[r][p], four_of(rows + (size_t)r * stride + i), weights);
        }
    }
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) _mm512_store_si512(
        sums + (size_t)p * sums_step + (size_t)r * LANES, sum[r][p]);
}

#define GEMM8_ROWS(R, P)                                                                            \
    static void gemm8_##R##_##P(const uint8_t *rows, size_t stride, const int8_t *panel,            \
        size_t step, int inputs, int32_t *sums, size_t sums_step, const int8_t **ahead,            \
        size_t ahead_step, int *lines) {                                                                              \
        gemm8_block(R, P, rows, stride, panel, step, inputs, sums, sums_step, ahead,        \
            ahead_step, lines);                                                                     \
    }
#define GEMM8_STREAM(R, P)                                                                          \
    static void gemm8_##R##_##P(const uint8_t *rows, size_t stride, const int8_t *panel,            \
        size_t step, int inputs, int32_t *sums, size_t sums_step, const int8_t **ahead,            \
        size_t ahead_step, int *lines) {                                                                              \
        (void)ahead;                                                                               \
        (void)ahead_step;                                                                          \
        (void)lines;                                                                               \
        gemm8_stream(R, P, rows, stride, panel, step, inputs, sums, sums_step);                     \
    }
typedef void block_function(const uint8_t *rows, size_t stride, const int8_t *panel, size_t step,
    int inputs, int32_t *sums, size_t sums_step, const int8_t **ahead, size_t ahead_step,
    int *lines);

GEMM8_STREAM(1, 4) GEMM8_STREAM(2, 4) GEMM8_STREAM(3, 4) GEMM8_STREAM(4, 4)
GEMM8_STREAM(1, 1) GEMM8_STREAM(2, 1) GEMM8_STREAM(3, 1) GEMM8_STREAM(4, 1)
GEMM8_ROWS(5, 2) GEMM8_ROWS(6, 2) GEMM8_ROWS(7, 2) GEMM8_ROWS(8, 2)
GEMM8_ROWS(9, 2) GEMM8_ROWS(10, 2) GEMM8_ROWS(11, 2) GEMM8_ROWS(12, 2)
GEMM8_ROWS(5, 1) GEMM8_ROWS(6, 1) GEMM8_ROWS(7, 1) GEMM8_ROWS(8, 1)
GEMM8_ROWS(9, 1) GEMM8_ROWS(10, 1) GEMM8_ROWS(11, 1) GEMM8_ROWS(12, 1)

static block_function *const GEMM8_FOUR[] = {0, gemm8_1_4, gemm8_2_4, gemm8_3_4, gemm8_4_4};
static block_function *const GEMM8_TWO[] = {0, 0, 0, 0, 0, gemm8_5_2, gemm8_6_2, gemm8_7_2, gemm8_8_2,
    gemm8_9_2, gemm8_10_2, gemm8_11_2, gemm8_12_2};
static block_function *const GEMM8_ONE[] = {0, gemm8_1_1, gemm8_2_1, gemm8_3_1, gemm8_4_1, gemm8_5_1,
    gemm8_6_1, gemm8_7_1, gemm8_8_1, gemm8_9_1, gemm8_10_1, gemm8_11_1, gemm8_12_1};

static void vnni_gemm8(const uint8_t *rows, size_t stride, int count, const int8_t *panel,
    size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines) {
    size_t sums_step = (size_t)count * LANES;
    for (int p = 0; p < panels;) {
        int many = count <= 4 ? (panels - p >= 4 ? 4 : 1) : (panels - p >= 2 ? 2 : 1);
        block_function *const *table = many == 4 ? GEMM8_FOUR : many == 2 ? GEMM8_TWO : GEMM8_ONE;
        const int8_t *next = ahead + (size_t)p * ahead_step;
        int wanted = lines;
        for (int r = 0; r < count;) {
            int left = count - r, groups = (left + 11) / 12, now = (left + groups - 1) / groups;
            table[now](rows + (size_t)r * stride, stride, panel + (size_t)p * step, step, inputs,
                sums + (size_t)p * sums_step + (size_t)r * LANES, sums_step, &next,
                ahead_step, &wanted);
            r += now;
        }
        p += many;
    }
}

/* the same of panels of 4 bits, which are expanded in registers for all rows of the block; each line of
 * 64 bytes fetches one that comes soon, at the end of a panel from the panel that comes next */
INLINE_BLOCK void gemm4_block(const int R, const int P, const uint8_t *rows, size_t stride,
    const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step,
    const int8_t *ahead) {
    enum { SOON = 4 };
    const int8_t *end = panel + (size_t)(inputs / 64) * BLOCK4;
    ptrdiff_t far = SOON * BLOCK4;
    __m512i sum[16][4];
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
        _mm512_setzero_si512();
    for (int i = 0; i < inputs; i += 64, panel += BLOCK4) {
        if (end - panel == SOON * BLOCK4)
            far = ahead ? ahead - panel : 0;
        for (int group = 0; group < 2; group++)
            UNROLLED for (int p = 0; p < P; p++) {
                const uint8_t *block = (const uint8_t *)panel + (size_t)p * step;
                multipliers by = multipliers_of(block + 32 * group);
                if (group)
                    _mm_prefetch((const char *)block + far, _MM_HINT_T0);
                UNROLLED for (int v = 0; v < 4; v++) {
                    const uint8_t *codes = block + 64 + 64 * (4 * group + v);
                    const uint8_t *at = rows + i + 32 * group + 8 * v;
                    __m512i two = _mm512_loadu_si512(codes);
                    __m512i low = expanded(two, by), high = expanded(_mm512_srli_epi16(two, 4), by);
                    _mm_prefetch((const char *)codes + far, _MM_HINT_T0);
                    UNROLLED for (int r = 0; r < R; r++) {
                        const uint8_t *row = at + (size_t)r * stride;
                        sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], four_of(row), low);
                        sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], four_of(row + 4), high);
                    }
                }
            }
    }
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) _mm512_store_si512(
        sums + (size_t)p * sums_step + (size_t)r * LANES, sum[r][p]);
}

#define GEMM4(R, P)                                                                                 \
    static void gemm4_##R##_##P(const uint8_t *rows, size_t stride, const int8_t *panel,            \
        size_t step, int inputs, int32_t *sums, size_t sums_step, const int8_t *ahead) {           \
        gemm4_block(R, P, rows, stride, panel, step, inputs, sums, sums_step, ahead);               \
    }
typedef void gemm4_block_function(const uint8_t *rows, size_t stride, const int8_t *panel,
    size_t step, int inputs, int32_t *sums, size_t sums_step, const int8_t *ahead);

GEMM4(1, 4) GEMM4(2, 4) GEMM4(3, 4) GEMM4(4, 4)
GEMM4(5, 2) GEMM4(6, 2) GEMM4(7, 2) GEMM4(8, 2)
GEMM4(1, 1) GEMM4(2, 1) GEMM4(3, 1) GEMM4(4, 1) GEMM4(5, 1) GEMM4(6, 1) GEMM4(7, 1) GEMM4(8, 1)
GEMM4(9, 1) GEMM4(10, 1) GEMM4(11, 1) GEMM4(12, 1) GEMM4(13, 1) GEMM4(14, 1) GEMM4(15, 1) GEMM4(16, 1)

static gemm4_block_function *const GEMM4_MANY[] = {0, gemm4_1_4, gemm4_2_4, gemm4_3_4, gemm4_4_4,
    gemm4_5_2, gemm4_6_2, gemm4_7_2, gemm4_8_2};
static gemm4_block_function *const GEMM4_ONE[] = {0, gemm4_1_1, gemm4_2_1, gemm4_3_1, gemm4_4_1,
    gemm4_5_1, gemm4_6_1, gemm4_7_1, gemm4_8_1, gemm4_9_1, gemm4_10_1, gemm4_11_1, gemm4_12_1,
    gemm4_13_1, gemm4_14_1, gemm4_15_1, gemm4_16_1};

static void vnni_gemm4(const uint8_t *rows, size_t stride, int count, const int8_t *panel,
    size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines, int8_t *expanded) {
    if (count > FEW_ROWS) {
        expand_panels(panel, step, panels, inputs, expanded);
        vnni_gemm8(rows, stride, count, expanded, (size_t)inputs * LANES, panels, inputs, sums, ahead,
            ahead_step, lines);
        return;
    }
    size_t sums_step = (size_t)count * LANES;
    int most = count <= 4 ? 4 : count <= 8 ? 2 : 1;
    for (int p = 0, many; p < panels; p += many) {
        many = panels - p >= most ? most : 1;
        (many > 1 ? GEMM4_MANY : GEMM4_ONE)[count](rows, stride, panel + (size_t)p * step, step,
            inputs, sums + (size_t)p * sums_step, sums_step,
            lines ? ahead + (size_t)p * ahead_step : 0);
    }
}

/* vpdpwssd itself: clang takes it apart into a product and a sum, which is 1.4 times the work */
INLINE_BLOCK __m512i gemm16_added(__m512i sum, __m512i two, __m512i keys) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(two), "v"(keys));
    return sum;
}

INLINE_BLOCK void gemm16_block(const int R, const int P, const int16_t *rows, size_t stride,
    const int16_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    __m512i sum[12][4];
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
        _mm512_setzero_si512();
    for (int i = 0; i < inputs; i += 2) {
        __m512i keys[4];
        UNROLLED for (int p = 0; p < P; p++) keys[p] =
            _mm512_loadu_si512(panel + (size_t)p * step + (size_t)i * LANES);
        UNROLLED for (int r = 0; r < R; r++) {
            __m512i two = four_of((const uint8_t *)(rows + (size_t)r * stride + i));
            UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
                gemm16_added(sum[r][p], two, keys[p]);
        }
    }
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) _mm512_store_si512(
        sums + (size_t)p * sums_step + (size_t)r * LANES, sum[r][p]);
}

#define GEMM16(R)                                                                                   \
    static void gemm16_##R##_4(const int16_t *rows, size_t stride, const int16_t *panel,            \
        size_t step, int inputs, int32_t *sums, size_t sums_step) {                                \
        gemm16_block(R, 4, rows, stride, panel, step, inputs, sums, sums_step);                     \
    }                                                                                              \
    static void gemm16_##R##_1(const int16_t *rows, size_t stride, const int16_t *panel,            \
        size_t step, int inputs, int32_t *sums, size_t sums_step) {                                \
        gemm16_block(R, 1, rows, stride, panel, step, inputs, sums, sums_step);                     \
    }
typedef void gemm16_block_function(const int16_t *rows, size_t stride, const int16_t *panel,
    size_t step, int inputs, int32_t *sums, size_t sums_step);

GEMM16(1) GEMM16(2) GEMM16(3) GEMM16(4) GEMM16(5) GEMM16(6)

static gemm16_block_function *const GEMM16_FOUR[] = {
    0, gemm16_1_4, gemm16_2_4, gemm16_3_4, gemm16_4_4, gemm16_5_4, gemm16_6_4};
static gemm16_block_function *const GEMM16_ONE[] = {
    0, gemm16_1_1, gemm16_2_1, gemm16_3_1, gemm16_4_1, gemm16_5_1, gemm16_6_1};

/* R rows of softmax weights by P panels of values: a block's sums are added as floats in registers */
INLINE_BLOCK void add_values_block(const int R, const int P, const uint8_t *weights,
    const float *units, const int8_t *values, size_t block_step, int blocks, float *output,
    size_t stride) {
    __m512 mixed[6][2];
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) mixed[r][p] =
        _mm512_loadu_ps(output + (size_t)r * stride + p * LANES);
    for (int b = 0; b < blocks; b++) {
        const int8_t *block = values + (size_t)b * block_step;
        __m512i sum[6][2];
        UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
            _mm512_setzero_si512();
        for (int i = 0; i < BLOCK; i += 4) {
            __m512i value[2];
            UNROLLED for (int p = 0; p < P; p++) value[p] =
                _mm512_loadu_si512(block + (size_t)p * BLOCK * LANES + i * LANES);
            UNROLLED for (int r = 0; r < R; r++) {
                __m512i four = four_of(weights + (size_t)r * TILE + b * BLOCK + i);
                UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
                    _mm512_dpbusd_epi32(sum[r][p], four, value[p]);
            }
        }
        UNROLLED for (int r = 0; r < R; r++) {
            __m512 unit = _mm512_set1_ps(units[(size_t)r * (TILE / BLOCK) + b]);
            UNROLLED for (int p = 0; p < P; p++) mixed[r][p] = _mm512_add_ps(
                mixed[r][p], _mm512_mul_ps(_mm512_cvtepi32_ps(sum[r][p]), unit));
        }
    }
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) _mm512_storeu_ps(
        output + (size_t)r * stride + p * LANES, mixed[r][p]);
}

#define ADD_VALUES(R)                                                                               \
    static void add_values_##R##_2(const uint8_t *weights, const float *units,                     \
        const int8_t *values, size_t block_step, int blocks, float *output, size_t stride) {       \
        add_values_block(R, 2, weights, units, values, block_step, blocks, output, stride);        \
    }                                                                                              \
    static void add_values_##R##_1(const uint8_t *weights, const float *units,                     \
        const int8_t *values, size_t block_step, int blocks, float *output, size_t stride) {       \
        add_values_block(R, 1, weights, units, values, block_step, blocks, output, stride);        \
    }
typedef void add_values_block_function(const uint8_t *weights, const float *units,
    const int8_t *values, size_t block_step, int blocks, float *output, size_t stride);

ADD_VALUES(1) ADD_VALUES(2) ADD_VALUES(3) ADD_VALUES(4) ADD_VALUES(5) ADD_VALUES(6)

static add_values_block_function *const ADD_VALUES_TWO[] = {0, add_values_1_2, add_values_2_2,
    add_values_3_2, add_values_4_2, add_values_5_2, add_values_6_2};
static add_values_block_function *const ADD_VALUES_ONE[] = {0, add_values_1_1, add_values_2_1,
    add_values_3_1, add_values_4_1, add_values_5_1, add_values_6_1};

static void vnni_add_values(const uint8_t *weights, const float *units, int count,
    const int8_t *values, int panels, int blocks, float *output) {
    size_t block_step = (size_t)panels * BLOCK * LANES, stride = (size_t)panels * LANES;
    for (int p = 0, many; p < panels; p += many) {
        many = panels - p >= 2 ? 2 : 1;
        for (int r = 0, now; r < count; r += now) {
            int left = count - r, groups = (left + 5) / 6;
            now = (left + groups - 1) / groups;
            (many == 2 ? ADD_VALUES_TWO : ADD_VALUES_ONE)[now](weights + (size_t)r * TILE,
                units + (size_t)r * (TILE / BLOCK), values + (size_t)p * BLOCK * LANES, block_step,
                blocks, output + (size_t)r * stride + p * LANES, stride);
        }
    }
}

static void vnni_gemm16(const int16_t *rows, size_t stride, int count, const int16_t *panel,
    size_t step, int panels, int inputs, int32_t *sums) {
    size_t sums_step = (size_t)count * LANES;
    for (int p = 0; p < panels;) {
        int many = panels - p >= 4 ? 4 : 1;
        for (int r = 0; r < count;) {
            int left = count - r, groups = (left + 5) / 6, now = (left + groups - 1) / groups;
            (many == 4 ? GEMM16_FOUR : GEMM16_ONE)[now](rows + (size_t)r * stride, stride,
                panel + (size_t)p * step, step, inputs,
                sums + (size_t)p * sums_step + (size_t)r * LANES, sums_step);
            r += now;
        }
        p += many;
    }
}

#endif
