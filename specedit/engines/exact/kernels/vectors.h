/* Vectors of 16 numbers, for what is compiled for each variant with its own target flags. */
#ifndef VECTORS_H
#define VECTORS_H

#include "variant.h"

#include <string.h>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float floats __attribute__((vector_size(64)));
typedef int32_t ints __attribute__((vector_size(64)));
typedef uint8_t small __attribute__((vector_size(16)));
typedef int8_t small_signed __attribute__((vector_size(16)));
typedef int16_t middle __attribute__((vector_size(32)));
typedef uint16_t middle_unsigned __attribute__((vector_size(32)));

#define MAGIC 12582912.0f /* 1.5 * 2^23: adding it rounds to an integer, ties to even */
#define TINY 1e-30f       /* a row whose largest number is below is quantized to zeros */
#define LOG2E 1.44269504088896341f

INLINE floats load(const float *from) {
    floats found;
    memcpy(&found, from, sizeof found);
    return found;
}

INLINE void store(float *to, floats what) { memcpy(to, &what, sizeof what); }

INLINE ints load_ints(const int32_t *from) {
    ints found;
    memcpy(&found, from, sizeof found);
    return found;
}

INLINE floats all(float x) { return (floats){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }

INLINE floats to_floats(ints x) { return __builtin_convertvector(x, floats); }

/* a > b ? a : b */
INLINE floats larger(floats a, floats b) {
#if defined(__AVX512F__)
    return (floats)_mm512_max_ps((__m512)a, (__m512)b);
#else
    ints which = a > b;
    return (floats)((which & (ints)a) | (~which & (ints)b));
#endif
}

/* a < b ? a : b */
INLINE floats smaller(floats a, floats b) {
#if defined(__AVX512F__)
    return (floats)_mm512_min_ps((__m512)a, (__m512)b);
#else
    ints which = a < b;
    return (floats)((which & (ints)a) | (~which & (ints)b));
#endif
}

INLINE floats absolute(floats a) { return (floats)((ints)a & 0x7fffffff); }

/* the largest has no order, so any way of finding it gives the same bits */
INLINE float largest_of(floats a) {
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps((__m512)a);
#endif
    float lane[LANES];
    store(lane, a);
    for (int width = LANES / 2; width; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] = lane[i] > lane[i + width] ? lane[i] : lane[i + width];
    return lane[0];
}

/* whether one of `a` is larger than b */
INLINE int any_larger(floats a, float b) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)a, _mm512_set1_ps(b), _CMP_GT_OQ) != 0;
#else
    return largest_of(a) > b;
#endif
}

#endif
