/* Panels of 4 or 6 bits as panels of 8 (specedit.h): included by rows.h and, for products, by avx512vnni.h.
 *
 * On x86 vpmaddubsw takes codes and multipliers at once: with bytes (multiplier, offset)
 * times bytes (code, -8), 16 bits hold 16 times a weight; of 6 bits (multiplier + 1, multiplier) times
 * (code, -32) are 64 times a weight. The weight of an even byte is shifted down to its place, that of an odd byte up.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include "variant.h"

#define EXPAND_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512BW__)
#include <immintrin.h>

/* of a group of inputs, for each output: what a code and what -8 or -32 are multiplied by, twice, and swapped */
typedef struct {
    __m512i even, odd;
} multipliers;

EXPAND_INLINE multipliers multipliers_of(const uint8_t *group, const int bits) {
    if (bits == 6) {
        __m512i one = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)group));
        one = _mm512_or_si512(one, _mm512_slli_epi32(one, 8));
        one = _mm512_or_si512(one, _mm512_slli_epi32(one, 16));
        return (multipliers){_mm512_add_epi8(one, _mm512_set1_epi16(0x0001)),
            _mm512_add_epi8(one, _mm512_set1_epi16(0x0100))};
    }
    __m512i both = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)group));
    both = _mm512_or_si512(both, _mm512_slli_epi32(both, 16));
    return (multipliers){
        both, _mm512_or_si512(_mm512_slli_epi16(both, 8), _mm512_srli_epi16(both, 8))};
}

/* 64 weights, whose codes are the lower bits of bytes */
EXPAND_INLINE __m512i expanded(__m512i codes, multipliers by, const int bits) {
    const int mask = bits == 4 ? 0x0f : 0x3f, middle = bits == 4 ? 0xf8 : 0xe0, shift = bits == 4 ? 4 : 6;
    enum { AND_OR = 0xea, CHOOSE = 0xca }; /* (a & b) | c; a ? b : c */
    __m512i even = _mm512_ternarylogic_epi32(codes, _mm512_set1_epi16((short)mask),
        _mm512_set1_epi16((short)(middle << 8)), AND_OR);
    __m512i odd = _mm512_ternarylogic_epi32(codes, _mm512_set1_epi16((short)(mask << 8)),
        _mm512_set1_epi16((short)middle), AND_OR);
    even = _mm512_maddubs_epi16(by.even, even);
    odd = _mm512_maddubs_epi16(by.odd, odd);
#if defined(__AVX512VBMI__)
    const __m512i places = _mm512_set1_epi64(0x3030202010100000 + shift * 0x0101010101010101);
    even = _mm512_multishift_epi64_epi8(places, even);
    return _mm512_mask_multishift_epi64_epi8(even, 0xaaaaaaaaaaaaaaaa, places, odd);
#else
    even = _mm512_srli_epi16(even, shift);
    odd = _mm512_slli_epi16(odd, 8 - shift);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x00ff), even, odd, CHOOSE);
#endif
}

typedef struct {
    multipliers by; /* of the group that they are in */
    __m512i low, high;
} two_vectors;

/* vectors 2 v and 2 v + 1 of half a block, after those before them */
EXPAND_INLINE void next_two(
    two_vectors *to, const uint8_t *block, int half, const int v, const int bits) {
    enum { CHOOSE = 0xca };
    __m512i low = _mm512_loadu_si512(block + 64 + 64 * (4 * half + v));
    __m512i high = _mm512_srli_epi16(low, 4);
    if (v % (bits == 4 ? 4 : 2) == 0)
        to->by = multipliers_of(block + 32 * half + 8 * v, bits);
    if (bits == 6) {
        const __m512i lower = _mm512_set1_epi8(0x0f);
        __m512i upper = _mm512_loadu_si512(block + 64 + 512 + 64 * (2 * half + v / 2));
        if (v % 2 == 0)
            upper = _mm512_slli_epi16(upper, 4);
        low = _mm512_ternarylogic_epi32(lower, low, upper, CHOOSE);
        high = _mm512_ternarylogic_epi32(lower, high, _mm512_srli_epi16(upper, 2), CHOOSE);
    }
    to->low = expanded(low, to->by, bits);
    to->high = expanded(high, to->by, bits);
}

