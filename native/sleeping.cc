// Sleeping and waking: poll, doorbell pipes, futexes on shared words.
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <vector>

#include "support.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef FUTEX_32
#define FUTEX_32 2
struct futex_waitv {
  uint64_t val;
  uint64_t uaddr;
  uint32_t flags;
  uint32_t __reserved;
};
#endif

namespace aether {

// More than a process may have open on most systems; a bound on the memory that one call takes.
constexpr size_t kPollMax = 65536;

static napi_value Poll(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Int32s descriptors = arguments.int32s(0, "descriptors");
  const Int32s ready = arguments.int32s(1, "ready");
  const size_t most = std::min({descriptors.length, ready.length, kPollMax});
  const size_t count = static_cast<size_t>(arguments.integer(2, "count", 0, static_cast<double>(most)));
  const double timeout = arguments.fractionalMs(3, "timeoutMs");
  if (!arguments.ok()) return nullptr;
  struct pollfd few[64];
  std::vector<struct pollfd> many;
  struct pollfd* set = few;
  if (count > 64) {
    many.resize(count);
    set = many.data();
  }
  for (size_t index = 0; index < count; index++) set[index] = {descriptors.data[index], POLLIN, 0};
  const auto seconds = static_cast<time_t>(timeout / 1000);
  const struct timespec limit = {seconds, static_cast<long>((timeout - 1000.0 * static_cast<double>(seconds)) * 1e6)};
  int result = ppoll(set, count, timeout < 0 ? nullptr : &limit, nullptr);
  if (result < 0 && errno != EINTR) return throwSystem(env, "ppoll", errno);
  if (result < 0) result = 0;
  for (size_t index = 0; index < count; index++) ready.data[index] = result == 0 ? 0 : set[index].revents;
  return makeNumber(env, result);
}

static napi_value CreatePipe(napi_env env, napi_callback_info) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return throwSystem(env, "pipe2", errno);
  napi_value result = nullptr;
  napi_create_array_with_length(env, 2, &result);
  for (uint32_t index = 0; index < 2; index++) napi_set_element(env, result, index, makeNumber(env, ends[index]));
  return result;
}

// Node has no call for it.
static napi_value CreateFifo(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string path = arguments.text(0, "path", PATH_MAX - 1);
  if (!arguments.ok()) return nullptr;
  if (mkfifo(path.c_str(), S_IRUSR | S_IWUSR) != 0) return throwSystem(env, "mkfifo", errno);
  return nullptr;
}

static napi_value RingPipe(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "writeEnd");
  if (!arguments.ok()) return nullptr;
  const char byte = 1;
  ssize_t result;
  do result = write(descriptor, &byte, 1);
  while (result < 0 && errno == EINTR);
  return makeNumber(env, result == 1 || errno == EAGAIN ? 0 : -errno);
}

// Reads what waits, and does not wait itself, even from a descriptor that is not non-blocking. -1 with EOPNOTSUPP where
// the kernel (before 6.4) cannot promise that of pipes.
static ssize_t readAtOnce(int descriptor, char* bytes, size_t size) {
  struct iovec vector = {bytes, size};
  return preadv2(descriptor, &vector, 1, -1, RWF_NOWAIT);
}

// For kernels without: asks first how much waits.
static ssize_t readWaiting(int descriptor, char* bytes, size_t size) {
  int waiting = 0;
  if (ioctl(descriptor, FIONREAD, &waiting) != 0) return -1;
  return waiting <= 0 ? 0 : read(descriptor, bytes, std::min(size, static_cast<size_t>(waiting)));
}

static napi_value DrainPipe(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "readEnd");
  if (!arguments.ok()) return nullptr;
  char bytes[4096];
  double total = 0;
  for (;;) {
    ssize_t got = readAtOnce(descriptor, bytes, sizeof bytes);
    if (got < 0 && errno == EOPNOTSUPP) got = readWaiting(descriptor, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) return throwSystem(env, "read", errno);
    if (got > 0) total += static_cast<double>(got);
    // Less than there is room for is all that there was.
    if (got < static_cast<ssize_t>(sizeof bytes)) return makeNumber(env, total);
  }
}

constexpr uint32_t kWaitMax = 128;  // of the kernel

