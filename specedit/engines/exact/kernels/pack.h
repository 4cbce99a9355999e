/* Weights of 4 or 6 bits from floats, with the least squared error that a search finds.
 *
 * A row's scale is the smallest that any of its groups of 32 inputs can do with. In units of it a group
 * has a step of sixteenths (the multiplier) and a lowest value of halves (the offset). The weights of most
 * files lie on a grid of 16 values themselves, of which a group may use fewer: the search begins with
 * the grids on which the group's range is 15 to 9 steps, and then fits a line to codes and values. With 6 bits
 * a group of 16 inputs has a step of 64ths alone, and all that may be right are tried.
 *
 * A lane of all vectors is one output of a panel. One IEEE operation after the other, as in rows.h: the same
 * weights on every machine. */
#ifndef PACK_H
#define PACK_H

#include "vectors.h"

enum { GROUP = 32, GROUP6 = 16, MOST_CODE = 15, MOST_BYTE = 255, FEWEST_STEPS = 9, FITS = 2 };
enum { MIDDLE6 = 32, MOST6 = 31, MOST_STEP6 = 255, FEWEST_STEPS6 = 24 };

typedef struct {
    floats multiplier, offset, error;
} grid;

typedef struct {
    floats x[GROUP], least, most; /* of x */
} group;

INLINE floats rounded(floats x) { return (x + MAGIC) - MAGIC; }
INLINE floats within(floats x, float least, float most) {
    return smaller(larger(x, all(least)), all(most));
}
INLINE floats chosen(ints which, floats a, floats b) {
    return (floats)((which & (ints)a) | (~which & (ints)b));
}
INLINE ints to_ints(floats x) { return __builtin_convertvector(x, ints); }

/* lanes are sums of 16 parts, which are added in halves */
INLINE floats sum_of_parts(floats part[LANES]) {
    for (int width = LANES / 2; width; width /= 2)
        for (int i = 0; i < width; i++)
            part[i] = part[i] + part[i + width];
    return part[0];
}

/* Weights are rounded down, so the middle of those of a code is half of a unit above. All of this but the
 * product with `steps` is exact. */
typedef struct {
    floats begin, steps, step;
} rule;

INLINE rule rule_of(const grid *on) {
    return (rule){on->offset * 0.5f + 0.46875f, 16.0f / larger(on->multiplier, all(1.0f)),
        on->multiplier * 0.0625f};
}

INLINE floats code_of(const rule *by, floats x) {
    return within(rounded((x + by->begin) * by->steps), 0.0f, MOST_CODE);
}

/* sixteenths, rounded down */
INLINE floats weight_of(const rule *by, floats code) { return rounded(code * by->step - by->begin); }

/* where `allowed`, `best` becomes the grid of this multiplier and offset if that is nearer to the values */
static void attempt(const group *of, ints allowed, floats multiplier, floats offset, grid *best) {
    grid now = {within(multiplier, 0.0f, MOST_BYTE), within(offset, 0.0f, MOST_BYTE), all(0.0f)};
    rule by = rule_of(&now);
    floats squares[LANES];
    for (int i = 0; i < LANES; i++) {
        floats a = weight_of(&by, code_of(&by, of->x[i])) - of->x[i];
        floats b = weight_of(&by, code_of(&by, of->x[i + LANES])) - of->x[i + LANES];
        squares[i] = a * a + b * b;
    }
    now.error = sum_of_parts(squares);
    floats first = weight_of(&by, code_of(&by, of->least)), last = weight_of(&by, code_of(&by, of->most));
    ints better = (now.error < best->error) & (first >= -127.0f) & (last <= 127.0f) & allowed;
    best->multiplier = chosen(better, now.multiplier, best->multiplier);
    best->offset = chosen(better, now.offset, best->offset);
    best->error = chosen(better, now.error, best->error);
}

/* the line through codes and values with the least squared error, and its neighbours */
static void fit(const group *of, grid *best) {
    floats codes[LANES], squares[LANES], values[LANES], products[LANES];
    rule by = rule_of(best);
    for (int i = 0; i < LANES; i++) {
        floats x = of->x[i], y = of->x[i + LANES], a = code_of(&by, x), b = code_of(&by, y);
        codes[i] = a + b;
        squares[i] = a * a + b * b;
        values[i] = x + y;
        products[i] = a * x + b * y;
    }
    floats code = sum_of_parts(codes), value = sum_of_parts(values);
    floats spread = sum_of_parts(squares) - code * code / (float)GROUP;
    ints allowed = (spread >= 1.0f) & (best->error < __builtin_inff());
    floats slope = (sum_of_parts(products) - code * value / (float)GROUP) / spread;
    floats lowest = (value - slope * code) / (float)GROUP;
    floats multiplier = rounded(slope * 16.0f), offset = rounded((lowest + 0.46875f) * -2.0f);
    for (int m = -1; m <= 1; m++)
        for (int o = -1; o <= 1; o++)
            attempt(of, allowed, multiplier + (float)m, offset + (float)o, best);
}

/* inputs of 16 rows, side by side */
INLINE void turned(const float *rows, size_t stride, int inputs, float times[LANES], floats *x) {
    for (int i = 0; i < inputs; i++) {
        float lane[LANES];
        for (int o = 0; o < LANES; o++)
            lane[o] = rows[o * stride + i] * times[o];
        x[i] = load(lane);
    }
}

INLINE void range_of(const floats *x, int count, floats *least, floats *most) {
    *least = *most = all(0.0f);
    for (int i = 0; i < count; i++) {
        *least = smaller(x[i], *least);
        *most = larger(x[i], *most);
    }
}

