// Taking the space of a memory object now, honestly. fallocate(2) on a memfd has no limit of its own: asked for more
// than the machine has, it takes page after page until the kernel kills a process. So what is asked for is compared
// with what is there first.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mappings.h"
#include "support.h"

namespace aether {

static std::string readText(const std::string& path) {
  std::string text;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return text;
  char bytes[4096];
  ssize_t got;
  while ((got = read(descriptor, bytes, sizeof bytes)) > 0) text.append(bytes, static_cast<size_t>(got));
  close(descriptor);
  return text;
}

// The number after `key` at the beginning of a line; `otherwise` where there is none.
static double numberAfter(const std::string& text, const std::string& key, double otherwise) {
  const size_t at = text.compare(0, key.size(), key) == 0 ? 0 : text.find("\n" + key);
  if (at == std::string::npos) return otherwise;
  return strtod(text.c_str() + at + key.size() + (at == 0 && text[0] != '\n' ? 0 : 1), nullptr);
}

constexpr double kUnlimited = 1e18;

// What a control group leaves, page cache that it would give up included. Absent files and "max" mean no limit.
static double leftInGroup(const std::string& folder, const char* limitName, const char* usageName,
                          const char* cacheName) {
  const std::string limit = readText(folder + "/" + limitName);
  const double most = strtod(limit.c_str(), nullptr);
  // The first version of control groups writes a number near 2^63 for no limit.
  if (limit.empty() || limit.compare(0, 3, "max") == 0 || most >= kUnlimited) return kUnlimited;
  const double usage = strtod(readText(folder + "/" + usageName).c_str(), nullptr);
  return most - usage + numberAfter(readText(folder + "/memory.stat"), cacheName, 0);
}

// Every control group from this process's own up to the root of what it can see.
static double leftInGroups() {
  double left = kUnlimited;
  const std::string groups = readText("/proc/self/cgroup");
  for (size_t begin = 0; begin < groups.size();) {
    const size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);
    begin = end + 1;
    const bool second = line.compare(0, 3, "0::") == 0;
    const size_t first = line.find(":memory:");
    if (!second && first == std::string::npos) continue;
    std::string path = second ? line.substr(3) : line.substr(first + strlen(":memory:"));
    for (;; path.resize(path.find_last_of('/'))) {
      left =
          std::min(left, second ? leftInGroup("/sys/fs/cgroup" + path, "memory.max", "memory.current", "inactive_file ")
                                : leftInGroup("/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes",
                                              "memory.usage_in_bytes", "total_inactive_file "));
      if (path.find_last_of('/') == std::string::npos) break;
    }
  }
  return left;
}

static double availableBytes() {
  const std::string machine = readText("/proc/meminfo");
  const double free =
      1024 * (numberAfter(machine, "MemAvailable:", kUnlimited / 1024) + numberAfter(machine, "SwapFree:", 0));
  // A thirty-second stays for everybody else: the figures are estimates.
  const double spare = 1024 * numberAfter(machine, "MemTotal:", 0) / 32;
  return std::min(free - spare, leftInGroups());
}

// How much of the range has no pages yet. Opened anew, so that the position of the caller's descriptor stays.
static double missingBytes(int descriptor, double offset, double length) {
  const int own = open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDONLY | O_CLOEXEC);
  if (own < 0) return length;
  const auto begin = static_cast<off_t>(offset), end = static_cast<off_t>(offset + length);
  double present = 0;
  for (off_t at = begin; at < end;) {
    const off_t data = lseek(own, at, SEEK_DATA);
    if (data < 0 || data >= end) break;
    off_t hole = lseek(own, data, SEEK_HOLE);
    if (hole < 0 || hole > end) hole = end;
    present += static_cast<double>(hole - data);
    at = hole;
  }
  close(own);
  return length - present;
}

static bool isRoomFor(int descriptor, double offset, double length) {
  struct statfs system;
  if (fstatfs(descriptor, &system) != 0 || system.f_type != TMPFS_MAGIC)
    return true;  // the others have limits of their own
  const double available = availableBytes();
  return length <= available || missingBytes(descriptor, offset, length) <= available;
}

static int allocateRange(int descriptor, int mode, double offset, double length) {
  int result;
  do result = fallocate(descriptor, mode, static_cast<off_t>(offset), static_cast<off_t>(length));
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

int reserveRange(int descriptor, double offset, double length) {
  return isRoomFor(descriptor, offset, length) ? allocateRange(descriptor, FALLOC_FL_KEEP_SIZE, offset, length)
                                               : ENOMEM;
}

static napi_value changeRange(napi_env env, napi_callback_info info, bool take) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const double offset = arguments.integer(1, "offsetBytes", 0, kSafeIntegerMax);
  const double length = arguments.integer(2, "lengthBytes", 1, kSafeIntegerMax);
  if (!arguments.ok()) return nullptr;
  const int error = take ? reserveRange(descriptor, offset, length)
                         : allocateRange(descriptor, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, offset, length);
  return error == 0 ? nullptr : throwSystem(env, "fallocate", error);
}

static napi_value ReserveMemory(napi_env env, napi_callback_info info) {
  return changeRange(env, info, true);
}

static napi_value ReleaseMemory(napi_env env, napi_callback_info info) {
  return changeRange(env, info, false);
}

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, younger than the headers of Debian 11

// (descriptor, offsetBytes, bytes: where that part of the object is mapped) -> 0 or a negative errno
static napi_value PopulateHuge(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const double offset = arguments.integer(1, "offsetBytes", 0, kSafeIntegerMax);
  const Bytes bytes = arguments.bytes(2, "bytes");
  if (!arguments.ok()) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(bytes.data);
  if (bytes.length == 0 || address % pageSize() != 0 || bytes.length % pageSize() != 0 ||
      !isMapped(address, bytes.length, MappingKind::Buffer))
    return throwArgument(env, "bytes", "bytes must be whole pages of a buffer that mapMemory made");
  if (!isRoomFor(descriptor, offset, static_cast<double>(bytes.length))) return makeNumber(env, -ENOMEM);
  if (madvise(bytes.data, bytes.length, MADV_HUGEPAGE) != 0) return makeNumber(env, -errno);
  int result;
  do result = madvise(bytes.data, bytes.length, kPopulateWrite);
  while (result != 0 && errno == EINTR);
  return makeNumber(env, result == 0 ? 0 : -errno);
}

void registerReserve(napi_env env, napi_value exports) {
  define(env, exports, "reserveMemory", ReserveMemory);
  define(env, exports, "releaseMemory", ReleaseMemory);
  define(env, exports, "populateHuge", PopulateHuge);
}

}  // namespace aether
