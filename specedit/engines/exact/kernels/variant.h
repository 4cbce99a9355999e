/* What a variant is: the arithmetic of one kind of processor, as a table of functions.
 *
 * Two functions are integer products, and those are all that a variant writes for itself. The
 * others are in rows.h: portable vectors of 16 floats, compiled once for each variant with its own
 * target flags. A variant is one file:
 *
 *     #include "variant.h"
 *     static void dots(...) { ... }
 *     static void pairs(...) { ... }
 *     #define VARIANT avx512vnni
 *     #include "rows.h"          // defines `const kernel kernel_avx512vnni`
 *
 * and a line in dispatch.c: its name, its table, and what asks the processor whether it can.
 * Compile everything with -O3 -ffp-contract=off -fno-math-errno, never with -ffast-math.
 */
#ifndef VARIANT_H
#define VARIANT_H

#include "specedit.h"

enum {
    LANES = 16,       /* floats of a vector; outputs of a panel; keys of a panel of keys */
    ZERO = 128,       /* the digit that stands for 0 */
    BLOCK = 64,       /* keys whose weights share a scale */
    TILE = 512,       /* keys whose weights share a maximum; a piece of the cache */
    QUERY_LIMIT = 2047, /* of a query's integers; times a key's, times 128 channels, below 2^31 */
    KEY_LIMIT = 8191,
    MAX_HALF = 64, /* half a head: more would overflow */
};

_Static_assert((long long)QUERY_LIMIT * KEY_LIMIT * 2 * MAX_HALF < 1ll << 31, "pairs' sums fit");
_Static_assert(255ll * 128 * SPECEDIT_MAX_INPUTS < 1ll << 31, "dots' sums fit");

#define REMAINDER 254.0f /* steps of the second digit in one of the first */

/* sums[p][r][o] = sum over i of rows[r][i] * panel p[i / 4][o][i % 4], for `count` rows that lie
 * `stride` bytes apart and `panels` panels of 16 outputs that lie `step` bytes apart. `inputs` is a
 * multiple of 64. `sums` is aligned to 64 bytes. A hint that may be left alone: as many panels,
 * as far apart, are wanted next, so `lines` lines of 64 bytes of each may be fetched meanwhile; those
 * of the first begin at `ahead`. */
typedef void dots_function(const uint8_t *rows, size_t stride, int count, const int8_t *panel,
    size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead, int lines);

/* The same of 16-bit integers: sums[p][r][o] = sum over i of rows[r][i] * panel p[i / 2][o][i % 2];
 * `inputs` is a multiple of 32, `stride` and `step` count elements. No sum passes 32 bits. */
typedef void pairs_function(const int16_t *rows, size_t stride, int count, const int16_t *panel,
    size_t step, int panels, int inputs, int32_t *sums);

/* Where the rows of a product go: what is done with sums[p][r][o]. */
typedef struct {
    const float *scales;    /* of the first of these panels, first piece */
    const int32_t *offsets; /* likewise */
    size_t step;            /* numbers from one panel's scales to the next one's */
    const float *row_scales; /* of each row */
    size_t row_step;         /* numbers from one row's scale to the next row's */
    int two;                 /* rows come in pairs: first digits, second digits */
    /* the hint of dots: what may be fetched while sums are worked on, for memory has a rest then */
    const int8_t *ahead;
    size_t ahead_step;
    int lines;
} product;

typedef struct {
    const char *name;
    dots_function *dots;
    pairs_function *pairs;
    int (*begin)(void); /* before a thread's first use in a pass; null: nothing to do */
    void (*end)(void);

    /* digits of `count` floats (a multiple of 64) and their scale; with `second`, two digits */
    void (*digits)(const float *row, int count, uint8_t *first, uint8_t *second, float *scale);
    /* row = its root-mean-square norm times weight */
    void (*norm)(const float *row, const float *weight, int count, int count_true, float epsilon,
        float *out);
    /* a bf16 row as floats */
    void (*widen)(const uint16_t *from, int count, float *to);
    /* out[r][16 p + o] = product + bias */
    void (*plain)(const int32_t *sums, int panels, int rows, const product *of, const float *bias,
        float *out, size_t stride);
    /* out[r][16 p + o] += product */
    void (*add)(const int32_t *sums, int panels, int rows, const product *of, float *out,
        size_t stride);
    /* panels come as gate, up: out[r][16 (p / 2) + o] = silu(gate) * up */
    void (*gate)(const int32_t *sums, int panels, int rows, const product *of, float *out,
        size_t stride);
    /* logits of ids `first` to `first + 16 * panels`, none from `limit` on; the largest of each row
     * and its lowest id replace best and choice where they are larger; all go to out, if not null */
    void (*logits)(const int32_t *sums, int panels, int rows, const product *of, int first,
        int limit, float *best, int32_t *choice, float *out, size_t stride);
    /* head = its norm (weight not null), then turned; 2 * half floats in place */
    void (*turn)(float *head, const float *weight, int half, int half_true, float epsilon,
        const float *cosines, const float *sines);
    /* round(head * limit / largest) as integers, and largest / limit */
    void (*shorts)(const float *head, int count, float limit, int16_t *out, float *scale);
    /* round(head * 127 / largest), and largest / 127 */
    void (*bytes)(const float *head, int count, int8_t *out, float *scale);
    /* scores (integers) of `keys` keys of one tile, with their scales, become weights of 8 bits and a
     * scale for each block of 64; keys behind them, up to `padded`, weigh 0. Sum of weights and
     * the maximum that they are relative to go to sum and most. */
    void (*weigh)(const int32_t *scores, size_t step, int keys, int padded, float query_scale,
        const float *key_scales, const float *value_scales, uint8_t *weights, float *units,
        float *sum, float *most);
    /* mixed[16 p + o] += unit * sums[p][o] */
    void (*mix)(const int32_t *sums, size_t step, int panels, float unit, float *mixed);
    /* a tile's (sum, most, mixed) folded into a row's; the first tile's is the row's own */
    void (*fold)(float sum, float most, const float *mixed, int count, float *row_sum,
        float *row_most, float *row_mixed);
    /* mixed / sum */
    void (*finish)(float sum, const float *mixed, int count, float *out);
    /* silu(row) * times (null: 1) in place; `count` is a multiple of 16 */
    void (*silu)(float *row, const float *times, int count);
    /* the `most` largest of `count` numbers and where they are, the largest first and of equals the
     * first; behind the last one places are -1. Returns the sum of e^((number - largest) * sharp).
     * The row may be read up to the next multiple of 16. */
    float (*likeliest)(const float *row, int count, int most, float sharp, float *best,
        int32_t *places);
} kernel;

extern const kernel kernel_reference;
#if defined(__x86_64__) || defined(_M_X64)
extern const kernel kernel_avx512vnni, kernel_avxvnni, kernel_avx2;
#if defined(__linux__)
extern const kernel kernel_amx;
#endif
#elif defined(__aarch64__) || defined(_M_ARM64)
extern const kernel kernel_i8mm, kernel_dotprod, kernel_neon;
#endif

/* Variant `index`, or null where this processor cannot run it (dispatch.c). */
const kernel *dispatch_kernel(int index);

/* What this processor and system can (cpu.c). */
int cpu_avx2(void);
int cpu_avxvnni(void);
int cpu_avx512vnni(void);
int cpu_amx(void); /* asks the system for leave to use the tiles */
int cpu_dotprod(void);
int cpu_i8mm(void);

#endif
