/* Every variant that this processor has, against plain C and each other; and whole passes of a small
 * random model, whose logits' digest must be the same on every machine that prints it.
 *
 * A program of its own, so that an emulator of another processor can run it without Python:
 * `driver POSITIONS ROUNDS`, how long the prompt is and how many sets of numbers are compared.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "specedit.h"

enum { IDS = 600, VARIANTS = 16, WIDEST = 97 };

static uint64_t state;
static int positions;

static uint32_t bits(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static float number(float size) { return (float)((int32_t)bits() >> 8) / 8388608.0f * size; }

static void *made(size_t size) {
    void *at = calloc(1, size);
    if (!at)
        exit(3);
    return at;
}

static float *floats(int count, float from, float size) {
    float *found = made((size_t)count * sizeof *found);
    for (int i = 0; i < count; i++)
        found[i] = from + number(size);
    return found;
}

static int matrices; /* of the model so far */

/* of three matrices one has 4 bits and one 6, where `some` says so */
static specedit_linear linear(int outputs, int inputs, int group_size, int some) {
    int groups = (inputs + group_size - 1) / group_size, panels = outputs / 16;
    int8_t *weights = made((size_t)outputs * inputs);
    float *scales = made((size_t)outputs * groups * sizeof *scales);
    int32_t *offsets = made((size_t)outputs * groups * sizeof *offsets);
    int each = some ? (int[]){8, 4, 6}[matrices++ % 3] : 8;
    if (each < 8) {
        float *rows = floats(outputs * inputs, 0.0f, 0.1f);
        int last = 0;
        while (specedit_variant(last + 1))
            last++;
        if (specedit_quantize(
                last, rows, outputs, inputs, group_size, each, (uint8_t *)weights, scales, offsets))
            exit(4);
        free(rows);
        return (specedit_linear){weights, scales, offsets, outputs, inputs, group_size, each};
    }
    for (int i = 0; i < outputs * inputs; i++)
        weights[i] = (int8_t)((int)(bits() % 255) - 127);
    for (int p = 0; p < panels; p++)
        for (int o = 0; o < 16; o++)
            for (int i = 0; i < inputs; i++)
                offsets[(p * groups + i / group_size) * 16 + o] +=
                    128 * weights[(size_t)p * inputs * 16 + i / 4 * 64 + o * 4 + i % 4];
    for (int i = 0; i < outputs * groups; i++)
        scales[i] = 0.0004f + number(0.0002f);
    return (specedit_linear){weights, scales, offsets, outputs, inputs, group_size, 8};
}

/* Two kinds of model: with a bias, and with norms of heads, "close", odd sizes that are padded, and weights
 * of 4 and 6 bits. */
static specedit_shape shape_of(int kind) {
    specedit_shape shape = {.layers = 2, .hidden = 128, .hidden_true = kind ? 120 : 128,
        .inner = 320, .group_size = 192, .heads = 4, .kv_heads = 2, .half = 32,
        .half_true = kind ? 20 : 32, .vocabulary = 101, .residual = kind, .epsilon = 1e-6f};
    return shape;
}

static specedit_weights weights_of(const specedit_shape *s, int kind) {
    specedit_layer *layers = made((size_t)s->layers * sizeof *layers);
    matrices = 0;
    int size = 2 * s->half, qkv = (s->heads + 2 * s->kv_heads) * size;
    for (int l = 0; l < s->layers; l++) {
        layers[l].norm = floats(s->hidden, 1.0f, 0.5f);
        layers[l].qkv = linear(qkv, s->hidden, s->hidden, kind);
        layers[l].bias = kind ? 0 : floats(qkv, 0.0f, 1.0f);
        layers[l].query_norm = kind ? floats(size, 1.0f, 0.5f) : 0;
        layers[l].key_norm = kind ? floats(size, 1.0f, 0.5f) : 0;
        layers[l].out = linear(
            s->hidden, s->heads * size, s->heads * size, kind); /* a multiple of 64 */
        layers[l].inner_norm = floats(s->hidden, 1.0f, 0.5f);
        layers[l].gate_up = linear(2 * s->inner, s->hidden, s->hidden, kind);
        layers[l].down = linear(s->hidden, s->inner, s->group_size, kind);
    }
    uint16_t *embedding = made((size_t)s->vocabulary * s->hidden * sizeof *embedding);
    for (int i = 0; i < s->vocabulary * s->hidden_true; i++) {
        float value = number(2.0f);
        uint32_t raw;
        memcpy(&raw, &value, sizeof raw);
        embedding[i / s->hidden_true * s->hidden + i % s->hidden_true] = (uint16_t)(raw >> 16);
    }
    double *frequencies = made((size_t)s->half * sizeof *frequencies);
    for (int i = 0; i < s->half_true; i++)
        frequencies[i] = 1.0 / (1.0 + 3.0 * i * i);
    return (specedit_weights){layers, embedding, floats(s->hidden, 1.0f, 0.5f),
        linear((s->vocabulary + 15) / 16 * 16, s->hidden, s->hidden, kind), frequencies};
}

