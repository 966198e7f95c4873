// Mappings: memory objects as external ArrayBuffers, and views laid over the pages of a shared WebAssembly.Memory.
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <map>
#include <mutex>

#include "mappings.h"
#include "support.h"

namespace aether {

struct Extent {
  size_t length;
  MappingKind kind;
  size_t pageBytes;
};

static std::mutex extentsMutex;
static std::map<uintptr_t, Extent>& extents() {
  // Never destroyed: a Worker's finalizers may run while the process exits.
  static auto* map = new std::map<uintptr_t, Extent>();
  return *map;
}

void forgetMapping(uintptr_t address, size_t length, MappingKind kind) {
  if (kind == MappingKind::View) forgetReadOnly(address, length);
  std::lock_guard<std::mutex> lock(extentsMutex);
  auto& map = extents();
  auto it = map.upper_bound(address);
  if (it != map.begin()) --it;
  while (it != map.end() && it->first < address + length) {
    const uintptr_t begin = it->first, end = begin + it->second.length;
    const size_t page = it->second.pageBytes;
    if (it->second.kind != kind || end <= address) {
      ++it;
      continue;
    }
    it = map.erase(it);
    if (begin < address) map[begin] = {address - begin, kind, page};
    if (end > address + length) it = map.insert({address + length, {end - address - length, kind, page}}).first;
  }
}

void rememberMapping(uintptr_t address, size_t length, MappingKind kind, size_t pageBytes) {
  forgetMapping(address, length, kind);
  std::lock_guard<std::mutex> lock(extentsMutex);
  extents()[address] = {length, kind, pageBytes};
}

size_t pagesAt(uintptr_t address) {
  std::lock_guard<std::mutex> lock(extentsMutex);
  auto& map = extents();
  auto it = map.upper_bound(address);
  if (it == map.begin()) return pageSize();
  --it;
  return address - it->first < it->second.length ? it->second.pageBytes : pageSize();
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

bool touchesMapping(uintptr_t address, size_t length, MappingKind kind) {
  std::lock_guard<std::mutex> lock(extentsMutex);
  auto& map = extents();
  auto it = map.upper_bound(address);
  if (it != map.begin()) --it;
  for (; it != map.end() && it->first < address + length; ++it)
    if (it->second.kind == kind && it->first + it->second.length > address) return true;
  return false;
}

// Pages beyond the end of the object would end the process when they are touched, and so would a mapping cut through a
// huge page.
static bool checkWithinObject(Arguments& arguments, int descriptor, size_t offset, size_t length) {
  if (!arguments.ok()) return false;
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    throwSystem(arguments.env, "fstat", errno);
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    arguments.fail("descriptor", "descriptor must be that of a memory object or a file");
    return false;
  }
  const size_t page = pagesOf(descriptor), size = (static_cast<size_t>(status.st_size) + page - 1) / page *
                                                  page;  // of its last page all may be touched
  if (offset % page != 0 || length % page != 0)
    arguments.fail("lengthBytes",
                   "offsetBytes and lengthBytes must be multiples of the object's pages of " + std::to_string(page));
  else if (offset > size || length > size - offset)
    arguments.fail("lengthBytes", "the object ends at " + std::to_string(size) + ": resize it first, or map less");
  return arguments.ok();
}

// ---- buffers
// -------------------------------------------------------------------------------------------------------------------

constexpr int kPopulate = 1, kLock = 2;
constexpr size_t kBufferMax = size_t{1} << 32;

class Mapped {
 public:
  Mapped(uintptr_t at, size_t bytes, size_t pageBytes) : address(at), length(bytes) {
    rememberMapping(at, bytes, MappingKind::Buffer, pageBytes);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    forgetMapping(address, length, MappingKind::Buffer);
    munmap(reinterpret_cast<void*>(address), length);
  }

