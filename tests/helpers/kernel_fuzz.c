/* Calls every exported function with random arguments, good and bad: `fuzz CALLS SEED`.
 *
 * Built with the sanitizers, which end the program at the first wrong access or undefined operation.
 * What a pointer names is always as large as its arguments say; numbers, shapes and null pointers
 * are wrong now and then. Every refusal of the list in `refuses` is checked first. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "specedit.h"

enum { MODELS = 3, CACHES = 6, POOLS = 2, LAYERS = 2, MAX_WIDTH = 70, MAX_START = 1400 };

/* -- random numbers ------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t bits(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static int below(int limit) { return (int)(bits() % (uint32_t)limit); }
static int between(int least, int most) { return least + below(most - least + 1); }
static int one_in(int count) { return below(count) == 0; }

/* out of any range, or at its edge */
static int odd(void) {
    static const int numbers[] = {0, -1, INT_MIN, INT_MAX, INT_MIN + 1, INT_MAX - 63, INT_MAX - 1,
        -64, SPECEDIT_MAX_POSITIONS, SPECEDIT_MAX_POSITIONS + 1, 1 << 30, -(1 << 30)};
    return numbers[below((int)(sizeof numbers / sizeof *numbers))];
}

static float number(void) {
    if (one_in(2000)) { /* anything: infinite, not a number, denormal */
        uint32_t raw = bits();
        float found;
        memcpy(&found, &raw, sizeof found);
        return found;
    }
    return (float)((int32_t)bits() >> 8) / 8388608.0f;
}

/* -- memory that is freed with a model -------------------------------------------------------- */

typedef struct {
    void *parts[64];
    int count;
} owned;

static void *keep(owned *of, size_t size) {
    void *at = malloc(size ? size : 1);
    if (!at || of->count == 64)
        exit(3);
    return of->parts[of->count++] = at;
}

static void drop(owned *of) {
    while (of->count)
        free(of->parts[--of->count]);
}

static float *floats(owned *of, int count) {
    float *found = keep(of, (size_t)count * sizeof *found);
    for (int i = 0; i < count; i++)
        found[i] = number();
    return found;
}

static specedit_linear linear(owned *of, int outputs, int inputs, int group_size, int bits_each) {
    int groups = (inputs + group_size - 1) / group_size, numbers = outputs * groups;
    int block = bits_each == 4 ? 576 : bits_each == 6 ? 832 : 1024;
    int size = outputs / 16 * (inputs / 64) * block;
    int8_t *panels = keep(of, (size_t)size);
    int32_t *offsets = keep(of, (size_t)numbers * sizeof *offsets);
    for (int i = 0; i < size; i++)
        panels[i] = (int8_t)bits();
    for (int i = 0; i < numbers; i++)
        offsets[i] = one_in(500) ? odd() : (int32_t)bits() >> 8;
    return (specedit_linear){
        panels, floats(of, numbers), offsets, outputs, inputs, group_size, bits_each};
}

/* -- models ------------------------------------------------------------------------------------ */

typedef struct {
    specedit_model *model;
    specedit_shape shape;
    specedit_weights weights;
    specedit_layer layers[LAYERS];
    owned memory;
} fuzzed_model;

static int up_to(int number, int multiple) { return (number + multiple - 1) / multiple * multiple; }

