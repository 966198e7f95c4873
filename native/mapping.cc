// Mappings: memory objects as external ArrayBuffers, and views laid over the pages of a shared WebAssembly.Memory.
#include "mappings.h"
#include "support.h"

#include <sys/mman.h>

#include <cerrno>
#include <map>
#include <mutex>

namespace aether {

struct Extent {
  size_t length;
  MappingKind kind;
};

static std::mutex extentsMutex;
static std::map<uintptr_t, Extent>& extents() {
  // Never destroyed: a Worker's finalizers may run while the process exits.
  static auto* map = new std::map<uintptr_t, Extent>();
  return *map;
}

void forgetMapping(uintptr_t address, size_t length, MappingKind kind) {
  std::lock_guard<std::mutex> lock(extentsMutex);
  auto& map = extents();
  auto it = map.upper_bound(address);
  if (it != map.begin()) --it;
  while (it != map.end() && it->first < address + length) {
    const uintptr_t begin = it->first, end = begin + it->second.length;
    if (it->second.kind != kind || end <= address) {
      ++it;
      continue;
    }
    it = map.erase(it);
    if (begin < address) map[begin] = {address - begin, kind};
    if (end > address + length) it = map.insert({address + length, {end - address - length, kind}}).first;
  }
}

void rememberMapping(uintptr_t address, size_t length, MappingKind kind) {
  forgetMapping(address, length, kind);
  std::lock_guard<std::mutex> lock(extentsMutex);
  extents()[address] = {length, kind};
}

bool isMapped(uintptr_t address, size_t length, MappingKind kind) {
  std::lock_guard<std::mutex> lock(extentsMutex);
  auto& map = extents();
  auto it = map.upper_bound(address);
  if (it == map.begin()) return false;
  --it;
  // Neighbouring views may have been mapped piece by piece.
  for (uintptr_t at = address; it != map.end() && it->first <= at && it->second.kind == kind; ++it) {
    at = it->first + it->second.length;
    if (at >= address + length) return true;
  }
  return false;
}

size_t mappedLength(uintptr_t address) {
  std::lock_guard<std::mutex> lock(extentsMutex);
  auto it = extents().find(address);
  return it != extents().end() && it->second.kind == MappingKind::Buffer ? it->second.length : 0;
}

// ---- buffers -------------------------------------------------------------------------------------------------------------------

constexpr int kPopulate = 1, kLock = 2;
constexpr size_t kBufferMax = size_t{1} << 32;

struct OwnedBuffer {
  uintptr_t address;
  size_t length;
  bool unmapped;
};

// Which OwnedBuffer belongs to a mapped address, so that unmapMemory can tell the finalizer that there is nothing left to do.
static std::mutex ownersMutex;
static std::map<uintptr_t, OwnedBuffer*>& owners() {
  static auto* map = new std::map<uintptr_t, OwnedBuffer*>();
  return *map;
}

// Runs when the buffer is collected or its environment ends.
static void finalizeBuffer(napi_env, void*, void* hint) {
  auto* owned = static_cast<OwnedBuffer*>(hint);
  if (!owned->unmapped) {
    {
      std::lock_guard<std::mutex> lock(ownersMutex);
      owners().erase(owned->address);
    }
    forgetMapping(owned->address, owned->length, MappingKind::Buffer);
    munmap(reinterpret_cast<void*>(owned->address), owned->length);
  }
  delete owned;
}

static napi_value MapMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const size_t offset = arguments.pages(1, "offsetBytes", true);
  const size_t length = arguments.pages(2, "lengthBytes", false);
  const int flags = static_cast<int>(arguments.integer(3, "flags", 0, kPopulate | kLock));
  if (arguments.ok() && length > kBufferMax) arguments.fail("lengthBytes", "one buffer holds at most 4 GiB; map several");
  if (!arguments.ok()) return nullptr;
  const int mapFlags = MAP_SHARED | MAP_NORESERVE | ((flags & kPopulate) != 0 ? MAP_POPULATE : 0);
  void* address = mmap(nullptr, length, PROT_READ | PROT_WRITE, mapFlags, descriptor, static_cast<off_t>(offset));
  if (address == MAP_FAILED) return throwSystem(env, "mmap", errno);
  // A forked child must not share what only this process answers for.
  madvise(address, length, MADV_DONTFORK);
  if ((flags & kLock) != 0 && mlock(address, length) != 0) {
    const int error = errno;
    munmap(address, length);
    return throwSystem(env, "mlock", error);
  }
  auto* owned = new OwnedBuffer{reinterpret_cast<uintptr_t>(address), length, false};
  napi_value buffer = nullptr;
  if (napi_create_external_arraybuffer(env, address, length, finalizeBuffer, owned, &buffer) != napi_ok) {
    munmap(address, length);
    delete owned;
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    return pending ? nullptr : throwSystem(env, "mmap", ENOMEM);
  }
  rememberMapping(owned->address, length, MappingKind::Buffer);
  std::lock_guard<std::mutex> lock(ownersMutex);
  owners()[owned->address] = owned;
  return buffer;
}

