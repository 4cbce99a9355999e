/* x86-64 with AVX2. Its only product of bytes saturates where neither has four bits (few4), so bytes become 16-bit
 * integers: of four inputs the even and the odd ones, whose products `vpmaddwd` adds exactly.
 *
 * Many rows share widened weights, and half of the products become sums of what is known beforehand
 * (Winograd 1968), where a are of a row and w are weights:
 *
 *     a0 w0 + a1 w1 = (a0 + w1) (a1 + w0) - a0 a1 - w0 w1
 *
 * The sums in it are below 2^10. Sums of products may wrap on the way; what is left fits in 32 bits. */
#include "variant.h"

#include <immintrin.h>
#include <string.h>

#include "expand.h"

#define ROWS 4 /* by 2 halves of a panel: 8 sums, 4 of weights, 2 of activations in 16 registers */
#define UNROLLED _Pragma("clang loop unroll(full)")
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

#define GEMM8_NAME few_gemm8
#include "gemm_blocks.h"

enum {
    MANY = 8,         /* rows that are worth storing widened weights for */
    MANY_PACKED = 4,  /* the same of weights of fewer bits, which take longer to expand */
    CHUNK = 512,      /* inputs that are widened at a time */
};

/* A chunk of rows and of a panel as 16 bits: of each four inputs the even ones and the odd ones. It is on the
 * stack, of which a thread may have 128 KiB: one at a time. */
typedef struct {
    int32_t rows[ROW_BLOCK][CHUNK / 4][2];
    __m256i weights[CHUNK / 4][2][2]; /* of each half of the panel */
    int32_t row_known[ROW_BLOCK];     /* a0 a1, and a2 a3: their sum */
    int32_t quarters[MANY_PACKED][CHUNK / 32]; /* of few rows */
    __m256i known[2];                 /* w0 w1, and w2 w3 */
} widened;

static int32_t sum_of8(__m256i x) {
    int32_t lane[8], sum = 0;
    memcpy(lane, &x, sizeof lane);
    for (int i = 0; i < 8; i++)
        sum += lane[i];
    return sum;
}

static void widen_row(const uint8_t *row, int inputs, int r, widened *to) {
    __m256i known = _mm256_setzero_si256();
    for (int i = 0; i < inputs; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(row + i));
        __m256i even = _mm256_and_si256(bytes, _mm256_set1_epi16(255));
        __m256i odd = _mm256_srli_epi16(bytes, 8);
        __m256i low = _mm256_unpacklo_epi32(even, odd), high = _mm256_unpackhi_epi32(even, odd);
        __m256i *place = (__m256i *)to->rows[r][i / 4];
        place[0] = _mm256_permute2x128_si256(low, high, 0x20);
        place[1] = _mm256_permute2x128_si256(low, high, 0x31);
        known = _mm256_add_epi32(known, _mm256_madd_epi16(even, odd));
    }
    to->row_known[r] = sum_of8(known);
}

BLOCK_INLINE void widen_panel(const int bits, const uint8_t *panel, int inputs, widened *to) {
    for (int half = 0; half < 2; half++) {
        const uint8_t *block = panel;
        __m256i known = _mm256_setzero_si256();
        for (int i = 0; i < inputs; i += 64, block += block_of(bits)) {
            factors by = {known, known, known};
            for (int v = 0; v < 8; v++) {
                __m256i two[2];
                if (bits == 8) {
                    const __m256i *from = (const __m256i *)(block + 128 * v + 32 * half);
                    two[0] = _mm256_loadu_si256(from);
                    two[1] = _mm256_loadu_si256(from + 2);
                } else {
                    if (v % (bits == 4 ? 4 : 2) == 0)
                        by = factors_of(block, v, half, bits);
                    codes_of(block, v, half, bits, two, two + 1);
                }
                for (int k = 0; k < 2; k++) {
                    __m256i *place = to->weights[i / 4 + 2 * v + k][half];
                    if (bits == 8) {
                        place[0] = _mm256_srai_epi16(_mm256_slli_epi16(two[k], 8), 8);
                        place[1] = _mm256_srai_epi16(two[k], 8);
                    } else
                        weights_of(two[k], by, bits, place, place + 1);
                    known = _mm256_add_epi32(known, _mm256_madd_epi16(place[0], place[1]));
                }
            }
        }
        to->known[half] = known;
    }
}