static struct timespec afterMs(int milliseconds) {
  return {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
}

static napi_value FutexWait(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  int32_t* word = arguments.word(0, 1);
  const int32_t expected = static_cast<int32_t>(arguments.integer(2, "expected", INT32_MIN, INT32_MAX));
  const int timeout = arguments.timeoutMs(3, "timeoutMs");
  if (!arguments.ok()) return nullptr;
  const struct timespec limit = afterMs(timeout < 0 ? 0 : timeout);
  if (syscall(SYS_futex, word, FUTEX_WAIT, expected, timeout < 0 ? nullptr : &limit, nullptr, 0) == 0)
    return makeNumber(env, 0);
  switch (errno) {
    case EAGAIN:
      return makeNumber(env, 1);
    case ETIMEDOUT:
      return makeNumber(env, 2);
    case EINTR:
      return makeNumber(env, 3);
    default:
      return throwSystem(env, "futex", errno);
  }
}

// The elements of `words`. An array may have getters, which may run anything: all of them are read before the first
// pointer is taken.
static bool readElements(Arguments& arguments, napi_value* elements, uint32_t* count) {
  bool isArray = false;
  napi_is_array(arguments.env, arguments.at(0), &isArray);
  if (isArray) napi_get_array_length(arguments.env, arguments.at(0), count);
  if (!isArray || *count < 1 || *count > kWaitMax)
    arguments.fail("words", "words must be an array of 1 to 128 Int32Arrays");
  for (uint32_t index = 0; arguments.ok() && index < *count; index++)
    if (napi_get_element(arguments.env, arguments.at(0), index, &elements[index]) != napi_ok) return false;
  return arguments.ok();
}

static int32_t* wordOf(napi_env env, napi_value element, int32_t at) {
  bool isTyped = false;
  napi_typedarray_type type = napi_uint8_array;
  size_t length = 0;
  void* data = nullptr;
  napi_is_typedarray(env, element, &isTyped);
  if (isTyped) napi_get_typedarray_info(env, element, &type, &length, &data, nullptr, nullptr);
  return type == napi_int32_array && at >= 0 && static_cast<size_t>(at) < length ? static_cast<int32_t*>(data) + at
                                                                                 : nullptr;
}

static napi_value FutexWaitAny(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  napi_value elements[kWaitMax];
  uint32_t count = 0;
  if (!readElements(arguments, elements, &count)) return nullptr;
  const Int32s indexes = arguments.int32s(1, "indexes");
  const Int32s expected = arguments.int32s(2, "expected");
  const int timeout = arguments.timeoutMs(3, "timeoutMs");
  if (arguments.ok() && (indexes.length < count || expected.length < count))
    arguments.fail("indexes", "indexes and expected must be as long as words");
  if (!arguments.ok()) return nullptr;
  struct futex_waitv waits[kWaitMax] = {};
  for (uint32_t index = 0; index < count; index++) {
    const int32_t* word = wordOf(env, elements[index], indexes.data[index]);
    if (word == nullptr) return throwArgument(env, "words", "words must be Int32Arrays, and each index within its own");
    waits[index].val = static_cast<uint32_t>(expected.data[index]);
    waits[index].uaddr = reinterpret_cast<uintptr_t>(word);
    waits[index].flags = FUTEX_32;
  }
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  if (timeout > 0) {
    const struct timespec more = afterMs(timeout);
    limit.tv_sec += more.tv_sec + (limit.tv_nsec + more.tv_nsec) / 1000000000L;
    limit.tv_nsec = (limit.tv_nsec + more.tv_nsec) % 1000000000L;
  }
  const long result = syscall(SYS_futex_waitv, waits, count, 0, timeout < 0 ? nullptr : &limit, CLOCK_MONOTONIC);
  if (result >= 0) return makeNumber(env, static_cast<double>(result));
  switch (errno) {
    case EAGAIN:
      return makeNumber(env, -1);
    case ETIMEDOUT:
      return makeNumber(env, -2);
    case EINTR:
      return makeNumber(env, -3);
    default:
      return throwSystem(env, "futex_waitv", errno);
  }
}

static napi_value FutexWake(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  int32_t* word = arguments.word(0, 1);
  const int count = static_cast<int>(arguments.integer(2, "count", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  const long result = syscall(SYS_futex, word, FUTEX_WAKE, count, nullptr, nullptr, 0);
  if (result < 0) return throwSystem(env, "futex", errno);
  return makeNumber(env, static_cast<double>(result));
}

void registerSleeping(napi_env env, napi_value exports) {
  define(env, exports, "poll", Poll);
  define(env, exports, "createPipe", CreatePipe);
  define(env, exports, "createFifo", CreateFifo);
  define(env, exports, "ringPipe", RingPipe);
  define(env, exports, "drainPipe", DrainPipe);
  define(env, exports, "futexWait", FutexWait);
  define(env, exports, "futexWaitAny", FutexWaitAny);
  define(env, exports, "futexWake", FutexWake);
}

}  // namespace aether
