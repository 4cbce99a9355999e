/* x86-64 with AMX: tiles of 16 rows by 64 bytes. Narrow products are as with AVX-512 VNNI.
 *
 * 64 inputs of a panel are one tile as they lie, 16 rows of activations another, and their product 16
 * rows of sums. Two by two of them are active, so that each tile is read for two products.
 */
#include "variant.h"

#include <immintrin.h>
#include <string.h>

#include "amx_tiles.h"
#include "amx_gemm16.h"
#include "avx512vnni.h"

enum {
    FEW = 5,       /* fewer rows than this waste more of a tile than they save, */
    SHORT = 256,   /* and fewer inputs more time on reading and writing sums */
    PART = 512,    /* inputs of four panels and 32 rows that the first cache holds */
};

/* lines of the `panels` panels that come next: as many of each, `rate` at a time, evenly, for a burst
 * holds up the tiles' own reading */
typedef struct {
    const int8_t *at;
    size_t step;
    int left, rate, panels;
} wanted;

static inline int lines_now(wanted *next) {
    int now = next->left < next->rate ? next->left : next->rate;
    next->left -= now;
    return now;
}

/* of a tile of weights: into the second cache long before, and into the first one right before */
static inline void fetch_far(const int8_t *from, int lines) {
    for (int i = 0; i < lines; i++)
        _mm_prefetch((const char *)from + i * 64, _MM_HINT_T1);
}

static inline void fetch_near(const int8_t *from) {
    for (int i = 0; i < TILE_ROWS; i++)
        _mm_prefetch((const char *)from + i * 64, _MM_HINT_T0);
}

/* a share of the lines of two of the next panels, if there are so many */
static inline void fetch_two(const wanted *next, int first, int lines) {
    for (int p = first; p < first + 2 && p < next->panels; p++)
        fetch_far(next->at + (size_t)p * next->step, lines);
}

/* where the sums of a low and a high tile of rows and two panels are */
typedef struct {
    int32_t *a, *b; /* of the low rows */
    size_t high;    /* from there to the high ones */
} sums_of_four;

static inline void begin_four(const sums_of_four *sums, int first, int high) {
    if (first) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        return;
    }
    _tile_loadd(0, sums->a, 64);
    _tile_loadd(1, sums->b, 64);
    if (high) {
        _tile_loadd(2, sums->a + sums->high, 64);
        _tile_loadd(3, sums->b + sums->high, 64);
    }
}

static inline void end_four(const sums_of_four *sums, int high) {
    _tile_stored(0, sums->a, 64);
    _tile_stored(1, sums->b, 64);
    if (high) {
        _tile_stored(2, sums->a + sums->high, 64);
        _tile_stored(3, sums->b + sums->high, 64);
    }
}

/* two panels by up to 32 rows, of which those in `high` (or null) are behind 16 */
static void tiles_4(const uint8_t *low, const uint8_t *high, size_t stride, const int8_t *a,
    const int8_t *b, int inputs, const sums_of_four *sums, int first, wanted *next) {
    begin_four(sums, first, high != 0);
    for (int i = 0; i < inputs; i += 64) {
        int lines = lines_now(next);
        _tile_loadd(6, a + (size_t)i * LANES, 64);
        _tile_loadd(4, low + i, (long)stride);
        _tile_dpbusd(0, 4, 6);
        fetch_two(next, 0, lines);
        _tile_loadd(7, b + (size_t)i * LANES, 64);
        _tile_dpbusd(1, 4, 7);
        if (high) {
            _tile_loadd(5, high + i, (long)stride);
            _tile_dpbusd(2, 5, 6);
            _tile_dpbusd(3, 5, 7);
        }
        fetch_two(next, 2, lines);
        next->at += (size_t)lines * 64;
    }
    end_four(sums, high != 0);
}