static void fill(fuzzed_model *m) {
    int kv = between(1, 3), hidden = 64 * between(1, 2), inner = 64 * between(1, 4);
    int half = one_in(8) ? 64 * between(1, 2) : 16 * between(1, 2), heads = kv * between(1, 3);
    m->shape = (specedit_shape){.layers = between(1, LAYERS),
        .hidden = hidden,
        .hidden_true = between(1, hidden),
        .inner = inner,
        .group_size = 64 * between(1, inner / 64),
        .heads = heads,
        .kv_heads = kv,
        .half = half,
        .half_true = between(1, half),
        .vocabulary = between(1, 70),
        .residual = below(2),
        .epsilon = 1e-6f};
    specedit_shape *s = &m->shape;
    if (one_in(3)) { /* gated delta nets */
        s->key_heads = between(1, 2), s->value_heads = s->key_heads * between(1, 2);
        s->key_size = 64 * between(1, 2), s->value_size = 64, s->taps = between(1, 4);
        s->tiled = below(2);
    }
    if (one_in(3))
        s->experts = between(1, 5), s->chosen = between(1, s->experts), s->shared = below(2);
    s->gated = one_in(3);
    int size = 2 * half, qkv = ((s->gated ? 2 : 1) * heads + 2 * kv) * size, mixed = up_to(heads * size, 64);
    int channels = 2 * s->key_heads * s->key_size + s->value_heads * s->value_size;
    int values = s->value_heads * s->value_size, experts = s->experts ? s->experts + s->shared : 1;
    int out = up_to(s->hidden_true, 16), ids = up_to(s->vocabulary, 16);
    owned *of = &m->memory;
    for (int l = 0; l < LAYERS; l++) {
        int norms = below(2), each = 2 * between(2, 4);
        int delta = s->key_heads && below(2), inputs = delta ? values : mixed;
        int outputs = delta ? channels + values : qkv;
        m->layers[l] = (specedit_layer){floats(of, hidden), linear(of, outputs, hidden, hidden, each),
            !s->gated && !delta && below(2) ? floats(of, qkv) : 0, norms ? floats(of, size) : 0,
            norms ? floats(of, size) : 0, linear(of, out, inputs, inputs, each), floats(of, hidden),
            linear(of, experts * 2 * inner, hidden, hidden, 12 - each),
            linear(of, experts * out, inner, s->group_size, each)};
        if (s->experts)
            m->layers[l].router = floats(of, up_to(experts, 16) * hidden);
        if (delta) {
            m->layers[l].convolution = floats(of, s->taps * channels);
            m->layers[l].projection = floats(of, up_to(2 * s->value_heads, 16) * hidden);
            m->layers[l].decay = floats(of, s->value_heads);
            m->layers[l].shift = floats(of, s->value_heads);
            m->layers[l].state_norm = floats(of, s->value_size);
        }
    }
    uint16_t *embedding = keep(of, (size_t)ids * hidden * sizeof *embedding);
    for (int i = 0; i < ids * hidden; i++)
        embedding[i] = one_in(5000) ? (uint16_t)bits() : (uint16_t)(bits() & 0xbfff);
    double *frequencies = keep(of, (size_t)half * sizeof *frequencies);
    for (int i = 0; i < half; i++)
        frequencies[i] = 1.0 / (1.0 + i * i);
    m->weights = (specedit_weights){
        m->layers, embedding, floats(of, hidden), linear(of, ids, hidden, hidden, 2 * between(2, 4)),
        frequencies};
    if (one_in(4)) /* an MTP layer */
        m->weights.id_norm = floats(of, hidden), m->weights.state_norm = floats(of, hidden),
        m->weights.fuse = linear(of, out, 2 * hidden, 2 * hidden, 2 * between(2, 4));
}

/* One number that cannot be. More layers than there is memory for are the caller's fault. */
static void harm_number(fuzzed_model *m) {
    specedit_linear *linears[] = {&m->layers[0].qkv, &m->layers[0].out, &m->layers[0].gate_up,
        &m->layers[0].down, &m->weights.head};
    specedit_linear *one = linears[below(5)];
    int32_t *numbers[] = {&m->shape.hidden, &m->shape.hidden_true, &m->shape.inner,
        &m->shape.group_size, &m->shape.heads, &m->shape.kv_heads, &m->shape.half,
        &m->shape.half_true, &m->shape.vocabulary, &one->outputs, &one->inputs, &one->group_size,
        &m->shape.key_heads, &m->shape.value_heads, &m->shape.key_size, &m->shape.value_size,
        &m->shape.taps, &m->shape.experts, &m->shape.chosen, &m->shape.shared};
    if (one_in(12)) {
        one->bits = one_in(2) ? odd() : 2 * between(0, 3) + 1;
        return;
    }
    *numbers[below(20)] = one_in(2) ? odd() : between(-70, 300);
}

