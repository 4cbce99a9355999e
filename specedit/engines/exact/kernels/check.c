/* Compares two variants bit by bit: every function of the table on random numbers.
 *
 * This is the self-check of a machine, and the tests' comparison of all variants. reference.c defines
 * what is right. */
#include <string.h>

#include "threads.h"
#include "variant.h"

#ifndef SPECEDIT_KERNELS
#define SPECEDIT_KERNELS "unknown"
#endif

const char *specedit_version(void) { return SPECEDIT_KERNELS; }

enum {
    ROWS = 37, /* more than two tiles of 16 */
    PANELS = 5,
    INPUTS = 576, /* more than AMX takes at a time */
    COUNT = INPUTS,       /* floats of a row */
    WIDE = PANELS * LANES,
    OUTPUTS = ROWS * WIDE * 4 + INPUTS * WIDE, /* bytes that any one function writes at most */
};

/* what the functions read, and the output of each of the two */
typedef struct {
    uint64_t random;
    uint8_t rows[ROWS * INPUTS];
    int8_t panels[PANELS * INPUTS * LANES], expanded[PANELS * INPUTS * LANES];
    int16_t short_rows[ROWS * INPUTS], short_panels[PANELS * INPUTS * LANES];
    int32_t sums[2 * ROWS * WIDE + TILE];
    int32_t offsets[2 * WIDE];
    uint16_t halves[COUNT];
    float scales[2 * WIDE], row_scales[2 * ROWS], key_scales[TILE], value_scales[TILE];
    float row[COUNT], other[COUNT], weight[COUNT], start[ROWS * WIDE];
    unsigned char wrote[2][OUTPUTS] __attribute__((aligned(64)));
} numbers;

static uint32_t random_bits(numbers *n) {
    n->random ^= n->random << 13;
    n->random ^= n->random >> 7;
    n->random ^= n->random << 17;
    return (uint32_t)(n->random >> 32);
}

static int random_below(numbers *n, int limit) { return (int)(random_bits(n) % (uint32_t)limit); }

/* -1 to 1 times 2^exponent, and now and then a zero of either sign */
static float random_float(numbers *n, int exponent) {
    uint32_t bits = random_bits(n);
    if (bits % 61 == 0)
        return bits & 64 ? -0.0f : 0.0f;
    float found = (float)((int32_t)bits >> 8) / 8388608.0f;
    for (; exponent > 0; exponent--)
        found *= 2.0f;
    for (; exponent < 0; exponent++)
        found *= 0.5f;
    return found;
}

static void random_floats(numbers *n, float *to, int count, int exponent) {
    for (int i = 0; i < count; i++)
        to[i] = random_float(n, exponent);
}

static void positive_floats(numbers *n, float *to, int count, int exponent) {
    for (int i = 0; i < count; i++) {
        float found = random_float(n, exponent);
        to[i] = found < 0.0f ? -found : found;
    }
}

/* A row as in passes: of any magnitude, at times all zero, or with one large number. */
static void random_row(numbers *n) {
    int kind = random_below(n, 8);
    random_floats(n, n->row, COUNT, kind == 0 ? -110 : random_below(n, 24) - 12);
    if (kind == 1)
        memset(n->row, 0, sizeof n->row);
    if (kind == 2)
        n->row[random_below(n, COUNT)] = random_float(n, 12);
}

