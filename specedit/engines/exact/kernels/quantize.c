/* Weights of 4 or 6 bits from floats, with the least squared error that a search finds.
 *
 * A row's scale is the smallest that any of its groups of 32 inputs can do with. In units of it a group
 * has a step of sixteenths (the multiplier) and a lowest value of halves (the offset). The weights of most
 * files lie on a grid of 16 values themselves, of which a group may use fewer: the search begins with
 * the grids on which the group's range is 15 to 9 steps, and then fits a line to codes and values. With 6 bits
 * a group of 16 inputs has a step of 64ths alone, and all that may be right are tried.
 *
 * One IEEE operation after the other, as in rows.h: the same weights on every machine. */
#include <string.h>

#include "model.h"

#define MAGIC 12582912.0f /* 1.5 * 2^23: adding it rounds to an integer, ties to even */
#define TINY 1e-30f

enum { GROUP = 32, VECTORS = GROUP / 16, MOST_CODE = 15, MOST_BYTE = 255, FEWEST_STEPS = 9, FITS = 2 };
enum { MIDDLE6 = 32, MOST6 = 31, MOST_STEP6 = 255, FEWEST_STEPS6 = 24 };

typedef float floats __attribute__((vector_size(64)));
typedef int32_t ints __attribute__((vector_size(64)));

typedef struct {
    float multiplier, offset, error;
    floats codes[VECTORS], values[VECTORS];
} grid;

static inline floats all(float x) { return x - (floats){0}; }
static inline floats rounded(floats x) { return (x + MAGIC) - MAGIC; }
static inline float rounded_one(float x) { return (x + MAGIC) - MAGIC; }
static inline float larger(float a, float b) { return a > b ? a : b; }
static inline float within(float x, float least, float most) {
    return x < least ? least : x > most ? most : x;
}
static inline floats chosen(ints which, floats a, floats b) {
    return (floats)((which & (ints)a) | (~which & (ints)b));
}

static float sum_of(floats x) {
    float lane[LANES];
    memcpy(lane, &x, sizeof x);
    for (int width = LANES / 2; width; width /= 2)
        for (int i = 0; i < width; i++)
            lane[i] = lane[i] + lane[i + width];
    return lane[0];
}

/* `best` becomes the grid of this multiplier and offset where that is nearer to the group's values */
static void attempt(const floats *x, float multiplier, float offset, grid *best) {
    grid now = {within(multiplier, 0.0f, MOST_BYTE), within(offset, 0.0f, MOST_BYTE), 0.0f, {{0}}, {{0}}};
    float steps = 16.0f / (now.multiplier < 1.0f ? 1.0f : now.multiplier);
    floats errors = {0};
    ints outside = {0};
    for (int v = 0; v < VECTORS; v++) {
        /* weights are rounded down, so the middle of those of a code is half of a unit above */
        floats code = rounded((x[v] + (now.offset * 0.5f + 0.46875f)) * steps);
        code = chosen(code > 0.0f, code, all(0.0f));
        code = chosen(code < (float)MOST_CODE, code, all(MOST_CODE));
        floats value = (code * now.multiplier - now.offset * 8.0f) * 0.0625f;
        value = rounded(value - 0.46875f); /* sixteenths, rounded down */
        floats miss = value - x[v];
        errors = errors + miss * miss;
        outside |= (value > 127.0f) | (value < -127.0f);
        now.codes[v] = code;
        now.values[v] = value;
    }
    now.error = sum_of(errors);
    for (int i = 0; i < LANES; i++)
        if (outside[i])
            return;
    if (now.error < best->error)
        *best = now;
}

/* the line through codes and values with the least squared error, and its neighbours */
static void fit(const floats *x, grid *best) {
    grid from = *best;
    floats codes = {0}, squares = {0}, values = {0}, products = {0};
    for (int v = 0; v < VECTORS; v++) {
        codes = codes + from.codes[v];
        squares = squares + from.codes[v] * from.codes[v];
        values = values + x[v];
        products = products + from.codes[v] * x[v];
    }
    float code = sum_of(codes), value = sum_of(values);
    float spread = sum_of(squares) - code * code / GROUP;
    if (spread < 1.0f)
        return;
    float slope = (sum_of(products) - code * value / GROUP) / spread;
    float lowest = (value - slope * code) / GROUP;
    float multiplier = rounded_one(slope * 16.0f), offset = rounded_one((lowest + 0.46875f) * -2.0f);
    for (int m = -1; m <= 1; m++)
        for (int o = -1; o <= 1; o++)
            attempt(x, multiplier + (float)m, offset + (float)o, best);
}

static void range_of(const float *row, int count, float *least, float *most) {
    *least = *most = 0.0f;
    for (int i = 0; i < count; i++) {
        *least = row[i] < *least ? row[i] : *least;
        *most = row[i] > *most ? row[i] : *most;
    }
}

/* One group's values, in units of the row's scale: a code for each, and the sum of the weights. */
static int32_t quantize_group(const float *row, float steps, uint8_t *multiplier, uint8_t *offset,
    uint8_t codes[GROUP]) {
    float scaled[GROUP], least, most;
    floats x[VECTORS];
    for (int i = 0; i < GROUP; i++)
        scaled[i] = row[i] * steps;
    memcpy(x, scaled, sizeof x);
    range_of(scaled, GROUP, &least, &most);
    grid best = {.error = __builtin_inff()};
    for (int count = MOST_CODE; count >= FEWEST_STEPS; count--)
        attempt(x, rounded_one((most - least) * 16.0f / (float)count), rounded_one(least * -2.0f), &best);
    for (int i = 0; i < FITS; i++)
        fit(x, &best);
    *multiplier = (uint8_t)best.multiplier;
    *offset = (uint8_t)best.offset;
    int32_t sum = 0;
    for (int i = 0; i < GROUP; i++) {
        codes[i] = (uint8_t)best.codes[i / LANES][i % LANES];
        sum += (int32_t)best.values[i / LANES][i % LANES];
    }
    return sum;
}

