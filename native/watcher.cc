// A native thread that waits on descriptors for one environment. See `Watcher` in src/native/addon.ts for the contract.
//
// Who touches what: the map of entries is shared by the JavaScript thread (add, rearm, remove) and the watching thread (fire), under `mutex`.
// Node-API values (callback, references to word buffers) are touched by the JavaScript thread only. A word is written only under `mutex` and
// only while its entry exists, so after `remove` has returned it is not written any more.
#include "support.h"

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
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace aether {

struct Entry {
  int descriptor;      // a duplicate of our own: the caller may close his
  uint64_t generation;  // tells a token's present entry from an earlier one of the same token
  int32_t* word;
  napi_ref wordRef;
};

struct Fired {
  int32_t token;
  uint64_t generation;
};

struct Watcher {
  napi_env env = nullptr;
  napi_threadsafe_function notify = nullptr;
  int epoll = -1;
  int stop = -1;
  std::thread thread;
  std::mutex mutex;
  std::unordered_map<int32_t, Entry> entries;
  std::vector<Fired> fired;
  uint64_t generations = 0;
  bool closed = false;
};

static const napi_type_tag kWatcherTag = {0x6165746865720001ULL, 0x7761746368657200ULL};

static uint64_t keyOf(int32_t token) { return static_cast<uint32_t>(token); }
constexpr uint64_t kStopKey = UINT64_MAX;

static void fire(Watcher* watcher, uint64_t key) {
  const auto token = static_cast<int32_t>(static_cast<uint32_t>(key));
  std::lock_guard<std::mutex> lock(watcher->mutex);
  auto it = watcher->entries.find(token);
  if (it == watcher->entries.end()) return;
  if (it->second.word != nullptr) {
    __atomic_fetch_add(it->second.word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, it->second.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  watcher->fired.push_back({token, it->second.generation});
  napi_call_threadsafe_function(watcher->notify, nullptr, napi_tsfn_nonblocking);
}

static void watch(Watcher* watcher) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), "aether-watcher");
  struct epoll_event events[64];
  for (;;) {
    const int count = epoll_wait(watcher->epoll, events, 64, -1);
    if (count < 0 && errno != EINTR) return;
    for (int index = 0; index < count; index++) {
      if (events[index].data.u64 == kStopKey) return;
      fire(watcher, events[index].data.u64);
    }
  }
}

// On the JavaScript thread: what has fired and is still wanted.
static void deliver(napi_env env, napi_value callback, void* context, void*) {
  // The queue is emptied so once the function was aborted, and by then the watcher may be deleted.
  if (env == nullptr || callback == nullptr) return;
  auto* watcher = static_cast<Watcher*>(context);
  std::vector<Fired> fired;
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    fired.swap(watcher->fired);
  }
  napi_value self = makeUndefined(env);
  for (const Fired& each : fired) {
    {
      std::lock_guard<std::mutex> lock(watcher->mutex);
      auto it = watcher->entries.find(each.token);
      if (watcher->closed || it == watcher->entries.end() || it->second.generation != each.generation) continue;
    }
    napi_value token = makeNumber(env, each.token);
    if (napi_call_function(env, self, callback, 1, &token, nullptr) == napi_pending_exception) {
      napi_value error = nullptr;
      napi_get_and_clear_last_exception(env, &error);
      napi_fatal_exception(env, error);
    }
  }
}

static void closeEntry(Watcher* watcher, const Entry& entry) {
  epoll_ctl(watcher->epoll, EPOLL_CTL_DEL, entry.descriptor, nullptr);
  close(entry.descriptor);
}

// On the JavaScript thread. Also the environment's cleanup hook: the thread must not outlive the environment.
static void closeWatcher(void* data) {
  auto* watcher = static_cast<Watcher*>(data);
  if (watcher->closed) return;
  const uint64_t one = 1;
  while (write(watcher->stop, &one, sizeof one) < 0 && errno == EINTR) {
  }
  watcher->thread.join();
  std::unordered_map<int32_t, Entry> entries;
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    watcher->closed = true;
    entries.swap(watcher->entries);
    watcher->fired.clear();
  }
  for (auto& [token, entry] : entries) {
    closeEntry(watcher, entry);
    if (entry.wordRef != nullptr) napi_delete_reference(watcher->env, entry.wordRef);
  }
  close(watcher->stop);
  close(watcher->epoll);
  napi_release_threadsafe_function(watcher->notify, napi_tsfn_abort);
  napi_remove_env_cleanup_hook(watcher->env, closeWatcher, watcher);
}

// The threadsafe function goes last: nothing calls `deliver` any more.
static void forgetNotify(napi_env, void*, void* context) { delete static_cast<Watcher*>(context); }

static void collectWatcher(napi_env, void* data, void*) { closeWatcher(data); }

static Watcher* watcherOf(Arguments& arguments) {
  bool tagged = false;
  void* data = nullptr;
  napi_valuetype type = napi_undefined;
  napi_typeof(arguments.env, arguments.self, &type);
  if (type != napi_object || napi_check_object_type_tag(arguments.env, arguments.self, &kWatcherTag, &tagged) != napi_ok || !tagged ||
      napi_unwrap(arguments.env, arguments.self, &data) != napi_ok) {
    arguments.fail("this", "this must be a watcher");
    return nullptr;
  }
  return static_cast<Watcher*>(data);
}

