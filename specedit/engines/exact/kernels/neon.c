/* Any 64-bit ARM: bytes are multiplied as 16-bit integers, four outputs at a time. */
#include "arm.h"

#define ROWS 4

BLOCK_INLINE void gemm8_block(const int R, const int P, const uint8_t *row, size_t stride,
    const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    int32x4_t sum[R][P][4];
    EACH_SUM(R, P) sum[r][p][q] = vdupq_n_s32(0);
    for (int i = 0; i < inputs; i += 4)
        for (int p = 0; p < P; p++) {
            const int8_t *from = panel + (size_t)p * step + (size_t)i * LANES;
            /* byte k of each output in vector k */
            int8x16x4_t bytes = vld4q_s8(from);
            for (int r = 0; r < R; r++) {
                int32_t four;
                memcpy(&four, row + (size_t)r * stride + i, sizeof four);
                int16x4_t activations = vget_low_s16(vreinterpretq_s16_u16(
                    vmovl_u8(vreinterpret_u8_s32(vdup_n_s32(four)))));
                for (int k = 0; k < 4; k++) {
                    int16x8_t low = vmovl_s8(vget_low_s8(bytes.val[k]));
                    int16x8_t high = vmovl_high_s8(bytes.val[k]);
                    int16x4_t activation = k == 0 ? vdup_lane_s16(activations, 0)
                        : k == 1             ? vdup_lane_s16(activations, 1)
                        : k == 2             ? vdup_lane_s16(activations, 2)
                                             : vdup_lane_s16(activations, 3);
                    int16x8_t both = vcombine_s16(activation, activation);
                    sum[r][p][0] = vmlal_s16(sum[r][p][0], vget_low_s16(low), activation);
                    sum[r][p][1] = vmlal_high_s16(sum[r][p][1], low, both);
                    sum[r][p][2] = vmlal_s16(sum[r][p][2], vget_low_s16(high), activation);
                    sum[r][p][3] = vmlal_high_s16(sum[r][p][3], high, both);
                }
            }
        }
    EACH_SUM(R, P) vst1q_s32(sums + p * sums_step + r * LANES + 4 * q, sum[r][p][q]);
}

#include "gemm_blocks.h"

#define VARIANT neon
#include "rows.h"
