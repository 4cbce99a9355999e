/* A variant: the arithmetic of one kind of processor, as a table of functions.
 *
 * A variant has its own integer products, gemm8 and gemm16. The other functions are in rows.h: portable
 * vectors of 16 floats, compiled for each variant with its own target flags. A variant is one file:
 *
 *     #include "variant.h"
 *     static void gemm8(...) { ... }
 *     static void gemm16(...) { ... }
 *     #define VARIANT avx512vnni
 *     #include "rows.h"          // defines `const kernel kernel_avx512vnni`
 *
 * and a line in dispatch.c: its table, and the function that asks whether the processor has it.
 * Compile everything with -O3 -ffp-contract=off -fno-math-errno, never with -ffast-math.
 */
#ifndef VARIANT_H
#define VARIANT_H

#include "specedit.h"

enum {
    LANES = 16,       /* floats of a vector; outputs of a panel; keys of a panel of keys */
    ZERO_POINT = 128, /* of quantized activations */
    BLOCK = 64,       /* keys whose weights share a scale */
    TILE = 512,       /* positions whose weights share a maximum; the cache grows by tiles */
    QUERY_LIMIT = 2047, /* of a query's integers */
    KEY_LIMIT = 8191,   /* of a key's */
    WIDE_HALF = 64,     /* half a head: keys of a larger one have fewer steps, so that sums fit */
    WIDE_KEY_LIMIT = 4095,
    MAX_HALF = 128,
    BLOCK8 = 1024,      /* bytes of 64 inputs of a panel of 8 bits */
    FEW_ROWS = 16,      /* of most variants: so many rows are one call, and panels of fewer bits are not
                           expanded to memory */
    ROW_BLOCK = 64,     /* most quantized rows of one call: their sums stay in cache */
    BLOCK4 = 576,       /* of one of 4 bits: 64 of multipliers and offsets, 512 of codes */
    BLOCK6 = 832,       /* and of one of 6 bits: 64 of multipliers, 512 and 256 of codes */
};

/* bytes of 64 inputs of a panel */
static inline int block_of(int bits) { return bits == 8 ? BLOCK8 : bits == 6 ? BLOCK6 : BLOCK4; }

_Static_assert((long long)QUERY_LIMIT * KEY_LIMIT * 2 * WIDE_HALF < 1ll << 31, "sums of gemm16 fit");
_Static_assert((long long)QUERY_LIMIT * WIDE_KEY_LIMIT * 2 * MAX_HALF < 1ll << 31, "sums of gemm16 fit");
_Static_assert(255ll * 128 * SPECEDIT_MAX_INPUTS < 1ll << 31, "sums of gemm8 fit");

#define RESIDUAL_STEPS 254.0f /* steps of a residual in one step of a value */

/* sums[p][r][o] = sum over i of rows[r][i] * panel p[i / 4][o][i % 4], for `count` rows that lie
 * `stride` bytes apart and `panels` panels of 16 outputs that lie `step` bytes apart. `inputs` is a
 * multiple of 64. `sums` is aligned to 64 bytes. A hint: as many panels come next, `ahead_step` bytes apart,
 * so `lines` lines of 64 bytes of each may be prefetched; those of the first begin at `ahead`. */
typedef void gemm8_function(const uint8_t *rows, size_t stride, int count, const int8_t *panel,
    size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines);

/* The same of panels of 4 or 6 bits (expand.h). With `keep`, `expanded` has the panels with 8 bits
 * afterwards, `inputs` * LANES bytes apart. */
typedef void packed_function(const uint8_t *rows, size_t stride, int count, const int8_t *panel,
    size_t step, int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines, int bits, int keep, int8_t *expanded);

/* The same with 16-bit integers: sums[p][r][o] = sum over i of rows[r][i] * panel p[i / 2][o][i % 2];
 * `inputs` is a multiple of 32, `stride` and `step` count elements. No sum passes 32 bits. */
typedef void gemm16_function(const int16_t *rows, size_t stride, int count, const int16_t *panel,
    size_t step, int panels, int inputs, int32_t *sums);

/* What an epilogue needs to turn the integers sums[p][r][o] into floats. */
typedef struct {
    const float *scales;    /* of the first of these panels and this group of inputs */
    const int32_t *offsets; /* the same */
    size_t step;            /* numbers from one panel's scales to the next one's */
    const float *row_scales; /* of each row */
    size_t row_step;         /* numbers from one row's scale to the next row's */
    int residual;            /* rows come in pairs: values, residuals */
    /* the hint of gemm8: what may be prefetched meanwhile, when memory is idle */
    const int8_t *ahead;
    size_t ahead_step;
    int lines;
} gemm_output;

/* What the ids of a pass do to 16 value channels of a recurrent state. Of id t: its key, its query (null: no
 * output is wanted) and its 16 values are `stride` numbers after those of id t - 1, and so on. */
typedef struct {
    const float *keys, *queries, *values;
    size_t stride;
    const float *decays, *betas;
    size_t gate_stride;
    float *out;
    size_t out_stride;
} recurrence;

