/* The pool: tasks are claimed one by one, and a step ends when its last task is done.
 *
 * Threads wait for tasks, never for a thread: a thread that the system suspends delays only the task that
 * it claimed. Waiting is a short spin, then the thread yields, and between passes it sleeps.
 *
 * The shared state is one number: run, step, and how many of the step's tasks are not claimed. Only a
 * thread that has claimed a task may read its step, for then the run cannot end.
 *
 * A copy of the process (fork) has the pool but not its threads, so it starts its own.
 */
#include "pool.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "threads.h"

enum {
    SPINS = 1000, /* about 50 us */
    ENDED = POOL_MAX_STEPS, /* as the step: the run has ended */
};

typedef struct {
    specedit_pool *pool;
    int number;
} worker;

struct specedit_pool {
    _Atomic uint64_t state __attribute__((aligned(64)));
    _Atomic int done __attribute__((aligned(64))); /* tasks of this step */
    _Atomic int sleeping __attribute__((aligned(64)));
    int threads;
    int wanted;
    long process; /* that started the threads */
    const pool_step *steps;
    int count;
    void *context;
    int32_t *progress;
    int ending;
    thread_lock lock;
    thread_signal wake;
    thread_handle *handles;
    worker *workers;
};

static uint64_t state_of(uint32_t run, int step, int left) {
    return (uint64_t)run << 32 | (uint64_t)step << POOL_LEFT_BITS | (uint64_t)left;
}

static uint32_t run_of(uint64_t state) { return (uint32_t)(state >> 32); }
static int step_of(uint64_t state) { return (int)(state >> POOL_LEFT_BITS) & ENDED; }
static int left_of(uint64_t state) { return (int)(state & ((1 << POOL_LEFT_BITS) - 1)); }

/* Claim a task and do it; 0 where there is none. `state` is what this thread has read. */
static int run_task(specedit_pool *pool, int number, uint64_t state) {
    int left = left_of(state), at = step_of(state);
    if (!left || !atomic_compare_exchange_strong(&pool->state, &state, state - 1))
        return 0;
    pool_step step = pool->steps[at]; /* a copy: once the task is counted, the run can end */
    int32_t *progress = pool->progress;
    if (!progress || !__atomic_load_n(progress + 1, __ATOMIC_RELAXED))
        step.work(pool->context, step.layer, step.tasks - left, number);
    if (atomic_fetch_add(&pool->done, 1) == step.tasks - 1) {
        atomic_store(&pool->done, 0);
        int next = at + 1 < pool->count ? at + 1 : ENDED;
        if (progress)
            __atomic_store_n(progress, 1000 * (at + 1) / pool->count, __ATOMIC_RELAXED);
        atomic_store(&pool->state,
            state_of(run_of(state), next, next == ENDED ? 0 : pool->steps[next].tasks));
    }
    return 1;
}

static void serve(void *given) {
    worker *me = given;
    specedit_pool *pool = me->pool;
    thread_rounding();
    for (int spins = 0;;) {
        uint64_t state = atomic_load(&pool->state);
        if (left_of(state)) {
            run_task(pool, me->number, state);
            spins = 0;
        } else if (spins++ < SPINS) {
            thread_pause();
        } else if (step_of(state) != ENDED) {
            thread_yield();
        } else {
            thread_lock_take(&pool->lock);
            atomic_fetch_add(&pool->sleeping, 1);
            while (step_of(atomic_load(&pool->state)) == ENDED && !pool->ending)
                thread_signal_wait(&pool->wake, &pool->lock);
            atomic_fetch_sub(&pool->sleeping, 1);
            int ending = pool->ending;
            thread_lock_leave(&pool->lock);
            if (ending)
                return;
            spins = 0;
        }
    }
}

static void start(specedit_pool *pool) {
    thread_lock_make(&pool->lock);
    thread_signal_make(&pool->wake);
    atomic_store(&pool->state, state_of(0, ENDED, 0));
    atomic_store(&pool->done, 0);
    atomic_store(&pool->sleeping, 0);
    pool->process = thread_process();
    pool->threads = 1;
    for (int number = 1; number < pool->wanted; number++) {
        pool->workers[number].pool = pool;
        pool->workers[number].number = number;
        if (!thread_start(&pool->handles[number], serve, &pool->workers[number]))
            break; /* a pool of fewer threads works too */
        pool->threads++;
    }
}

int pool_threads(specedit_pool *pool) {
    if (pool->process != thread_process())
        start(pool);
    return pool->threads;
}

void pool_run(specedit_pool *pool, const pool_step *steps, int count, void *context, int32_t *progress) {
    pool->steps = steps;
    pool->count = count;
    pool->context = context;
    pool->progress = progress;
    uint32_t run = run_of(atomic_load(&pool->state)) + 1;
    thread_state before = thread_rounding();
    atomic_store(&pool->state, state_of(run, 0, steps[0].tasks));
    if (atomic_load(&pool->sleeping)) {
        thread_lock_take(&pool->lock);
        thread_signal_all(&pool->wake);
        thread_lock_leave(&pool->lock);
    }
    for (int spins = 0;;) {
        uint64_t state = atomic_load(&pool->state);
        if (step_of(state) == ENDED)
            break;
        if (left_of(state)) {
            run_task(pool, 0, state);
            spins = 0;
        } else if (spins++ < SPINS) {
            thread_pause();
        } else {
            thread_yield();
        }
    }
    thread_restore(before);
}

specedit_pool *specedit_pool_new(int threads) {
    if (threads < 1 || threads > SPECEDIT_MAX_THREADS)
        return 0;
    specedit_pool *pool = thread_memory(sizeof *pool);
    if (!pool)
        return 0;
    pool->handles = calloc((size_t)threads, sizeof *pool->handles);
    pool->workers = calloc((size_t)threads, sizeof *pool->workers);
    if (!pool->handles || !pool->workers) {
        free(pool->handles);
        free(pool->workers);
        thread_memory_free(pool);
        return 0;
    }
    pool->wanted = threads;
    start(pool);
    return pool;
}

void specedit_pool_free(specedit_pool *pool) {
    if (!pool)
        return;
    if (pool->process == thread_process()) {
        thread_lock_take(&pool->lock);
        pool->ending = 1;
        thread_signal_all(&pool->wake);
        thread_lock_leave(&pool->lock);
        for (int number = 1; number < pool->threads; number++)
            thread_join(&pool->handles[number]);
    }
    free(pool->handles);
    free(pool->workers);
    thread_memory_free(pool);
}
