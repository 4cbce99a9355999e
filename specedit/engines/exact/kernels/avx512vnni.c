/* x86-64 with AVX-512 VNNI: four products of bytes, or two of shorts, in each of 16 lanes. */
#include "variant.h"

#include <immintrin.h>
#include <string.h>

#include "avx512vnni.h"

static void gemm8(const uint8_t *rows, size_t stride, int count, const int8_t *panel, size_t step,
    int panels, int inputs, int32_t *sums, const int8_t *ahead, size_t ahead_step,
    int lines) {
    vnni_gemm8(
        rows, stride, count, panel, step, panels, inputs, sums, ahead, ahead_step, lines);
}

static void gemm16(const int16_t *rows, size_t stride, int count, const int16_t *panel, size_t step,
    int panels, int inputs, int32_t *sums) {
    vnni_gemm16(rows, stride, count, panel, step, panels, inputs, sums);
}

#define VARIANT avx512vnni
#define VARIANT_ROWS 12 /* whose sums are in registers: more results at a time wait for memory */
#define VARIANT_PACKED vnni_packed
#define VARIANT_ADD_VALUES vnni_add_values
#include "rows.h"
