// Threads, clocks, and the end of an environment.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support.h"

namespace aether {

static napi_value ThreadId(napi_env env, napi_callback_info) {
  return makeNumber(env, static_cast<double>(syscall(SYS_gettid)));
}

static napi_value SetAffinity(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Int32s processors = arguments.int32s(0, "processors");
  if (arguments.ok() && processors.length == 0) arguments.fail("processors", "processors must name at least one");
  if (!arguments.ok()) return nullptr;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t index = 0; index < processors.length; index++) {
    const int32_t processor = processors.data[index];
    if (processor < 0 || processor >= CPU_SETSIZE)
      return throwArgument(env, "processors",
                           "a processor must be a number from 0 to " + std::to_string(CPU_SETSIZE - 1));
    CPU_SET(static_cast<size_t>(processor), &set);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0) return throwSystem(env, "sched_setaffinity", errno);
  return nullptr;
}

static napi_value makeProcessors(napi_env env, const cpu_set_t& set) {
  const auto count = static_cast<size_t>(CPU_COUNT(&set));
  void* data = nullptr;
  napi_value buffer = nullptr, result = nullptr;
  napi_create_arraybuffer(env, 4 * count, &data, &buffer);
  napi_create_typedarray(env, napi_int32_array, count, buffer, 0, &result);
  size_t next = 0;
  for (int processor = 0; processor < CPU_SETSIZE; processor++)
    if (CPU_ISSET(static_cast<size_t>(processor), &set)) static_cast<int32_t*>(data)[next++] = processor;
  return result;
}

static napi_value GetAffinity(napi_env env, napi_callback_info) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return throwSystem(env, "sched_getaffinity", errno);
  return makeProcessors(env, set);
}

// Asks for all processors; the kernel gives those that are there and that the cpuset of the process allows.
static void* askForAll(void* data) {
  auto* set = static_cast<cpu_set_t*>(data);
  memset(set, 0xff, sizeof *set);
  const bool asked = sched_setaffinity(0, sizeof *set, set) == 0 && sched_getaffinity(0, sizeof *set, set) == 0;
  return reinterpret_cast<void*>(static_cast<intptr_t>(asked ? 0 : errno));
}

// In a thread of its own: the calling one stays where it is.
static napi_value AllowedProcessors(napi_env env, napi_callback_info) {
  cpu_set_t set;
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, askForAll, &set);
  if (error != 0) return throwSystem(env, "pthread_create", error);
  void* failure = nullptr;
  pthread_join(thread, &failure);
  if (failure != nullptr)
    return throwSystem(env, "sched_setaffinity", static_cast<int>(reinterpret_cast<intptr_t>(failure)));
  return makeProcessors(env, set);
}

// struct sched_attr of linux/sched/types.h, which clashes with older sched.h of the C library.
struct SchedulingAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtimeNs;
  uint64_t deadlineNs;
  uint64_t periodNs;
};

