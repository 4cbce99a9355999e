/* The exact engine's kernels: the whole call interface.
 *
 * Python calls it through ctypes, one call for each pass over a model.
 *
 * reference.c defines what is computed, bit for bit; it is the same on every processor: products are
 * sums of integers, and the float32 work around them has one fixed order without contraction.
 *
 * Every function checks its arguments: null pointers, numbers out of range and shapes that do not fit
 * are refused with SPECEDIT_BAD_ARGUMENT (or null). What a pointer points to is the caller's to size.
 */
#ifndef SPECEDIT_H
#define SPECEDIT_H

#include <stddef.h>
#include <stdint.h>

#define SPECEDIT_INTERFACE 11 /* checked when the library is loaded */

#if defined(_WIN32)
#define SPECEDIT_EXPORT __declspec(dllexport)
#else
#define SPECEDIT_EXPORT __attribute__((visibility("default")))
#endif

enum { /* limits of every argument */
    SPECEDIT_MAX_LAYERS = 256,
    SPECEDIT_MAX_INPUTS = 1 << 16, /* of one integer sum: 255 * 128 * 2^16 is below 2^31 */
    SPECEDIT_MAX_INNER = 1 << 20,
    SPECEDIT_MAX_HEADS = 1 << 10,
    SPECEDIT_MAX_STATE = 1 << 10, /* channels of a recurrent head */
    SPECEDIT_MAX_TAPS = 16,
    SPECEDIT_MAX_EXPERTS = 512,
    SPECEDIT_MAX_CHOSEN = 64, /* experts of one id */
    SPECEDIT_MAX_VOCABULARY = 1 << 22,
    SPECEDIT_MAX_WIDTH = 1 << 16,
    SPECEDIT_MAX_POSITIONS = 1 << 24,
    SPECEDIT_MAX_THREADS = 1 << 10,
};

enum {
    SPECEDIT_OK = 0,
    SPECEDIT_NO_MEMORY = 1,
    SPECEDIT_STOPPED = 3,      /* the caller ended the pass: nothing of it counts */
    SPECEDIT_BAD_ARGUMENT = 2, /* a shape, a pass or a number that the kernels cannot run */
};

/* The numbers of one model. Widths are as in memory: hidden, inner and group_size are multiples of 64,
 * half of a head a multiple of 16. Padding is zero. */
typedef struct {
    int32_t layers;
    int32_t hidden;      /* floats of a row */
    int32_t hidden_true; /* of them without padding */
    int32_t inner;       /* inputs of `down` */
    int32_t group_size;  /* of them that are quantized together; the last group may be shorter */
    int32_t heads;
    int32_t kv_heads;
    int32_t half; /* of a head: RoPE turns element i together with element half + i */
    int32_t half_true;
    int32_t vocabulary;
    int32_t residual; /* activations are quantized twice: the value, then what rounding left ("close") */
    float epsilon;    /* of every norm */
    int32_t gated; /* in qkv each head's query is followed by a gate: its outputs are multiplied with the sigmoid */

    /* of recurrent layers (gated delta nets): 0, or what their weights are made for */
    int32_t key_heads;
    int32_t value_heads;
    int32_t key_size; /* channels of a head, multiples of 64 */
    int32_t value_size;
    int32_t taps;  /* of the convolution */
    int32_t tiled; /* value head i reads key head i % key_heads, else i / (value_heads / key_heads) */

    int32_t experts;  /* of each layer, which are then all of the size `inner`; 0: it is one gated layer */
    int32_t chosen;   /* by the router, for one id */
    int32_t shared;   /* 1: one more expert takes part always */
    int32_t unscaled; /* the weights of the chosen experts are shares of all, and do not add up to 1 */
} specedit_shape;

/* Weights [outputs x inputs] in panels of 16 outputs: panel, inputs / 4, output, 4 inputs. Every
 * 64 inputs of a panel are 1024 bytes in a row. `scales` and `offsets` have 16 numbers for each
 * panel and group of inputs: an output's scale, and 128 times the sum of its weights.
 *
 * With 4 `bits`, 64 inputs of a panel are 576 bytes: for each half of them and each output a multiplier and an
 * offset, then the codes. Each byte of these has two: of the same byte of two consecutive vectors of a
 * panel of 8 bits (16 outputs, 4 inputs), the first one's below. A weight is
 * (code * multiplier - 8 * offset) / 16, rounded down: a signed byte, as with 8 bits.
 *
 * With 6 `bits` they are 832 bytes: for each quarter of them and each output a multiplier, then the lower four
 * bits of the codes as above, then the upper two: each byte has those of the same byte of four consecutive
 * vectors, the first one's lowest. A weight is ((code - 32) * (multiplier + 1) + 32) / 64,
 * rounded down; multipliers are below 255. Where a damaged file's weights are not signed bytes, sums may differ
 * between variants. */