static void harm_pointer(fuzzed_model *m) {
    specedit_layer *l = &m->layers[0];
    switch (below(10)) {
    case 0: l->norm = 0; break;
    case 1: l->qkv.panels = 0; break;
    case 2: l->out.scales = 0; break;
    case 3: l->down.offsets = 0; break;
    case 4: m->weights.embedding = 0; break;
    case 5: m->weights.norm = 0; break;
    case 6: m->weights.frequencies = 0; break;
    case 7: m->weights.id_norm = m->weights.id_norm ? 0 : m->weights.norm; break;
    case 8: m->weights.fuse.panels = 0; break;
    default: m->weights.layers = 0; break;
    }
}

static void new_model(fuzzed_model *m) {
    drop(&m->memory);
    memset(m, 0, sizeof *m);
    fill(m);
    if (one_in(3))
        harm_number(m);
    else if (one_in(8))
        harm_pointer(m);
    m->model = specedit_model_new(
        between(-1, 6), one_in(50) ? 0 : &m->shape, one_in(50) ? 0 : &m->weights);
    while (!m->model) { /* and then one that must be taken, on a processor that can */
        drop(&m->memory);
        memset(m, 0, sizeof *m);
        fill(m);
        m->model = specedit_model_new(below(6), &m->shape, &m->weights);
    }
}

/* -- everything that calls work on -------------------------------------------------------------- */

static fuzzed_model models[MODELS];
static specedit_pool *pools[POOLS];
static specedit_cache *caches[CACHES]; /* of model 0, 1, 2, 0, 1, 2 */

static specedit_model *any_model(fuzzed_model **of) {
    *of = &models[below(MODELS)];
    return one_in(40) ? 0 : (*of)->model;
}

static int lengths[CACHES]; /* positions, of those with states */

static specedit_cache *any_cache(void) { return caches[below(CACHES)]; }

/* most often of the right model */
static specedit_cache *cache_for(const fuzzed_model *of) {
    return one_in(20) ? any_cache() : caches[(of - models) + (one_in(2) ? MODELS : 0)];
}

static void new_caches(int model) {
    for (int at = model; at < CACHES; at += MODELS) {
        specedit_cache_free(caches[at]);
        caches[at] = specedit_cache_new(models[model].model);
        lengths[at] = 0;
    }
}
static specedit_pool *any_pool(void) { return one_in(40) ? 0 : pools[below(POOLS)]; }

static int any_start(void) { return one_in(20) ? odd() : below(one_in(3) ? MAX_START : 40); }
static int any_width(void) {
    int width = one_in(20) ? odd() : between(1, one_in(4) ? MAX_WIDTH : 12);
    return width > 0 && width <= SPECEDIT_MAX_WIDTH && width > MAX_WIDTH ? MAX_WIDTH : width;
}

static long outcomes[3]; /* by code */

static void checked(int code) {
    if (code != SPECEDIT_OK && code != SPECEDIT_BAD_ARGUMENT && code != SPECEDIT_NO_MEMORY)
        exit(5);
    outcomes[code]++;
}

/* where a cache with states stands; -1: it has none */
static int at_of(specedit_cache *cache) {
    for (int at = 0; at < CACHES; at++)
        if (caches[at] == cache)
            return specedit_cache_state_bytes(cache) ? lengths[at] : -1;
    return -1;
}