static void fill(numbers *n, uint64_t seed) {
    n->random = seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    /* at times the largest sums that can be, of one sign and of both, and what saturates 16 bits */
    enum { EXTREMES = 4 };
    static const uint8_t row_ends[EXTREMES][2] = {{255, 255}, {255, 255}, {0, 255}, {1, 255}};
    static const int8_t panel_ends[EXTREMES][2] = {{-128, -128}, {127, 127}, {-128, 127}, {0, -1}};
    int extreme = random_below(n, 2 * EXTREMES);
    for (size_t i = 0; i < sizeof n->rows; i++)
        n->rows[i] = extreme < EXTREMES ? row_ends[extreme][random_bits(n) & 1] : (uint8_t)random_bits(n);
    for (size_t i = 0; i < sizeof n->panels; i++)
        n->panels[i] = extreme < EXTREMES ? panel_ends[extreme][random_bits(n) & 1] : (int8_t)random_bits(n);
    extreme = extreme == 0;
    for (int i = 0; i < ROWS * INPUTS; i++)
        n->short_rows[i] =
            (int16_t)(extreme ? -QUERY_LIMIT : random_below(n, 2 * QUERY_LIMIT + 1) - QUERY_LIMIT);
    for (int i = 0; i < PANELS * INPUTS * LANES; i++)
        n->short_panels[i] =
            (int16_t)(extreme ? KEY_LIMIT : random_below(n, 2 * KEY_LIMIT + 1) - KEY_LIMIT);
    int shift = random_below(n, 12);
    for (size_t i = 0; i < sizeof n->sums / sizeof *n->sums; i++)
        n->sums[i] = ((int32_t)random_bits(n) >> 2) >> shift;
    for (int i = 0; i < 2 * WIDE; i++)
        n->offsets[i] = (int32_t)random_bits(n) >> 6;
    for (int i = 0; i < COUNT; i++)
        n->halves[i] = (uint16_t)(random_bits(n) % 0x7f00 | (random_bits(n) & 0x8000));
    positive_floats(n, n->scales, 2 * WIDE, -16);
    positive_floats(n, n->row_scales, 2 * ROWS, -5);
    positive_floats(n, n->key_scales, TILE, -8);
    positive_floats(n, n->value_scales, TILE, -3);
    random_row(n);
    random_floats(n, n->other, COUNT, 0);
    random_floats(n, n->weight, COUNT, 1);
    random_floats(n, n->start, ROWS * WIDE, 3);
}

/* -- each function: what `k` makes of the numbers ------------------------------------------------ */

static void with_quantize(const kernel *k, numbers *n, int round, unsigned char *to) {
    int count = 64 * (1 + round % (COUNT / 64));
    k->quantize(n->row, count, to + 64, round & 1 ? to + 64 + COUNT : 0, (float *)to);
}

static void with_rms_norm(const kernel *k, numbers *n, int round, unsigned char *to) {
    int count = 64 * (1 + round % (COUNT / 64));
    k->rms_norm(n->row, n->weight, count, count - round % 3, 1e-6f, (float *)to);
}

static void with_widen_bf16(const kernel *k, numbers *n, int round, unsigned char *to) {
    k->widen_bf16(n->halves, LANES * (1 + round % (COUNT / LANES)), (float *)to);
}

static gemm_output output_of(const numbers *n, int round) {
    gemm_output of = {n->scales, n->offsets, (size_t)LANES * (1 + (round & 1)), n->row_scales,
        (size_t)(1 + (round >> 1 & 1)), round >> 2 & 1, n->panels, INPUTS, round >> 3 & 63};
    return of;
}

static int some_rows(int round) { return 1 + round % (ROWS / 2); } /* with residuals each takes two */

static void with_store(const kernel *k, numbers *n, int round, unsigned char *to) {
    gemm_output of = output_of(n, round);
    k->store(n->sums, 1 + round % PANELS, some_rows(round), &of, round & 8 ? n->other : 0,
        (float *)to, WIDE + LANES);
}

static void with_add(const kernel *k, numbers *n, int round, unsigned char *to) {
    gemm_output of = output_of(n, round);
    memcpy(to, n->start, sizeof n->start);
    k->add(n->sums, 1 + round % PANELS, some_rows(round), &of, (float *)to, WIDE);
}

static void with_swiglu(const kernel *k, numbers *n, int round, unsigned char *to) {
    gemm_output of = output_of(n, round);
    k->swiglu(n->sums, 2 + round % 2 * 2, some_rows(round), &of, (float *)to, WIDE);
}

static void with_logits(const kernel *k, numbers *n, int round, unsigned char *to) {
    gemm_output of = output_of(n, round);
    int panels = 1 + round % PANELS, first = LANES * (round % 3), rows = some_rows(round);
    int limit = round & 1 ? first + panels * LANES - round % 23 : 1 << 20;
    float *best = (float *)to;
    float *second = (float *)(to + 8 * ROWS);
    int32_t *choice = (int32_t *)(to + 4 * ROWS);
    for (int r = 0; r < rows; r++) {
        best[r] = r % 3 ? -__builtin_inff() : n->start[r];
        second[r] = -__builtin_inff();
        choice[r] = -r;
    }
    float *out = (float *)(to + 1024);
    k->logits(n->sums, panels, rows, &of, first, limit, best, second, choice, round & 2 ? out : 0,
        WIDE + 3 * LANES);
}

static void with_rope(const kernel *k, numbers *n, int round, unsigned char *to) {
    int half = LANES * (1 + round % (MAX_HALF / LANES));
    memcpy(to, n->row, 2 * (size_t)half * sizeof(float));
    k->rope((float *)to, round & 1 ? n->weight : 0, half, half - round % 2 * 8, 1e-6f, n->other,
        n->weight);
}