static uint64_t digest_of(uint64_t digest, const void *what, size_t size) {
    const unsigned char *at = what;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * 0x100000001b3u;
    return digest;
}

/* A prompt in passes of some widths, then a tree, then one more row behind one branch of it. */
static uint64_t passes(int variant, int threads, int kind, const int *widths) {
    specedit_shape shape = shape_of(kind);
    state = 88172645463325252u + (uint64_t)kind;
    specedit_weights weights = weights_of(&shape, kind);
    specedit_model *model = specedit_model_new(variant, &shape, &weights);
    specedit_pool *pool = specedit_pool_new(threads);
    specedit_cache *cache = model ? specedit_cache_new(model) : 0;
    if (!model || !pool || !cache)
        return 0;
    static int32_t ids[IDS], choices[WIDEST];
    float *logits = made(sizeof(float) * WIDEST * (size_t)shape.vocabulary);
    uint64_t digest = 0xcbf29ce484222325u, chosen = 0;
    for (int i = 0; i < IDS; i++)
        ids[i] = (int32_t)(bits() % (uint32_t)shape.vocabulary);
    int wrong = 0, start = 0;
    for (int w = 0; start < positions; w++) {
        int width = widths[w % 4] < positions - start ? widths[w % 4] : positions - start;
        specedit_pass pass = {ids + start, 0, width, start, choices, logits, 0};
        wrong |= specedit_run(model, cache, pool, &pass);
        digest = digest_of(digest, logits, sizeof(float) * (size_t)width * shape.vocabulary);
        chosen = digest_of(chosen, choices, sizeof(int32_t) * (size_t)width);
        start += width;
    }
    const int32_t parents[] = {-1, -1, 0, 1, 2, 2, 3}, kept[] = {1, 3, 6};
    specedit_pass tree = {ids + 5, parents, 7, start, choices, logits, 0};
    wrong |= specedit_run(model, cache, pool, &tree);
    digest = digest_of(digest, logits, sizeof(float) * 7 * (size_t)shape.vocabulary);
    wrong |= specedit_cache_keep(cache, start, kept, 3);
    specedit_pass last = {ids + 2, 0, 1, start + 3, choices, logits, 0};
    wrong |= specedit_run(model, cache, pool, &last);
    digest = digest_of(digest, logits, sizeof(float) * (size_t)shape.vocabulary);
    specedit_cache_free(cache);
    specedit_model_free(model);
    specedit_pool_free(pool);
    free(logits);
    return wrong ? 0 : digest_of(digest, &chosen, sizeof chosen);
}

int main(int count_given, char **given) {
    static const int widths[][4] = {{WIDEST, WIDEST, WIDEST, WIDEST}, {1, 2, 31, 64}, {17, 5, 90, 1}};
    int can[VARIANTS], count = 0, bad = 0, rounds = count_given > 2 ? atoi(given[2]) : 1;
    positions = count_given > 1 ? atoi(given[1]) : 1;
    if (positions < 1 || positions > IDS)
        return 2;
    for (int i = 0; specedit_variant(i); i++)
        if (specedit_can(i)) {
            printf("variant %s\n", specedit_variant(i));
            can[count++] = i;
        }
    for (int a = 0; a < count; a++)
        for (int b = a + 1; b < count; b++) {
            const char *found = specedit_difference(can[a], can[b], 1, rounds);
            if (found && ++bad)
                printf("%s: %s and %s differ\n", found, specedit_variant(can[a]),
                    specedit_variant(can[b]));
        }
    for (int kind = 0; kind < 2; kind++) {
        uint64_t expected = passes(can[count - 1], 1, kind, widths[0]);
        printf("digest %d %016llx\n", kind, (unsigned long long)expected);
        bad += !expected;
        for (int a = 0; a < count - 1; a++)
            for (int w = 0; w < 3; w++)
                if (passes(can[a], w + 1, kind, widths[w]) != expected && ++bad)
                    printf("passes: %s differs, kind %d, widths %d, threads %d\n",
                        specedit_variant(can[a]), kind, w, w + 1);
    }
    return bad != 0;
}
