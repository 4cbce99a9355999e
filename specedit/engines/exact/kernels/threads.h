/* Threads, locks, aligned memory and the rounding state of POSIX and Windows, under one name each. */
#ifndef THREADS_H
#define THREADS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <malloc.h>
#include <windows.h>

typedef SRWLOCK thread_lock;
typedef CONDITION_VARIABLE thread_signal;

static inline void thread_lock_make(thread_lock *lock) { InitializeSRWLock(lock); }
static inline void thread_lock_take(thread_lock *lock) { AcquireSRWLockExclusive(lock); }
static inline void thread_lock_leave(thread_lock *lock) { ReleaseSRWLockExclusive(lock); }
static inline void thread_signal_make(thread_signal *at) { InitializeConditionVariable(at); }
static inline void thread_signal_all(thread_signal *at) { WakeAllConditionVariable(at); }
static inline void thread_signal_wait(thread_signal *at, thread_lock *lock) {
    SleepConditionVariableSRW(at, lock, INFINITE, 0);
}
static inline void thread_yield(void) { SwitchToThread(); }

typedef struct {
    HANDLE handle;
    void (*work)(void *);
    void *context;
} thread_handle;

static DWORD WINAPI thread_main(LPVOID given) {
    thread_handle *me = given;
    me->work(me->context);
    return 0;
}
static inline int thread_start(thread_handle *me, void (*work)(void *), void *context) {
    me->work = work;
    me->context = context;
    me->handle = CreateThread(NULL, 0, thread_main, me, 0, NULL);
    return me->handle != NULL;
}
static inline void thread_join(thread_handle *me) {
    WaitForSingleObject(me->handle, INFINITE);
    CloseHandle(me->handle);
}
static inline long thread_process(void) { return 0; } /* a process is never copied */
static inline void *thread_memory_raw(size_t size) { return _aligned_malloc(size, 64); }
static inline void thread_memory_free(void *at) { _aligned_free(at); }

#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

typedef pthread_mutex_t thread_lock;
typedef pthread_cond_t thread_signal;

static inline void thread_lock_make(thread_lock *lock) { pthread_mutex_init(lock, NULL); }
static inline void thread_lock_take(thread_lock *lock) { pthread_mutex_lock(lock); }
static inline void thread_lock_leave(thread_lock *lock) { pthread_mutex_unlock(lock); }
static inline void thread_signal_make(thread_signal *at) { pthread_cond_init(at, NULL); }
static inline void thread_signal_all(thread_signal *at) { pthread_cond_broadcast(at); }
static inline void thread_signal_wait(thread_signal *at, thread_lock *lock) {
    pthread_cond_wait(at, lock);
}
static inline void thread_yield(void) { sched_yield(); }

typedef struct {
    pthread_t handle;
    void (*work)(void *);
    void *context;
} thread_handle;

static void *thread_main(void *given) {
    thread_handle *me = given;
    me->work(me->context);
    return NULL;
}
static inline int thread_start(thread_handle *me, void (*work)(void *), void *context) {
    sigset_t every, before;
    me->work = work;
    me->context = context;
    sigfillset(&every); /* signals are the other threads' business */
    pthread_sigmask(SIG_SETMASK, &every, &before);
    pthread_attr_t own; /* musl gives a thread 128 KB, and a product has a buffer of 80 */
    pthread_attr_init(&own);
    pthread_attr_setstacksize(&own, 1 << 20);
    int failed = pthread_create(&me->handle, &own, thread_main, me);
    pthread_attr_destroy(&own);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}
static inline void thread_join(thread_handle *me) { pthread_join(me->handle, NULL); }
static inline long thread_process(void) { return (long)getpid(); }
static inline void *thread_memory_raw(size_t size) {
    void *at = NULL;
    return posix_memalign(&at, 64, size) ? NULL : at;
}
static inline void thread_memory_free(void *at) { free(at); }
#endif

/* zeroed, at a multiple of 64 */
static inline void *thread_memory(size_t size) {
    void *at = thread_memory_raw(size ? size : 64);
    return at ? memset(at, 0, size) : NULL;
}

/* Another library may have set numbers near zero to be flushed, or another rounding: passes begin
 * with the processor's own default, and put back what was there. */
typedef uint64_t thread_state;
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
static inline void thread_pause(void) { _mm_pause(); }
static inline thread_state thread_rounding(void) {
    thread_state before = _mm_getcsr();
    _mm_setcsr(0x1f80);
    return before;
}
static inline void thread_restore(thread_state before) { _mm_setcsr((unsigned)before); }
#elif defined(__aarch64__)
static inline void thread_pause(void) { __asm__ volatile("yield"); }
static inline thread_state thread_rounding(void) {
    thread_state before, none = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" ::"r"(none));
    return before;
}
static inline void thread_restore(thread_state before) {
    __asm__ volatile("msr fpcr, %0" ::"r"(before));
}
#else
static inline void thread_pause(void) {}
static inline thread_state thread_rounding(void) { return 0; }
static inline void thread_restore(thread_state before) { (void)before; }
#endif

#endif
