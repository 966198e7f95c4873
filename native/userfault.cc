// userfaultfd(2): faults on views, and the operations that open, protect and close their pages.
#include "userfault.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "mappings.h"
#include "support.h"

// Younger than the headers of Debian 12.
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP ((__u64)1 << 1)
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace aether {

constexpr uint64_t kFeatures = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                               UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_THREAD_ID;

static int openDevice() {
  const int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
  if (device < 0) return -1;
  const int descriptor = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK);
  close(device);
  return descriptor;
}

// A kernel built without huge pages knows all features but the one of those.
static bool handshake(int descriptor, struct uffdio_api* api) {
  for (const uint64_t features : {kFeatures | UFFD_FEATURE_MINOR_HUGETLBFS, kFeatures}) {
    *api = {};
    api->api = UFFD_API;
    api->features = features;
    if (ioctl(descriptor, UFFDIO_API, api) == 0) return true;
    if (errno != EINVAL) return false;
  }
  return false;
}

static napi_value OpenUserfault(napi_env env, napi_callback_info) {
  bool userModeOnly = false;
  int descriptor = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  int error = errno;
  if (descriptor < 0) descriptor = openDevice();
  if (descriptor < 0) {
    userModeOnly = true;
    descriptor = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
    if (descriptor < 0 && errno != EPERM) error = errno;
  }
  if (descriptor < 0) return throwSystem(env, "userfaultfd", error);
  struct uffdio_api api = {};
  if (!handshake(descriptor, &api)) {
    error = errno;
    close(descriptor);
    return throwSystem(env, "UFFDIO_API", error);
  }
  napi_value result = nullptr;
  napi_create_object(env, &result);
  setNumber(env, result, "descriptor", descriptor);
  setNumber(env, result, "features", static_cast<double>(api.features));
  napi_set_named_property(env, result, "userModeOnly", makeBoolean(env, userModeOnly));
  return result;
}

// (descriptor, address, lengthBytes), where the range must lie in a view that this process has mapped.
struct Range {
  int descriptor = -1;
  uint64_t address = 0;
  uint64_t length = 0;
};

static void readAnyRange(Arguments& arguments, size_t first, Range* range) {
  range->address = static_cast<uint64_t>(arguments.pages(first, "address", false));
  range->length = static_cast<uint64_t>(arguments.pages(first + 1, "lengthBytes", false));
}

static bool readRange(Arguments& arguments, size_t first, Range* range) {
  readAnyRange(arguments, first, range);
  if (arguments.ok() && !isMapped(range->address, range->length, MappingKind::View))
    arguments.fail("address", "the range is not within a mapped view of this process");
  return arguments.ok();
}

static bool readDescriptorAndRange(Arguments& arguments, Range* range) {
  range->descriptor = arguments.descriptor(0, "descriptor");
  return readRange(arguments, 1, range);
}

static napi_value RegisterUserfault(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Range range;
  if (!readDescriptorAndRange(arguments, &range)) return nullptr;
  struct uffdio_register request = {};
  request.range = {range.address, range.length};
  request.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
  if (ioctl(range.descriptor, UFFDIO_REGISTER, &request) != 0) return throwSystem(env, "UFFDIO_REGISTER", errno);
  return nullptr;
}

static napi_value UnregisterUserfault(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Range range;
  if (!readDescriptorAndRange(arguments, &range)) return nullptr;
  struct uffdio_range request = {range.address, range.length};
  if (ioctl(range.descriptor, UFFDIO_UNREGISTER, &request) != 0) return throwSystem(env, "UFFDIO_UNREGISTER", errno);
  return nullptr;
}

static int wake(const Range& range) {
  struct uffdio_range request = {range.address, range.length};
  return ioctl(range.descriptor, UFFDIO_WAKE, &request) == 0 ? 0 : -errno;
}

// CONTINUE stops at a page that is mapped already: that page's waiters are woken, and the work goes on behind it.
int64_t installRange(int userfault, uint64_t address, uint64_t length, bool writeProtected) {
  const uint64_t page = pagesAt(address), end = address + length;
  int64_t installed = 0;
  for (uint64_t at = address; at < end;) {
    struct uffdio_continue request = {};
    request.range = {at, end - at};
    request.mode = writeProtected ? UFFDIO_CONTINUE_MODE_WP : 0;
    const int result = ioctl(userfault, UFFDIO_CONTINUE, &request);
    const int error = errno;
    if (result == 0) return installed + static_cast<int64_t>(end - at);
    if (request.mapped > 0) {
      installed += request.mapped;
      at += static_cast<uint64_t>(request.mapped);
    } else if (error == EEXIST) {
      const int woken = wake({userfault, at, page});
      if (woken < 0) return woken;
      at += page;
    } else if (error != EAGAIN) {
      return -error;
    }
  }
  return installed;
}

static napi_value InstallPages(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Range range;
  if (!readDescriptorAndRange(arguments, &range)) return nullptr;
  const bool writeProtected = arguments.boolean(3, "writeProtected");
  if (!arguments.ok()) return nullptr;
  return makeNumber(env,
                    static_cast<double>(installRange(range.descriptor, range.address, range.length, writeProtected)));
}

static napi_value ProtectPages(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Range range;
  if (!readDescriptorAndRange(arguments, &range)) return nullptr;
  const bool protect = arguments.boolean(3, "protect");
  if (!arguments.ok()) return nullptr;
  struct uffdio_writeprotect request = {};
  request.range = {range.address, range.length};
  request.mode = protect ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  int result;
  do result = ioctl(range.descriptor, UFFDIO_WRITEPROTECT, &request);
  while (result != 0 && errno == EAGAIN);
  return makeNumber(env, result == 0 ? 0 : -errno);
}

static napi_value ZapPages(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Range range;
  if (!readRange(arguments, 0, &range)) return nullptr;
  const int result = madvise(reinterpret_cast<void*>(range.address), range.length, MADV_DONTNEED);
  return makeNumber(env, result == 0 ? 0 : -errno);
}

static napi_value WakePages(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Range range;
  range.descriptor = arguments.descriptor(0, "descriptor");
  // Also where a view was until now: who waited there finds other memory. Waking harms nobody.
  readAnyRange(arguments, 1, &range);
  if (!arguments.ok()) return nullptr;
  return makeNumber(env, wake(range));
}

void registerUserfault(napi_env env, napi_value exports) {
  define(env, exports, "openUserfault", OpenUserfault);
  define(env, exports, "registerUserfault", RegisterUserfault);
  define(env, exports, "unregisterUserfault", UnregisterUserfault);
  define(env, exports, "installPages", InstallPages);
  define(env, exports, "protectPages", ProtectPages);
  define(env, exports, "zapPages", ZapPages);
  define(env, exports, "wakePages", WakePages);
}

}  // namespace aether