EXPAND_INLINE void expand_block_of(const uint8_t *block, int8_t *panel, const int bits) {
    two_vectors two;
    for (int v = 0; v < 8; v++, panel += 128) {
        next_two(&two, block, v / 4, v % 4, bits);
        _mm512_storeu_si512(panel, two.low);
        _mm512_storeu_si512(panel + 64, two.high);
    }
}

#elif defined(__AVX2__)
#include <immintrin.h>

/* Of a group of inputs and 8 outputs, as 16 bits: what an even code is multiplied by (the lower byte), an
 * odd one (the upper byte), and what is subtracted from the product. */
typedef struct {
    __m256i even, odd, less;
} factors;

EXPAND_INLINE __m256i twice16(__m256i x) { return _mm256_or_si256(x, _mm256_slli_epi32(x, 16)); }

/* of the group that vectors 2 v and 2 v + 1 of a panel of 8 bits belong to */
EXPAND_INLINE factors factors_of(const uint8_t *block, int v, int half, const int bits) {
    if (bits == 6) {
        __m256i step = twice16(_mm256_cvtepu8_epi32(
            _mm_loadl_epi64((const __m128i *)(block + v / 2 * 16 + 8 * half))));
        __m256i even = _mm256_add_epi8(step, _mm256_set1_epi16(1));
        return (factors){even, _mm256_slli_epi16(even, 8), _mm256_slli_epi16(step, 5)};
    }
    __m256i both = _mm256_cvtepu16_epi32(
        _mm_loadu_si128((const __m128i *)(block + v / 4 * 32 + 16 * half)));
    __m256i even = twice16(_mm256_and_si256(both, _mm256_set1_epi32(255)));
    return (factors){even, _mm256_slli_epi16(even, 8),
        _mm256_slli_epi16(twice16(_mm256_srli_epi32(both, 8)), 3)};
}

/* Weights as 16 bits, of even bytes and of odd ones. Those of damaged files wrap to 8 bits. */
EXPAND_INLINE void weights_of(__m256i codes, factors by, const int bits, __m256i *even, __m256i *odd) {
    const int up = bits == 4 ? 4 : 2; /* a product is 16 or 64 times a weight */
    *even = _mm256_sub_epi16(_mm256_maddubs_epi16(by.even, codes), by.less);
    *odd = _mm256_sub_epi16(_mm256_maddubs_epi16(by.odd, codes), by.less);
    *even = _mm256_srai_epi16(_mm256_slli_epi16(*even, up), 8);
    *odd = _mm256_srai_epi16(_mm256_slli_epi16(*odd, up), 8);
}

/* The codes of vectors 2 v and 2 v + 1 of a panel of 8 bits, half a vector of each. */
EXPAND_INLINE void codes_of(
    const uint8_t *block, int v, int half, const int bits, __m256i *low, __m256i *high) {
    const __m256i four = _mm256_set1_epi8(0x0f), two = _mm256_set1_epi8(0x30);
    *low = _mm256_loadu_si256((const __m256i *)(block + 64 + 64 * v + 32 * half));
    *high = _mm256_and_si256(_mm256_srli_epi16(*low, 4), four);
    *low = _mm256_and_si256(*low, four);
    if (bits == 6) {
        __m256i upper =
            _mm256_loadu_si256((const __m256i *)(block + 64 + 512 + 64 * (v / 2) + 32 * half));
        if (v % 2 == 0)
            upper = _mm256_slli_epi16(upper, 4);
        *low = _mm256_or_si256(*low, _mm256_and_si256(upper, two));
        *high = _mm256_or_si256(*high, _mm256_and_si256(_mm256_srli_epi16(upper, 2), two));
    }
}

EXPAND_INLINE void expand_block_of(const uint8_t *block, int8_t *panel, const int bits) {
    const __m256i lower = _mm256_set1_epi16(0x00ff);
    for (int half = 0; half < 2; half++) /* 8 outputs */
        for (int v = 0; v < 8; v++) {
            __m256i codes[2], even, odd, *to = (__m256i *)(panel + 128 * v + 32 * half);
            factors by = factors_of(block, v, half, bits);
            codes_of(block, v, half, bits, codes, codes + 1);
            for (int i = 0; i < 2; i++) {
                weights_of(codes[i], by, bits, &even, &odd);
                even = _mm256_blendv_epi8(_mm256_slli_epi16(odd, 8), even, lower);
                _mm256_storeu_si256(to + 2 * i, even);
            }
        }
}