/* The same with 6 bits, of 16 values. */
static int32_t quantize_group6(
    const float *row, float steps, uint8_t *multiplier, uint8_t codes[LANES]) {
    float scaled[LANES], least, most, error = __builtin_inff();
    *multiplier = 0; /* one less than the step */
    floats x, best_codes = {0}, best_values = {0};
    for (int i = 0; i < LANES; i++)
        scaled[i] = row[i] * steps;
    memcpy(&x, scaled, sizeof x);
    range_of(scaled, LANES, &least, &most);
    most = larger(-least, most) * 64.0f;
    int last = (int)within(most / FEWEST_STEPS6, 1.0f, MOST_STEP6);
    for (int step = (int)within(most / (MIDDLE6 + 1), 1.0f, MOST_STEP6); step <= last; step++) {
        floats code = rounded(x * (64.0f / (float)step));
        code = chosen(code > -(float)MIDDLE6, code, all(-MIDDLE6));
        code = chosen(code < (float)MOST6, code, all(MOST6));
        floats value = rounded(code * (float)step * 0.015625f + 0.0078125f); /* halves up */
        floats miss = value - x;
        float errors = sum_of(miss * miss);
        if (errors < error) {
            error = errors;
            best_codes = code;
            best_values = value;
            *multiplier = (uint8_t)(step - 1);
        }
    }
    for (int i = 0; i < LANES; i++)
        codes[i] = (uint8_t)(best_codes[i] + MIDDLE6);
    return (int32_t)sum_of(best_values);
}

/* The inputs of output `o` from `begin` on that share a scale. */
static void quantize_part6(const float *row, int begin, int count, int o, uint8_t *panel, float *scale,
    int32_t *offset) {
    float least, most;
    range_of(row + begin, count, &least, &most);
    float largest = larger(-least, most), unit = largest / (MOST6 * MOST_STEP6 / 64.0f);
    float steps = largest > TINY ? 1.0f / unit : 0.0f;
    int32_t sum = 0;
    *scale = largest > TINY ? unit : 0.0f;
    for (int at = begin; at < begin + count; at += LANES) {
        uint8_t codes[LANES], *block = panel + (size_t)(at / 64) * BLOCK6;
        int group = at % 64 / LANES;
        sum += quantize_group6(row + at, steps, block + group * LANES + o, codes);
        for (int i = 0; i < LANES; i++) {
            uint8_t *two = block + 64 + (at % 64 + i) / 8 * 64 + o * 4 + i % 4;
            uint8_t *four = block + 64 + 512 + group * 64 + o * 4 + i % 4;
            *two = (uint8_t)(i % 8 < 4 ? codes[i] & 15 : *two | codes[i] << 4);
            *four = (uint8_t)((i < 4 ? 0 : *four) | codes[i] >> 4 << i / 4 * 2);
        }
    }
    *offset = ZERO_POINT * sum;
}

/* Output `o` of a panel, and its inputs from `begin` on that share a scale. */
static void quantize_part(const float *row, int begin, int count, int o, uint8_t *panel, float *scale,
    int32_t *offset) {
    float largest = 0.0f, span = 0.0f, least, most;
    for (int i = 0; i < count; i += GROUP) {
        range_of(row + begin + i, GROUP, &least, &most);
        largest = larger(larger(-least, most), largest);
        span = larger(most - least, span);
    }
    /* weights are at most 127, multipliers 255 / 16 */
    float unit = largest / 127.0f, wide = span / (MOST_CODE * MOST_BYTE / 16.0f);
    unit = larger(wide, unit);
    *scale = largest > TINY ? unit : 0.0f;
    float steps = largest > TINY ? 1.0f / unit : 0.0f;
    int32_t sum = 0;
    for (int at = begin; at < begin + count; at += GROUP) {
        uint8_t codes[GROUP], *block = panel + (size_t)(at / 64) * BLOCK4;
        uint8_t *of_group = block + at % 64 / GROUP * 32 + 2 * o;
        sum += quantize_group(row + at, steps, of_group, of_group + 1, codes);
        for (int i = 0; i < GROUP; i++) {
            uint8_t *two = block + 64 + (at % 64 + i) / 8 * 64 + o * 4 + i % 4;
            *two = (uint8_t)(i % 8 < 4 ? codes[i] : *two | codes[i] << 4);
        }
    }
    *offset = ZERO_POINT * sum;
}

int specedit_quantize(const float *rows, int outputs, int inputs, int group_size, int bits,
    uint8_t *panels, float *scales, int32_t *offsets) {
    if (!rows || !panels || !scales || !offsets || outputs < LANES || outputs % LANES || inputs < 64
        || inputs % 64 || group_size < 64 || group_size % 64 || (bits != 4 && bits != 6))
        return SPECEDIT_BAD_ARGUMENT;
    int groups = (inputs + group_size - 1) / group_size;
    for (int output = 0; output < outputs; output++)
        for (int g = 0; g < groups; g++) {
            int begin = g * group_size, left = inputs - begin, o = output % LANES;
            size_t panel = (size_t)(output / LANES), number = (panel * groups + g) * LANES + o;
            (bits == 4 ? quantize_part : quantize_part6)(rows + (size_t)output * inputs, begin,
                left < group_size ? left : group_size, o,
                panels + panel * (inputs / 64) * block_of(bits), scales + number, offsets + number);
        }
    return SPECEDIT_OK;
}
