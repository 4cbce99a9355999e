/* Whether a 64-bit ARM processor has a variant's instructions, as its system says. */
#include "variant.h"

#if defined(__aarch64__) || defined(_M_ARM64)

#if defined(__linux__)
#include <sys/auxv.h>

enum { HAS_DOTPROD = 1 << 20, HAS_I8MM = 1 << 13 }; /* of AT_HWCAP, of AT_HWCAP2 */

int cpu_dotprod(void) { return (getauxval(AT_HWCAP) & HAS_DOTPROD) != 0; }
int cpu_i8mm(void) { return cpu_dotprod() && (getauxval(AT_HWCAP2) & HAS_I8MM) != 0; }

#elif defined(__APPLE__)
#include <sys/sysctl.h>

static int has_feature(const char *name) {
    int found = 0;
    size_t size = sizeof found;
    return sysctlbyname(name, &found, &size, 0, 0) == 0 && found;
}

int cpu_dotprod(void) { return has_feature("hw.optional.arm.FEAT_DotProd"); }
int cpu_i8mm(void) { return cpu_dotprod() && has_feature("hw.optional.arm.FEAT_I8MM"); }

#elif defined(_WIN32)
#include <windows.h>

enum { DOTPROD_AVAILABLE = 43, I8MM_AVAILABLE = 66 }; /* newer than some headers */

int cpu_dotprod(void) { return IsProcessorFeaturePresent(DOTPROD_AVAILABLE) != 0; }
int cpu_i8mm(void) { return cpu_dotprod() && IsProcessorFeaturePresent(I8MM_AVAILABLE) != 0; }

#else
int cpu_dotprod(void) { return 0; }
int cpu_i8mm(void) { return 0; }
#endif

#else
int cpu_dotprod(void) { return 0; }
int cpu_i8mm(void) { return 0; }
#endif
