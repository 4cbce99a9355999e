/* Panels of 4 bits as panels of 8 (specedit.h): included by rows.h and, for gemm4, by avx512vnni.h.
 *
 * Codes and multipliers meet in one instruction where there is vpmaddubsw: with bytes (multiplier, offset)
 * times bytes (code, -8), 16 bits hold 16 times a weight. The weight of an even byte is shifted down to
 * its place, that of an odd byte up.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include "variant.h"

#if defined(__AVX512BW__)
#include <immintrin.h>

/* of a group of 32 inputs, for each output: (multiplier, offset) twice, and swapped */
typedef struct {
    __m512i even, odd;
} multipliers;

static inline __attribute__((always_inline)) multipliers multipliers_of(const uint8_t *group) {
    __m512i both = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)group));
    both = _mm512_or_si512(both, _mm512_slli_epi32(both, 16));
    return (multipliers){
        both, _mm512_or_si512(_mm512_slli_epi16(both, 8), _mm512_srli_epi16(both, 8))};
}

/* 64 weights, whose codes are the lower halves of bytes */
static inline __attribute__((always_inline)) __m512i expanded(__m512i codes, multipliers by) {
    const __m512i low = _mm512_set1_epi16(0x000f), high = _mm512_set1_epi16(0x0f00);
    const __m512i low_eight = _mm512_set1_epi16(0x00f8), high_eight = _mm512_set1_epi16((short)0xf800);
    enum { AND_OR = 0xea, CHOOSE = 0xca }; /* (a & b) | c; a ? b : c */
    __m512i even = _mm512_ternarylogic_epi32(codes, low, high_eight, AND_OR);
    __m512i odd = _mm512_ternarylogic_epi32(codes, high, low_eight, AND_OR);
    even = _mm512_maddubs_epi16(by.even, even);
    odd = _mm512_maddubs_epi16(by.odd, odd);
#if defined(__AVX512VBMI__)
    const __m512i places = _mm512_set1_epi64(0x3434242414140404); /* of a weight in each 16 bits */
    even = _mm512_multishift_epi64_epi8(places, even);
    return _mm512_mask_multishift_epi64_epi8(even, 0xaaaaaaaaaaaaaaaa, places, odd);
#else
    even = _mm512_srli_epi16(even, 4);
    odd = _mm512_slli_epi16(odd, 4);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi16(0x00ff), even, odd, CHOOSE);
#endif
}

/* 64 inputs of a panel */
static inline __attribute__((always_inline)) void expand_block(const uint8_t *codes, int8_t *panel) {
    for (int group = 0; group < 2; group++) {
        multipliers by = multipliers_of(codes + 32 * group);
        for (int v = 4 * group; v < 4 * group + 4; v++, panel += 128) {
            __m512i two = _mm512_loadu_si512(codes + 64 + 64 * v);
            _mm512_storeu_si512(panel, expanded(two, by));
            _mm512_storeu_si512(panel + 64, expanded(_mm512_srli_epi16(two, 4), by));
        }
    }
}

static void expand(const uint8_t *codes, int inputs, int8_t *panel) {
    for (int i = 0; i < inputs; i += 64, codes += BLOCK4, panel += BLOCK8)
        expand_block(codes, panel);
}

#elif defined(__AVX2__)
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

static void expand(const uint8_t *codes, int inputs, int8_t *panel) {
    for (int i = 0; i < inputs; i += 64, codes += BLOCK4, panel += BLOCK8)
        for (int part = 0; part < 4; part++) { /* of a group, eight outputs */
            int group = part / 2, half = part % 2;
            __m256i even = _mm256_cvtepu16_epi32(
                _mm_loadu_si128((const __m128i *)(codes + 32 * group + 16 * half)));
            even = _mm256_or_si256(even, _mm256_slli_epi32(even, 16));
            __m256i odd = _mm256_or_si256(_mm256_slli_epi16(even, 8), _mm256_srli_epi16(even, 8));
            for (int v = 4 * group; v < 4 * group + 4; v++) {
                __m256i two =
                    _mm256_loadu_si256((const __m256i *)(codes + 64 + 64 * v + 32 * half));
                __m256i *to = (__m256i *)(panel + 128 * v + 32 * half);
                _mm256_storeu_si256(to, expanded(two, even, odd));
                _mm256_storeu_si256(to + 2, expanded(_mm256_srli_epi16(two, 4), even, odd));
            }
        }
}

#else

static void expand(const uint8_t *codes, int inputs, int8_t *panel) {
    for (int i = 0; i < inputs; i += 64, codes += BLOCK4)
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

static inline void expand_panels(const int8_t *panel, size_t step, int panels, int inputs, int8_t *to) {
    for (int p = 0; p < panels; p++)
        expand((const uint8_t *)panel + p * step, inputs, to + (size_t)p * inputs * LANES);
}

#endif
