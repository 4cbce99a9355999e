/* A pool of threads that run steps, each a number of small tasks. */
#ifndef POOL_H
#define POOL_H

#include "specedit.h"

enum { /* a run's state is one number: run, step and tasks left */
    POOL_STEP_BITS = 12,
    POOL_LEFT_BITS = 20,
    POOL_MAX_STEPS = (1 << POOL_STEP_BITS) - 1, /* the last number means that a run has ended */
    POOL_MAX_TASKS = (1 << POOL_LEFT_BITS) - 1,
};

typedef struct {
    void (*work)(void *context, int layer, int task, int thread);
    int layer;
    int tasks; /* 1 to POOL_MAX_TASKS */
} pool_step;

/* The number of threads. Called before each run: it starts the threads of a copied process. */
int pool_threads(specedit_pool *pool);
/* At most POOL_MAX_STEPS steps. All tasks of a step end before the next step begins. The calling thread
 * works, too. `progress`: as in specedit_pass; once it says so, the tasks that are left do nothing. */
void pool_run(specedit_pool *pool, const pool_step *steps, int count, void *context, int32_t *progress);

#endif
