/* What the ARM variants share: products of 16-bit integers, and how a block's sums are kept.
 *
 * A panel's 16 outputs are four vectors of four sums. Each variant adds `gemm8_block`. */
#include "variant.h"

#include <arm_neon.h>
#include <string.h>

#define BLOCK_INLINE static inline __attribute__((always_inline))
#define EACH_SUM(R, P)                                                                             \
    for (int r = 0; r < R; r++)                                                                    \
        for (int p = 0; p < P; p++)                                                                \
            for (int q = 0; q < 4; q++)

BLOCK_INLINE void gemm16_block(const int R, const int P, const int16_t *row, size_t stride,
    const int16_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    int32x4_t sum[R][P][4];
    EACH_SUM(R, P) sum[r][p][q] = vdupq_n_s32(0);
    for (int i = 0; i < inputs; i += 4)
        for (int p = 0; p < P; p++) {
            const int16_t *from = panel + (size_t)p * step + (size_t)i * LANES;
            for (int o = 0; o < 2; o++) { /* eight outputs, four inputs of each */
                int16x8x2_t first = vld2q_s16(from + 16 * o), second = vld2q_s16(from + 32 + 16 * o);
                for (int r = 0; r < R; r++) {
                    int16x4_t activations = vld1_s16(row + (size_t)r * stride + i);
                    int32x4_t left = sum[r][p][2 * o], right = sum[r][p][2 * o + 1];
                    left = vmlal_lane_s16(left, vget_low_s16(first.val[0]), activations, 0);
                    right = vmlal_high_lane_s16(right, first.val[0], activations, 0);
                    left = vmlal_lane_s16(left, vget_low_s16(first.val[1]), activations, 1);
                    right = vmlal_high_lane_s16(right, first.val[1], activations, 1);
                    left = vmlal_lane_s16(left, vget_low_s16(second.val[0]), activations, 2);
                    right = vmlal_high_lane_s16(right, second.val[0], activations, 2);
                    left = vmlal_lane_s16(left, vget_low_s16(second.val[1]), activations, 3);
                    right = vmlal_high_lane_s16(right, second.val[1], activations, 3);
                    sum[r][p][2 * o] = left;
                    sum[r][p][2 * o + 1] = right;
                }
            }
        }
    EACH_SUM(R, P) vst1q_s32(sums + p * sums_step + r * LANES + 4 * q, sum[r][p][q]);
}