static napi_value SetSlice(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto sliceNs = static_cast<uint64_t>(arguments.integer(0, "sliceNs", 100000, 100000000));
  const auto thread = static_cast<pid_t>(arguments.integer(1, "threadId", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  SchedulingAttributes attributes{};
  if (syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) != 0)
    return throwSystem(env, "sched_getattr", errno);
  // For the other policies the field means something else.
  const bool fair = attributes.policy == SCHED_OTHER || attributes.policy == SCHED_BATCH;
  if (fair) {
    attributes.size = sizeof attributes;
    attributes.flags = 0;
    attributes.runtimeNs = sliceNs;
    if (syscall(SYS_sched_setattr, thread, &attributes, 0) != 0) return throwSystem(env, "sched_setattr", errno);
  }
  // A kernel that knows no slices of threads takes the call and forgets the value.
  SchedulingAttributes now{};
  if (syscall(SYS_sched_getattr, thread, &now, sizeof now, 0) != 0) return throwSystem(env, "sched_getattr", errno);
  return makeBoolean(env, fair && now.runtimeNs == sliceNs);
}

static napi_value SetTimerSlack(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto slackNs = static_cast<unsigned long>(arguments.integer(0, "slackNs", 1, 1000000000));
  if (!arguments.ok()) return nullptr;
  if (prctl(PR_SET_TIMERSLACK, slackNs, 0, 0, 0) != 0) return throwSystem(env, "prctl", errno);
  return nullptr;
}

// The file that was read last stays open: to look it up costs four times what reading it does, and who asks asks often
// about one thread.
struct SchedulerFile {
  int id = -1;
  int descriptor = -1;
  ~SchedulerFile() { forget(); }
  void forget() {
    if (descriptor >= 0) close(descriptor);
    descriptor = -1;
  }
  ssize_t read(int threadId, char* text, size_t size) {
    // A thread that has ended fails to be read; another may have its id by now, so it is looked up once more.
    if (id == threadId && descriptor >= 0) {
      const ssize_t length = pread(descriptor, text, size, 0);
      if (length > 0) return length;
    }
    forget();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", threadId);
    id = threadId;
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return descriptor < 0 ? -1 : pread(descriptor, text, size, 0);
  }
};

static napi_value ThreadTurns(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int id = static_cast<int>(arguments.integer(0, "threadId", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  static thread_local SchedulerFile file;
  char text[128];
  const ssize_t length = file.read(id, text, sizeof text - 1);
  if (length <= 0) return makeNumber(env, -1);
  text[length] = '\0';
  // "<time on a processor> <time waiting for one> <how often put on one>"
  char* rest = nullptr;
  strtoull(text, &rest, 10);
  strtoull(rest, &rest, 10);
  return makeNumber(env, static_cast<double>(strtoull(rest, nullptr, 10)));
}

static napi_value clockNs(napi_env env, clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return makeNumber(env, static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec));
}

static napi_value MonotonicNs(napi_env env, napi_callback_info) {
  return clockNs(env, CLOCK_MONOTONIC);
}

static napi_value ProcessorNs(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const bool whole = arguments.boolean(0, "wholeProcess");
  if (!arguments.ok()) return nullptr;
  return clockNs(env, whole ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID);
}

static napi_value ThreadPreemptions(napi_env env, napi_callback_info) {
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return throwSystem(env, "getrusage", errno);
  return makeNumber(env, static_cast<double>(usage.ru_nivcsw));
}

// The environment ends while it was guarded: whoever waits for what it served would wait for ever.
static void endProcess(void* data) {
  auto* environment = static_cast<Environment*>(data);
  const ssize_t ignored = write(STDERR_FILENO, environment->guardMessage.data(), environment->guardMessage.size());
  (void)ignored;
  _exit(environment->guardCode);
}

static napi_value GuardEnvironment(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int code = static_cast<int>(arguments.integer(0, "code", 0, 255));
  const std::string message = arguments.text(1, "message", 4096);
  if (!arguments.ok()) return nullptr;
  Environment* environment = environmentOf(env);
  environment->guardCode = code;
  environment->guardMessage = message;
  if (!environment->guarded) napi_add_env_cleanup_hook(env, endProcess, environment);
  environment->guarded = true;
  return nullptr;
}

static napi_value UnguardEnvironment(napi_env env, napi_callback_info) {
  Environment* environment = environmentOf(env);
  if (environment->guarded) napi_remove_env_cleanup_hook(env, endProcess, environment);
  environment->guarded = false;
  return nullptr;
}

static napi_value ExitNow(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int code = static_cast<int>(arguments.integer(0, "code", 0, 255));
  if (!arguments.ok()) return nullptr;
  _exit(code);
}

void registerThreads(napi_env env, napi_value exports) {
  define(env, exports, "threadId", ThreadId);
  define(env, exports, "setAffinity", SetAffinity);
  define(env, exports, "getAffinity", GetAffinity);
  define(env, exports, "allowedProcessors", AllowedProcessors);
  define(env, exports, "setSlice", SetSlice);
  define(env, exports, "setTimerSlack", SetTimerSlack);
  define(env, exports, "threadTurns", ThreadTurns);
  define(env, exports, "monotonicNs", MonotonicNs);
  define(env, exports, "processorNs", ProcessorNs);
  define(env, exports, "threadPreemptions", ThreadPreemptions);
  define(env, exports, "guardEnvironment", GuardEnvironment);
  define(env, exports, "unguardEnvironment", UnguardEnvironment);
  define(env, exports, "exitNow", ExitNow);
}

}  // namespace aether