static void with_quantize16(const kernel *k, numbers *n, int round, unsigned char *to) {
    k->quantize16(n->row, LANES * (1 + round % 8), round & 1 ? (float)QUERY_LIMIT : (float)KEY_LIMIT,
        (int16_t *)(to + 64), (float *)to);
}

static void with_quantize8(const kernel *k, numbers *n, int round, unsigned char *to) {
    k->quantize8(n->row, LANES * (1 + round % 8), (int8_t *)(to + 64), (float *)to);
}

static void with_softmax(const kernel *k, numbers *n, int round, unsigned char *to) {
    int keys = 1 + (int)((uint32_t)round * 2654435761u % TILE);
    int padded = (keys + BLOCK - 1) / BLOCK * BLOCK;
    float *numbers_to = (float *)(to + TILE);
    k->softmax(n->sums, LANES, keys, padded, n->row_scales[round % ROWS] / 1024.0f, n->key_scales,
        n->value_scales, to, numbers_to + 2, numbers_to, numbers_to + 1);
    numbers_to[1] += 0.0f; /* of equal maxima 0 and -0 either may be kept: what follows is the same */
}

static void with_add_values(const kernel *k, numbers *n, int round, unsigned char *to) {
    int panels = 1 + round % PANELS, most = INPUTS * PANELS / BLOCK / panels;
    int blocks = 1 + round / 3 % (most < TILE / BLOCK ? most : TILE / BLOCK);
    memcpy(to, n->start, sizeof n->start);
    k->add_values(n->rows, n->scales, 1 + 7 * round % (ROWS / 2), n->panels, panels, blocks,
        (float *)to);
}

static void with_merge(const kernel *k, numbers *n, int round, unsigned char *to) {
    float *row = (float *)to;
    memcpy(to, n->start, WIDE * sizeof(float));
    row[WIDE] = n->key_scales[0];
    row[WIDE + 1] = n->row[1] * 8.0f;
    k->merge(n->key_scales[1], n->row[0] * 8.0f, n->other, LANES * (1 + round % PANELS), row + WIDE,
        row + WIDE + 1, row);
}

static void with_divide(const kernel *k, numbers *n, int round, unsigned char *to) {
    k->divide(n->key_scales[2] + 0.25f, n->other, LANES * (1 + round % PANELS), (float *)to);
}

static void with_silu(const kernel *k, numbers *n, int round, unsigned char *to) {
    memcpy(to, n->row, sizeof n->row);
    k->silu((float *)to, round & 1 ? n->other : 0, LANES * (1 + round % (COUNT / LANES)));
}

static void with_top(const kernel *k, numbers *n, int round, unsigned char *to) {
    float *sum = (float *)to;
    *sum = k->top(n->start, 1 + round * 37 % (ROWS * WIDE), 1 + round % 12, 0.5f, sum + 1,
        (int32_t *)(to + 256));
}

static void with_sigmoid(const kernel *k, numbers *n, int round, unsigned char *to) {
    memcpy(to, n->other, sizeof n->other);
    k->sigmoid((float *)to, n->row, LANES * (1 + round % (COUNT / LANES)));
}

static void with_project(const kernel *k, numbers *n, int round, unsigned char *to) {
    k->project(n->row, n->start, 64 * (1 + round % 2), (float *)to);
}

static void with_recur(const kernel *k, numbers *n, int round, unsigned char *to) {
    int keys = 64 * (1 + round % 2), count = 1 + round % 4;
    float *out = (float *)to + 2 * 64 * LANES;
    recurrence of = {n->other, round & 4 ? n->other + 1 : 0, n->other + 2, 128, n->row_scales,
        n->row_scales + 1, 2, out, LANES};
    k->recur(n->start, (float *)to, keys, count, &of);
}

static int some_bits(int round) { return round & 1 ? 6 : 4; }

static void with_pack(const kernel *k, numbers *n, int round, unsigned char *to) {
    size_t stride = 64 * (1 + round / 2 % 2);
    k->pack(n->start, stride, (int)stride, some_bits(round), to + 2 * LANES * 4, (float *)to,
        (int32_t *)to + LANES);
}

