/* gemm8 and gemm16 for variants that define them for a block: R rows by P panels in registers.
 *
 * Included after `gemm8_block` and `gemm16_block`; ROWS is how many rows of one panel fit. The outer loop
 * is over panels, so a panel stays in L1 while all rows use it. Few rows take more panels at once, so
 * that more sums and streams of weights are active. A variant with a gemm8 of its own for many rows names this
 * one with GEMM8_NAME. */

#ifndef GEMM8_NAME
#define GEMM8_NAME gemm8
#endif

#define GEMM8(R, P) gemm8_block(R, P, row, stride, at, step, inputs, to, sums_step)
#define GEMM16(R, P) gemm16_block(R, P, row, stride, at, step, inputs, to, sums_step)

/* one case for each block: its sizes are constants where it is inlined */
#define EACH_BLOCK(CASE_OF)                                                                       \
    switch (16 * now + many) {                                                                     \
    case 16 + 4: CASE_OF(1, 4); break;                                                            \
    case 32 + 2: CASE_OF(2, 2); break;                                                            \
    case 48 + 2: CASE_OF(3, 2); break;                                                            \
    case 16 + 1: CASE_OF(1, 1); break;                                                            \
    case 32 + 1: CASE_OF(2, 1); break;                                                            \
    case 48 + 1: CASE_OF(3, 1); break;                                                            \
    case 64 + 1: CASE_OF(4, 1); break;                                                            \
    case 80 + 1: if (ROWS >= 5) CASE_OF(ROWS >= 5 ? 5 : 1, 1); break;                             \
    case 96 + 1: if (ROWS >= 6) CASE_OF(ROWS >= 6 ? 6 : 1, 1); break;                             \
    }

/* `left` rows in as few blocks as can be, of about the same size */
static inline int rows_now(int left) {
    int blocks = (left + ROWS - 1) / ROWS;
    return (left + blocks - 1) / blocks;
}

static inline int panels_now(int count, int left) {
    return count == 1 && left >= 4 ? 4 : (count == 2 || count == 3) && left >= 2 ? 2 : 1;
}

static void GEMM8_NAME(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines) {
    const size_t sums_step = (size_t)count * LANES;
    for (int p = 0, many; p < panels; p += many) {
        int asked = 0;
        many = panels_now(count, panels - p);
        for (int r = 0, now; r < count; r += now) {
            const uint8_t *row = rows + (size_t)r * stride;
            const int8_t *at = panel + (size_t)p * step;
            int32_t *to = sums + (size_t)p * sums_step + (size_t)r * LANES;
            now = rows_now(count - r);
            for (; asked < lines * (r + now) / count; asked++) /* a share before each block */
                for (int q = p; q < p + many; q++)
                    __builtin_prefetch(ahead + (size_t)q * ahead_step + 64 * asked, 0, 2);
            EACH_BLOCK(GEMM8)
        }
    }
}

static void gemm16(const int16_t *rows, size_t stride, int count, const int16_t *panel, size_t step,
    int panels, int inputs, int32_t *sums) {
    const size_t sums_step = (size_t)count * LANES;
    for (int p = 0, many; p < panels; p += many) {
        many = panels_now(count, panels - p);
        for (int r = 0, now; r < count; r += now) {
            const int16_t *row = rows + (size_t)r * stride, *at = panel + (size_t)p * step;
            int32_t *to = sums + (size_t)p * sums_step + (size_t)r * LANES;
            now = rows_now(count - r);
            EACH_BLOCK(GEMM16)
        }
    }
}