/* adds to the sums of R rows what a chunk gives; prefetches up to `end`, `lines` lines for 64 inputs */
BLOCK_INLINE void many_block(const int R, const widened *from, int row, int inputs, int32_t *sums,
    const int8_t **ahead, const int8_t *end, int lines) {
    const int32_t(*rows)[CHUNK / 4][2] = from->rows + row;
    __m256i sum[R][2];
    for (int r = 0; r < R; r++)
        sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    for (int begin = 0; begin < inputs / 4; begin += 16) {
        for (int line = 0; line < lines && *ahead < end; line++, *ahead += 64)
            __builtin_prefetch(*ahead, 0, 2);
        for (int i = begin; i < begin + 16; i++)
            for (int r = 0; r < R; r++) {
                __m256i even = _mm256_set1_epi32(rows[r][i][0]);
                __m256i odd = _mm256_set1_epi32(rows[r][i][1]);
                for (int h = 0; h < 2; h++)
                    sum[r][h] = _mm256_add_epi32(sum[r][h],
                        _mm256_madd_epi16(_mm256_add_epi16(even, from->weights[i][h][1]),
                            _mm256_add_epi16(odd, from->weights[i][h][0])));
            }
    }
    for (int r = 0; r < R; r++)
        for (int h = 0; h < 2; h++) {
            __m256i *to = (__m256i *)(sums + r * LANES + 8 * h);
            __m256i known = _mm256_add_epi32(from->known[h], _mm256_set1_epi32(from->row_known[row + r]));
            *to = _mm256_add_epi32(*to, _mm256_sub_epi32(sum[r][h], known));
        }
}

#define MANY_BLOCK(R)                                                                              \
    case R: many_block(R, wide, r, now, to + r * LANES, &next, end, each); break;

BLOCK_INLINE void many_rows(const int bits, widened *wide, const uint8_t *rows, size_t stride, int count,
    const int8_t *panel, size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead,
    size_t ahead_step, int lines) {
    int blocks = (count + ROWS - 1) / ROWS;
    int each = (lines * 64 + inputs * blocks - 1) / (inputs * blocks);
    memset(sums, 0, (size_t)panels * count * LANES * sizeof *sums);
    for (int at = 0, now; at < inputs; at += now) {
        now = inputs - at < CHUNK ? inputs - at : CHUNK;
        for (int r = 0; r < count; r++)
            widen_row(rows + r * stride + at, now, r, wide);
        for (int p = 0; p < panels; p++) {
            const int8_t *next = ahead + p * ahead_step + (size_t)(lines * at / inputs) * 64;
            const int8_t *end = ahead + p * ahead_step + (size_t)(lines * (at + now) / inputs) * 64;
            int32_t *to = sums + (size_t)p * count * LANES;
            widen_panel(bits,
                (const uint8_t *)panel + p * step + (size_t)(at / 64) * block_of(bits), now, wide);
            for (int r = 0, some; r < count; r += some) {
                some = rows_now(count - r);
                switch (some) { MANY_BLOCK(4) MANY_BLOCK(3) MANY_BLOCK(2) MANY_BLOCK(1) }
            }
        }
    }
}

BLOCK_INLINE void product(widened *wide, const uint8_t *rows, size_t stride, int count,
    const int8_t *panel, size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead,
    size_t ahead_step, int lines) {
    if (count < MANY)
        few_gemm8(
            rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines);
    else
        many_rows(8, wide, rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step,
            lines);
}

static void gemm8(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step, int lines) {
    widened wide;
    product(&wide, rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines);
}

/* as much of the panel that comes next as a block has */
BLOCK_INLINE void fetch(const int8_t *ahead, const int size) {
    for (int line = 0; line < size; line += 64)
        __builtin_prefetch(ahead + line, 0, 2);
}

/* Adds to the sums of few rows what a chunk of a panel of 4 bits gives. 16 times a weight is
 * code * multiplier - 8 * offset without the lowest four bits of this, the rest: of 32 inputs
 *
 *     16 sum(a w) = multiplier * sum(a code) - sum(a rest) - 8 * offset * sum(a)
 *
 * 8 products of bytes by four bits fit in 16 bits. The rests of two codes are one product of 16 bits, for
 * 15 * 15 + 8 is below 256. */