typedef struct {
    const char *name;
    int rows; /* at most, of one call to gemm8 in a wide pass */
    int few;  /* rows of a call that `packed` takes without `keep` */
    gemm8_function *gemm8;
    packed_function *packed;
    /* a panel of 4 or 6 bits as one of 8; `inputs` is a multiple of 64 */
    void (*expand)(const uint8_t *codes, int inputs, int bits, int8_t *panel);
    gemm16_function *gemm16;
    int (*begin)(void); /* before a thread's first use in a pass; null: nothing to do */
    void (*end)(void);

    /* `count` floats (a multiple of 64) quantized to uint8, and their scale; with `second`, residuals */
    void (*quantize)(const float *row, int count, uint8_t *first, uint8_t *second, float *scale);
    /* row = its root-mean-square norm times weight */
    void (*rms_norm)(const float *row, const float *weight, int count, int count_true, float epsilon,
        float *out);
    /* a bf16 row as floats */
    void (*widen_bf16)(const uint16_t *from, int count, float *to);
    /* out[r][16 p + o] = product + bias */
    void (*store)(const int32_t *sums, int panels, int rows, const gemm_output *of, const float *bias,
        float *out, size_t stride);
    /* out[r][16 p + o] += product */
    void (*add)(const int32_t *sums, int panels, int rows, const gemm_output *of, float *out,
        size_t stride);
    /* panels come as gate, up: out[r][16 (p / 2) + o] = silu(gate) * up */
    void (*swiglu)(const int32_t *sums, int panels, int rows, const gemm_output *of, float *out,
        size_t stride);
    /* logits of ids `first` to `first + 16 * panels`, none from `limit` on; the largest of each row,
     * the second largest, and the lowest id of the largest go to best, second and choice where they are
     * larger than what is there; all go to out, if not null */
    void (*logits)(const int32_t *sums, int panels, int rows, const gemm_output *of, int first,
        int limit, float *best, float *second, int32_t *choice, float *out, size_t stride);
    /* RMS norm of a head (unless weight is null), then RoPE; 2 * half floats in place */
    void (*rope)(float *head, const float *weight, int half, int half_true, float epsilon,
        const float *cosines, const float *sines);
    /* round(head * limit / largest) as integers, and largest / limit */
    void (*quantize16)(const float *head, int count, float limit, int16_t *out, float *scale);
    /* round(head * 127 / largest), and largest / 127 */
    void (*quantize8)(const float *head, int count, int8_t *out, float *scale);
    /* softmax over `keys` integer scores of one tile: weights of 8 bits, with the values' scales in
     * them, and a scale for each block of 64; weights up to `padded` are 0. Their sum and the
     * maximum that they are relative to go to sum and maximum. */
    void (*softmax)(const int32_t *scores, size_t step, int keys, int padded, float query_scale,
        const float *key_scales, const float *value_scales, uint8_t *weights, float *units,
        float *sum, float *maximum);
    /* adds what `count` rows of weights give of some blocks of 64 values, block after block:
     * output[r][16 p + o] += units[r][b] * sum over i of weights[r][64 b + i] * value i of b.
     * Rows of weights are TILE apart, of units TILE / BLOCK; a block is `panels` panels of 16. */
    void (*add_values)(const uint8_t *weights, const float *units, int count, const int8_t *values,
        int panels, int blocks, float *output);
    /* merges a tile's (sum, maximum, output) into a row's: online softmax */
    void (*merge)(float sum, float maximum, const float *output, int count, float *row_sum,
        float *row_maximum, float *row_output);
    /* out = output / sum */
    void (*divide)(float sum, const float *output, int count, float *out);
    /* silu(row) * times (null: 1) in place; `count` is a multiple of 16 */
    void (*silu)(float *row, const float *times, int count);
    /* top-k: the `most` largest of `count` numbers and their places, the largest first and of equals
     * the first; behind the last one places are -1. Returns the sum of e^((number - largest) * sharp).
     * The row may be read up to the next multiple of 16. */
    float (*top)(const float *row, int count, int most, float sharp, float *best,
        int32_t *places);
    /* row *= sigmoid(gates); `count` is a multiple of 16 */
    void (*sigmoid)(float *row, const float *gates, int count);
    /* out[o] = sum over i of row[i] * panel[i][o], 16 outputs; `inputs` is a multiple of 4. Four sums, of the
     * inputs i, i + 4 and so on, then (a + b) + (c + d) */
    void (*project)(const float *row, const float *panel, int inputs, float *out);
    /* The gated delta rule, id after id: state = decay * state + key (value - decay * key state) * beta, then
     * out = query state. A state is `keys` times 16 numbers, read at `from` and left at `to`; sums over
     * keys as in `project`. */
    void (*recur)(const float *from, float *to, int keys, int count, const recurrence *of);
    /* 16 rows that lie `stride` floats apart as weights of 4 or 6 bits: `count` inputs (a multiple of 64) of a
     * panel that share scales (pack.h) */
    void (*pack)(const float *rows, size_t stride, int count, int bits, uint8_t *panel, float *scales,
        int32_t *offsets);
} kernel;

/* the same for any processor (quantize.c) */
void pack_plainly(const float *rows, size_t stride, int count, int bits, uint8_t *panel, float *scales,
    int32_t *offsets);

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

/* Whether this processor and system have the instructions (cpu.c). */
int cpu_avx2(void);
int cpu_avxvnni(void);
int cpu_avx512vnni(void);
int cpu_amx(void); /* asks the system for permission to use tiles */
int cpu_dotprod(void);
int cpu_i8mm(void);

#endif
