/* ARM with dot products of signed bytes. Activations are unsigned, so they are taken less 128, and 128
 * times the sum of the weights, made on the way like one more row, is added back. */
#include "arm.h"

#define ROWS 4 /* 16 sums, 4 of the weights alone, 4 of activations */

/* the product with four inputs of four outputs; a lane is a constant */
#define LANE(K)                                                                                    \
    for (int q = 0; q < 4; q++) {                                                                  \
        int8x16_t weights = vld1q_s8(from + 64 * (K) + 16 * q);                                    \
        alone[p][q] = vdotq_s32(alone[p][q], weights, less);                                       \
        for (int r = 0; r < R; r++)                                                                \
            sum[r][p][q] = vdotq_laneq_s32(sum[r][p][q], weights, activations[r], K);                   \
    }

BLOCK_INLINE void gemm8_block(const int R, const int P, const uint8_t *row, size_t stride,
    const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    const int8x16_t less = vdupq_n_s8(-ZERO_POINT);
    int32x4_t sum[R][P][4], alone[P][4];
    EACH_SUM(1, P) alone[p][q] = vdupq_n_s32(r);
    EACH_SUM(R, P) sum[r][p][q] = vdupq_n_s32(0);
    for (int i = 0; i < inputs; i += 16) {
        int8x16_t activations[R];
        for (int r = 0; r < R; r++)
            activations[r] = veorq_s8(vreinterpretq_s8_u8(vld1q_u8(row + (size_t)r * stride + i)), less);
        for (int p = 0; p < P; p++) {
            const int8_t *from = panel + (size_t)p * step + (size_t)i * LANES;
            LANE(0)
            LANE(1)
            LANE(2)
            LANE(3)
        }
    }
    EACH_SUM(R, P)
        vst1q_s32(sums + p * sums_step + r * LANES + 4 * q, vsubq_s32(sum[r][p][q], alone[p][q]));
}

#include "gemm_blocks.h"

#define VARIANT dotprod
#include "rows.h"
