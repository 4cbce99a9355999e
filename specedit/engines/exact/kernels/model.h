/* A model, and the memory that its passes work in. */
#ifndef MODEL_H
#define MODEL_H

#include "cache.h"
#include "pool.h"
#include "variant.h"

enum {
    GROUP = 64, /* rows of digits that a panel meets at a time: their sums stay in the cache */
    MANY = 4,   /* panels of one call, at most: so many streams of weights are under way */
    CHUNK = 8,  /* positions whose queries meet a tile of keys together */
    LATE = 12,  /* one line of so many is fetched while sums are worked on */
    NARROW = 16, /* passes up to this width split attention by tiles, too */
};

/* what one thread works in */
typedef struct {
    float *row;       /* the longest row */
    int32_t *sums;    /* MANY x GROUP x LANES, and a block of values' products */
    int32_t *scores;  /* CHUNK x group x TILE */
    uint8_t *weights; /* likewise */
    float *units;     /* CHUNK x group x TILE / BLOCK */
    float *tile;      /* CHUNK x group x size: mixed values of one tile */
    float *mixed;     /* likewise, of all */
    float *sum, *most;
    char *gathered; /* a head's part of a tile, for a row of a tree */
} bench_of_thread;

typedef struct {
    uint8_t *digits;
    float *scales;
    int pieces;
} digit_rows;

/* what is done with a product */
typedef enum { PLAIN, ADD, GATE, LOGITS, NOTHING } after;

/* what a head's rows are worked out in (heads.c) */
typedef struct {
    int width, inner, outputs; /* there is room for */
    float *rows, *inner_rows, *logits;
    digit_rows states, ids, inside, made;
    const specedit_head *head;
    const specedit_guess *guess;
} guess_room;

struct specedit_model {
    const kernel *kernel;
    specedit_shape shape;
    specedit_weights weights;
    specedit_layer *layers;
    int size;   /* of a head */
    int group;  /* query heads per key head */
    int outputs; /* of qkv */
    int mixed;   /* inputs of out */
    int pieces;  /* of the inner width */

    int width; /* room for a pass of this width, */
    int threads;
    int tiles; /* and, if it is narrow, for so many tiles */
    float *rows, *qkv, *attended, *gates, *cosines, *sines;
    int16_t *queries;
    float *query_scales;
    digit_rows hidden, out, inner;
    float *part_mixed, *part_sum, *part_most; /* of narrow passes: tile by tile */
    float *best;
    int32_t *choice;
    bench_of_thread *benches;
    pool_step *steps;
    int32_t *depths; /* of a row: what its position is beyond the pass's start */

    /* the pass under way */
    const specedit_pass *pass;
    specedit_cache *cache; /* null: each row has one of its own, which the pass names */
    int last;              /* the highest position of a row */
    int head_pieces;
    guess_room guess;
};

static inline int up_to(int number, int multiple) {
    return (number + multiple - 1) / multiple * multiple;
}

/* arguments.c: whether what a caller gives can be */
int shape_fits(const specedit_shape *shape, const specedit_weights *weights);
int linear_fits(const specedit_linear *linear, int outputs, int inputs, int piece);
int cache_fits(const specedit_model *model, const specedit_cache *cache);
int pass_fits(const specedit_model *model, specedit_cache *cache, const specedit_pass *pass);
/* `width` rows, the last one at position start + reach - 1 */
int rows_fit(const specedit_model *model, int start, int reach, int width);

int model_room(specedit_model *model, int width, int threads, int tiles);

/* digits of a row, a scale for each piece of it */
void row_digits(
    specedit_model *model, const float *row, int inputs, int piece, digit_rows *to, int index);
/* pieces of a product by the threads at work, and one of them, of all of the pass's rows */
int product_pieces(const specedit_linear *linear, int threads);
void product_piece(specedit_model *model, const specedit_linear *linear, const digit_rows *rows,
    after then, const float *bias, float *out, size_t stride, int piece, int thread);

/* heads.c */
void guess_free(specedit_model *model);

/* attention.c */
int attention_head_pieces(const specedit_model *model);
void attention_heads(void *of, int layer, int piece, int thread);
int attention_pieces(const specedit_model *model);
void attention_piece(void *of, int layer, int piece, int thread);
void attention_row(specedit_model *model, int row, float *out); /* folds a narrow pass's tiles */
int attention_split(const specedit_model *model); /* whether this pass is split by tiles */

/* turn.c: cosines and sines of a position, by fixed steps of double arithmetic */
void turn_of(double position, const double *speeds, int half_true, int half, float *cosines,
    float *sines);

#endif
