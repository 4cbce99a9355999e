/* Which variants this library has, best first, and which of them this processor can run. */
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
    {&kernel_avxvnni, cpu_avxvnni},
    {&kernel_avx2, cpu_avx2},
#elif defined(__aarch64__) || defined(_M_ARM64)
    {&kernel_i8mm, cpu_i8mm},
    {&kernel_dotprod, cpu_dotprod},
    {&kernel_neon, always},
#endif
    {&kernel_reference, always},
};

enum { COUNT = sizeof VARIANTS / sizeof *VARIANTS };

const kernel *dispatch_kernel(int index) {
    return index >= 0 && index < COUNT && VARIANTS[index].can() ? VARIANTS[index].kernel : 0;
}

int specedit_interface(void) { return SPECEDIT_INTERFACE; }

const char *specedit_variant(int index) {
    return index >= 0 && index < COUNT ? VARIANTS[index].kernel->name : 0;
}

int specedit_can(int index) { return dispatch_kernel(index) != 0; }