BLOCK_INLINE void few4(const int R, const widened *from, const uint8_t *row, size_t stride,
    const uint8_t *panel, int inputs, int32_t *sums, const int8_t *ahead) {
    const __m256i four_bits = _mm256_set1_epi8(15), one = _mm256_set1_epi16(1);
    const __m256i twice = _mm256_setr_epi64x(0x8002800280008000, 0x8006800680048004,
        0x800a800a80088008, 0x800e800e800c800c); /* the lower byte of each 16 bits */
    for (int i = 0; i < inputs; i += 64, panel += BLOCK4) {
        fetch(ahead + i / 64 * BLOCK4, BLOCK4);
        for (int half = 0; half < 2; half++) {
            __m256i total[MANY_PACKED], sum[MANY_PACKED], rest[MANY_PACKED];
            for (int r = 0; r < R; r++)
                total[r] = _mm256_setzero_si256();
            UNROLLED for (int v = 0; v < 8; v += 4) { /* a group */
                __m256i both = _mm256_broadcastsi128_si256(
                    _mm_loadu_si128((const __m128i *)(panel + 8 * v + 16 * half)));
                __m256i times = _mm256_shuffle_epi8(both, twice);
                __m256i less = _mm256_shuffle_epi8(_mm256_srli_epi16(both, 8), twice);
                __m256i low = _mm256_and_si256(times, four_bits);
                __m256i odd = _mm256_mullo_epi16(_mm256_and_si256(less, one), _mm256_set1_epi16(0x0808));
                for (int r = 0; r < R; r++)
                    total[r] = _mm256_sub_epi32(total[r],
                        _mm256_madd_epi16(less, _mm256_set1_epi32(from->quarters[r][i / 32 + v / 4])));
                UNROLLED for (int pair = v; pair < v + 4; pair += 2) {
                    __m256i code[4], over[4];
                    codes_of(panel, pair, half, 4, code, code + 1);
                    codes_of(panel, pair + 1, half, 4, code + 2, code + 3);
                    /* one step of all four at a time: a processor does not look far enough ahead */
                    UNROLLED for (int k = 0; k < 4; k++) over[k] = _mm256_mullo_epi16(code[k], low);
                    UNROLLED for (int k = 0; k < 4; k++) over[k] = _mm256_add_epi16(over[k], odd);
                    UNROLLED for (int k = 0; k < 4; k++) over[k] = _mm256_and_si256(over[k], four_bits);
                    for (int r = 0; r < R; r++)
                        sum[r] = rest[r] = _mm256_setzero_si256();
                    UNROLLED for (int k = 0; k < 4; k++) for (int r = 0; r < R; r++) {
                        __m256i four = four_of(row + r * stride + i + 8 * pair + 4 * k);
                        sum[r] = _mm256_add_epi16(sum[r], _mm256_maddubs_epi16(four, code[k]));
                        rest[r] = _mm256_add_epi16(rest[r], _mm256_maddubs_epi16(four, over[k]));
                    }
                    for (int r = 0; r < R; r++)
                        total[r] = _mm256_add_epi32(total[r], _mm256_sub_epi32(
                            _mm256_madd_epi16(sum[r], times), _mm256_madd_epi16(rest[r], one)));
                }
            }
            for (int r = 0; r < R; r++) {
                __m256i *to = (__m256i *)(sums + r * LANES + 8 * half);
                *to = _mm256_add_epi32(*to, _mm256_srai_epi32(total[r], 4));
            }
        }
    }
}

