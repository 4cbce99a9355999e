#include <stdatomic.h>
#include <stdio.h>
static int count(_Atomic int *at, int by);
#undef atomic_fetch_add
#define atomic_fetch_add(at, by) count(at, by)
#include "pool.c"

static specedit_pool *pool;
static pool_step steps[2];
static atomic_int performed, counted;

/* The worker counts its task first, and is suspended until the next pass fills the steps. */
static int count(_Atomic int *at, int by) {
    int before = atomic_fetch_add_explicit(at, by, memory_order_seq_cst);
    if (pool && at == &pool->done && !counted) {
        counted = 1;
        while (step_of(pool->state) != ENDED)
            thread_yield();
        pool->count = 2;
        steps[0].tasks = 1;
    }
    return before;
}

static void task(void *context, int layer, int at, int thread) {
    performed++;
    while (thread == 0 && !counted)
        thread_yield();
}

int main(void) {
    pool = specedit_pool_new(2);
    steps[0] = (pool_step){task, 0, 2};
    steps[1] = (pool_step){task, 0, 1};
    pool_run(pool, steps, 1, 0, 0);
    specedit_pool_free(pool);
    printf("%d\n", performed);
}