  const uintptr_t address;
  const size_t length;
  bool closed = false;  // under buffersMutex
};

// The mappings under live buffers, by address.
static std::mutex buffersMutex;
static std::map<uintptr_t, std::shared_ptr<Mapped>>& buffers() {
  static auto* map = new std::map<uintptr_t, std::shared_ptr<Mapped>>();
  return *map;
}

std::shared_ptr<Mapped> holdMapping(uintptr_t address) {
  std::lock_guard<std::mutex> lock(buffersMutex);
  auto it = buffers().upper_bound(address);
  if (it == buffers().begin()) return nullptr;
  --it;
  return address - it->first < it->second->length ? it->second : nullptr;
}

// Runs when the buffer is collected or its environment ends; long after unmapMemory perhaps, when another mapping has
// the address. The hint is weak, so that it names this mapping and no other.
static void finalizeBuffer(napi_env, void*, void* hint) {
  auto* weak = static_cast<std::weak_ptr<Mapped>*>(hint);
  if (auto mapped = weak->lock()) {
    std::lock_guard<std::mutex> lock(buffersMutex);
    auto it = buffers().find(mapped->address);
    if (it != buffers().end() && it->second == mapped) buffers().erase(it);
  }
  delete weak;
}

static void adviseMapping(void* address, size_t length, int descriptor) {
  // A forked child must not share what only this process answers for.
  madvise(address, length, MADV_DONTFORK);
  // Pages of a file on a disk are cached one by one. Otherwise the kernel reads ahead and, where memory is touched in
  // order, caches it in large folios, which become dirty as a whole: the first store after a write-back takes 0.1 ms,
  // and has hundreds of KiB written (seen with ext4 of Linux 6.18). Some reach over a hole of the file. A store into
  // such a folio takes blocks for all of it, and is SIGBUS where the disk is full.
  struct statfs system;
  if (fstatfs(descriptor, &system) == 0 && system.f_type != TMPFS_MAGIC && system.f_type != HUGETLBFS_MAGIC)
    madvise(address, length, MADV_RANDOM);
}

static napi_value MapMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const size_t offset = arguments.pages(1, "offsetBytes", true);
  const size_t length = arguments.pages(2, "lengthBytes", false);
  const int flags = static_cast<int>(arguments.integer(3, "flags", 0, kPopulate | kLock));
  if (arguments.ok() && length > kBufferMax)
    arguments.fail("lengthBytes", "one buffer holds at most 4 GiB; map several");
  if (!checkWithinObject(arguments, descriptor, offset, length)) return nullptr;
  const int mapFlags = MAP_SHARED | ((flags & kPopulate) != 0 ? MAP_POPULATE : 0);
  void* address = mmap(nullptr, length, PROT_READ | PROT_WRITE, mapFlags, descriptor, static_cast<off_t>(offset));
  if (address == MAP_FAILED) return throwSystem(env, "mmap", errno);
  auto mapped = std::make_shared<Mapped>(reinterpret_cast<uintptr_t>(address), length, pagesOf(descriptor));
  adviseMapping(address, length, descriptor);
  if ((flags & kLock) != 0 && mlock(address, length) != 0) return throwSystem(env, "mlock", errno);
  auto* hint = new std::weak_ptr<Mapped>(mapped);
  napi_value buffer = nullptr;
  if (napi_create_external_arraybuffer(env, address, length, finalizeBuffer, hint, &buffer) != napi_ok) {
    delete hint;
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    return pending ? nullptr : throwSystem(env, "mmap", ENOMEM);
  }
  std::lock_guard<std::mutex> lock(buffersMutex);
  buffers()[mapped->address] = mapped;
  return buffer;
}

static napi_value UnmapMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  bool isBuffer = false;
  napi_is_arraybuffer(env, arguments.at(0), &isBuffer);
  if (!isBuffer) return throwArgument(env, "buffer", "buffer must be an ArrayBuffer that mapMemory made");
  void* data = nullptr;
  size_t length = 0;
  napi_get_arraybuffer_info(env, arguments.at(0), &data, &length);
  std::lock_guard<std::mutex> lock(buffersMutex);
  auto it = buffers().find(reinterpret_cast<uintptr_t>(data));
  if (it == buffers().end() || it->second->length != length)
    return throwArgument(env, "buffer", "buffer was not made by mapMemory");
  if (it->second->closed) return nullptr;
  // Not detached: the first detaching of any buffer makes the engine check for it at every element access of every
  // typed array from then on (a gather loop takes 1.6 times as long). Memory of nobody takes the place, and goes with
  // the buffer.
  if (mmap(data, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) ==
      MAP_FAILED)
    return throwSystem(env, "mmap", errno);
  it->second->closed = true;
  return nullptr;
}

static napi_value AddressOf(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Bytes bytes = arguments.bytes(0, "view");
  if (!arguments.ok()) return nullptr;
  return makeNumber(env, static_cast<double>(reinterpret_cast<uintptr_t>(bytes.data)));
}

// ---- views
// ---------------------------------------------------------------------------------------------------------------------

// The bytes of a shared WebAssembly.Memory: page-aligned and mapped by the engine for this purpose alone, so that
// mapping over it is safe. Asked of the engine's own getter: an object that only looks like a memory could name bytes
// of the heap.
static bool memoryOf(Arguments& arguments, Bytes* out) {
  napi_env env = arguments.env;
  napi_value getter = nullptr, buffer = nullptr;
  napi_ref getterRef = environmentOf(env)->bufferOf;
  bool isPrivate = true;
  if (getterRef != nullptr && napi_get_reference_value(env, getterRef, &getter) == napi_ok && getter != nullptr &&
      napi_call_function(env, arguments.at(0), getter, 0, nullptr, &buffer) == napi_ok &&
      napi_is_arraybuffer(env, buffer, &isPrivate) == napi_ok && !isPrivate && bytesOf(env, buffer, out)) {
    return true;
  }
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  napi_value ignored = nullptr;
  if (pending) napi_get_and_clear_last_exception(env, &ignored);
  arguments.fail("memory", "memory must be a WebAssembly.Memory with shared: true");
  return false;
}

