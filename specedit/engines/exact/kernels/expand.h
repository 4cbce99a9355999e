/* Panels of 4 or 6 bits as panels of 8 (specedit.h): included by rows.h and, for products, by avx512vnni.h.
 *
 * Codes and multipliers meet in one instruction where there is vpmaddubsw: with bytes (multiplier, offset)
 * times bytes (code, -8), 16 bits hold 16 times a weight; of 6 bits (multiplier + 1, multiplier) times
 * (code, -32) are 64 times a weight. The weight of an even byte is shifted down to its place, that of an odd byte up.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include "variant.h"

#if defined(__AVX512BW__)
#include <immintrin.h>

#define EXPAND_INLINE static inline __attribute__((always_inline))

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

#else

static void expand4(const uint8_t *codes, int8_t *panel);

static void expand6(const uint8_t *codes, int8_t *panel) {
    for (int v = 0; v < 8; v++, panel += 128) {
        const uint8_t *two = codes + 64 + 64 * v, *upper = codes + 64 + 512 + v / 2 * 64;
        int shift = v % 2 * 4;
        for (int b = 0; b < 64; b++) {
            uint8_t by = codes[v / 2 * 16 + b / 4], more = (uint8_t)(by + 1);
            int16_t low = (int16_t)((two[b] & 15) | (upper[b] >> shift & 3) << 4);
            int16_t high = (int16_t)(two[b] >> 4 | (upper[b] >> shift >> 2 & 3) << 4);
            panel[b] = (int8_t)((int16_t)(low * more - 32 * by) >> 6);
            panel[64 + b] = (int8_t)((int16_t)(high * more - 32 * by) >> 6);
        }
    }
}

static void expand(const uint8_t *codes, int inputs, int bits, int8_t *panel) {
    for (int i = 0; i < inputs; i += 64, codes += block_of(bits), panel += BLOCK8)
        (bits == 4 ? expand4 : expand6)(codes, panel);
}

#if defined(__AVX2__)
#include <immintrin.h>

static inline __attribute__((always_inline)) __m256i expanded(
    __m256i codes, __m256i by_even, __m256i by_odd) {
    const __m256i low = _mm256_set1_epi16(0x000f), high = _mm256_set1_epi16(0x0f00);
    const __m256i low_eight = _mm256_set1_epi16(0x00f8), high_eight = _mm256_set1_epi16((short)0xf800);
    __m256i even = _mm256_or_si256(_mm256_and_si256(codes, low), high_eight);
    __m256i odd = _mm256_or_si256(_mm256_and_si256(codes, high), low_eight);
    even = _mm256_srli_epi16(_mm256_maddubs_epi16(by_even, even), 4);
    odd = _mm256_slli_epi16(_mm256_maddubs_epi16(by_odd, odd), 4);
    return _mm256_blendv_epi8(odd, even, _mm256_set1_epi16(0x00ff));
}

static void expand4(const uint8_t *codes, int8_t *panel) {
    for (int part = 0; part < 4; part++) { /* of a group, eight outputs */
        int group = part / 2, half = part % 2;
        __m256i even = _mm256_cvtepu16_epi32(
            _mm_loadu_si128((const __m128i *)(codes + 32 * group + 16 * half)));
        even = _mm256_or_si256(even, _mm256_slli_epi32(even, 16));
        __m256i odd = _mm256_or_si256(_mm256_slli_epi16(even, 8), _mm256_srli_epi16(even, 8));
        for (int v = 4 * group; v < 4 * group + 4; v++) {
            __m256i two = _mm256_loadu_si256((const __m256i *)(codes + 64 + 64 * v + 32 * half));
            __m256i *to = (__m256i *)(panel + 128 * v + 32 * half);
            _mm256_storeu_si256(to, expanded(two, even, odd));
            _mm256_storeu_si256(to + 2, expanded(_mm256_srli_epi16(two, 4), even, odd));
        }
    }
}

#else

static void expand4(const uint8_t *codes, int8_t *panel) {
    for (int group = 0; group < 2; group++) {
        int16_t multiplier[64], offset[64];
        for (int b = 0; b < 64; b++) {
            multiplier[b] = codes[32 * group + b / 4 * 2];
            offset[b] = (int16_t)(8 * codes[32 * group + b / 4 * 2 + 1]);
        }
        for (int v = 4 * group; v < 4 * group + 4; v++, panel += 128) {
            const uint8_t *two = codes + 64 + 64 * v;
            for (int b = 0; b < 64; b++)
                panel[b] = (int8_t)(((two[b] & 15) * multiplier[b] - offset[b]) >> 4);
            for (int b = 0; b < 64; b++)
                panel[64 + b] = (int8_t)(((two[b] >> 4) * multiplier[b] - offset[b]) >> 4);
        }
    }
}

#endif
#endif

static inline void expand_panels(
    const int8_t *panel, size_t step, int panels, int inputs, int bits, int8_t *to) {
    for (int p = 0; p < panels; p++)
        expand((const uint8_t *)panel + p * step, inputs, bits, to + (size_t)p * inputs * LANES);
}

#endif