static napi_value UnmapMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  bool isBuffer = false;
  napi_is_arraybuffer(env, arguments.at(0), &isBuffer);
  if (!isBuffer) return throwArgument(env, "buffer", "buffer must be an ArrayBuffer that mapMemory made");
  bool detached = false;
  napi_is_detached_arraybuffer(env, arguments.at(0), &detached);
  if (detached) return nullptr;
  void* data = nullptr;
  size_t length = 0;
  napi_get_arraybuffer_info(env, arguments.at(0), &data, &length);
  const uintptr_t address = reinterpret_cast<uintptr_t>(data);
  {
    std::lock_guard<std::mutex> lock(ownersMutex);
    auto it = owners().find(address);
    if (it == owners().end() || it->second->length != length) return throwArgument(env, "buffer", "buffer was not made by mapMemory");
    it->second->unmapped = true;
    owners().erase(it);
  }
  napi_detach_arraybuffer(env, arguments.at(0));
  forgetMapping(address, length, MappingKind::Buffer);
  if (munmap(data, length) != 0) return throwSystem(env, "munmap", errno);
  return nullptr;
}

static napi_value AddressOf(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Bytes bytes = arguments.bytes(0, "view");
  if (!arguments.ok()) return nullptr;
  return makeNumber(env, static_cast<double>(reinterpret_cast<uintptr_t>(bytes.data)));
}

// ---- views ---------------------------------------------------------------------------------------------------------------------

// The bytes of a shared WebAssembly.Memory: page-aligned and mapped by the engine for this purpose alone, so that mapping over it is safe.
static bool memoryOf(Arguments& arguments, Bytes* out) {
  napi_env env = arguments.env;
  napi_value global = nullptr, assembly = nullptr, constructor = nullptr, buffer = nullptr, shared = nullptr;
  bool isMemory = false, isShared = false;
  napi_get_global(env, &global);
  napi_get_named_property(env, global, "WebAssembly", &assembly);
  napi_get_named_property(env, assembly, "Memory", &constructor);
  napi_get_named_property(env, global, "SharedArrayBuffer", &shared);
  if (napi_instanceof(env, arguments.at(0), constructor, &isMemory) == napi_ok && isMemory &&
      napi_get_named_property(env, arguments.at(0), "buffer", &buffer) == napi_ok &&
      napi_instanceof(env, buffer, shared, &isShared) == napi_ok && isShared && bytesOf(env, buffer, out)) {
    return true;
  }
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (!pending) arguments.fail("memory", "memory must be a WebAssembly.Memory with shared: true");
  return false;
}

static bool checkWithin(Arguments& arguments, const Bytes& memory, size_t offset, size_t length) {
  if (arguments.ok() && (offset > memory.length || length > memory.length - offset))
    arguments.fail("lengthBytes", "the view reaches beyond the end of the memory");
  return arguments.ok();
}

static napi_value MapView(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Bytes memory;
  if (!memoryOf(arguments, &memory)) return nullptr;
  const size_t viewOffset = arguments.pages(1, "viewOffsetBytes", true);
  const int descriptor = arguments.descriptor(2, "descriptor");
  const size_t offset = arguments.pages(3, "offsetBytes", true);
  const size_t length = arguments.pages(4, "lengthBytes", false);
  if (!checkWithin(arguments, memory, viewOffset, length)) return nullptr;
  void* at = memory.data + viewOffset;
  void* address = mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, static_cast<off_t>(offset));
  if (address == MAP_FAILED) return throwSystem(env, "mmap", errno);
  madvise(address, length, MADV_DONTFORK);
  rememberMapping(reinterpret_cast<uintptr_t>(address), length, MappingKind::View);
  return makeNumber(env, static_cast<double>(reinterpret_cast<uintptr_t>(address)));
}

static napi_value UnmapView(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Bytes memory;
  if (!memoryOf(arguments, &memory)) return nullptr;
  const size_t viewOffset = arguments.pages(1, "viewOffsetBytes", true);
  const size_t length = arguments.pages(2, "lengthBytes", false);
  if (!checkWithin(arguments, memory, viewOffset, length)) return nullptr;
  void* at = memory.data + viewOffset;
  if (mmap(at, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
    return throwSystem(env, "mmap", errno);
  forgetMapping(reinterpret_cast<uintptr_t>(at), length, MappingKind::View);
  return nullptr;
}

void registerMappings(napi_env env, napi_value exports) {
  define(env, exports, "mapMemory", MapMemory);
  define(env, exports, "unmapMemory", UnmapMemory);
  define(env, exports, "addressOf", AddressOf);
  define(env, exports, "mapView", MapView);
  define(env, exports, "unmapView", UnmapView);
}

}  // namespace aether
