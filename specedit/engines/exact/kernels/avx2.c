/* x86-64 with AVX2. Its only product of bytes saturates, so bytes become 16-bit integers on the way:
 * of four inputs the even and the odd ones, whose products `vpmaddwd` adds exactly. */
#include "variant.h"

#include <immintrin.h>
#include <string.h>

#define ROWS 4 /* by 2 halves of a panel: 8 sums, 4 of weights, 2 of activations in 16 registers */
#define BLOCK_INLINE static inline __attribute__((always_inline))

BLOCK_INLINE __m256i four_of(const void *from) {
    int32_t found;
    memcpy(&found, from, sizeof found);
    return _mm256_set1_epi32(found);
}

BLOCK_INLINE void gemm8_block(const int R, const int P, const uint8_t *row, size_t stride,
    const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    const __m256i low = _mm256_set1_epi16(255);
    __m256i sum[R][P][2];
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            sum[r][p][0] = sum[r][p][1] = _mm256_setzero_si256();
    for (int i = 0; i < inputs; i += 4)
        for (int p = 0; p < P; p++) {
            const int8_t *from = panel + (size_t)p * step + (size_t)i * LANES;
            __m256i even[2], odd[2];
            for (int h = 0; h < 2; h++) {
                __m256i weights = _mm256_loadu_si256((const __m256i *)(from + 32 * h));
                even[h] = _mm256_srai_epi16(_mm256_slli_epi16(weights, 8), 8);
                odd[h] = _mm256_srai_epi16(weights, 8);
            }
            for (int r = 0; r < R; r++) {
                __m256i activations = four_of(row + (size_t)r * stride + i);
                __m256i first = _mm256_and_si256(activations, low);
                __m256i second = _mm256_srli_epi16(activations, 8);
                for (int h = 0; h < 2; h++) {
                    __m256i found = _mm256_add_epi32(
                        _mm256_madd_epi16(first, even[h]), _mm256_madd_epi16(second, odd[h]));
                    sum[r][p][h] = _mm256_add_epi32(sum[r][p][h], found);
                }
            }
        }
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            for (int h = 0; h < 2; h++)
                _mm256_storeu_si256(
                    (__m256i *)(sums + p * sums_step + r * LANES + 8 * h), sum[r][p][h]);
}

BLOCK_INLINE void gemm16_block(const int R, const int P, const int16_t *row, size_t stride,
    const int16_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    __m256i sum[R][P][2];
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            sum[r][p][0] = sum[r][p][1] = _mm256_setzero_si256();
    for (int i = 0; i < inputs; i += 2)
        for (int p = 0; p < P; p++)
            for (int r = 0; r < R; r++) {
                const int16_t *from = panel + (size_t)p * step + (size_t)i * LANES;
                __m256i two = four_of(row + (size_t)r * stride + i);
                for (int h = 0; h < 2; h++) {
                    __m256i keys = _mm256_loadu_si256((const __m256i *)(from + 16 * h));
                    sum[r][p][h] =
                        _mm256_add_epi32(sum[r][p][h], _mm256_madd_epi16(two, keys));
                }
            }
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            for (int h = 0; h < 2; h++)
                _mm256_storeu_si256(
                    (__m256i *)(sums + p * sums_step + r * LANES + 8 * h), sum[r][p][h]);
}

#include "gemm_blocks.h"

#define VARIANT avx2
#include "rows.h"
