/* Products of 16-bit queries and keys on AMX's tiles of bytes.
 *
 * A 16-bit integer is 256 times a signed byte plus an unsigned one, so a product of shorts is four of
 * bytes. Their sums are put together modulo 2^32, where the whole sum lies.
 */
#include "amx_tiles.h"
#include "avx512vnni.h"
#include "variant.h"

enum {
    FEW_GEMM16 = 24,            /* fewer rows than this do not pay for splitting the keys */
    MOST_GEMM16 = 2 * MAX_HALF, /* inputs */
};

/* 16-bit integers as bytes: the lower ones of 64 shorts that lie in `a` and `b`, and the upper ones. */
typedef struct {
    __m512i low, high;
} split_bytes;

/* in the order they lie in: two rows of 32 shorts make one of 64 bytes */
INLINE_BLOCK split_bytes split_row(__m512i a, __m512i b) {
    static const uint8_t even[64] __attribute__((aligned(64))) = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18,
        20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64,
        66, 68, 70, 72, 74, 76, 78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108,
        110, 112, 114, 116, 118, 120, 122, 124, 126};
    __m512i order = _mm512_load_si512(even);
    __m512i one = _mm512_set1_epi8(1);
    return (split_bytes){_mm512_permutex2var_epi8(a, order, b),
        _mm512_permutex2var_epi8(a, _mm512_or_si512(order, one), b)};
}

/* of a panel of keys, [pair][16 keys][2]: two gemm16 make [16 keys][4 bytes] */
INLINE_BLOCK split_bytes split_keys(__m512i a, __m512i b) {
    static const uint8_t fours[64] __attribute__((aligned(64))) = {0, 2, 64, 66, 4, 6, 68, 70, 8, 10,
        72, 74, 12, 14, 76, 78, 16, 18, 80, 82, 20, 22, 84, 86, 24, 26, 88, 90, 28, 30, 92, 94, 32,
        34, 96, 98, 36, 38, 100, 102, 40, 42, 104, 106, 44, 46, 108, 110, 48, 50, 112, 114, 52, 54,
        116, 118, 56, 58, 120, 122, 60, 62, 124, 126};
    __m512i order = _mm512_load_si512(fours);
    __m512i one = _mm512_set1_epi8(1);
    return (split_bytes){_mm512_permutex2var_epi8(a, order, b),
        _mm512_permutex2var_epi8(a, _mm512_or_si512(order, one), b)};
}