static void with_gemm8(const kernel *k, numbers *n, int round, unsigned char *to) {
    int inputs = 64 * (1 + round % (INPUTS / 64)), panels = 1 + round / 3 % PANELS;
    k->gemm8(n->rows, (size_t)INPUTS - round % 2 * (INPUTS - inputs), 1 + 7 * round % ROWS, n->panels,
        (size_t)INPUTS * LANES, panels, inputs, (int32_t *)to, n->panels, (size_t)INPUTS * LANES, round % 7);
}

static void with_expand(const kernel *k, numbers *n, int round, unsigned char *to) {
    k->expand((const uint8_t *)n->panels, 64 * (1 + round % (INPUTS / 64)), some_bits(round), (int8_t *)to);
}

/* Weights of 4 or 6 bits must be signed bytes, as those of specedit_quantize are. */
static void make_valid(uint8_t *block, int bits) {
    for (int i = 0; i < 64; i++)
        if (bits == 6)
            block[i] -= block[i] == 255;
        else if (i % 2 && 15 * block[i - 1] - 8 * block[i] > 2047)
            block[i] = (uint8_t)((15 * block[i - 1] - 2040) / 8);
}

static void with_packed(const kernel *k, numbers *n, int round, unsigned char *to) {
    int inputs = 64 * (1 + round % (INPUTS / 64)), panels = 1 + round / 3 % PANELS;
    int count = 1 + 7 * round % ROWS, bits = some_bits(round), keep = count > k->few || round & 1;
    size_t size = (size_t)panels * inputs * LANES;
    for (int block = 0; block < PANELS * INPUTS / 64; block++)
        make_valid((uint8_t *)n->panels + block * block_of(bits), bits);
    k->packed(n->rows, INPUTS, count, n->panels, (size_t)(INPUTS / 64 * block_of(bits)), panels, inputs,
        (int32_t *)to, n->panels, 0, round % 7, bits, keep, n->expanded);
    if (round & 1)
        memcpy(to + 4 * ROWS * WIDE, n->expanded, size);
}

static void with_gemm16(const kernel *k, numbers *n, int round, unsigned char *to) {
    int inputs = 32 * (1 + round % 8), panels = 1 + round / 3 % PANELS;
    k->gemm16(n->short_rows, INPUTS, 1 + 7 * round % ROWS, n->short_panels, (size_t)INPUTS * LANES,
        panels, inputs, (int32_t *)to);
}

static const struct {
    const char *name;
    void (*with)(const kernel *k, numbers *n, int round, unsigned char *to);
} TABLE[] = {
    {"gemm8", with_gemm8},
    {"expand", with_expand},
    {"packed", with_packed},
    {"gemm16", with_gemm16},
    {"quantize", with_quantize},
    {"rms_norm", with_rms_norm},
    {"widen_bf16", with_widen_bf16},
    {"store", with_store},
    {"add", with_add},
    {"swiglu", with_swiglu},
    {"logits", with_logits},
    {"rope", with_rope},
    {"quantize16", with_quantize16},
    {"quantize8", with_quantize8},
    {"softmax", with_softmax},
    {"add_values", with_add_values},
    {"merge", with_merge},
    {"divide", with_divide},
    {"silu", with_silu},
    {"top", with_top},
    {"sigmoid", with_sigmoid},
    {"project", with_project},
    {"recur", with_recur},
    {"pack", with_pack},
};

static void run(const kernel *k, int which, numbers *n, int round, unsigned char *to) {
    memset(to, 0xa5, OUTPUTS);
    if (k->begin)
        k->begin();
    TABLE[which].with(k, n, round, to);
    if (k->end)
        k->end();
}

static const char *difference(const kernel *a, const kernel *b, uint64_t seed, int rounds) {
    numbers *n = thread_memory(sizeof *n);
    if (!n)
        return "memory";
    const char *found = 0;
    for (int round = 0; round < rounds && !found; round++) {
        fill(n, seed * 1000003u + (uint64_t)round);
        for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE && !found; i++) {
            run(a, (int)i, n, round, n->wrote[0]);
            run(b, (int)i, n, round, n->wrote[1]);
            if (memcmp(n->wrote[0], n->wrote[1], OUTPUTS))
                found = TABLE[i].name;
        }
    }
    thread_memory_free(n);
    return found;
}

const char *specedit_difference(int one, int other, uint64_t seed, int rounds) {
    const kernel *a = dispatch_kernel(one), *b = dispatch_kernel(other);
    if (!a || !b)
        return "nothing";
    thread_state before = thread_rounding();
    const char *found = difference(a, b, seed, rounds);
    thread_restore(before);
    return found;
}