/* up to 16 rows and four panels, so that four streams of weights are active */
static void tiles_of_four(const uint8_t *rows, size_t stride, const int8_t *panel, size_t step,
    int inputs, int32_t *sums, size_t sums_step, wanted *next) {
    enum { NEAR = TILE_ROWS * 64 }; /* a panel's next tile */
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int i = 0; i < inputs; i += 64) {
        const int8_t *at = panel + (size_t)i * LANES, *far = next->at;
        int lines = lines_now(next);
        _tile_loadd(4, rows + i, (long)stride);
        fetch_far(far, lines);
        fetch_near(at + NEAR);
        _tile_loadd(5, at, 64);
        _tile_dpbusd(0, 4, 5);
        fetch_far(far + next->step, lines);
        fetch_near(at + step + NEAR);
        _tile_loadd(6, at + step, 64);
        _tile_dpbusd(1, 4, 6);
        fetch_far(far + 2 * next->step, lines);
        fetch_near(at + 2 * step + NEAR);
        _tile_loadd(7, at + 2 * step, 64);
        _tile_dpbusd(2, 4, 7);
        fetch_far(far + 3 * next->step, lines);
        fetch_near(at + 3 * step + NEAR);
        _tile_loadd(5, at + 3 * step, 64);
        _tile_dpbusd(3, 4, 5);
        next->at += (size_t)lines * 64;
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + sums_step, 64);
    _tile_stored(2, sums + 2 * sums_step, 64);
    _tile_stored(3, sums + 3 * sums_step, 64);
}

/* The same of panels of 4 or 6 bits: while the tiles of 64 inputs are multiplied, the next 64 are expanded */
static void tiles_of_four_packed(const uint8_t *rows, size_t stride, const int8_t *panel, size_t step,
    int inputs, int bits, int32_t *sums, size_t sums_step, const int8_t *ahead) {
    enum { SOON = 4 };
    int8_t expanded_blocks[2][4][BLOCK8] __attribute__((aligned(64)));
    const int size = block_of(bits);
    const int8_t *end = panel + (size_t)(inputs / 64) * size;
    ptrdiff_t far = SOON * size;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int p = 0; p < 4; p++)
        expand_block((const uint8_t *)panel + p * step, bits, expanded_blocks[0][p]);
    for (int i = 0; i < inputs; i += 64) {
        int8_t(*now)[BLOCK8] = expanded_blocks[i / 64 % 2], (*next)[BLOCK8] = expanded_blocks[1 - i / 64 % 2];
        panel += size;
        if (end - panel == SOON * size)
            far = ahead ? ahead - panel : 0;
        _tile_loadd(4, rows + i, (long)stride);
        _tile_loadd(5, now[0], 64);
        _tile_dpbusd(0, 4, 5);
        _tile_loadd(6, now[1], 64);
        _tile_dpbusd(1, 4, 6);
        _tile_loadd(7, now[2], 64);
        _tile_dpbusd(2, 4, 7);
        _tile_loadd(5, now[3], 64);
        _tile_dpbusd(3, 4, 5);
        if (panel == end)
            break;
        for (int p = 0; p < 4; p++) {
            const int8_t *block = panel + p * step;
            for (int line = 0; line < size; line += 64)
                _mm_prefetch((const char *)block + far + line, _MM_HINT_T0);
            expand_block((const uint8_t *)block, bits, next[p]);
        }
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + sums_step, 64);
    _tile_stored(2, sums + 2 * sums_step, 64);
    _tile_stored(3, sums + 3 * sums_step, 64);
}

/* The same of panels of 4 or 6 bits, which stay in to_a and to_b with 8 */
static void tiles_4_expanded(const uint8_t *low, const uint8_t *high, size_t stride, const uint8_t *a,
    const uint8_t *b, int inputs, int bits, const sums_of_four *sums, int first, int8_t *to_a,
    int8_t *to_b, wanted *next) {
    const int size = block_of(bits), soon = 4 * size;
    begin_four(sums, first, high != 0);
    expand_block(a, bits, to_a);
    expand_block(b, bits, to_b);
    for (int i = 0; i < inputs; i += 64, to_a += BLOCK8, to_b += BLOCK8) {
        int lines = lines_now(next);
        _tile_loadd(6, to_a, 64);
        _tile_loadd(4, low + i, (long)stride);
        _tile_dpbusd(0, 4, 6);
        _tile_loadd(7, to_b, 64);
        _tile_dpbusd(1, 4, 7);
        if (high) {
            _tile_loadd(5, high + i, (long)stride);
            _tile_dpbusd(2, 5, 6);
            _tile_dpbusd(3, 5, 7);
        }
        if (i + 64 == inputs)
            break;
        a += size;
        b += size;
        for (int line = 0; line < size; line += 64) {
            _mm_prefetch((const char *)a + soon + line, _MM_HINT_T0);
            _mm_prefetch((const char *)b + soon + line, _MM_HINT_T0);
        }
        fetch_two(next, 0, lines);
        expand_block(a, bits, to_a + BLOCK8);
        fetch_two(next, 2, lines);
        expand_block(b, bits, to_b + BLOCK8);
        next->at += (size_t)lines * 64;
    }
    end_four(sums, high != 0);
}

