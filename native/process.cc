// Other processes: their ends, and copies from and to their memory.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "support.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace aether {

static napi_value OpenProcess(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto id = static_cast<pid_t>(arguments.integer(0, "processId", 1, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  const long descriptor = syscall(SYS_pidfd_open, id, 0);  // close-on-exec by itself
  if (descriptor < 0) return throwSystem(env, "pidfd_open", errno);
  return makeNumber(env, static_cast<double>(descriptor));
}

// PIDFD_THREAD of linux/pidfd.h, since Linux 6.9.
static napi_value OpenThread(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto id = static_cast<pid_t>(arguments.integer(0, "threadId", 1, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  const long descriptor = syscall(SYS_pidfd_open, id, O_EXCL);
  if (descriptor < 0) return throwSystem(env, "pidfd_open", errno);
  return makeNumber(env, static_cast<double>(descriptor));
}

static std::atomic<pid_t> lifeThread{0};

static void* live(void*) {
  pthread_setname_np(pthread_self(), "aether-life");
  lifeThread.store(static_cast<pid_t>(syscall(SYS_gettid)));
  for (;;) pause();
}

static int startLife() {
  stayLoaded();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, live, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  while (error == 0 && lifeThread.load() == 0) sched_yield();
  return error;
}

// One for all environments of the process.
static napi_value LifeThread(napi_env env, napi_callback_info) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  const int error = lifeThread.load() == 0 ? startLife() : 0;
  if (error != 0) return throwSystem(env, "pthread_create", error);
  return makeNumber(env, static_cast<double>(lifeThread.load()));
}

static napi_value KillProcess(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto descriptor = static_cast<int>(arguments.integer(0, "descriptor", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  if (syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0) != 0 && errno != ESRCH)
    return throwSystem(env, "pidfd_send_signal", errno);
  return nullptr;
}

using Copy = ssize_t (*)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long, unsigned long);

// The kernel may copy less than asked at the edge of a mapping; what is left is asked for again, so that the error is
// the true one.
static napi_value copyWith(napi_env env, napi_callback_info info, Copy copy, const char* syscallName,
                           const char* bufferName) {
  Arguments arguments(env, info);
  const auto id = static_cast<pid_t>(arguments.integer(0, "processId", 1, INT32_MAX));
  const auto address = static_cast<uintptr_t>(arguments.integer(1, "address", 0, kSafeIntegerMax));
  const Bytes bytes = arguments.bytes(2, bufferName);
  if (!arguments.ok()) return nullptr;
  for (size_t done = 0; done < bytes.length;) {
    struct iovec local = {bytes.data + done, bytes.length - done};
    struct iovec remote = {reinterpret_cast<void*>(address + done), bytes.length - done};
    const ssize_t copied = copy(id, &local, 1, &remote, 1, 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) return throwSystem(env, syscallName, copied < 0 ? errno : EFAULT);
    done += static_cast<size_t>(copied);
  }
  return nullptr;
}

static napi_value ReadProcess(napi_env env, napi_callback_info info) {
  return copyWith(env, info, process_vm_readv, "process_vm_readv", "into");
}

static napi_value WriteProcess(napi_env env, napi_callback_info info) {
  return copyWith(env, info, process_vm_writev, "process_vm_writev", "from");
}

static napi_value AllowProcessAccess(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const double id = arguments.integer(0, "processId", -1, INT32_MAX);
  if (!arguments.ok()) return nullptr;
  if (prctl(PR_SET_PTRACER, id < 0 ? PR_SET_PTRACER_ANY : static_cast<unsigned long>(id), 0, 0, 0) == 0)
    return makeBoolean(env, true);
  // EINVAL where there is no Yama: siblings of one user may copy anyway.
  if (errno == EINVAL && access("/proc/sys/kernel/yama/ptrace_scope", F_OK) != 0) return makeBoolean(env, false);
  return throwSystem(env, "prctl", errno);
}

void registerProcesses(napi_env env, napi_value exports) {
  define(env, exports, "openProcess", OpenProcess);
  define(env, exports, "openThread", OpenThread);
  define(env, exports, "lifeThread", LifeThread);
  define(env, exports, "killProcess", KillProcess);
  define(env, exports, "readProcess", ReadProcess);
  define(env, exports, "writeProcess", WriteProcess);
  define(env, exports, "allowProcessAccess", AllowProcessAccess);
}

}  // namespace aether
