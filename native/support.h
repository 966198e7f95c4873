// What every file of the addon shares: argument checks and typed errors. Nothing here keeps state but the environment's
// instance data.
#pragma once
#define NAPI_VERSION 9
#include <node_api.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace aether {

// A WebAssembly.Memory that has views laid over it.
struct ViewedMemory {
  napi_ref memory;
  size_t length;
};

// One per JavaScript environment (main thread, each Worker): the addon is loaded into several at once.
struct Environment {
  napi_ref argumentError = nullptr;  // (argument, message) => Error
  napi_ref systemError = nullptr;    // (syscall, errno, errnoName, message) => Error
  napi_ref bufferOf = nullptr;       // the getter of WebAssembly.Memory.prototype.buffer
  // Memories that have views of this environment laid over them, by address: they must not be collected meanwhile.
  std::map<uintptr_t, ViewedMemory> viewed;
  std::string guardMessage;
  int guardCode = 0;
  bool guarded = false;
  // The verbs objects of this environment (verbs-objects.h), where there are any.
  std::shared_ptr<void> verbs;
  // The connection identifiers (rdmacm-identifiers.h), likewise.
  std::shared_ptr<void> rdmacm;
  // The memory of results of array functions (arrays-memory.cc), likewise.
  std::shared_ptr<void> arrayMemory;
  // Streams of this environment, its listeners and its sets (streams.cc): a Worker that is terminated closes nothing.
  std::set<int> streams;
  ~Environment();
};

Environment* environmentOf(napi_env env);

// Both leave an exception pending and return nullptr, so that a caller can write `return throw…`.
napi_value throwArgument(napi_env env, const char* argument, const std::string& message);
napi_value throwSystem(napi_env env, const char* syscall, int error);

napi_value makeNumber(napi_env env, double value);
// The same, faster.
napi_value makeSmall(napi_env env, int32_t value);
napi_value makeBoolean(napi_env env, bool value);
napi_value makeUndefined(napi_env env);
void setNumber(napi_env env, napi_value object, const char* name, double value);

// The elements of a typed array, or any bytes.
struct Bytes {
  uint8_t* data = nullptr;
  size_t length = 0;  // bytes
};

struct Int32s {
  int32_t* data = nullptr;
  size_t length = 0;  // elements
};

constexpr double kSafeIntegerMax = 9007199254740991.0;

// Reads the arguments of one call. The first that is wrong leaves an exception pending, and all later reads fail too.
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info);

  napi_env env;
  napi_value self = nullptr;

  napi_value at(size_t index) const { return values_[index]; }
  size_t count() const { return count_; }
  bool ok() const { return ok_; }

  double integer(size_t index, const char* name, double least, double most);
  int descriptor(size_t index, const char* name);
  // A multiple of the page size.
  size_t pages(size_t index, const char* name, bool mayBeZero);
  bool boolean(size_t index, const char* name);
  std::string text(size_t index, const char* name, size_t bytesMax);
  Int32s int32s(size_t index, const char* name);
  // Any ArrayBufferView, ArrayBuffer or SharedArrayBuffer.
  Bytes bytes(size_t index, const char* name);
  // Address of word[wordIndex] of an Int32Array.
  int32_t* word(size_t arrayIndex, size_t wordIndex);
  // A timeout in milliseconds, -1 for none.
  int timeoutMs(size_t index, const char* name);
  // A timeout in milliseconds that may have a fraction, -1 for none.
  double fractionalMs(size_t index, const char* name);

  void fail(const char* name, const std::string& message);

 private:
  static constexpr size_t kMax = 8;
  napi_value values_[kMax];
  size_t count_ = kMax;
  bool ok_ = true;
};

bool bytesOf(napi_env env, napi_value value, Bytes* out);
// Only of a typed array.
bool typedBytesOf(napi_env env, napi_value value, Bytes* out);

// Take the space of a range of a memory object now: 0 or an errno (reserve.cc). On any thread.
int reserveRange(int descriptor, double offset, double length);

size_t pageSize();
// The size of the pages that hold an object: the huge page size where it is made of huge pages.
size_t pagesOf(int descriptor);

void define(napi_env env, napi_value exports, const char* name, napi_callback callback);

// One for each file that has functions to export.
void registerMemory(napi_env env, napi_value exports);
void registerReserve(napi_env env, napi_value exports);
void registerMappings(napi_env env, napi_value exports);
void registerReadOnly(napi_env env, napi_value exports);
void registerUserfault(napi_env env, napi_value exports);
void registerFaultLane(napi_env env, napi_value exports);
void registerFaultTimer(napi_env env, napi_value exports);
void registerSleeping(napi_env env, napi_value exports);
void registerStreams(napi_env env, napi_value exports);
void registerLooks(napi_env env, napi_value exports);
void registerPacking(napi_env env, napi_value exports);
void registerSetting(napi_env env, napi_value exports);
void registerSnapshots(napi_env env, napi_value exports);
void registerWatcher(napi_env env, napi_value exports);
void registerProcesses(napi_env env, napi_value exports);
void registerThreads(napi_env env, napi_value exports);

// A Float64Array of at least so many elements; otherwise the call fails.
struct Doubles {
  double* data = nullptr;
  size_t length = 0;
};
Doubles doublesOf(Arguments& arguments, size_t index, const char* name, size_t lengthLeast);

// Some threads live as long as the process: the addon must not be unloaded under them when a Worker ends.
void stayLoaded();

// The monotonic clock, which process.hrtime() reads, too.
inline double nowNs() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace aether