// While a view lies over it a memory must not be collected: its addresses would be somebody else's, and still count as
// a view.
static void holdViewed(napi_env env, napi_value memory, const Bytes& bytes) {
  auto& viewed = environmentOf(env)->viewed;
  const auto base = reinterpret_cast<uintptr_t>(bytes.data);
  if (viewed.count(base) != 0) return;
  napi_ref reference = nullptr;
  if (napi_create_reference(env, memory, 1, &reference) == napi_ok) viewed[base] = {reference, bytes.length};
}

static void releaseViewed(napi_env env, const Bytes& bytes) {
  auto& viewed = environmentOf(env)->viewed;
  const auto base = reinterpret_cast<uintptr_t>(bytes.data);
  auto it = viewed.find(base);
  if (it == viewed.end() || touchesMapping(base, bytes.length, MappingKind::View)) return;
  napi_delete_reference(env, it->second.memory);
  viewed.erase(it);
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
  if (!checkWithin(arguments, memory, viewOffset, length) || !checkWithinObject(arguments, descriptor, offset, length))
    return nullptr;
  uint8_t* at = memory.data + viewOffset;
  if (reinterpret_cast<uintptr_t>(at) % pagesOf(descriptor) != 0)
    return throwArgument(env, "viewOffsetBytes", "this place in the memory is not aligned to the object's huge pages");
  holdViewed(env, arguments.at(0), memory);
  void* address =
      mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    const int error = errno;
    releaseViewed(env, memory);
    return throwSystem(env, "mmap", error);
  }
  adviseMapping(address, length, descriptor);
  rememberMapping(reinterpret_cast<uintptr_t>(address), length, MappingKind::View, pagesOf(descriptor));
  return makeNumber(env, static_cast<double>(reinterpret_cast<uintptr_t>(address)));
}

static napi_value UnmapView(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Bytes memory;
  if (!memoryOf(arguments, &memory)) return nullptr;
  const size_t viewOffset = arguments.pages(1, "viewOffsetBytes", true);
  const size_t length = arguments.pages(2, "lengthBytes", false);
  if (!checkWithin(arguments, memory, viewOffset, length)) return nullptr;
  uint8_t* at = memory.data + viewOffset;
  if (mmap(at, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) ==
      MAP_FAILED)
    return throwSystem(env, "mmap", errno);
  forgetMapping(reinterpret_cast<uintptr_t>(at), length, MappingKind::View);
  releaseViewed(env, memory);
  return nullptr;
}

// ---- environments
// --------------------------------------------------------------------------------------------------------------

void forgetViews(napi_env env, Environment* environment) {
  for (const auto& [base, held] : environment->viewed) {
    forgetMapping(base, held.length, MappingKind::View);
    napi_delete_reference(env, held.memory);
  }
  environment->viewed.clear();
}

// Keeps the engine's getter of a memory's bytes, before a program can have put another in its place.
static void rememberGetter(napi_env env) {
  napi_value at = nullptr, object = nullptr, describe = nullptr;
  napi_get_global(env, &at);
  napi_get_named_property(env, at, "Object", &object);
  napi_get_named_property(env, object, "getOwnPropertyDescriptor", &describe);
  napi_valuetype type = napi_undefined;
  // Absent where Node.js was started without WebAssembly (--jitless): then there are no views.
  for (const char* name : {"WebAssembly", "Memory", "prototype"}) {
    napi_get_named_property(env, at, name, &at);
    napi_typeof(env, at, &type);
    if (type != napi_object && type != napi_function) return;
  }
  napi_value arguments[2] = {at, nullptr}, descriptor = nullptr, getter = nullptr;
  napi_create_string_utf8(env, "buffer", NAPI_AUTO_LENGTH, &arguments[1]);
  if (napi_call_function(env, object, describe, 2, arguments, &descriptor) != napi_ok) return;
  napi_get_named_property(env, descriptor, "get", &getter);
  napi_create_reference(env, getter, 1, &environmentOf(env)->bufferOf);
}

void registerMappings(napi_env env, napi_value exports) {
  rememberGetter(env);
  define(env, exports, "mapMemory", MapMemory);
  define(env, exports, "unmapMemory", UnmapMemory);
  define(env, exports, "addressOf", AddressOf);
  define(env, exports, "mapView", MapView);
  define(env, exports, "unmapView", UnmapView);
}

}  // namespace aether
