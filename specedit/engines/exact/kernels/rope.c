/* Cosines and sines of RoPE: double arithmetic in fixed steps, as every C library's differ. */
#include <math.h>

#include "model.h"

/* pi / 2 in three parts: the first two have 33 bits, so that their multiples are exact */
#define PART_1 1.57079632673412561417e+00
#define PART_2 6.07710050630396597660e-11
#define PART_3 2.02226624879595063154e-21

static void sincos_of(double angle, double *cosine, double *sine) {
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    double quarters = (angle * 6.36619772367581382433e-01 + magic) - magic;
    double r = ((angle - quarters * PART_1) - quarters * PART_2) - quarters * PART_3;
    double z = r * r;
    double s = 1.58969099521155010221e-10 * z - 2.50507602534068634195e-08;
    s = s * z + 2.75573137070700676789e-06;
    s = s * z - 1.98412698298579493134e-04;
    s = s * z + 8.33333333332248946124e-03;
    s = s * z - 1.66666666666666324348e-01;
    s = r + (r * z) * s;
    double c = -1.13596475577881948265e-11 * z + 2.08757232129817482790e-09;
    c = c * z - 2.75573143513906633035e-07;
    c = c * z + 2.48015872894767294178e-05;
    c = c * z - 1.38888888888741095749e-03;
    c = c * z + 4.16666666666666019037e-02;
    c = (1.0 - 0.5 * z) + (z * z) * c;
    switch ((int64_t)quarters & 3) {
    case 0: *cosine = c, *sine = s; break;
    case 1: *cosine = -s, *sine = c; break;
    case 2: *cosine = -c, *sine = -s; break;
    default: *cosine = s, *sine = -c; break;
    }
}

void rope_angles(double position, const double *frequencies, int half_true, int half, float *cosines,
    float *sines) {
    for (int i = 0; i < half; i++) {
        double cosine = 1.0, sine = 0.0;
        if (i < half_true)
            sincos_of(position * frequencies[i], &cosine, &sine);
        cosines[i] = (float)cosine;
        sines[i] = (float)sine;
    }
}
