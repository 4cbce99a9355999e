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
#define LOOPED _Pragma("clang loop unroll(disable)")
#else
#define UNROLLED _Pragma("GCC unroll 24")
#define LOOPED _Pragma("GCC unroll 1")
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

/* Few rows: nothing is used twice, so it is all about reading weights. They are fetched into the second cache, which
 * has more lines under way than the first: that is 1.2 to 1.8 times as fast. */
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
            _mm_prefetch((const char *)at + FAR, _MM_HINT_T1);
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

/* the same of panels of 4 or 6 bits, which are expanded in registers for all rows of the block; each line of
 * 64 bytes fetches one that comes soon, at the end of a panel from the panel that comes next */
INLINE_BLOCK void packed_block(const int R, const int P, const int bits, const uint8_t *rows,
    size_t stride, const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step,
    const int8_t *ahead) {
    enum { SOON = 4 };
    const int size = block_of(bits);
    const int8_t *end = panel + (size_t)(inputs / 64) * size;
    ptrdiff_t far = SOON * size;
    __m512i sum[16][4];
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) sum[r][p] =
        _mm512_setzero_si512();
    for (int i = 0; i < inputs; i += 64, panel += size) {
        two_vectors two;
        if (end - panel == SOON * size)
            far = ahead ? ahead - panel : 0;
        LOOPED for (int half = 0; half < 2; half++)
            UNROLLED for (int p = 0; p < P; p++) {
                const uint8_t *block = (const uint8_t *)panel + (size_t)p * step;
                if (half)
                    _mm_prefetch((const char *)block + far, _MM_HINT_T1);
                UNROLLED for (int v = 0; v < 4; v++) {
                    const uint8_t *at = rows + i + 32 * half + 8 * v;
                    next_two(&two, block, half, v, bits);
                    _mm_prefetch((const char *)block + 64 * (4 * half + v + 1) + far, _MM_HINT_T1);
                    if (bits == 6 && v % 2)
                        _mm_prefetch((const char *)block + 64 * (2 * half + v / 2 + 9) + far, _MM_HINT_T1);
                    UNROLLED for (int r = 0; r < R; r++) {
                        const uint8_t *row = at + (size_t)r * stride;
                        sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], four_of(row), two.low);
                        sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], four_of(row + 4), two.high);
                    }
                }
            }
    }
    UNROLLED for (int r = 0; r < R; r++) UNROLLED for (int p = 0; p < P; p++) _mm512_store_si512(
        sums + (size_t)p * sums_step + (size_t)r * LANES, sum[r][p]);
}

#define PACKED(R, P)                                                                                \
    static void packed_##R##_##P(const uint8_t *rows, size_t stride, const int8_t *panel,           \
        size_t step, int inputs, int bits, int32_t *sums, size_t sums_step, const int8_t *ahead) { \
        if (bits == 4)                                                                              \
            packed_block(                                                                           \
                R, P, 4, rows, stride, panel, step, inputs, sums, sums_step, ahead);                \
        else                                                                                        \
            packed_block(                                                                           \
                R, P, 6, rows, stride, panel, step, inputs, sums, sums_step, ahead);                \
    }
typedef void packed_block_function(const uint8_t *rows, size_t stride, const int8_t *panel,
    size_t step, int inputs, int bits, int32_t *sums, size_t sums_step, const int8_t *ahead);

PACKED(1, 4) PACKED(2, 4) PACKED(3, 4) PACKED(4, 4)
PACKED(5, 2) PACKED(6, 2) PACKED(7, 2) PACKED(8, 2)
PACKED(1, 1) PACKED(2, 1) PACKED(3, 1) PACKED(4, 1) PACKED(5, 1) PACKED(6, 1) PACKED(7, 1)
PACKED(8, 1) PACKED(9, 1) PACKED(10, 1) PACKED(11, 1) PACKED(12, 1) PACKED(13, 1) PACKED(14, 1)
PACKED(15, 1) PACKED(16, 1)

static packed_block_function *const PACKED_MANY[] = {0, packed_1_4, packed_2_4, packed_3_4,
    packed_4_4, packed_5_2, packed_6_2, packed_7_2, packed_8_2};
static packed_block_function *const PACKED_ONE[] = {0, packed_1_1, packed_2_1, packed_3_1, packed_4_1,
    packed_5_1, packed_6_1, packed_7_1, packed_8_1, packed_9_1, packed_10_1, packed_11_1, packed_12_1,
    packed_13_1, packed_14_1, packed_15_1, packed_16_1};

static void vnni_packed(const uint8_t *rows, size_t stride, int count, const int8_t *panel,
    size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines, int bits, int keep, int8_t *expanded) {
    if (keep) {
        expand_panels(panel, step, panels, inputs, bits, expanded);
        vnni_gemm8(rows, stride, count, expanded, (size_t)inputs * LANES, panels, inputs, sums, ahead,
            ahead_step, lines);
        return;
    }
    size_t sums_step = (size_t)count * LANES;
    int most = count <= 4 ? 4 : count <= 8 ? 2 : 1;
    for (int p = 0, many; p < panels; p += many) {
        many = panels - p >= most ? most : 1;
        (many > 1 ? PACKED_MANY : PACKED_ONE)[count](rows, stride, panel + (size_t)p * step, step,
            inputs, bits, sums + (size_t)p * sums_step, sums_step,
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