/* Two panels by up to 32 rows after another. Where there are more rows, and others that fetch their share of the
 * next panels, so many inputs come at a time that all panels' stay in the first cache for them. With `expanded` the panels have 4 or 6 bits: the first rows
 * leave them there with 8 bits, for the others. */
static void by_pairs(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step, int lines, int bits,
    int8_t *expanded) {
    size_t sums_step = (size_t)count * LANES, size = (size_t)inputs * LANES;
    int part = count > 2 * TILE_ROWS && lines * 2 <= inputs / 4 ? PART : inputs;
    int shaped_low = 0, shaped_high = 0;
    int steps = inputs / 64 * ((count + 2 * TILE_ROWS - 1) / (2 * TILE_ROWS)) * (panels / 2);
    wanted next = {ahead, ahead_step, lines, (lines + steps - 1) / steps, panels};
    for (int i = 0; i < inputs; i += part) {
        int now = inputs - i < part ? inputs - i : part;
        for (int r = 0; r < count;) {
            int left = count - r, low = left < TILE_ROWS ? left : TILE_ROWS;
            int high = left - low < TILE_ROWS ? left - low : TILE_ROWS;
            if (low != shaped_low || (high && high != shaped_high)) {
                shape_tiles(low, high);
                shaped_low = low;
                shaped_high = high;
            }
            const uint8_t *from = rows + (size_t)r * stride + i;
            const uint8_t *upper = high ? from + (size_t)low * stride : 0;
            for (int p = 0; p < panels; p += 2) {
                int32_t *sums_a = sums + (size_t)p * sums_step + (size_t)r * LANES;
                const sums_of_four to = {sums_a, sums_a + sums_step, (size_t)low * LANES};
                int8_t *to_a = expanded + (size_t)p * size + (size_t)i * LANES, *to_b = to_a + size;
                const int8_t *a = panel + (size_t)p * step + (size_t)(i / 64) * block_of(bits);
                if (!expanded)
                    tiles_4(from, upper, stride, a, a + step, now, &to, !i, &next);
                else if (r)
                    tiles_4(from, upper, stride, to_a, to_b, now, &to, !i, &next);
                else
                    tiles_4_expanded(from, upper, stride, (const uint8_t *)a, (const uint8_t *)a + step,
                        now, bits, &to, !i, to_a, to_b, &next);
            }
            r += low + high;
        }
    }
    _tile_release();
}

static void gemm8(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines) {
    int steps = inputs / 64;
    if (count < FEW || inputs < SHORT || panels % 2)
        vnni_gemm8(
            rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines);
    else if (count <= TILE_ROWS && panels == 4) {
        shape_four(count);
        wanted next = {ahead, ahead_step, lines, (lines + steps - 1) / steps, 4};
        tiles_of_four(rows, stride, panel, step, inputs, sums, (size_t)count * LANES, &next);
        _tile_release();
    } else
        by_pairs(
            rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines, 8, 0);
}

static void packed(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step, int lines, int bits,
    int keep, int8_t *expanded) {
    if (count < FEW || panels % 2 || (!keep && panels != 4))
        vnni_packed(rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines, bits,
            keep, expanded);
    else if (!keep) {
        shape_four(count);
        tiles_of_four_packed(
            rows, stride, panel, step, inputs, bits, sums, (size_t)count * LANES, lines ? ahead : 0);
        _tile_release();
    } else
        by_pairs(rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines, bits,
            expanded);
}

#define VARIANT amx
#define VARIANT_PACKED packed
#define VARIANT_ADD_VALUES add_values
#include "rows.h"