typedef struct {
    const int8_t *panels;
    const float *scales;
    const int32_t *offsets;
    int32_t outputs; /* a multiple of 16 */
    int32_t inputs;  /* a multiple of 64 */
    int32_t group_size; /* inputs that share a scale, a multiple of 64; the last may be fewer */
    int32_t bits;       /* of a weight: 8, 6 or 4 */
} specedit_linear;

typedef struct {
    const float *norm;       /* hidden */
    specedit_linear qkv;     /* heads, key heads, value heads; each 2 * half outputs */
    const float *bias;       /* one for each output of qkv, or null */
    const float *query_norm; /* 2 * half, or null */
    const float *key_norm;
    specedit_linear out;
    const float *inner_norm; /* hidden */
    specedit_linear gate_up; /* a panel of gate, the same panel of up, and so on */
    specedit_linear down;
    int32_t unrotated; /* not 0: no RoPE, and no norm of queries and keys */

    /* With experts `gate_up` and `down` are those of all, one after the other, the shared one last, and the
     * router gives their logits: panels of 16 outputs, inputs x outputs. */
    const float *router;

    /* A recurrent layer; null: attention. Its qkv are the queries and keys of the key heads, the values of the
     * value heads, which go through the convolution, and the gates of the latter. */
    const float *convolution; /* taps x channels */
    const float *projection;  /* panels as the router's: an alpha, then a beta, of each value head */
    const float *decay;       /* of each value head: states are multiplied with */
    const float *shift;       /* exp(decay softplus(alpha + shift)) */
    const float *state_norm;  /* value_size */
} specedit_layer;

typedef struct {
    const specedit_layer *layers;
    const uint16_t *embedding; /* bf16, vocabulary x hidden */
    const float *norm;         /* hidden */
    specedit_linear head;      /* outputs: the vocabulary, rounded up to 16 */
    const double *frequencies; /* of RoPE: half_true radians a position */

    /* Of an MTP layer, which predicts the id after the next one; null: an ordinary model. Its rows begin as `fuse`
     * times the norm of an id's embedding, followed by the norm of the state before that id. */
    const float *id_norm;    /* hidden */
    const float *state_norm; /* hidden */
    specedit_linear fuse;    /* 2 hidden to hidden */
} specedit_weights;

/* Some outputs of the model's output layer, gathered by specedit_output_rows. */
typedef struct {
    specedit_linear rows; /* hidden to `count`, rounded up to 16; one group */
    int32_t count;
} specedit_subset;

/* One pass over `width` ids that follow `start` positions of the cache. With `parents` they are a tree:
 * row i follows row parents[i] < i, or the cache where that is -1. Without, it follows row i - 1.
 * Either way its key and value are stored in the cache at start + i.
 *
 * With `caches` the rows are a batch of several texts: row i follows starts[i] positions of the cache
 * caches[i], sees nothing else, and is equal to the row of a pass over it alone. */
typedef struct {
    const int32_t *ids;
    const int32_t *parents; /* or null: a chain */
    int32_t width;
    int32_t start;
    int32_t *choices; /* width: the lowest id of the largest logit. Null: there are no logits, and the
                         last layer only stores keys and values */
    float *logits;    /* width x vocabulary, or null */
    float *hidden;    /* width x hidden_true, or null: the rows behind the last norm, which the output
                         layer takes; with them the last layer is run whole */
    const specedit_subset *subset; /* or null: all ids. Choices and logits are places in it */
    struct specedit_cache *const *caches; /* or null. With it `parents` is null and `start` 0 */
    const int32_t *starts;                /* width, with `caches` */
    float *margins; /* width: by how much the largest logit exceeds the second; or null */
    int32_t *progress; /* or null: the pass writes the thousandths of its steps that are done to the first
                          number, and ends once the second, which another thread may set, is not 0 */
    const float *states; /* width x hidden_true, of an MTP layer: the state before each id. Else null */
} specedit_pass;

/* A draft head: a small layer that turns a row behind the last norm (the state) into the row of the next
 * position, and a subset of the output layer that gives the logits there.
 *
 *     inner = activation(bias + of_state state + of_id embedding(id))
 *     made  = state + down inner
 *     logit = sharpness * (output made)
 *
 * With `gated` the first half of `inner` gates (SiLU) the second, else all of it goes through SiLU.
 * Every weight is one group. */
typedef struct {
    specedit_linear of_state; /* hidden to inner */
    specedit_linear of_id;    /* the same; without panels the id is not used */
    specedit_linear down;     /* inner, or the half of it, to hidden */
    specedit_linear output;   /* hidden to the ids that a head may guess, rounded up to 16 */
    const float *bias;        /* inner */
    int32_t guessed;          /* ids of the output layer that count */
    int32_t gated;
    float sharpness;
} specedit_head;

/* `width` states and the id that follows each. Results: the next states, and the `most` likeliest
 * outputs of each with the logarithms of their probabilities, the likeliest first. */
typedef struct {
    const float *states; /* width x hidden_true */
    const int32_t *ids;  /* width, or null where ids are not used */
    int32_t width;
    int32_t most;        /* at most 64 */
    float *made;         /* width x hidden_true */
    int32_t *guesses;    /* width x most: places in the output layer; -1 where there are no more */
    float *chances;      /* width x most */
} specedit_guess;

