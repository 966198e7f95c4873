// Shared memory objects (memfd) and plain descriptors.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "support.h"

namespace aether {

static unsigned hugeFlag(size_t bytes) {
  return bytes == 0 ? 0 : MFD_HUGETLB | (static_cast<unsigned>(__builtin_ctzll(bytes)) << 26);
}

static napi_value CreateMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const std::string name = arguments.text(0, "name", 240);
  const double length = arguments.integer(1, "lengthBytes", 0, kSafeIntegerMax);
  const double huge = arguments.integer(2, "hugePageBytes", 0, 1 << 30);
  if (arguments.ok() && huge != 0 && huge != (1 << 21) && huge != (1 << 30))
    arguments.fail("hugePageBytes", "hugePageBytes must be 0, 2 MiB or 1 GiB");
  if (!arguments.ok()) return nullptr;
  const int descriptor =
      memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | hugeFlag(static_cast<size_t>(huge)));
  if (descriptor < 0) return throwSystem(env, "memfd_create", errno);
  if (ftruncate(descriptor, static_cast<off_t>(length)) != 0) {
    const int error = errno;
    close(descriptor);
    return throwSystem(env, "ftruncate", error);
  }
  // Other processes map it: if one of them could make it shorter, touching the rest would end all the others with
  // SIGBUS.
  if (fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    const int error = errno;
    close(descriptor);
    return throwSystem(env, "fcntl", error);
  }
  return makeNumber(env, descriptor);
}

static napi_value ResizeMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const double length = arguments.integer(1, "lengthBytes", 0, kSafeIntegerMax);
  if (!arguments.ok()) return nullptr;
  if (ftruncate(descriptor, static_cast<off_t>(length)) != 0) return throwSystem(env, "ftruncate", errno);
  return nullptr;
}

size_t pagesOf(int descriptor) {
  struct statfs system;
  if (fstatfs(descriptor, &system) != 0 || system.f_type != HUGETLBFS_MAGIC) return pageSize();
  return static_cast<size_t>(system.f_bsize);
}

static napi_value DescribeMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  if (!arguments.ok()) return nullptr;
  struct stat status;
  if (fstat(descriptor, &status) != 0) return throwSystem(env, "fstat", errno);
  napi_value result = nullptr;
  napi_create_object(env, &result);
  setNumber(env, result, "lengthBytes", static_cast<double>(status.st_size));
  setNumber(env, result, "allocatedBytes", static_cast<double>(status.st_blocks) * 512);
  setNumber(env, result, "inode", static_cast<double>(status.st_ino));
  setNumber(env, result, "device", static_cast<double>(status.st_dev));
  setNumber(env, result, "userId", static_cast<double>(status.st_uid));
  setNumber(env, result, "pageBytes", static_cast<double>(pagesOf(descriptor)));
  const int seals = fcntl(descriptor, F_GET_SEALS);
  napi_value shrinkable = nullptr;
  napi_get_boolean(env, seals < 0 || (seals & F_SEAL_SHRINK) == 0, &shrinkable);
  napi_set_named_property(env, result, "shrinkable", shrinkable);
  return result;
}

static napi_value DuplicateDescriptor(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  if (!arguments.ok()) return nullptr;
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return throwSystem(env, "fcntl", errno);
  return makeNumber(env, copy);
}

static napi_value CloseDescriptor(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  if (!arguments.ok()) return nullptr;
  // Before it is closed: another thread may have its number at once.
  environmentOf(env)->streams.erase(descriptor);
  if (close(descriptor) != 0 && errno != EINTR) return throwSystem(env, "close", errno);
  return nullptr;
}

static napi_value LockFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  const bool wait = arguments.boolean(1, "wait");
  if (!arguments.ok()) return nullptr;
  int result;
  do result = flock(descriptor, LOCK_EX | (wait ? 0 : LOCK_NB));
  while (result != 0 && errno == EINTR);
  if (result == 0) return makeBoolean(env, true);
  if (errno == EWOULDBLOCK) return makeBoolean(env, false);
  return throwSystem(env, "flock", errno);
}

static napi_value UnlockFile(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const int descriptor = arguments.descriptor(0, "descriptor");
  if (!arguments.ok()) return nullptr;
  if (flock(descriptor, LOCK_UN) != 0) return throwSystem(env, "flock", errno);
  return nullptr;
}

void registerMemory(napi_env env, napi_value exports) {
  define(env, exports, "createMemory", CreateMemory);
  define(env, exports, "resizeMemory", ResizeMemory);
  define(env, exports, "describeMemory", DescribeMemory);
  define(env, exports, "duplicateDescriptor", DuplicateDescriptor);
  define(env, exports, "closeDescriptor", CloseDescriptor);
  define(env, exports, "lockFile", LockFile);
  define(env, exports, "unlockFile", UnlockFile);
}

}  // namespace aether
