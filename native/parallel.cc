// The threads that work beside the calling one: a pool of the process, made when it is first needed and asleep between
// calls. One call at a time has the pool; a call of another environment meanwhile works in its own thread alone.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>

#include "parallel.h"
#include "support.h"

namespace aether {

namespace {

struct Pool {
  pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
  pthread_cond_t done = PTHREAD_COND_INITIALIZER;
  // Under `busy`.
  size_t workers = 0;
  // Under `mutex`.
  uint64_t generation = 0;
  size_t wanted = 0;   // workers that may still join this call
  size_t working = 0;  // workers that have joined and not left
  void (*body)(void*, size_t) = nullptr;
  void* context = nullptr;
  size_t pieces = 0;

  std::atomic<size_t> next{0};
};

Pool pool;

void workOn(void (*body)(void*, size_t), void* context, size_t pieces) {
  for (size_t piece = pool.next.fetch_add(1); piece < pieces; piece = pool.next.fetch_add(1)) body(context, piece);
}

void* runWorker(void*) {
  pthread_mutex_lock(&pool.mutex);
  for (uint64_t seen = 0;;) {
    while (pool.generation == seen || pool.wanted == 0) pthread_cond_wait(&pool.wake, &pool.mutex);
    seen = pool.generation;
    pool.wanted--;
    pool.working++;
    const auto body = pool.body;
    void* const context = pool.context;
    const size_t pieces = pool.pieces;
    pthread_mutex_unlock(&pool.mutex);
    workOn(body, context, pieces);
    pthread_mutex_lock(&pool.mutex);
    if (--pool.working == 0) pthread_cond_signal(&pool.done);
  }
}

bool addWorker() {
  if (pool.workers == 0) stayLoaded();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool made = pthread_create(&thread, nullptr, runWorker, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (made) {
    pthread_detach(thread);
    pool.workers++;
  }
  return made;
}

}  // namespace

void inParallel(size_t pieces, size_t threads, void (*body)(void*, size_t), void* context) {
  threads = std::min({threads, pieces, kThreadsMax});
  if (threads < 2 || pthread_mutex_trylock(&pool.busy) != 0) {
    for (size_t piece = 0; piece < pieces; piece++) body(context, piece);
    return;
  }
  while (pool.workers + 1 < threads && addWorker()) continue;
  pthread_mutex_lock(&pool.mutex);
  pool.body = body;
  pool.context = context;
  pool.pieces = pieces;
  pool.next = 0;
  pool.wanted = std::min(threads - 1, pool.workers);
  pool.generation++;
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.mutex);
  workOn(body, context, pieces);
  pthread_mutex_lock(&pool.mutex);
  // A worker that has not woken yet finds nothing wanted.
  pool.wanted = 0;
  while (pool.working != 0) pthread_cond_wait(&pool.done, &pool.mutex);
  pthread_mutex_unlock(&pool.mutex);
  pthread_mutex_unlock(&pool.busy);
}

}  // namespace aether
