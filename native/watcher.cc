// Descriptors that one environment waits for. See `Watcher` in src/native/addon.ts for the contract.
//
// Two sets of descriptors. What has a word is waited for by a thread, which is there from the first of them on: the
// word has to be written also while JavaScript spins. What has none is waited for by the event loop itself: a thread
// between would be woken first, and wake the loop then, two switches for one.
//
// Who touches what: the map of entries is shared by the JavaScript thread (add, rearm, remove) and the watching thread
// (fire), under `mutex`. Node-API values (callback, references to word buffers) are touched by the JavaScript thread
// only. A word is written only under `mutex` and only while its entry exists, so after `remove` has returned it is not
// written any more.
//
// Who owns it: the JavaScript object and the threadsafe function, either of which may be the last to go, both on the
// JavaScript thread.
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "loop-poll.h"
#include "mappings.h"
#include "support.h"

namespace aether {

struct Entry {
  int descriptor = -1;      // a duplicate of our own: the caller may close his
  uint32_t generation = 0;  // tells a token's present entry from an earlier one of the same token
  int32_t* word = nullptr;
  napi_ref wordRef = nullptr;
  std::shared_ptr<Mapped> wordMapping;  // keeps mapped what the watching thread writes, whatever becomes of the buffer
  // Of those that the loop waits for: whether the program wants the next event, and whether the kernel would report it.
  bool wanted = true;
  bool enabled = true;
};

struct Fired {
  int32_t token;
  uint32_t generation;
};

struct Watcher {
  napi_env env = nullptr;
  napi_ref callback = nullptr;
  bool referenced = false;
  // What the loop waits for.
  LoopPoll* poll = nullptr;
  int loopEpoll = -1;
  // What the thread waits for, from when it has been started.
  napi_threadsafe_function notify = nullptr;
  int epoll = -1;
  int stop = -1;
  int owners = 1;
  bool hasThread = false;
  pthread_t thread;
  std::mutex mutex;
  std::unordered_map<int32_t, Entry> entries;
  std::vector<Fired> fired;
  uint32_t generations = 0;
  napi_ref self =
      nullptr;  // held while something is watched: the object must not be collected and its events be lost in silence
  bool closed = false;
};

static const napi_type_tag kWatcherTag = {0x6165746865720001ULL, 0x7761746368657200ULL};

// What epoll hands back names the entry, not only its token: an event may still be under way when the token has got
// another descriptor, and the death of one process must not be taken for that of the next.
static uint64_t keyOf(int32_t token, uint32_t generation) {
  return static_cast<uint64_t>(generation) << 32 | static_cast<uint32_t>(token);
}
constexpr uint64_t kStopKey = UINT64_MAX;  // no token is negative, so that no entry has this key

static void disown(Watcher* watcher) {
  if (--watcher->owners == 0) delete watcher;
}

static void fire(Watcher* watcher, uint64_t key) {
  const auto token = static_cast<int32_t>(static_cast<uint32_t>(key));
  std::lock_guard<std::mutex> lock(watcher->mutex);
  auto it = watcher->entries.find(token);
  if (it == watcher->entries.end() || it->second.generation != key >> 32) return;
  if (it->second.word != nullptr) {
    __atomic_fetch_add(it->second.word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, it->second.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  watcher->fired.push_back({token, it->second.generation});
  napi_call_threadsafe_function(watcher->notify, nullptr, napi_tsfn_nonblocking);
}

static void* watch(void* data) {
  auto* watcher = static_cast<Watcher*>(data);
  pthread_setname_np(pthread_self(), "aether-watcher");
  struct epoll_event events[64];
  for (;;) {
    const int count = epoll_wait(watcher->epoll, events, 64, -1);
    if (count < 0 && errno != EINTR) return nullptr;
    for (int index = 0; index < count; index++) {
      if (events[index].data.u64 == kStopKey) return nullptr;
      fire(watcher, events[index].data.u64);
    }
  }
}

// On the JavaScript thread.
static bool isWanted(Watcher* watcher, const Fired& fired) {
  std::lock_guard<std::mutex> lock(watcher->mutex);
  auto it = watcher->entries.find(fired.token);
  return !watcher->closed && it != watcher->entries.end() && it->second.generation == fired.generation;
}

static void raise(napi_env env) {
  bool isPending = false;
  napi_is_exception_pending(env, &isPending);
  if (!isPending) return;  // the environment ends
  napi_value error = nullptr;
  napi_get_and_clear_last_exception(env, &error);
  napi_fatal_exception(env, error);
}

// On the JavaScript thread: what the thread has found, as far as it is still wanted.
static void deliver(napi_env env, napi_value callback, void* context, void*) {
  // Called without an environment for what was queued when the threadsafe function ended; `context` may be gone by
  // then.
  if (env == nullptr || callback == nullptr) return;
  auto* watcher = static_cast<Watcher*>(context);
  std::vector<Fired> fired;
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    fired.swap(watcher->fired);
  }
  napi_value self = makeUndefined(env);
  for (const Fired& each : fired) {
    if (!isWanted(watcher, each)) continue;
    napi_value token = makeNumber(env, each.token);
    if (napi_call_function(env, self, callback, 1, &token, nullptr) == napi_pending_exception) raise(env);
  }
}

// What the loop waits for is enabled until an event comes that nobody has asked for again: whoever asks from within the
// callback, as most do, then costs no system call.
static int enable(const Watcher* watcher, int32_t token, Entry& entry, bool enabled) {
  if (entry.enabled == enabled) return 0;
  struct epoll_event event = {};
  // A hang-up is told whatever is asked for: EPOLLONESHOT makes it be told but once.
  event.events = static_cast<uint32_t>(enabled ? EPOLLIN : EPOLLONESHOT);
  event.data.u64 = keyOf(token, entry.generation);
  if (epoll_ctl(watcher->loopEpoll, EPOLL_CTL_MOD, entry.descriptor, &event) != 0) return errno;
  entry.enabled = enabled;
  return 0;
}

// On the JavaScript thread, which alone adds and removes: no lock is needed to look.
static Entry* presentEntry(Watcher* watcher, const Fired& fired) {
  if (watcher->closed) return nullptr;
  auto it = watcher->entries.find(fired.token);
  return it == watcher->entries.end() || it->second.generation != fired.generation ? nullptr : &it->second;
}

static void callBack(Watcher* watcher, int32_t token) {
  napi_env env = watcher->env;
  napi_handle_scope scope = nullptr;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  napi_value callback = nullptr, global = nullptr;
  napi_get_reference_value(env, watcher->callback, &callback);
  napi_get_global(env, &global);
  napi_value argument = makeNumber(env, token);
  if (napi_make_callback(env, nullptr, global, callback, 1, &argument, nullptr) == napi_pending_exception) raise(env);
  napi_close_handle_scope(env, scope);
}

// On the JavaScript thread, out of the event loop: what it has found itself.
static void loopReadable(void* data) {
  auto* watcher = static_cast<Watcher*>(data);
  struct epoll_event events[64];
  const int count = epoll_wait(watcher->loopEpoll, events, 64, 0);
  watcher->owners += 1;  // what is called may close it and have it collected
  for (int index = 0; index < count; index++) {
    const uint64_t key = events[index].data.u64;
    const Fired fired = {static_cast<int32_t>(static_cast<uint32_t>(key)), static_cast<uint32_t>(key >> 32)};
    Entry* entry = presentEntry(watcher, fired);
    if (entry == nullptr) continue;
    const bool wasWanted = entry->wanted;
    entry->wanted = false;
    if (wasWanted) callBack(watcher, fired.token);
    entry = presentEntry(watcher, fired);
    if (entry != nullptr && !entry->wanted) enable(watcher, fired.token, *entry, false);
  }
  disown(watcher);
}

static int setOf(const Watcher* watcher, const Entry& entry) {
  return entry.word == nullptr ? watcher->loopEpoll : watcher->epoll;
}

static void closeEntry(Watcher* watcher, const Entry& entry) {
  epoll_ctl(setOf(watcher, entry), EPOLL_CTL_DEL, entry.descriptor, nullptr);
  close(entry.descriptor);
  if (entry.wordRef != nullptr) napi_delete_reference(watcher->env, entry.wordRef);
}

static void holdSelf(Watcher* watcher, napi_value object) {
  if (watcher->self == nullptr) napi_create_reference(watcher->env, object, 1, &watcher->self);
}

static void releaseSelf(Watcher* watcher) {
  if (watcher->self != nullptr) napi_delete_reference(watcher->env, watcher->self);
  watcher->self = nullptr;
}

static void stopThread(Watcher* watcher) {
  if (!watcher->hasThread) return;
  const uint64_t one = 1;
  while (write(watcher->stop, &one, sizeof one) < 0 && errno == EINTR) {
  }
  pthread_join(watcher->thread, nullptr);
  watcher->hasThread = false;
}

static void closeDescriptors(const Watcher* watcher) {
  for (const int descriptor : {watcher->epoll, watcher->stop, watcher->loopEpoll})
    if (descriptor >= 0) close(descriptor);
}

// On the JavaScript thread. Also the environment's cleanup hook: neither the thread nor the loop's handle must outlive
// the environment.
static void closeWatcher(void* data) {
  auto* watcher = static_cast<Watcher*>(data);
  if (watcher->closed) return;
  watcher->closed = true;
  stopThread(watcher);
  for (auto& [token, entry] : watcher->entries) closeEntry(watcher, entry);
  watcher->entries.clear();
  watcher->fired.clear();
  releaseSelf(watcher);
  watcher->poll->close();
  closeDescriptors(watcher);
  napi_delete_reference(watcher->env, watcher->callback);
  napi_remove_env_cleanup_hook(watcher->env, closeWatcher, watcher);
  if (watcher->notify != nullptr) napi_release_threadsafe_function(watcher->notify, napi_tsfn_abort);
}

// The threadsafe function is gone.
static void forgetNotify(napi_env, void*, void* context) {
  disown(static_cast<Watcher*>(context));
}

// The object was collected, or its environment has ended.
static void collectWatcher(napi_env, void* data, void*) {
  closeWatcher(data);
  disown(static_cast<Watcher*>(data));
}

static Watcher* watcherOf(Arguments& arguments) {
  bool tagged = false;
  void* data = nullptr;
  napi_valuetype type = napi_undefined;
  napi_typeof(arguments.env, arguments.self, &type);
  if (type != napi_object ||
      napi_check_object_type_tag(arguments.env, arguments.self, &kWatcherTag, &tagged) != napi_ok || !tagged ||
      napi_unwrap(arguments.env, arguments.self, &data) != napi_ok) {
    arguments.fail("this", "this must be a watcher");
    return nullptr;
  }
  return static_cast<Watcher*>(data);
}

static void removeToken(Watcher* watcher, int32_t token) {
  Entry entry;
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    auto it = watcher->entries.find(token);
    if (it == watcher->entries.end()) return;
    entry = it->second;
    watcher->entries.erase(it);
  }
  closeEntry(watcher, entry);
  if (watcher->entries.empty()) releaseSelf(watcher);
}

struct Failure {
  const char* call;
  int error;
};

// Starts the thread with every signal blocked: signals are for the threads of JavaScript. Returns an errno.
static int runThread(Watcher* watcher) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const int error = pthread_create(&watcher->thread, nullptr, watch, watcher);
  watcher->hasThread = error == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

static bool openThreadDescriptors(Watcher* watcher) {
  watcher->epoll = epoll_create1(EPOLL_CLOEXEC);
  watcher->stop = eventfd(0, EFD_CLOEXEC);
  struct epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kStopKey;
  return watcher->epoll >= 0 && watcher->stop >= 0 &&
         epoll_ctl(watcher->epoll, EPOLL_CTL_ADD, watcher->stop, &event) == 0;
}

static bool openNotify(Watcher* watcher) {
  napi_value name = nullptr, callback = nullptr;
  napi_create_string_utf8(watcher->env, "aether-watcher", NAPI_AUTO_LENGTH, &name);
  napi_get_reference_value(watcher->env, watcher->callback, &callback);
  if (napi_create_threadsafe_function(watcher->env, callback, nullptr, name, 0, 1, nullptr, forgetNotify, watcher,
                                      deliver, &watcher->notify) != napi_ok)
    return false;
  watcher->owners += 1;
  if (!watcher->referenced) napi_unref_threadsafe_function(watcher->env, watcher->notify);
  return true;
}

// The thread and all that belongs to it, or nothing.
static Failure startThread(Watcher* watcher) {
  Failure failure = {"epoll_create1", openThreadDescriptors(watcher) ? 0 : errno};
  if (failure.error == 0) failure = {"pthread_create", openNotify(watcher) ? runThread(watcher) : ENOMEM};
  if (failure.error == 0) return failure;
  if (watcher->notify != nullptr) napi_release_threadsafe_function(watcher->notify, napi_tsfn_abort);
  for (int* descriptor : {&watcher->epoll, &watcher->stop}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
  watcher->notify = nullptr;
  return failure;
}

static bool isUndefined(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  return type == napi_undefined;
}

// (word, index), where index may be left out. Only memory that stays where it is while it is watched: a plain
// ArrayBuffer may be transferred or shrunk, and the watching thread would write into what is somebody else's by then.
static void readWord(Arguments& arguments, Entry* entry) {
  napi_env env = arguments.env;
  if (!arguments.ok() || isUndefined(env, arguments.at(2))) return;
  const Int32s array = arguments.int32s(2, "word");
  if (arguments.ok() && array.length == 0) arguments.fail("word", "word must have elements");
  const bool isFirst = isUndefined(env, arguments.at(3));
  const double index =
      isFirst || !arguments.ok() ? 0 : arguments.integer(3, "index", 0, static_cast<double>(array.length) - 1);
  if (!arguments.ok()) return;
  napi_value buffer = nullptr;
  bool isPrivate = false;
  napi_get_typedarray_info(env, arguments.at(2), nullptr, nullptr, nullptr, &buffer, nullptr);
  napi_is_arraybuffer(env, buffer, &isPrivate);
  entry->word = array.data + static_cast<size_t>(index);
  if (isPrivate) entry->wordMapping = holdMapping(reinterpret_cast<uintptr_t>(entry->word));
  if (isPrivate && entry->wordMapping == nullptr)
    arguments.fail("word", "word must be in memory that mapMemory made, or in a SharedArrayBuffer");
}

static int arm(const Watcher* watcher, int operation, int32_t token, const Entry& entry) {
  struct epoll_event event = {};
  event.events = entry.word == nullptr ? static_cast<uint32_t>(EPOLLIN) : EPOLLIN | EPOLLONESHOT;
  event.data.u64 = keyOf(token, entry.generation);
  return epoll_ctl(setOf(watcher, entry), operation, entry.descriptor, &event);
}

static napi_value Add(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  const auto token = static_cast<int32_t>(arguments.integer(0, "token", 0, INT32_MAX));
  const int descriptor = arguments.descriptor(1, "descriptor");
  Entry entry;
  readWord(arguments, &entry);
  if (arguments.ok() && watcher->closed) arguments.fail("this", "the watcher is closed");
  if (arguments.ok() && watcher->entries.count(token) != 0)
    arguments.fail("token", "this token is watched already; remove it first");
  if (!arguments.ok()) return nullptr;
  if (entry.word != nullptr && watcher->notify == nullptr) {
    const Failure failure = startThread(watcher);
    if (failure.error != 0) return throwSystem(env, failure.call, failure.error);
  }
  entry.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (entry.descriptor < 0) return throwSystem(env, "fcntl", errno);
  if (entry.word != nullptr) napi_create_reference(env, arguments.at(2), 1, &entry.wordRef);
  entry.generation = ++watcher->generations;
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    watcher->entries[token] = entry;
  }
  holdSelf(watcher, arguments.self);
  if (arm(watcher, EPOLL_CTL_ADD, token, entry) != 0) {
    const int error = errno;
    removeToken(watcher, token);
    return throwSystem(env, "epoll_ctl", error);
  }
  return nullptr;
}

static napi_value Rearm(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  const auto token = static_cast<int32_t>(arguments.integer(0, "token", 0, INT32_MAX));
  if (arguments.ok() && watcher->closed) arguments.fail("this", "the watcher is closed");
  if (!arguments.ok()) return nullptr;
  // Only this thread adds and removes, so that reading without the mutex is safe.
  auto it = watcher->entries.find(token);
  if (it == watcher->entries.end()) return throwArgument(env, "token", "this token is not watched; add it first");
  Entry& entry = it->second;
  entry.wanted = true;
  int error = 0;
  if (entry.word == nullptr)
    error = enable(watcher, token, entry, true);
  else if (arm(watcher, EPOLL_CTL_MOD, token, entry) != 0)
    error = errno;
  if (error != 0) return throwSystem(env, "epoll_ctl", error);
  return nullptr;
}

static napi_value Remove(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  const auto token = static_cast<int32_t>(arguments.integer(0, "token", 0, INT32_MAX));
  if (arguments.ok() && !watcher->closed) removeToken(watcher, token);
  return nullptr;
}

static void keepLoop(Watcher* watcher, bool isKept) {
  watcher->referenced = isKept;
  isKept ? watcher->poll->ref() : watcher->poll->unref();
  if (watcher->notify == nullptr) return;
  if (isKept)
    napi_ref_threadsafe_function(watcher->env, watcher->notify);
  else
    napi_unref_threadsafe_function(watcher->env, watcher->notify);
}

static napi_value Ref(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  if (arguments.ok() && !watcher->closed) keepLoop(watcher, true);
  return nullptr;
}

static napi_value Unref(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  if (arguments.ok() && !watcher->closed) keepLoop(watcher, false);
  return nullptr;
}

static napi_value Close(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  if (arguments.ok()) closeWatcher(watcher);
  return nullptr;
}

static napi_value CreateWatcher(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  napi_valuetype type = napi_undefined;
  napi_typeof(env, arguments.at(0), &type);
  if (type != napi_function) return throwArgument(env, "callback", "callback must be a function");
  auto* watcher = new Watcher();
  watcher->env = env;
  watcher->loopEpoll = epoll_create1(EPOLL_CLOEXEC);
  const int error =
      watcher->loopEpoll < 0 ? errno : LoopPoll::open(env, watcher->loopEpoll, loopReadable, watcher, &watcher->poll);
  if (error != 0) {
    closeDescriptors(watcher);
    delete watcher;
    return throwSystem(env, "uv_poll_init", error);
  }
  napi_create_reference(env, arguments.at(0), 1, &watcher->callback);
  napi_add_env_cleanup_hook(env, closeWatcher, watcher);
  napi_value object = nullptr;
  napi_create_object(env, &object);
  napi_type_tag_object(env, object, &kWatcherTag);
  napi_wrap(env, object, watcher, collectWatcher, nullptr, nullptr);
  define(env, object, "add", Add);
  define(env, object, "rearm", Rearm);
  define(env, object, "remove", Remove);
  define(env, object, "ref", Ref);
  define(env, object, "unref", Unref);
  define(env, object, "close", Close);
  return object;
}

void registerWatcher(napi_env env, napi_value exports) {
  define(env, exports, "createWatcher", CreateWatcher);
}

}  // namespace aether