/* four bits of 8 inputs: the first four in the lower halves of the bytes, the others in the upper ones */
INLINE void put_codes(const ints *codes, uint8_t *to) {
    ints bytes = {0};
    for (int i = 0; i < 8; i++)
        bytes |= (codes[i] & 15) << (i % 4 * 8 + i / 4 * 4);
    memcpy(to, &bytes, sizeof bytes);
}

/* A group's values, in units of the rows' scales; returns the sums of the weights. */
static ints pack_group(const floats *x, uint8_t *bytes, uint8_t *to) {
    group of = {.least = x[0], .most = x[0]};
    for (int i = 0; i < GROUP; i++) {
        of.x[i] = x[i];
        of.least = smaller(x[i], of.least);
        of.most = larger(x[i], of.most);
    }
    floats least = smaller(of.least, all(0.0f)), range = larger(of.most, all(0.0f)) - least;
    grid best = {all(0.0f), all(0.0f), all(__builtin_inff())};
    for (int count = MOST_CODE; count >= FEWEST_STEPS; count--)
        attempt(&of, ~(ints){0}, rounded(range * 16.0f / (float)count), rounded(least * -2.0f), &best);
    for (int i = 0; i < FITS; i++)
        fit(&of, &best);
    ints sum = {0}, codes[GROUP], there = best.error < __builtin_inff();
    rule by = rule_of(&best);
    for (int i = 0; i < GROUP; i++) {
        floats code = code_of(&by, x[i]);
        codes[i] = there & to_ints(code);
        sum += there & to_ints(weight_of(&by, code));
    }
    middle_unsigned both = __builtin_convertvector(
        to_ints(best.multiplier) | to_ints(best.offset) << 8, middle_unsigned);
    memcpy(bytes, &both, sizeof both);
    for (int i = 0; i < GROUP; i += 8)
        put_codes(codes + i, to + i * 8);
    return sum;
}

/* The same with 6 bits, of 16 values; `upper` are the codes' upper two bits. */
static ints pack_group6(const floats *x, uint8_t *bytes, uint8_t *to, uint8_t *upper) {
    floats least, most, error = all(__builtin_inff()), best = all(1.0f), squares[LANES];
    range_of(x, GROUP6, &least, &most);
    most = larger(-least, most) * 64.0f;
    floats step = to_floats(to_ints(within(most / (float)(MIDDLE6 + 1), 1.0f, MOST_STEP6)));
    floats last = to_floats(to_ints(within(most / (float)FEWEST_STEPS6, 1.0f, MOST_STEP6)));
    for (; any_larger(last - step, -0.5f); step = step + 1.0f) {
        floats each = 64.0f / step;
        for (int i = 0; i < GROUP6; i++) {
            floats code = within(rounded(x[i] * each), -MIDDLE6, MOST6);
            floats value = rounded(code * step * 0.015625f + 0.0078125f); /* halves up */
            squares[i] = (value - x[i]) * (value - x[i]);
        }
        floats errors = sum_of_parts(squares);
        ints better = (errors < error) & (step <= last);
        error = chosen(better, errors, error);
        best = chosen(better, step, best);
    }
    ints sum = {0}, codes[GROUP6], high = {0};
    floats each = 64.0f / best;
    for (int i = 0; i < GROUP6; i++) {
        floats code = within(rounded(x[i] * each), -MIDDLE6, MOST6);
        sum += to_ints(rounded(code * best * 0.015625f + 0.0078125f));
        codes[i] = to_ints(code) + MIDDLE6;
        high |= codes[i] >> 4 << (i % 4 * 8 + i / 4 * 2);
    }
    small one = __builtin_convertvector(to_ints(best) - 1, small);
    memcpy(bytes, &one, sizeof one);
    put_codes(codes, to);
    put_codes(codes + 8, to + 64);
    memcpy(upper, &high, sizeof high);
    return sum;
}

static void rows_pack(const float *rows, size_t stride, int count, int bits, uint8_t *panel, float *scales,
    int32_t *offsets) {
    floats x[64], least, most, largest = all(0.0f), span = all(0.0f);
    float times[LANES];
    store(times, all(1.0f));
    for (int at = 0; at < count; at += GROUP) {
        turned(rows + at, stride, GROUP, times, x);
        range_of(x, GROUP, &least, &most);
        largest = larger(larger(-least, most), largest);
        span = larger(most - least, span);
    }
    /* weights are at most 127, multipliers 255 / 16 */
    floats unit = larger(span / (MOST_CODE * MOST_BYTE / 16.0f), largest / 127.0f);
    if (bits == 6)
        unit = largest / (MOST6 * MOST_STEP6 / 64.0f);
    ints there = largest > TINY, sum = {0};
    store(scales, (floats)(there & (ints)unit));
    store(times, (floats)(there & (ints)(1.0f / unit)));
    for (int at = 0; at < count; at += 64, panel += block_of(bits)) {
        turned(rows + at, stride, 64, times, x);
        for (int group = 0; bits == 4 && group < 2; group++)
            sum += pack_group(x + group * GROUP, panel + group * 32, panel + 64 + group * 256);
        for (int group = 0; bits == 6 && group < 4; group++)
            sum += pack_group6(x + group * GROUP6, panel + group * 16, panel + 64 + group * 128,
                panel + 64 + 512 + group * 64);
    }
    sum *= ZERO_POINT;
    memcpy(offsets, &sum, sizeof sum);
}

#endif