static void call_run(void) {
    fuzzed_model *of;
    owned memory = {.count = 0};
    specedit_model *model = any_model(&of);
    int width = any_width(), rows = width < 1 || width > MAX_WIDTH ? 1 : width;
    int vocabulary = of->shape.vocabulary, hidden = of->shape.hidden_true;
    int32_t *ids = keep(&memory, (size_t)rows * sizeof *ids);
    int32_t *parents = keep(&memory, (size_t)rows * sizeof *parents);
    int32_t *starts = keep(&memory, (size_t)rows * sizeof *starts);
    specedit_cache **batch = keep(&memory, (size_t)rows * sizeof *batch);
    for (int i = 0; i < rows; i++) {
        ids[i] = one_in(400) ? odd() : below(vocabulary);
        parents[i] = one_in(400) ? odd() : between(-1, i - 1);
        starts[i] = any_start();
        batch[i] = cache_for(of);
    }
    specedit_pass pass = {.ids = one_in(100) ? 0 : ids, .width = width, .start = any_start()};
    specedit_subset some;
    int outputs = vocabulary;
    if (one_in(3))
        pass.parents = parents;
    if (one_in(4)) {
        pass.caches = batch;
        pass.starts = one_in(20) ? 0 : starts;
        if (!one_in(20))
            pass.parents = 0, pass.start = 0;
        if (rows > 2 && !one_in(4))
            pass.width = between(1, 2);
        for (int i = 0; i < 2 && i < rows && !one_in(8); i++)
            batch[i] = caches[(of - models) + i * MODELS];
    }
    if (one_in(4)) {
        outputs = some.count = between(1, vocabulary);
        some.rows = linear(&memory, up_to(outputs, 16), of->shape.hidden, of->shape.hidden, 8);
        if (one_in(10))
            some.count = odd();
        if (one_in(10))
            some.rows.group_size = odd();
        if (one_in(10))
            some.rows.bits = one_in(2) ? 4 : odd();
        pass.subset = &some;
    }
    if (!one_in(4))
        pass.choices = keep(&memory, (size_t)rows * sizeof *pass.choices);
    if (one_in(2))
        pass.logits = keep(&memory, (size_t)rows * outputs * sizeof *pass.logits);
    if (one_in(4))
        pass.hidden = keep(&memory, (size_t)rows * hidden * sizeof *pass.hidden);
    if (!of->weights.id_norm == one_in(20))
        pass.states = floats(&memory, rows * hidden);
    specedit_cache *cache = pass.caches && !one_in(20) ? 0 : cache_for(of);
    if (cache && at_of(cache) >= 0 && !one_in(20))
        pass.start = at_of(cache), pass.parents = 0;
    int code = specedit_run(model, cache, any_pool(), one_in(100) ? 0 : &pass);
    checked(code);
    for (int at = 0; !code && cache && at < CACHES; at++)
        if (caches[at] == cache)
            lengths[at] = pass.start + pass.width;
    for (int i = 0; !code && pass.choices && i < pass.width; i++)
        if (pass.choices[i] < 0 || pass.choices[i] >= outputs)
            exit(6);
    drop(&memory);
}

static void call_guess(void) {
    fuzzed_model *of;
    owned memory = {.count = 0};
    specedit_model *model = any_model(&of);
    int hidden = of->shape.hidden, true_hidden = of->shape.hidden_true;
    int inside = 64 * between(1, 3), gated = below(2), inner = gated ? 2 * inside : inside;
    int width = between(1, 20), most = between(1, 70), guessed = between(1, 100);
    specedit_head head = {.of_state = linear(&memory, inner, hidden, hidden, 8),
        .down = linear(&memory, up_to(true_hidden, 16), inside, inside, 8),
        .output = linear(&memory, up_to(guessed, 16), hidden, hidden, 8),
        .bias = floats(&memory, inner),
        .guessed = guessed,
        .gated = gated,
        .sharpness = one_in(20) ? number() : 0.5f};
    if (one_in(2))
        head.of_id = linear(&memory, inner, hidden, hidden, 8);
    int32_t *ids = keep(&memory, (size_t)width * sizeof *ids);
    for (int i = 0; i < width; i++)
        ids[i] = one_in(200) ? odd() : below(of->shape.vocabulary);
    specedit_guess guess = {floats(&memory, width * true_hidden), one_in(30) ? 0 : ids, width, most,
        keep(&memory, (size_t)width * true_hidden * sizeof(float)),
        keep(&memory, (size_t)width * most * sizeof(int32_t)),
        keep(&memory, (size_t)width * most * sizeof(float))};
    int32_t *numbers[] = {&head.guessed, &head.down.inputs, &head.down.outputs,
        &head.of_state.inputs, &head.of_state.outputs, &head.output.outputs,
        &head.of_state.group_size, &guess.width, &guess.most, &head.down.bits};
    if (one_in(4))
        *numbers[below(10)] = odd();
    checked(specedit_guess_run(model, any_pool(), one_in(40) ? 0 : &head, one_in(40) ? 0 : &guess));
    drop(&memory);
}

