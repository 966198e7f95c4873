// How long a page fault takes that a C thread answers: what the agent's answers are held against (`aether bench dsm`).
// Memory, registration and answer are those of a view; there is no protocol, no JavaScript, and nobody else.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "support.h"

#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP ((__u64)1 << 1)
#endif

namespace aether {

constexpr size_t kSamplesMax = 4096;
constexpr double kCalmMsMax = 1.0;

// One object mapped twice: bytes are put into `frames`, and faults happen in `view`.
struct FaultStage {
  int userfault = -1;
  int stop[2] = {-1, -1};  // readable when the handler is to end
  int memory = -1;
  size_t length = 0;
  uint8_t* frames = nullptr;
  uint8_t* view = nullptr;
  const char* failed = nullptr;
  std::atomic<int> handlerError{0};

  ~FaultStage() {
    if (view != nullptr) munmap(view, length);
    if (frames != nullptr) munmap(frames, length);
    for (const int descriptor : {memory, stop[0], stop[1]})
      if (descriptor >= 0) close(descriptor);
  }

  bool check(bool fine, const char* syscall) {
    if (!fine) failed = syscall;
    return fine;
  }

  bool map(uint8_t** at) {
    void* mapped = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (mapped != MAP_FAILED) *at = static_cast<uint8_t*>(mapped);
    return check(mapped != MAP_FAILED, "mmap");
  }

  bool open(size_t pages) {
    length = pages * pageSize();
    memory = memfd_create("aether-fault-timer", MFD_CLOEXEC);
    if (!check(memory >= 0, "memfd_create") || !check(ftruncate(memory, static_cast<off_t>(length)) == 0, "ftruncate"))
      return false;
    if (!check(pipe2(stop, O_CLOEXEC) == 0, "pipe2") || !map(&frames) || !map(&view)) return false;
    for (size_t at = 0; at < length; at += pageSize()) frames[at] = 1;
    struct uffdio_register request = {};
    request.range = {reinterpret_cast<uintptr_t>(view), length};
    request.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
    return check(ioctl(userfault, UFFDIO_REGISTER, &request) == 0, "UFFDIO_REGISTER");
  }
};

// Sleeps until a fault comes, and installs the page for reading.
static void answer(FaultStage* stage) {
  struct pollfd watched[] = {{stage->userfault, POLLIN, 0}, {stage->stop[0], POLLIN, 0}};
  for (;;) {
    poll(watched, 2, -1);
    if (watched[1].revents != 0) return;
    struct uffd_msg message;
    if (read(stage->userfault, &message, sizeof message) != sizeof message) continue;
    struct uffdio_continue request = {};
    request.range = {message.arg.pagefault.address & ~static_cast<uint64_t>(pageSize() - 1), pageSize()};
    request.mode = UFFDIO_CONTINUE_MODE_WP;
    while (ioctl(stage->userfault, UFFDIO_CONTINUE, &request) != 0) {
      if (errno == EAGAIN) continue;
      // The toucher must not wait for ever for what cannot be had: let go of, it finds the page as the kernel has it.
      stage->handlerError = errno;
      struct uffdio_range whole = {reinterpret_cast<uintptr_t>(stage->view), stage->length};
      ioctl(stage->userfault, UFFDIO_UNREGISTER, &whole);
      return;
    }
  }
}

static void* runHandler(void* stage) {
  answer(static_cast<FaultStage*>(stage));
  return nullptr;
}

// (descriptor of an open userfaultfd that nobody else reads, samplesNs: Float64Array, calmMs)
static napi_value TimeFaults(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  FaultStage stage;
  stage.userfault = arguments.descriptor(0, "descriptor");
  bool isTyped = false;
  napi_typedarray_type type = napi_uint8_array;
  size_t count = 0;
  void* data = nullptr;
  if (arguments.ok()) napi_is_typedarray(env, arguments.at(1), &isTyped);
  if (isTyped) napi_get_typedarray_info(env, arguments.at(1), &type, &count, &data, nullptr, nullptr);
  if (arguments.ok() && (!isTyped || type != napi_float64_array || count == 0 || count > kSamplesMax))
    arguments.fail("samplesNs", "samplesNs must be a Float64Array of 1 to 4096 elements");
  const double calmMs = arguments.fractionalMs(2, "calmMs");
  if (arguments.ok() && (calmMs < 0 || calmMs > kCalmMsMax)) arguments.fail("calmMs", "calmMs must be 0 to 1");
  if (!arguments.ok()) return nullptr;
  if (!stage.open(count)) return throwSystem(env, stage.failed, errno);
  pthread_t handler;
  const int created = pthread_create(&handler, nullptr, runHandler, &stage);
  if (created != 0) return throwSystem(env, "pthread_create", created);
  auto* samples = static_cast<double*>(data);
  for (size_t index = 0; index < count; index++) {
    const struct timespec calm = {0, static_cast<long>(calmMs * 1e6)};
    nanosleep(&calm, nullptr);
    const double began = nowNs();
    *static_cast<volatile uint8_t*>(stage.view + index * pageSize());
    samples[index] = nowNs() - began;
  }
  const char end = 1;
  while (write(stage.stop[1], &end, 1) < 0 && errno == EINTR) continue;
  pthread_join(handler, nullptr);
  if (stage.handlerError != 0) return throwSystem(env, "UFFDIO_CONTINUE", stage.handlerError);
  return makeUndefined(env);
}

void registerFaultTimer(napi_env env, napi_value exports) {
  define(env, exports, "timeFaults", TimeFaults);
}

}  // namespace aether