/* The same of 6 bits: a weight is (code - 32) * step / 64, rounded as `vpmulhrsw` rounds. */
BLOCK_INLINE void few6(const int R, const widened *from, const uint8_t *panel, int inputs,
    int32_t *sums, const int8_t *ahead) {
    const __m256i twice = _mm256_setr_epi64x(0x8001800180008000, 0x8003800380028002,
        0x8005800580048004, 0x8007800780068006);
    for (int i = 0; i < inputs; i += 64, panel += BLOCK6) {
        fetch(ahead + i / 64 * BLOCK6, BLOCK6);
        UNROLLED for (int half = 0; half < 2; half++) {
            __m256i sum[MANY_PACKED], code[2], even, odd;
            for (int r = 0; r < R; r++)
                sum[r] = _mm256_setzero_si256();
            UNROLLED for (int v = 0; v < 8; v++) {
                if (v % 2 == 0) {
                    __m128i steps = _mm_loadl_epi64((const __m128i *)(panel + 8 * v + 8 * half));
                    even = _mm256_shuffle_epi8(_mm256_broadcastq_epi64(steps), twice);
                    even = _mm256_add_epi16(even, _mm256_set1_epi16(1));
                    odd = _mm256_slli_epi16(even, 8);
                }
                codes_of(panel, v, half, 6, code, code + 1);
                for (int k = 0; k < 2; k++) {
                    __m256i above = _mm256_sub_epi8(code[k], _mm256_set1_epi8(32));
                    const __m256i share = _mm256_set1_epi16(1 << (15 - 6));
                    __m256i first = _mm256_mulhrs_epi16(_mm256_maddubs_epi16(even, above), share);
                    __m256i second = _mm256_mulhrs_epi16(_mm256_maddubs_epi16(odd, above), share);
                    for (int r = 0; r < R; r++) {
                        const int32_t *four = from->rows[r][i / 4 + 2 * v + k];
                        sum[r] = _mm256_add_epi32(sum[r],
                            _mm256_add_epi32(_mm256_madd_epi16(_mm256_set1_epi32(four[0]), first),
                                _mm256_madd_epi16(_mm256_set1_epi32(four[1]), second)));
                    }
                }
            }
            for (int r = 0; r < R; r++) {
                __m256i *to = (__m256i *)(sums + r * LANES + 8 * half);
                *to = _mm256_add_epi32(*to, sum[r]);
            }
        }
    }
}

/* four times the sum of each 32 inputs, which is below 2^15, twice in 32 bits */
static void sum_row(const uint8_t *row, int inputs, int r, widened *to) {
    for (int i = 0; i < inputs; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(row + i));
        to->quarters[r][i / 32] = sum_of8(_mm256_sad_epu8(bytes, _mm256_setzero_si256())) * 0x40004;
    }
}

#define PACKED_BLOCK(R)                                                                            \
    case R:                                                                                        \
        if (bits == 4)                                                                             \
            few4(R, wide, rows + at, stride, from, now, to, next);                    \
        else                                                                                       \
            few6(R, wide, from, now, to, next);                                       \
        break;

BLOCK_INLINE void packed_of(const int bits, widened *wide, const uint8_t *rows, size_t stride, int count,
    const int8_t *panel, size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead,
    size_t ahead_step, int lines) {
    if (count >= MANY_PACKED) {
        many_rows(bits, wide, rows, stride, count, panel, step, panels, inputs, sums, ahead,
            ahead_step, lines);
        return;
    }
    memset(sums, 0, (size_t)panels * count * LANES * sizeof *sums);
    for (int at = 0, now; at < inputs; at += now) {
        now = inputs - at < CHUNK ? inputs - at : CHUNK;
        for (int r = 0; r < count; r++)
            (bits == 4 ? sum_row : widen_row)(rows + r * stride + at, now, r, wide);
        for (int p = 0; p < panels; p++) {
            size_t size = (size_t)(at / 64) * block_of(bits);
            const uint8_t *from = (const uint8_t *)panel + p * step + size;
            const int8_t *next = lines ? ahead + p * ahead_step + size : (const int8_t *)from;
            int32_t *to = sums + (size_t)p * count * LANES;
            switch (count) { PACKED_BLOCK(1) PACKED_BLOCK(2) PACKED_BLOCK(3) }
        }
    }
}

static void packed(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step, int lines,
    int bits, int keep, int8_t *expanded) {
    widened wide;
    if (keep) {
        expand_panels(panel, step, panels, inputs, bits, expanded);
        product(&wide, rows, stride, count, expanded, (size_t)inputs * LANES, panels, inputs, sums,
            ahead, ahead_step, lines);
    } else if (bits == 4)
        packed_of(4, &wide, rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step,
            lines);
    else
        packed_of(6, &wide, rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step,
            lines);
}

#define VARIANT avx2
#define VARIANT_PACKED packed
#define VARIANT_FEW ROW_BLOCK /* a pass of more widens a panel again and again */
#include "rows.h"
