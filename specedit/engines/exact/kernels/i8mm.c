/* ARM with matrix products of bytes: two rows by two outputs by eight inputs an instruction, which
 * is twice as much as a dot product does. One row alone takes dot products. */
#include "arm.h"

#define ROWS 6 /* 24 sums, 3 of activations, 2 of weights */

#define LANE(K)                                                                                    \
    for (int q = 0; q < 4; q++)                                                                    \
        sum[p][q] = vsudotq_laneq_s32(                                                             \
            sum[p][q], vld1q_s8(from + 64 * (K) + 16 * q), activations, K);

BLOCK_INLINE void one_row(const int P, const uint8_t *row, const int8_t *panel, size_t step,
    int inputs, int32_t *sums, size_t sums_step) {
    int32x4_t sum[P][4];
    EACH_SUM(1, P) sum[p][q] = vdupq_n_s32(r);
    for (int i = 0; i < inputs; i += 16) {
        uint8x16_t activations = vld1q_u8(row + i);
        for (int p = 0; p < P; p++) {
            const int8_t *from = panel + (size_t)p * step + (size_t)i * LANES;
            LANE(0)
            LANE(1)
            LANE(2)
            LANE(3)
        }
    }
    EACH_SUM(1, P) vst1q_s32(sums + p * sums_step + r * LANES + 4 * q, sum[p][q]);
}

BLOCK_INLINE void gemm8_block(const int R, const int P, const uint8_t *row, size_t stride,
    const int8_t *panel, size_t step, int inputs, int32_t *sums, size_t sums_step) {
    if (R == 1) {
        one_row(P, row, panel, step, inputs, sums, sums_step);
        return;
    }
    enum { MOST = ROWS / 2 };
    const int couples = (R + 1) / 2; /* the last row of an odd number stands in both places */
    int32x4_t sum[MOST][P][8];
    for (int c = 0; c < couples; c++)
        for (int p = 0; p < P; p++)
            for (int q = 0; q < 8; q++)
                sum[c][p][q] = vdupq_n_s32(0);
    for (int i = 0; i < inputs; i += 8) {
        uint8x16_t activations[MOST];
        for (int c = 0; c < couples; c++) {
            const uint8_t *first = row + (size_t)(2 * c) * stride + i;
            activations[c] = vcombine_u8(vld1_u8(first), vld1_u8(2 * c + 1 < R ? first + stride : first));
        }
        for (int p = 0; p < P; p++) {
            const int8_t *from = panel + (size_t)p * step + (size_t)i * LANES;
            for (int q = 0; q < 4; q++) { /* four outputs: eight inputs of two, and of two more */
                int32x4_t near = vreinterpretq_s32_s8(vld1q_s8(from + 16 * q));
                int32x4_t far = vreinterpretq_s32_s8(vld1q_s8(from + 64 + 16 * q));
                int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(near, far));
                int8x16_t high = vreinterpretq_s8_s32(vzip2q_s32(near, far));
                for (int c = 0; c < couples; c++) {
                    sum[c][p][2 * q] = vusmmlaq_s32(sum[c][p][2 * q], activations[c], low);
                    sum[c][p][2 * q + 1] = vusmmlaq_s32(sum[c][p][2 * q + 1], activations[c], high);
                }
            }
        }
    }
    for (int c = 0; c < couples; c++)
        for (int p = 0; p < P; p++)
            for (int q = 0; q < 4; q++) { /* row 0: two outputs, row 1: the same two */
                int64x2_t low = vreinterpretq_s64_s32(sum[c][p][2 * q]);
                int64x2_t high = vreinterpretq_s64_s32(sum[c][p][2 * q + 1]);
                int32_t *to = sums + p * sums_step + (size_t)(2 * c) * LANES + 4 * q;
                vst1q_s32(to, vreinterpretq_s32_s64(vzip1q_s64(low, high)));
                if (2 * c + 1 < R)
                    vst1q_s32(to + LANES, vreinterpretq_s32_s64(vzip2q_s64(low, high)));
            }
}

#include "gemm_blocks.h"

#define VARIANT i8mm
#include "rows.h"