static bool removeToken(Watcher* watcher, int32_t token) {
  Entry entry;
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    auto it = watcher->entries.find(token);
    if (it == watcher->entries.end()) return false;
    entry = it->second;
    watcher->entries.erase(it);
  }
  closeEntry(watcher, entry);
  if (entry.wordRef != nullptr) napi_delete_reference(watcher->env, entry.wordRef);
  return true;
}

static bool isUndefined(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  return type == napi_undefined;
}

static napi_value Add(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  const auto token = static_cast<int32_t>(arguments.integer(0, "token", 0, INT32_MAX));
  const int descriptor = arguments.descriptor(1, "descriptor");
  int32_t* word = nullptr;
  if (arguments.ok() && !isUndefined(env, arguments.at(2))) {
    if (isUndefined(env, arguments.at(3))) {
      const Int32s array = arguments.int32s(2, "word");
      if (arguments.ok() && array.length == 0) arguments.fail("word", "word must have elements");
      word = array.data;
    } else {
      word = arguments.word(2, 3);
    }
  }
  if (arguments.ok() && watcher->closed) arguments.fail("this", "the watcher is closed");
  if (arguments.ok() && watcher->entries.count(token) != 0) arguments.fail("token", "this token is watched already; remove it first");
  if (!arguments.ok()) return nullptr;
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return throwSystem(env, "fcntl", errno);
  Entry entry = {copy, 0, word, nullptr};
  if (word != nullptr) napi_create_reference(env, arguments.at(2), 1, &entry.wordRef);
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    entry.generation = ++watcher->generations;
    watcher->entries[token] = entry;
  }
  struct epoll_event event = {};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = keyOf(token);
  if (epoll_ctl(watcher->epoll, EPOLL_CTL_ADD, copy, &event) != 0) {
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
  if (!arguments.ok()) return nullptr;
  int descriptor = -1;
  {
    std::lock_guard<std::mutex> lock(watcher->mutex);
    auto it = watcher->entries.find(token);
    if (it != watcher->entries.end()) descriptor = it->second.descriptor;
  }
  if (descriptor < 0) return throwArgument(env, "token", "this token is not watched; add it first");
  struct epoll_event event = {};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = keyOf(token);
  if (epoll_ctl(watcher->epoll, EPOLL_CTL_MOD, descriptor, &event) != 0) return throwSystem(env, "epoll_ctl", errno);
  return nullptr;
}

static napi_value Remove(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  const auto token = static_cast<int32_t>(arguments.integer(0, "token", 0, INT32_MAX));
  if (arguments.ok() && !watcher->closed) removeToken(watcher, token);
  return nullptr;
}

static napi_value Ref(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  if (arguments.ok() && !watcher->closed) napi_ref_threadsafe_function(env, watcher->notify);
  return nullptr;
}

static napi_value Unref(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  if (arguments.ok() && !watcher->closed) napi_unref_threadsafe_function(env, watcher->notify);
  return nullptr;
}

static napi_value Close(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Watcher* watcher = watcherOf(arguments);
  if (!arguments.ok()) return nullptr;
  // The object must not reach the watcher again: it is deleted once the threadsafe function is gone.
  napi_remove_wrap(env, arguments.self, nullptr);
  napi_wrap(env, arguments.self, new Watcher{}, [](napi_env, void* data, void*) { delete static_cast<Watcher*>(data); }, nullptr, nullptr);
  void* closedOne = nullptr;
  napi_unwrap(env, arguments.self, &closedOne);
  static_cast<Watcher*>(closedOne)->closed = true;
  closeWatcher(watcher);
  return nullptr;
}

static napi_value CreateWatcher(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  napi_valuetype type = napi_undefined;
  napi_typeof(env, arguments.at(0), &type);
  if (type != napi_function) return throwArgument(env, "callback", "callback must be a function");
  auto* watcher = new Watcher();
  watcher->env = env;
  watcher->epoll = epoll_create1(EPOLL_CLOEXEC);
  watcher->stop = eventfd(0, EFD_CLOEXEC);
  if (watcher->epoll < 0 || watcher->stop < 0) {
    const int error = errno;
    if (watcher->epoll >= 0) close(watcher->epoll);
    if (watcher->stop >= 0) close(watcher->stop);
    delete watcher;
    return throwSystem(env, "epoll_create1", error);
  }
  struct epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kStopKey;
  epoll_ctl(watcher->epoll, EPOLL_CTL_ADD, watcher->stop, &event);
  napi_value name = nullptr, object = nullptr;
  napi_create_string_utf8(env, "aether-watcher", NAPI_AUTO_LENGTH, &name);
  if (napi_create_threadsafe_function(env, arguments.at(0), nullptr, name, 0, 1, nullptr, forgetNotify, watcher, deliver, &watcher->notify) != napi_ok) {
    close(watcher->epoll);
    close(watcher->stop);
    delete watcher;
    return throwSystem(env, "napi_create_threadsafe_function", ENOMEM);
  }
  napi_unref_threadsafe_function(env, watcher->notify);
  napi_create_object(env, &object);
  napi_type_tag_object(env, object, &kWatcherTag);
  napi_wrap(env, object, watcher, collectWatcher, nullptr, nullptr);
  define(env, object, "add", Add);
  define(env, object, "rearm", Rearm);
  define(env, object, "remove", Remove);
  define(env, object, "ref", Ref);
  define(env, object, "unref", Unref);
  define(env, object, "close", Close);
  napi_add_env_cleanup_hook(env, closeWatcher, watcher);
  watcher->thread = std::thread(watch, watcher);
  return object;
}

void registerWatcher(napi_env env, napi_value exports) { define(env, exports, "createWatcher", CreateWatcher); }

}  // namespace aether
