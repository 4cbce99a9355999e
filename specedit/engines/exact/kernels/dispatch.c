/* Which variants this library has, which of them this processor can run, and whether they count
 * right: a processor that lies about its features is found out before a number is used. */
#include <string.h>

#include "threads.h"
#include "variant.h"

static int always(void) { return 1; }

static const struct {
    const kernel *kernel;
    int (*can)(void);
} VARIANTS[] = {
#if defined(__x86_64__) || defined(_M_X64)
#if defined(__linux__)
    {&kernel_amx, cpu_amx},
#endif
    {&kernel_avx512vnni, cpu_avx512vnni},
#endif
    {&kernel_reference, always},
};

enum { COUNT = sizeof VARIANTS / sizeof *VARIANTS };

const kernel *dispatch_kernel(int index);

const kernel *dispatch_kernel(int index) {
    return index >= 0 && index < COUNT && VARIANTS[index].can() ? VARIANTS[index].kernel : 0;
}

int specedit_interface(void) { return SPECEDIT_INTERFACE; }

const char *specedit_variant(int index) {
    return index >= 0 && index < COUNT ? VARIANTS[index].kernel->name : 0;
}

int specedit_can(int index) { return dispatch_kernel(index) != 0; }

/* numbers of no pattern, the extremes among them */
static uint32_t number(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

enum { ROWS = 37, INPUTS = 192, PANELS = 3 };

typedef struct {
    uint8_t bytes[ROWS * INPUTS];
    int16_t shorts[ROWS * INPUTS];
    int8_t weights[PANELS * LANES * INPUTS];
    int16_t keys[PANELS * LANES * INPUTS];
    int32_t found[PANELS * ROWS * LANES] __attribute__((aligned(64)));
    int32_t expected[PANELS * ROWS * LANES] __attribute__((aligned(64)));
} sample;

static int differs(const kernel *k, sample *s, int rows, int inputs, int panels) {
    size_t bytes = (size_t)panels * rows * LANES * sizeof(int32_t);
    const kernel *r = &kernel_reference;
    size_t step = (size_t)INPUTS * LANES;
    r->dots(s->bytes, INPUTS, rows, s->weights, step, panels, inputs, s->expected, 0, 0);
    k->dots(s->bytes, INPUTS, rows, s->weights, step, panels, inputs, s->found, 0, 0);
    if (memcmp(s->found, s->expected, bytes))
        return 1;
    r->pairs(s->shorts, INPUTS, rows, s->keys, step, panels, inputs, s->expected);
    k->pairs(s->shorts, INPUTS, rows, s->keys, step, panels, inputs, s->found);
    return memcmp(s->found, s->expected, bytes) != 0;
}

int specedit_check(int index) {
    const kernel *k = dispatch_kernel(index);
    if (!k)
        return 1;
    sample *s = thread_memory(sizeof *s);
    if (!s)
        return 1;
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof s->bytes; i++)
        s->bytes[i] = (uint8_t)(i % 5 ? number(&state) : 255);
    for (size_t i = 0; i < sizeof s->weights; i++)
        s->weights[i] = (int8_t)(i % 7 ? (int)(number(&state) % 255) - 127 : i % 2 ? 127 : -127);
    for (size_t i = 0; i < ROWS * INPUTS; i++)
        s->shorts[i] = (int16_t)((int)(number(&state) % (2 * QUERY_LIMIT + 1)) - QUERY_LIMIT);
    for (size_t i = 0; i < PANELS * LANES * INPUTS; i++)
        s->keys[i] = (int16_t)((int)(number(&state) % (2 * KEY_LIMIT + 1)) - KEY_LIMIT);
    int wrong = 0;
    if (k->begin)
        k->begin();
    for (int rows = 1; rows <= ROWS && !wrong; rows += rows < 13 ? 1 : 8)
        wrong = differs(k, s, rows, rows % 2 ? INPUTS : 64, rows % 3 + 1);
    if (k->end)
        k->end();
    thread_memory_free(s);
    return wrong;
}
