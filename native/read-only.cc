// Views that may only be read: a store there ends the process with a sentence, where it would else be a bare
// segmentation fault.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "mappings.h"
#include "support.h"

namespace aether {

constexpr int kStoreExitCode = 72;
constexpr size_t kLabelMax = 512;

// Read by a signal handler: `begin` is written last and taken away first.
struct ReadOnlyRange {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  char label[kLabelMax] = {};
};

static ReadOnlyRange ranges[1024];
static std::mutex rangesMutex;
static struct sigaction previousAction;

static void say(const char* text) {
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t written = write(2, text, left);
    if (written <= 0) return;
    text += written;
    left -= static_cast<size_t>(written);
  }
}

// The engine has a handler of its own, for WebAssembly: what is not ours is its.
static void passOn(int signal, siginfo_t* info, void* context) {
  if ((previousAction.sa_flags & SA_SIGINFO) != 0) {
    previousAction.sa_sigaction(signal, info, context);
  } else if (previousAction.sa_handler != SIG_DFL && previousAction.sa_handler != SIG_IGN) {
    previousAction.sa_handler(signal);
  } else {
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    sigaction(signal, &plain, nullptr);  // the access is tried again when this returns, and ends the process
  }
}

static void onSegmentationFault(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (auto& range : ranges) {
    const uintptr_t begin = range.begin.load();
    if (begin == 0 || at < begin || at >= range.end.load()) continue;
    say("aether: ");
    say(range.label);
    say("\n");
    _exit(kStoreExitCode);
  }
  passOn(signal, info, context);
}

// Under rangesMutex.
static bool watchFaults() {
  static bool watching = false;
  if (watching) return true;
  struct sigaction action = {};
  action.sa_sigaction = onSegmentationFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  watching = sigaction(SIGSEGV, &action, &previousAction) == 0;
  return watching;
}

// Under rangesMutex.
static void forget(uintptr_t address, size_t length) {
  for (auto& range : ranges)
    if (range.begin.load() >= address && range.begin.load() < address + length) range.begin.store(0);
}

void forgetReadOnly(uintptr_t address, size_t length) {
  std::lock_guard<std::mutex> lock(rangesMutex);
  forget(address, length);
}

static napi_value MakeViewReadOnly(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto address = static_cast<uintptr_t>(arguments.pages(0, "address", false));
  const size_t length = arguments.pages(1, "lengthBytes", false);
  const std::string label = arguments.text(2, "label", kLabelMax - 1);
  if (arguments.ok() && !isMapped(address, length, MappingKind::View))
    arguments.fail("address", "the range is not within a mapped view of this process");
  if (!arguments.ok()) return nullptr;
  std::lock_guard<std::mutex> lock(rangesMutex);
  forget(address, length);
  for (auto& range : ranges) {
    if (range.begin.load() != 0) continue;
    if (!watchFaults()) return throwSystem(env, "sigaction", errno);
    if (mprotect(reinterpret_cast<void*>(address), length, PROT_READ) != 0) return throwSystem(env, "mprotect", errno);
    memcpy(range.label, label.c_str(), label.size() + 1);
    range.end.store(address + length);
    range.begin.store(address);
    return nullptr;
  }
  return throwSystem(env, "mprotect", ENOSPC);
}

void registerReadOnly(napi_env env, napi_value exports) {
  define(env, exports, "makeViewReadOnly", MakeViewReadOnly);
}

}  // namespace aether
