/* A model, the memory of its passes, and what the files of a pass call in each other. */
#ifndef MODEL_H
#define MODEL_H

#include "cache.h"
#include "pool.h"
#include "variant.h"

enum {
    PANELS_PER_CALL = 4, /* panels of one call: so many streams of weights are read at once */
    QUERY_ROWS = 8,      /* positions whose queries meet a tile of keys together */
    LATE_SHARE = 12,     /* one line of so many is fetched by the epilogue, the others by gemm8 */
    SPLIT_WIDTH = 16,    /* passes up to this width split attention by tiles, too */
};

/* the scratch memory of one thread */
typedef struct {
    float *row;        /* 2 hidden */
    int32_t *sums;     /* PANELS_PER_CALL x ROW_BLOCK x LANES, and what attention needs */
    int32_t *scores;   /* QUERY_ROWS x per_kv x TILE */
    uint8_t *weights;  /* the same: softmax weights */
    float *units;      /* QUERY_ROWS x per_kv x TILE / BLOCK: scales of those */
    float *tile_output; /* QUERY_ROWS x per_kv x size: attention's output over one tile */
    float *output;     /* the same, over all tiles */
    float *sum, *maximum;
    char *gathered; /* one head's part of a tile, for a row of a tree */
    int8_t *expanded; /* PANELS_PER_CALL panels of fewer bits as 8, of one group of inputs; or null */
} thread_scratch;

/* Quantized activations: uint8 with zero point 128 and a scale for each group of a row's inputs. With
 * `residual` (specedit_shape) a row is two: the values, then what rounding left, in finer steps. */
typedef struct {
    uint8_t *values;
    float *scales;
    int groups; /* of a row */
    int count;  /* rows; 0: those of the pass */
} quantized_rows;

/* what is done with the sums of a product */
typedef enum { STORE, ADD, SWIGLU, LOGITS, DISCARD } gemm_epilogue;

/* the buffers of heads.c */
typedef struct {
    int width, inner, outputs; /* their capacity */
    float *rows, *inner_rows, *logits;
    quantized_rows states, ids, inside, made;
    const specedit_head *head;
    const specedit_guess *guess;
} guess_buffers;

/* Which experts the rows of a pass chose: an entry is one expert of one row. Entries are sorted by expert. */
typedef struct {
    int32_t *chosen;   /* rows x entries: of each row, in rising order, */
    int32_t *entry;    /* where that entry is, */
    float *weight;     /* and what its result is multiplied with */
    int32_t *row;      /* of each entry */
    int32_t *first;    /* experts + 1: the first entry of each */
    int32_t *active;   /* experts that have entries */
    int count;         /* of these */
    quantized_rows rows;
    float *results;    /* entries x hidden */
} expert_buffers;

/* What the last pass with choices did to recurrent layers, row by row, so that some rows can be done again. */
typedef struct {
    uint64_t pass; /* number of the pass */
    int start, width, capacity;
    float *inputs; /* layer, row, channel of the convolution */
    float *gates;  /* layer, row, decays and betas */
    float *middle; /* the states behind `half` rows of a wide pass, from where the rows behind them are done again */
    int half;      /* 0: none are kept */
} pass_journal;

struct specedit_model {
    const kernel *kernel;
    specedit_shape shape;
    specedit_weights weights;
    specedit_layer *layers;
    int size;          /* of a head */
    int per_kv;        /* query heads per key head */
    int outputs;       /* of qkv, the most of any layer */
    int attended_size; /* inputs of out, the most of any layer */
    int *places;       /* of a layer among those of its kind */
    int recurrent;     /* layers that are */
    int channels;      /* of their convolution */
    size_t state_floats; /* of one: a value head after the other, each as panels of 16 value channels, then
                            the last inputs of the convolution */
    int projected_size; /* outputs of a projection or a router, the most of any layer */
    int entries;        /* experts of an id, the shared one included */
    int groups;        /* of the inner width */
    int expanded;      /* most inputs of a group of weights of 4 or 6 bits; 0: there are none */