#elif defined(__aarch64__) || defined(_M_ARM64)
#include <arm_neon.h>

EXPAND_INLINE int8x16_t expanded(
    uint8x16_t codes, uint8x16_t times, uint16x8_t less_low, uint16x8_t less_high, const int bits) {
    uint16x8_t first = vmull_u8(vget_low_u8(codes), vget_low_u8(times));
    int16x8_t low = vreinterpretq_s16_u16(vsubq_u16(first, less_low));
    int16x8_t high = vreinterpretq_s16_u16(vsubq_u16(vmull_high_u8(codes, times), less_high));
    return bits == 4 ? vshrn_high_n_s16(vshrn_n_s16(low, 4), high, 4)
                     : vshrn_high_n_s16(vshrn_n_s16(low, 6), high, 6);
}

EXPAND_INLINE void expand_block_of(const uint8_t *block, int8_t *panel, const int bits) {
    static const uint8_t each_four_times[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const uint8x16_t four = vdupq_n_u8(0x0f), two = vdupq_n_u8(0x30);
    const int vectors = bits == 4 ? 4 : 2; /* pairs of a group */
    for (int group = 0; group < 8 / vectors; group++) {
        uint8x16_t by, less;
        if (bits == 4) {
            uint8x16x2_t both = vld2q_u8(block + 32 * group);
            by = both.val[0];
            less = both.val[1];
        } else {
            less = vld1q_u8(block + 16 * group);
            by = vaddq_u8(less, vdupq_n_u8(1));
        }
        for (int q = 0; q < 4; q++) { /* 4 outputs */
            uint8x16_t which = vaddq_u8(vld1q_u8(each_four_times), vdupq_n_u8((uint8_t)(4 * q)));
            uint8x16_t times = vqtbl1q_u8(by, which), units = vqtbl1q_u8(less, which);
            const uint8x8_t size = vdup_n_u8(bits == 4 ? 8 : 32);
            uint16x8_t less_low = vmull_u8(vget_low_u8(units), size);
            uint16x8_t less_high = vmull_u8(vget_high_u8(units), size);
            for (int v = vectors * group; v < vectors * (group + 1); v++) {
                uint8x16_t low = vld1q_u8(block + 64 + 64 * v + 16 * q);
                uint8x16_t high = vshrq_n_u8(low, 4);
                low = vandq_u8(low, four);
                if (bits == 6) {
                    uint8x16_t upper = vld1q_u8(block + 64 + 512 + 64 * (v / 2) + 16 * q);
                    if (v % 2 == 0)
                        upper = vshlq_n_u8(upper, 4);
                    low = vorrq_u8(low, vandq_u8(upper, two));
                    high = vorrq_u8(high, vandq_u8(vshrq_n_u8(upper, 2), two));
                }
                int8_t *to = panel + 128 * v + 16 * q;
                vst1q_s8(to, expanded(low, times, less_low, less_high, bits));
                vst1q_s8(to + 64, expanded(high, times, less_low, less_high, bits));
            }
        }
    }
}

#endif

/* 64 inputs of a panel */
EXPAND_INLINE void expand_block(const uint8_t *block, int bits, int8_t *panel) {
    if (bits == 4)
        expand_block_of(block, panel, 4);
    else
        expand_block_of(block, panel, 6);
}

static void expand(const uint8_t *codes, int inputs, int bits, int8_t *panel) {
    for (int i = 0; i < inputs; i += 64, codes += block_of(bits), panel += BLOCK8)
        expand_block(codes, bits, panel);
}

static inline void expand_panels(
    const int8_t *panel, size_t step, int panels, int inputs, int bits, int8_t *to) {
    for (int p = 0; p < panels; p++)
        expand((const uint8_t *)panel + p * step, inputs, bits, to + (size_t)p * inputs * LANES);
}

#endif
