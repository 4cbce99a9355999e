/* Whether this processor and system have a variant's instructions. */
#include "variant.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

enum { XMM_YMM = 0x6, ZMM = 0xe0, TILES = 0x60000 };

/* the register sets that the system saves */
static uint64_t saved(void) {
    uint32_t a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static void seven(uint32_t leaf, uint32_t found[4]) {
    found[0] = found[1] = found[2] = found[3] = 0;
    __get_cpuid_count(7, leaf, &found[0], &found[1], &found[2], &found[3]);
}

int cpu_avx2(void) {
    uint32_t found[4];
    seven(0, found);
    return (saved() & XMM_YMM) == XMM_YMM && (found[1] & (1u << 5));
}

int cpu_avxvnni(void) {
    uint32_t found[4];
    seven(1, found);
    return cpu_avx2() && (found[0] & (1u << 4));
}

int cpu_avx512vnni(void) {
    const uint32_t needed = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* F, DQ, BW, VL */
    uint32_t found[4];
    seven(0, found);
    return cpu_avx2() && (saved() & ZMM) == ZMM && (found[1] & needed) == needed
        && (found[2] & (1u << 11));
}

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };

int cpu_amx(void) {
    uint32_t found[4];
    seven(0, found);
    return cpu_avx512vnni() && (found[2] & (1u << 1)) /* VBMI */
        && (found[3] & (1u << 24)) && (found[3] & (1u << 25))
        && (saved() & TILES) == TILES
        && syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
}
#else
int cpu_amx(void) { return 0; }
#endif

#else
int cpu_avx2(void) { return 0; }
int cpu_avxvnni(void) { return 0; }
int cpu_avx512vnni(void) { return 0; }
int cpu_amx(void) { return 0; }
#endif
