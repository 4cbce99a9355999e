/* Float rows as weights of 4 or 6 bits, part by part of the inputs. */
#include "model.h"
#include "pack.h"
#include "threads.h"

void pack_plainly(const float *rows, size_t stride, int count, int bits, uint8_t *panel, float *scales,
    int32_t *offsets) {
    rows_pack(rows, stride, count, bits, panel, scales, offsets);
}

int specedit_quantize(int variant, const float *rows, int outputs, int inputs, int group_size, int bits,
    uint8_t *panels, float *scales, int32_t *offsets) {
    const kernel *kernel = dispatch_kernel(variant);
    if (!kernel || !rows || !panels || !scales || !offsets || outputs < LANES || outputs % LANES
        || inputs < 64 || inputs % 64 || group_size < 64 || group_size % 64 || (bits != 4 && bits != 6))
        return SPECEDIT_BAD_ARGUMENT;
    thread_state before = thread_rounding();
    for (int output = 0; output < outputs; output += LANES)
        for (int at = 0; at < inputs; at += group_size, scales += LANES, offsets += LANES) {
            int count = inputs - at < group_size ? inputs - at : group_size;
            kernel->pack(rows + (size_t)output * inputs + at, (size_t)inputs, count, bits, panels, scales, offsets);
            panels += count / 64 * block_of(bits);
        }
    thread_restore(before);
    return SPECEDIT_OK;
}