static void call_output_rows(void) {
    fuzzed_model *of;
    owned memory = {.count = 0};
    specedit_model *model = any_model(&of);
    int hidden = of->shape.hidden, capacity = 16 * between(1, 3);
    int32_t ids[48];
    for (int i = 0; i < 48; i++)
        ids[i] = one_in(400) ? odd() : below(of->shape.vocabulary);
    specedit_linear to = linear(&memory, capacity, hidden, hidden, 8);
    checked(specedit_output_rows(model, one_in(40) ? 0 : ids, one_in(6) ? odd() : below(49),
        one_in(6) ? odd() : below(49), one_in(20) ? odd() & INT_MIN : capacity,
        one_in(40) ? 0 : (int8_t *)to.panels, (float *)to.scales, (int32_t *)to.offsets));
    drop(&memory);
}

static void call_cache(int which) {
    int at = below(CACHES);
    specedit_cache *cache = caches[at];
    int32_t rows[20];
    int count =
        one_in(10) ? odd() & ~31 : below(20); /* an odd count is refused by its first rows */
    switch (which) {
    case 0:
        new_caches(at % MODELS);
        specedit_cache_free(specedit_cache_new(0));
        break;
    case 1:
        checked(specedit_cache_reserve(cache, one_in(4) ? odd() | INT_MIN : below(2000)));
        break;
    case 2: specedit_cache_bytes(one_in(20) ? 0 : cache); break;
    case 3:
        checked(specedit_cache_copy(cache, caches[(at + (one_in(4) ? 1 : MODELS)) % CACHES],
            one_in(4) ? odd() : below(1500)));
        break;
    case 4: {
        int to = one_in(8) ? odd() : lengths[at] - below(12);
        int code = specedit_cache_crop(models[at % MODELS].model, cache, any_pool(), to);
        checked(code);
        lengths[at] = code ? lengths[at] : to;
        break;
    }
    case 5: {
        char *states = malloc(specedit_cache_state_bytes(cache) + 1);
        int out = below(2), length = one_in(8) ? odd() : below(60), none = one_in(3);
        if (states)
            memset(states, 0, specedit_cache_state_bytes(cache) + 1);
        length = none && !out && !one_in(4) ? 0 : length;
        int code = specedit_cache_state(cache, none ? 0 : states, length, out);
        checked(code);
        lengths[at] = code || out ? lengths[at] : length;
        free(states);
        break;
    }
    default:
        for (int i = 0, row = -1; i < 20; i++)
            rows[i] = row = one_in(60) ? odd() : (int)((uint32_t)row + (uint32_t)between(1, 40));
        checked(specedit_cache_keep(
            cache, any_start(), one_in(40) ? 0 : rows, count > 20 ? 20 : count));
    }
}

static void call_pool(void) {
    int at = below(POOLS);
    specedit_pool_free(pools[at]);
    pools[at] = specedit_pool_new(one_in(4) ? odd() & INT_MIN : between(1, 3));
}

