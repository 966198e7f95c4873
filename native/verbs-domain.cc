// Domains beside the ordinary protection domain: parent domains, thread domains, XRC domains.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "verbs-objects.h"

namespace aether {

static napi_value AllocateThreadDomain(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  auto* domain = createObject<VerbsThreadDomain>(env, "ibv_alloc_td", {device}, [&](VerbsThreadDomain* made) {
    struct ibv_td_init_attr a = {};
    made->td = ibv_alloc_td(device->context, &a);
    return errnoOf(made->td);
  });
  return domain == nullptr ? nullptr : makeNumber(env, domain->token);
}

static napi_value AllocateParentDomain(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  auto* threadDomain = optionalHandleOf<VerbsThreadDomain>(arguments, 1);
  if (!arguments.ok()) return nullptr;
  auto* parent =
      createObject<VerbsDomain>(env, "ibv_alloc_parent_domain", usesOf({domain, threadDomain}), [&](VerbsDomain* made) {
        struct ibv_parent_domain_init_attr a = {};
        a.pd = domain->pd;
        a.td = threadDomain == nullptr ? nullptr : threadDomain->td;
        made->pd = ibv_alloc_parent_domain(domain->pd->context, &a);
        return errnoOf(made->pd);
      });
  return parent == nullptr ? nullptr : makeNumber(env, parent->token);
}

// The file is only named by its inode: the kernel keeps that, and the descriptor is not needed any more.
static int openXrcDomain(VerbsXrcDomain* made, struct ibv_context* context, const std::string& path, int flags) {
  struct ibv_xrcd_init_attr a = {};
  a.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  a.fd = -1;
  a.oflags = flags;
  if (!path.empty()) {
    a.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | (flags & O_CREAT), S_IRUSR | S_IWUSR);
    if (a.fd < 0) return errno;
  }
  errno = 0;
  made->xrcd = ibv_open_xrcd(context, &a);
  const int error = errnoOf(made->xrcd);
  if (a.fd >= 0) close(a.fd);
  return error;
}

static napi_value OpenXrcDomain(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  const std::string path = arguments.text(1, "path", 4095);
  const bool create = arguments.boolean(2, "create");
  const bool exclusive = arguments.boolean(3, "exclusive");
  if (!arguments.ok()) return nullptr;
  const int flags = (create ? O_CREAT : 0) | (exclusive ? O_EXCL : 0);
  auto* domain = createObject<VerbsXrcDomain>(env, "ibv_open_xrcd", {device}, [&](VerbsXrcDomain* made) {
    return openXrcDomain(made, device->context, path, flags);
  });
  return domain == nullptr ? nullptr : makeNumber(env, domain->token);
}

void registerVerbsDomains(napi_env env, napi_value exports) {
  define(env, exports, "allocateThreadDomain", AllocateThreadDomain);
  define(env, exports, "allocateParentDomain", AllocateParentDomain);
  define(env, exports, "openXrcDomain", OpenXrcDomain);
}

}  // namespace aether