/* Up to 16 rows against one panel: low low, low high, high low and high high sums. */
static void tiles_gemm16(const uint8_t (*low)[MOST_GEMM16], const uint8_t (*high)[MOST_GEMM16],
    const uint8_t *key_low, const uint8_t *key_high, int inputs, int32_t parts[4][TILE_ROWS * LANES]) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int i = 0; i < inputs; i += 64) {
        _tile_loadd(4, *low + i, MOST_GEMM16);
        _tile_loadd(6, key_low + (size_t)i * LANES, 64);
        _tile_dpbuud(0, 4, 6);
        _tile_loadd(7, key_high + (size_t)i * LANES, 64);
        _tile_dpbusd(1, 4, 7);
        _tile_loadd(5, *high + i, MOST_GEMM16);
        _tile_dpbsud(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_stored(0, parts[0], 64);
    _tile_stored(1, parts[1], 64);
    _tile_stored(2, parts[2], 64);
    _tile_stored(3, parts[3], 64);
}

static void gemm16(const int16_t *rows, size_t stride, int count, const int16_t *panel, size_t step,
    int panels, int inputs, int32_t *sums) {
    enum { TOGETHER = 4 * TILE_ROWS };
    static const int SHORTS = 32; /* of a vector */
    if (count < FEW_GEMM16 || inputs > MOST_GEMM16) {
        vnni_gemm16(rows, stride, count, panel, step, panels, inputs, sums);
        return;
    }
    uint8_t low[TOGETHER][MOST_GEMM16] __attribute__((aligned(64)));
    uint8_t high[TOGETHER][MOST_GEMM16] __attribute__((aligned(64)));
    uint8_t key_low[MOST_GEMM16 * LANES] __attribute__((aligned(64)));
    uint8_t key_high[MOST_GEMM16 * LANES] __attribute__((aligned(64)));
    int32_t parts[4][TILE_ROWS * LANES] __attribute__((aligned(64)));
    size_t sums_step = (size_t)count * LANES;
    const __m512i nothing = _mm512_setzero_si512();
    for (int from = 0, many; from < count; from += many) {
        many = count - from < TOGETHER ? count - from : TOGETHER;
        for (int r = 0; r < many; r++)
            for (int i = 0; i < inputs; i += 64) {
                const int16_t *at = rows + (size_t)(from + r) * stride + i;
                split_bytes row = split_row(_mm512_loadu_si512(at),
                    i + SHORTS < inputs ? _mm512_loadu_si512(at + SHORTS) : nothing);
                _mm512_store_si512(low[r] + i, row.low);
                _mm512_store_si512(high[r] + i, row.high);
            }
        int shaped = 0;
        for (int p = 0; p < panels; p++) {
            const int16_t *at = panel + (size_t)p * step;
            for (int i = 0; i < inputs; i += 4) {
                split_bytes keys = split_keys(_mm512_loadu_si512(at + (size_t)i * LANES),
                    _mm512_loadu_si512(at + (size_t)(i + 2) * LANES));
                _mm512_store_si512(key_low + (size_t)i * LANES, keys.low);
                _mm512_store_si512(key_high + (size_t)i * LANES, keys.high);
            }
            for (int i = inputs; i % 64; i += 4) { /* to the end of a tile: times rows' zeros */
                _mm512_store_si512(key_low + (size_t)i * LANES, nothing);
                _mm512_store_si512(key_high + (size_t)i * LANES, nothing);
            }
            int32_t *to = sums + (size_t)p * sums_step + (size_t)from * LANES;
            for (int r = 0, now; r < many; r += now, to += (size_t)now * LANES) {
                now = many - r < TILE_ROWS ? many - r : TILE_ROWS;
                if (now != shaped)
                    shape_tiles(now, now);
                shaped = now;
                tiles_gemm16(low + r, high + r, key_low, key_high, inputs, parts);
                for (int i = 0; i < now * LANES; i += LANES) {
                    __m512i middle = _mm512_add_epi32(
                        _mm512_load_si512(parts[1] + i), _mm512_load_si512(parts[2] + i));
                    __m512i upper = _mm512_slli_epi32(_mm512_load_si512(parts[3] + i), 8);
                    _mm512_store_si512(to + i,
                        _mm512_add_epi32(_mm512_load_si512(parts[0] + i),
                            _mm512_slli_epi32(_mm512_add_epi32(middle, upper), 8)));
                }
            }
        }
    }
    _tile_release();
}

/* Weights of 16 rows times up to four blocks of a panel of values into tiles 0 to 3. */
INLINE_BLOCK void tiles_values(
    const uint8_t *weights, const int8_t *values, size_t block_step, int blocks) {
#define ONE_BLOCK(b)                                                                                \
    _tile_zero(b);                                                                                 \
    if (b < blocks) {                                                                              \
        _tile_loadd(4, weights + b * BLOCK, TILE);                                                 \
        _tile_loadd(5, values + b * block_step, 64);                                               \
        _tile_dpbusd(b, 4, 5);                                                                     \
    }
    ONE_BLOCK(0) ONE_BLOCK(1) ONE_BLOCK(2) ONE_BLOCK(3)
#undef ONE_BLOCK
}

static void add_values(const uint8_t *weights, const float *units, int count, const int8_t *values,
    int panels, int blocks, float *output) {
    enum { FOUR = 4, UNITS = TILE / BLOCK };
    int32_t sums[2][FOUR][TILE_ROWS * LANES] __attribute__((aligned(64)));
    size_t block_step = (size_t)panels * BLOCK * LANES, stride = (size_t)panels * LANES;
    int whole = count / TILE_ROWS * TILE_ROWS;
    if (whole)
        shape_tiles(TILE_ROWS, TILE_ROWS);
    for (int r = 0; r < whole; r += TILE_ROWS)
        for (int p = 0; p < panels; p++) {
            const uint8_t *row = weights + (size_t)r * TILE;
            const int8_t *value = values + (size_t)p * BLOCK * LANES;
            float *to = output + (size_t)r * stride + p * LANES;
            __m512 mixed[TILE_ROWS];
            UNROLLED for (int q = 0; q < TILE_ROWS; q++) mixed[q] =
                _mm512_loadu_ps(to + (size_t)q * stride);
            tiles_values(row, value, block_step, blocks);
            for (int b = 0; b < blocks; b += FOUR) {
                int32_t(*now)[TILE_ROWS * LANES] = sums[b / FOUR & 1];
                int many = blocks - b < FOUR ? blocks - b : FOUR;
                _tile_stored(0, now[0], 64);
                _tile_stored(1, now[1], 64);
                _tile_stored(2, now[2], 64);
                _tile_stored(3, now[3], 64);
                if (b + FOUR < blocks) /* they multiply while the sums so far are added */
                    tiles_values(row + (b + FOUR) * BLOCK, value + (size_t)(b + FOUR) * block_step,
                        block_step, blocks - b - FOUR);
                for (int f = 0; f < many; f++) {
                    const float *unit = units + (size_t)r * UNITS + b + f;
                    UNROLLED for (int q = 0; q < TILE_ROWS; q++) {
                        __m512 sum = _mm512_cvtepi32_ps(_mm512_load_si512(now[f] + q * LANES));
                        mixed[q] = _mm512_add_ps(
                            mixed[q], _mm512_mul_ps(sum, _mm512_set1_ps(unit[q * UNITS])));
                    }
                }
            }
            UNROLLED for (int q = 0; q < TILE_ROWS; q++)
                _mm512_storeu_ps(to + (size_t)q * stride, mixed[q]);
        }
    if (whole)
        _tile_release();
    if (whole < count)
        vnni_add_values(weights + (size_t)whole * TILE, units + (size_t)whole * UNITS, count - whole,
            values, panels, blocks, output + (size_t)whole * stride);
}