static void call_quantize(void) {
    owned memory = {.count = 0};
    int outputs = 16 * between(1, 2), inputs = 64 * between(1, 3), group_size = 64 * between(1, 4);
    int each = 2 * between(2, 3);
    specedit_linear to = linear(&memory, outputs, inputs, group_size, each);
    float *rows = one_in(40) ? 0 : floats(&memory, outputs * inputs);
    int code = specedit_quantize(one_in(8) ? odd() : between(0, 4), rows, one_in(8) ? odd() & INT_MIN : outputs,
        one_in(8) ? odd() & INT_MIN : inputs, one_in(8) ? odd() & INT_MIN : group_size,
        one_in(8) ? 2 * between(0, 3) + 1 : each, one_in(40) ? 0 : (uint8_t *)to.panels, (float *)to.scales, (int32_t *)to.offsets);
    checked(code);
    drop(&memory);
}

static void call_library(void) {
    specedit_variant(one_in(2) ? odd() : between(-1, 7));
    specedit_can(one_in(2) ? odd() : between(-1, 7));
    specedit_difference(between(-1, 6), between(-1, 6), bits(), between(-1, 1));
    if (specedit_interface() != SPECEDIT_INTERFACE || !specedit_version()[0])
        exit(7);
}

static void call_part(void) {
    fuzzed_model *of;
    specedit_model *model = any_model(&of);
    if (one_in(2))
        checked(specedit_products(model, any_pool(), any_width()));
    else
        checked(specedit_attention(model, cache_for(of), any_pool(), any_start(), any_width()));
}

static void call(void) {
    int which = below(1000);
    if (which < 5)
        call_quantize();
    else if (which < 10)
        call_pool();
    else if (which < 12)
        call_library();
    else if (which < 40) {
        int at = below(MODELS);
        specedit_model_free(models[at].model);
        new_model(&models[at]);
        new_caches(at);
    } else if (which < 60)
        call_cache(0);
    else if (which < 300)
        call_cache(between(1, 6));
    else if (which < 700)
        call_run();
    else if (which < 800)
        call_guess();
    else if (which < 900)
        call_output_rows();
    else
        call_part();
}

/* -- what must be refused ------------------------------------------------------------------------ */

static int wrong;

static void expect(int refused, const char *what) {
    if (!refused && ++wrong)
        printf("not refused: %s\n", what);
}

