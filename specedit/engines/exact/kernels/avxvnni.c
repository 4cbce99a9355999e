/* x86-64 with AVX-VNNI: the products of AVX-512 VNNI, eight lanes wide. */
#include "variant.h"

#include <immintrin.h>
#include <string.h>

#define ROWS 6 /* by 2 halves of a panel: 12 sums, 2 of weights, 1 of activations in 16 registers */
#define BLOCK_INLINE static inline __attribute__((always_inline))

BLOCK_INLINE __m256i four_of(const void *from) {
    int32_t found;
    memcpy(&found, from, sizeof found);
    return _mm256_set1_epi32(found);
}

/* Both products are one instruction on four bytes of a row and four bytes of each output. */
#define BLOCK_OF(NAME, TYPE, PANEL, EACH, PRODUCT)                                                 \
    BLOCK_INLINE void NAME(const int R, const int P, const TYPE *row, size_t stride,               \
        const PANEL *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {            \
        __m256i sum[R][P][2];                                                                      \
        for (int r = 0; r < R; r++)                                                                \
            for (int p = 0; p < P; p++)                                                            \
                sum[r][p][0] = sum[r][p][1] = _mm256_setzero_si256();                              \
        for (int i = 0; i < inputs; i += EACH)                                                     \
            for (int p = 0; p < P; p++) {                                                          \
                const __m256i *from =                                                              \
                    (const __m256i *)(panel + (size_t)p * step + (size_t)i * LANES);               \
                __m256i left = _mm256_loadu_si256(from), right = _mm256_loadu_si256(from + 1);     \
                for (int r = 0; r < R; r++) {                                                      \
                    __m256i four = four_of(row + (size_t)r * stride + i);                          \
                    sum[r][p][0] = PRODUCT(sum[r][p][0], four, left);                              \
                    sum[r][p][1] = PRODUCT(sum[r][p][1], four, right);                             \
                }                                                                                  \
            }                                                                                      \
        for (int r = 0; r < R; r++)                                                                \
            for (int p = 0; p < P; p++)                                                            \
                for (int h = 0; h < 2; h++)                                                        \
                    _mm256_storeu_si256(                                                           \
                        (__m256i *)(sums + p * sums_step + r * LANES + 8 * h), sum[r][p][h]);      \
    }

/* The instruction itself: clang takes it apart into a product and a sum. */
BLOCK_INLINE __m256i gemm16_added(__m256i sum, __m256i two, __m256i keys) {
    __asm__("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sum) : "x"(two), "x"(keys));
    return sum;
}

BLOCK_OF(gemm8_block, uint8_t, int8_t, 4, _mm256_dpbusd_avx_epi32)
BLOCK_OF(gemm16_block, int16_t, int16_t, 2, gemm16_added)

#include "gemm_blocks.h"

#define VARIANT avxvnni
#include "rows.h"
