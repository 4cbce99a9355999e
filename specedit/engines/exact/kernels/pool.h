/* A pool of threads that work off steps: each step is a number of small pieces. */
#ifndef POOL_H
#define POOL_H

#include "specedit.h"

typedef struct {
    void (*work)(void *of, int layer, int piece, int thread);
    int layer;
    int pieces; /* at least 1 */
} pool_step;

/* How many work: asked before each run, for it is what starts threads in a copied process. */
int pool_threads(specedit_pool *pool);
/* All pieces of a step are done before the next step begins. The caller works, too. */
void pool_run(specedit_pool *pool, const pool_step *steps, int count, void *of);

#endif
