/* A pool of threads that work off steps: each step is a number of small pieces. */
#ifndef POOL_H
#define POOL_H

#include "specedit.h"

enum { /* a run's state is one number: run, step and tasks left */
    POOL_STEP_BITS = 12,
    POOL_LEFT_BITS = 20,
    POOL_MAX_STEPS = (1 << POOL_STEP_BITS) - 1, /* the last number means that a run has ended */
    POOL_MAX_PIECES = (1 << POOL_LEFT_BITS) - 1,
};

typedef struct {
    void (*work)(void *of, int layer, int piece, int thread);
    int layer;
    int pieces; /* 1 to POOL_MAX_PIECES */
} pool_step;

/* How many work: asked before each run, for it is what starts threads in a copied process. */
int pool_threads(specedit_pool *pool);
/* At most POOL_MAX_STEPS steps. All pieces of a step are done before the next step begins. The caller works, too. */
void pool_run(specedit_pool *pool, const pool_step *steps, int count, void *of);

#endif