    int width;   /* capacity of the buffers, in rows, */
    int threads; /* of the scratch memory, in threads, */
    int tiles;   /* and of the parts of a narrow pass, in tiles */
    float *rows, *qkv, *attended, *gates, *cosines, *sines;
    int16_t *queries;
    float *query_scales;
    quantized_rows hidden, out, inner;
    float *part_output, *part_sum, *part_maximum; /* of narrow passes: tile by tile */
    float *best, *second;                         /* each task's two largest logits of each row */
    int32_t *choice;
    thread_scratch *scratch;
    pool_step *steps;
    int32_t *depths; /* of a row: its position beyond the pass's start */
    float *normed, *projected; /* inputs and outputs of projections and routers; these become decays and betas */
    float *mixed;              /* outputs of the convolution */
    expert_buffers expert;
    pass_journal journal;
    int again; /* rows of the last pass are done again, from this one on */

    /* the pass that runs */
    const specedit_pass *pass;
    specedit_cache *cache; /* null: each row has its own, which the pass names */
    int last;              /* the highest position of a row */
    int head_tasks;
    int discard; /* products are computed for their time alone */
    guess_buffers guess;
};

/* bytes of some inputs of a panel, a multiple of 64 */
static inline size_t panel_bytes(const specedit_linear *linear, int inputs) {
    return (size_t)(inputs / 64) * block_of(linear->bits);
}

static inline int up_to(int number, int multiple) {
    return (number + multiple - 1) / multiple * multiple;
}

/* arguments.c: whether the kernels can run what the caller passes */
int shape_fits(const specedit_shape *shape, const specedit_weights *weights);
int linear_fits(const specedit_linear *linear, int outputs, int inputs, int group_size);
int cache_fits(const specedit_model *model, const specedit_cache *cache);
int pass_fits(const specedit_model *model, specedit_cache *cache, const specedit_pass *pass);
/* `width` rows, the last one at position start + reach - 1 */
int rows_fit(const specedit_model *model, int start, int reach, int width);

/* scratch.c */
int reserve_buffers(specedit_model *model, int width, int threads, int tiles);
int reserve_journal(specedit_model *model, int width);
void free_memory(specedit_model *model);

/* gemm.c: tasks of a product, given the threads; and one of them, for all rows */
int gemm_tasks(const specedit_linear *linear, int threads);
void gemm_task(specedit_model *model, const specedit_linear *linear, const quantized_rows *rows,
    gemm_epilogue epilogue, const float *bias, float *out, size_t stride, int task, int thread);
int logits_of(const specedit_model *model); /* how many a row has */
void quantize_row(specedit_model *model, const float *row, int inputs, int group_size,
    quantized_rows *to, int index);

/* layer.c: fill the model's steps with those of its pass, or with the products alone; how many */
int pass_steps(specedit_model *model, int threads);
int gemm_steps(specedit_model *model, int threads);

/* recurrent.c: the tasks of a recurrent layer, and its output in the place of attention's */
int project_tasks(const specedit_model *model, int outputs);
void project_task(specedit_model *model, const float *panels, int task);
void project_gates(void *context, int layer, int task, int thread);
void convolve_row(void *context, int layer, int row, int thread);
void recur_head(void *context, int layer, int head, int thread);
void recurrent_attended(specedit_model *model, int layer, int row);
void end_recurrent_pass(specedit_model *model, specedit_cache *cache, const specedit_pass *pass);
double exp_of(double x); /* by fixed steps */

/* experts.c: the tasks of a layer with experts, after its norm */
pool_step *expert_steps(specedit_model *model, int layer, int threads, pool_step *step);

/* heads.c */
void free_guess(specedit_model *model);

/* attention.c: RoPE and the KV cache, then attention; a row's tiles are merged by attention_row */
int store_kv_tasks(const specedit_model *model);
void store_kv_task(void *context, int layer, int task, int thread);
int attention_tasks(const specedit_model *model);
void attention_task(void *context, int layer, int task, int thread);
void attention_row(specedit_model *model, int row, float *out);
int attention_split(const specedit_model *model); /* whether this pass is split by tiles */

/* rope.c: cosines and sines of a position, by fixed steps of double arithmetic */
void rope_angles(double position, const double *frequencies, int half_true, int half, float *cosines,
    float *sines);

#endif