typedef struct specedit_model specedit_model;
typedef struct specedit_cache specedit_cache;
typedef struct specedit_pool specedit_pool;

/* -- the library ------------------------------------------------------------------------------ */

SPECEDIT_EXPORT int specedit_interface(void);
/* The name of variant `index`, the best first; null behind the last. */
SPECEDIT_EXPORT const char *specedit_variant(int index);
/* Whether this processor and system can run variant `index`. */
SPECEDIT_EXPORT int specedit_can(int index);
/* The first function in which two variants differ in a bit, on `rounds` sets of random numbers; null
 * where there is none. Against the last variant, which is plain C, this is the self-check. */
SPECEDIT_EXPORT const char *specedit_difference(int one, int other, uint64_t seed, int rounds);
/* A digest of the sources that the library was made from. */
SPECEDIT_EXPORT const char *specedit_version(void);

/* Float rows [outputs x inputs] as weights of 4 or 6 bits: panels, scales and offsets of a specedit_linear. */
SPECEDIT_EXPORT int specedit_quantize(int variant, const float *rows, int outputs, int inputs, int group_size, int bits,
    uint8_t *panels, float *scales, int32_t *offsets);

/* -- a pool of `threads` threads; the calling one is one of them -------------------------------- */

SPECEDIT_EXPORT specedit_pool *specedit_pool_new(int threads);
SPECEDIT_EXPORT void specedit_pool_free(specedit_pool *pool);

/* -- a model: what it points to belongs to the caller and must not move --------------------------- */

SPECEDIT_EXPORT specedit_model *specedit_model_new(
    int variant, const specedit_shape *shape, const specedit_weights *weights);
SPECEDIT_EXPORT void specedit_model_free(specedit_model *model);

/* -- a cache: keys and values of one model ------------------------------------------------------ */

SPECEDIT_EXPORT specedit_cache *specedit_cache_new(const specedit_model *model);
SPECEDIT_EXPORT void specedit_cache_free(specedit_cache *cache);
SPECEDIT_EXPORT int specedit_cache_reserve(specedit_cache *cache, int positions);
SPECEDIT_EXPORT uint64_t specedit_cache_bytes(const specedit_cache *cache);
/* The first `length` positions of `from`, bit for bit. Both are of one model. */
SPECEDIT_EXPORT int specedit_cache_copy(specedit_cache *to, const specedit_cache *from, int length);
/* The first `length` positions as bytes: out of a cache (`out`), or into it. */
SPECEDIT_EXPORT uint64_t specedit_cache_row_bytes(const specedit_cache *cache);
SPECEDIT_EXPORT int specedit_cache_rows(specedit_cache *cache, char *rows, int length, int out);
/* Of a tree's rows behind `start`, those in `rows` (rising) move together, right behind it. */
SPECEDIT_EXPORT int specedit_cache_keep(
    specedit_cache *cache, int start, const int32_t *rows, int count);

/* A cache of a model with recurrent layers also has their states behind its last position; each pass begins there.
 * It goes back to any position from the start of its last pass with choices on, as long as no other pass ran. */
SPECEDIT_EXPORT int specedit_cache_crop(
    specedit_model *model, specedit_cache *cache, specedit_pool *pool, int length);
/* The states as bytes: out of the cache (`out`), or into it, which then has `length` positions. Null: no position. */
SPECEDIT_EXPORT uint64_t specedit_cache_state_bytes(const specedit_cache *cache);
SPECEDIT_EXPORT int specedit_cache_state(specedit_cache *cache, char *state, int length, int out);

/* -- a pass ------------------------------------------------------------------------------------- */

/* `cache` is null where the pass names caches itself. */
SPECEDIT_EXPORT int specedit_run(
    specedit_model *model, specedit_cache *cache, specedit_pool *pool, const specedit_pass *pass);

/* -- heads -------------------------------------------------------------------------------------- */

SPECEDIT_EXPORT int specedit_guess_run(specedit_model *model, specedit_pool *pool,
    const specedit_head *head, const specedit_guess *guess);
/* Some outputs of the model's own output layer, in this order, into a layer of their own from its
 * output `at` on. Its panels, scales and offsets are for `capacity` outputs, and zero behind them. */
SPECEDIT_EXPORT int specedit_output_rows(const specedit_model *model, const int32_t *ids, int count,
    int at, int capacity, int8_t *panels, float *scales, int32_t *offsets);

/* -- parts of a pass alone, for measurements and tests ------------------------------------------ */

/* The product of `width` quantized rows with every weight of the model, and nothing else. */
SPECEDIT_EXPORT int specedit_products(specedit_model *model, specedit_pool *pool, int width);
/* Attention of all layers behind `start` positions, and nothing else. */
SPECEDIT_EXPORT int specedit_attention(
    specedit_model *model, specedit_cache *cache, specedit_pool *pool, int start, int width);

#endif