static void refuses(void) {
    fuzzed_model *m = &models[0], *other = &models[1];
    do
        fill(m);
    while (m->shape.half >= 64 && (drop(&m->memory), 1));
    specedit_shape good = m->shape;
    specedit_layer layer = m->layers[0];
    int last = 0;
    while (specedit_variant(last + 1))
        last++;
#define REFUSED(what, change)                                                                      \
    change;                                                                                        \
    expect(!specedit_model_new(last, &m->shape, &m->weights), what);                               \
    m->shape = good;                                                                               \
    m->layers[0] = layer
    REFUSED("inner == 0", m->shape.inner = 0;
        m->layers[0].gate_up.outputs = m->layers[0].down.inputs = 0);
    REFUSED("heads == 0", m->shape.heads = 0);
    REFUSED("hidden beyond one integer sum", m->shape.hidden = SPECEDIT_MAX_INPUTS + 64);
    REFUSED("a group beyond one integer sum", m->shape.group_size = SPECEDIT_MAX_INPUTS + 64);
    REFUSED("layers beyond the pool's steps", m->shape.layers = SPECEDIT_MAX_LAYERS + 1);
    REFUSED(
        "qkv in several groups", m->layers[0].qkv.group_size = 64 - m->layers[0].qkv.group_size);
    REFUSED("weights of 5 bits", m->layers[0].out.bits = 5);
    specedit_weights whole = m->weights;
    REFUSED("half an MTP layer", m->weights.state_norm = whole.state_norm ? 0 : whole.norm);
    m->weights = whole;
    m->model = specedit_model_new(last, &m->shape, &m->weights);
    do {
        drop(&other->memory);
        fill(other);
    } while (other->shape.kv_heads == good.kv_heads || other->shape.half == good.half);
    other->model = specedit_model_new(last, &other->shape, &other->weights);
    specedit_pool *pool = specedit_pool_new(1);
    specedit_cache *cache = specedit_cache_new(m->model), *their = specedit_cache_new(other->model);
    if (!m->model || !other->model || !pool || !cache || !their)
        exit(8);
    int32_t ids[2] = {0, 0}, rows[2] = {0, 1}, far[1] = {INT_MAX}, starts[1] = {INT_MAX};
    specedit_pass pass = {.ids = ids, .width = 2, .start = INT_MAX - 1},
                  batch = {.ids = ids, .width = 1, .caches = &cache, .starts = starts};
#define BAD(code) ((code) == SPECEDIT_BAD_ARGUMENT)
    expect(BAD(specedit_run(m->model, cache, pool, &pass)), "start + width overflows");
    pass = (specedit_pass){.ids = ids, .width = 2, .states = m->weights.id_norm ? 0 : m->weights.norm};
    expect(BAD(specedit_run(m->model, cache, pool, &pass)), "states of another kind of model");
    expect(BAD(specedit_run(m->model, 0, pool, &batch)), "starts[i] + 1 overflows");
    specedit_cache_reserve(cache, 10);
    expect(BAD(specedit_cache_keep(cache, -1, rows, 2)), "keep behind a negative start");
    expect(BAD(specedit_cache_keep(cache, 5, far, 1)), "start + rows[i] overflows");
    expect(BAD(specedit_cache_reserve(cache, INT_MAX)), "positions overflow");
    expect(BAD(specedit_cache_copy(cache, their, 0)), "copy between models");
    expect(BAD(specedit_cache_rows(cache, (char *)ids, 513, 1)), "rows behind the cache");
    expect(BAD(specedit_cache_rows(cache, (char *)ids, -1, 0)), "rows before the cache");
    expect(BAD(specedit_cache_rows(cache, 0, 1, 0)), "rows of nothing");
    expect(BAD(specedit_attention(m->model, their, pool, 0, 1)), "attention over another's cache");
    expect(BAD(specedit_attention(m->model, cache, pool, INT_MAX, 1)), "attention overflows");
    expect(BAD(specedit_attention(m->model, cache, pool, -1, 1)), "attention behind -1");
    expect(BAD(specedit_products(m->model, pool, 0)), "products of no rows");
    specedit_cache_free(cache);
    specedit_cache_free(their);
    specedit_pool_free(pool);
    for (int i = 0; i < 2; i++) {
        specedit_model_free(models[i].model);
        models[i].model = 0;
        drop(&models[i].memory);
    }
}

int main(int count, char **given) {
    long calls = count > 1 ? atol(given[1]) : 1000;
    state = 88172645463325252u + (count > 2 ? strtoull(given[2], 0, 10) : 0) * 2654435761u;
    refuses();
    for (int i = 0; i < MODELS; i++)
        new_model(&models[i]);
    for (int i = 0; i < POOLS; i++)
        pools[i] = specedit_pool_new(1 + i);
    for (int i = 0; i < CACHES; i++)
        caches[i] = specedit_cache_new(models[i % MODELS].model);
    for (long i = 0; i < calls; i++)
        call();
    for (int i = 0; i < CACHES; i++)
        specedit_cache_free(caches[i]);
    for (int i = 0; i < POOLS; i++)
        specedit_pool_free(pools[i]);
    for (int i = 0; i < MODELS; i++) {
        specedit_model_free(models[i].model);
        drop(&models[i].memory);
    }
    printf("%ld calls: %ld done, %ld refused, %ld without memory\n", calls, outcomes[SPECEDIT_OK],
        outcomes[SPECEDIT_BAD_ARGUMENT], outcomes[SPECEDIT_NO_MEMORY]);
    return wrong != 0;
}
