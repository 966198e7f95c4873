// libibverbs, opened when it is first needed. The functions of <infiniband/verbs.h> that the addon calls are defined
// here; each jumps to the library's, or to the tcp device's where the object is one of its (tcp-verbs.h). So the other
// files, and the inline functions of the header, call verbs as if they were linked, and one binary serves machines with
// and without them.
#include <dlfcn.h>

#include <cerrno>
#include <mutex>

#include "tcp-verbs.h"
#include "verbs-objects.h"

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

// FORWARD is for verbs that every libibverbs of the last ten years has, and LATER for those that may be missing, with
// what they return then. Of an object whose context is the tcp device's, BOTH and LATER_BOTH make the call `ours`.
#define FORWARD(result, name, parameters, arguments) \
  static result(*name##_at) parameters;              \
  extern "C" result name parameters { return name##_at arguments; }
#define BOTH(result, name, parameters, arguments, context, ours) \
  static result(*name##_at) parameters;                          \
  extern "C" result name parameters {                            \
    if (aether::tcp::isOurs(context)) return ours;               \
    return name##_at arguments;                                  \
  }
#define LATER_BOTH(result, name, parameters, arguments, missing, context, ours) \
  static result(*name##_at) parameters;                                         \
  extern "C" result name parameters {                                           \
    if (aether::tcp::isOurs(context)) return ours;                              \
    if (name##_at != nullptr) return name##_at arguments;                       \
    errno = EOPNOTSUPP;                                                         \
    return missing;                                                             \
  }

namespace tcp = aether::tcp;

FORWARD(struct ibv_device**, ibv_get_device_list, (int* count), (count))
FORWARD(void, ibv_free_device_list, (struct ibv_device * *list), (list))
FORWARD(const char*, ibv_get_device_name, (struct ibv_device * device), (device))
FORWARD(__be64, ibv_get_device_guid, (struct ibv_device * device), (device))
FORWARD(struct ibv_context*, ibv_open_device, (struct ibv_device * device), (device))
BOTH(int, ibv_close_device, (struct ibv_context * context), (context), context, tcp::closeDevice(context))
BOTH(int, ibv_query_device, (struct ibv_context * context, struct ibv_device_attr* attributes), (context, attributes),
     context, tcp::queryDevice(context, attributes))
BOTH(int, ibv_query_port, (struct ibv_context * context, uint8_t port, struct _compat_ibv_port_attr* attributes),
     (context, port, attributes), context,
     tcp::queryPort(context, port, reinterpret_cast<struct ibv_port_attr*>(attributes)))
BOTH(int, ibv_query_gid, (struct ibv_context * context, uint8_t port, int index, union ibv_gid* gid),
     (context, port, index, gid), context, tcp::queryGid(context, port, index, gid))
FORWARD(int, ibv_query_pkey, (struct ibv_context * context, uint8_t port, int index, __be16* key),
        (context, port, index, key))
BOTH(struct ibv_pd*, ibv_alloc_pd, (struct ibv_context * context), (context), context, tcp::allocPd(context))
BOTH(int, ibv_dealloc_pd, (struct ibv_pd * pd), (pd), pd->context, tcp::deallocPd(pd))
BOTH(struct ibv_mr*, ibv_reg_mr, (struct ibv_pd * pd, void* address, size_t length, int access),
     (pd, address, length, access), pd->context, tcp::regMr(pd, address, length, static_cast<unsigned>(access)))
BOTH(int, ibv_dereg_mr, (struct ibv_mr * mr), (mr), mr->context, tcp::deregMr(mr))
BOTH(struct ibv_comp_channel*, ibv_create_comp_channel, (struct ibv_context * context), (context), context,
     tcp::createCompChannel(context))
BOTH(int, ibv_destroy_comp_channel, (struct ibv_comp_channel * channel), (channel), channel->context,
     tcp::destroyCompChannel(channel))
BOTH(struct ibv_cq*, ibv_create_cq,
     (struct ibv_context * context, int depth, void* user, struct ibv_comp_channel* channel, int vector),
     (context, depth, user, channel, vector), context, tcp::createCq(context, depth, user, channel, vector))
BOTH(int, ibv_resize_cq, (struct ibv_cq * cq, int depth), (cq, depth), cq->context, tcp::resizeCq(cq, depth))
BOTH(int, ibv_destroy_cq, (struct ibv_cq * cq), (cq), cq->context, tcp::destroyCq(cq))
BOTH(int, ibv_get_cq_event, (struct ibv_comp_channel * channel, struct ibv_cq** cq, void** user), (channel, cq, user),
     channel->context, tcp::getCqEvent(channel, cq, user))
BOTH(void, ibv_ack_cq_events, (struct ibv_cq * cq, unsigned int count), (cq, count), cq->context, void())
BOTH(int, ibv_get_async_event, (struct ibv_context * context, struct ibv_async_event* event), (context, event), context,
     tcp::getAsyncEvent(context, event))
// Acknowledging only lets libibverbs destroy what the event is about; tcp::getAsyncEvent has forgotten it already. The
// event does not say of which device it is, so verbs-device.cc asks.
FORWARD(void, ibv_ack_async_event, (struct ibv_async_event * event), (event))
BOTH(struct ibv_qp*, ibv_create_qp, (struct ibv_pd * pd, struct ibv_qp_init_attr* attributes), (pd, attributes),
     pd->context, tcp::createQp(pd, attributes))
BOTH(int, ibv_modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr* attributes, int mask), (qp, attributes, mask),
     qp->context, tcp::modifyQp(qp, attributes, mask))
BOTH(int, ibv_query_qp,
     (struct ibv_qp * qp, struct ibv_qp_attr* attributes, int mask, struct ibv_qp_init_attr* initial),
     (qp, attributes, mask, initial), qp->context, tcp::queryQp(qp, attributes, mask, initial))
BOTH(int, ibv_destroy_qp, (struct ibv_qp * qp), (qp), qp->context, tcp::destroyQp(qp))
BOTH(struct ibv_srq*, ibv_create_srq, (struct ibv_pd * pd, struct ibv_srq_init_attr* attributes), (pd, attributes),
     pd->context, tcp::createSrq(pd, attributes))
BOTH(int, ibv_modify_srq, (struct ibv_srq * srq, struct ibv_srq_attr* attributes, int mask), (srq, attributes, mask),
     srq->context, tcp::modifySrq(srq, attributes, mask))
BOTH(int, ibv_query_srq, (struct ibv_srq * srq, struct ibv_srq_attr* attributes), (srq, attributes), srq->context,
     tcp::querySrq(srq, attributes))
BOTH(int, ibv_destroy_srq, (struct ibv_srq * srq), (srq), srq->context, tcp::destroySrq(srq))
BOTH(struct ibv_ah*, ibv_create_ah, (struct ibv_pd * pd, struct ibv_ah_attr* attributes), (pd, attributes), pd->context,
     tcp::createAh(pd, attributes))
BOTH(int, ibv_destroy_ah, (struct ibv_ah * ah), (ah), ah->context, tcp::destroyAh(ah))
BOTH(int, ibv_attach_mcast, (struct ibv_qp * qp, const union ibv_gid* gid, uint16_t lid), (qp, gid, lid), qp->context,
     EOPNOTSUPP)
BOTH(int, ibv_detach_mcast, (struct ibv_qp * qp, const union ibv_gid* gid, uint16_t lid), (qp, gid, lid), qp->context,
     EOPNOTSUPP)
FORWARD(int, ibv_fork_init, (void), ())
LATER_BOTH(struct ibv_mr*, ibv_reg_mr_iova,
           (struct ibv_pd * pd, void* address, size_t length, uint64_t iova, int access),
           (pd, address, length, iova, access), nullptr, pd->context,
           tcp::regMr(pd, address, length, static_cast<unsigned>(access)))
LATER_BOTH(struct ibv_mr*, ibv_reg_mr_iova2,
           (struct ibv_pd * pd, void* address, size_t length, uint64_t iova, unsigned int access),
           (pd, address, length, iova, access), nullptr, pd->context, tcp::regMr(pd, address, length, access))
LATER_BOTH(int, ibv_rereg_mr,
           (struct ibv_mr * mr, int flags, struct ibv_pd* pd, void* address, size_t length, int access),
           (mr, flags, pd, address, length, access), -1, mr->context,
           tcp::reregMr(mr, flags, pd, address, length, access))
LATER_BOTH(ssize_t, _ibv_query_gid_table,
           (struct ibv_context * context, struct ibv_gid_entry* entries, size_t count, uint32_t flags, size_t size),
           (context, entries, count, flags, size), -EOPNOTSUPP, context, -EOPNOTSUPP)

namespace aether {

namespace {

struct Symbol {
  const char* name;
  void** target;
  bool required;
};

#define REQUIRED(name) \
  { #name, reinterpret_cast < void**>(&name##_at), true }
#define OPTIONAL(name) \
  { #name, reinterpret_cast < void**>(&name##_at), false }

const Symbol symbols[] = {
    REQUIRED(ibv_get_device_list),
    REQUIRED(ibv_free_device_list),
    REQUIRED(ibv_get_device_name),
    REQUIRED(ibv_get_device_guid),
    REQUIRED(ibv_open_device),
    REQUIRED(ibv_close_device),
    REQUIRED(ibv_query_device),
    REQUIRED(ibv_query_port),
    REQUIRED(ibv_query_gid),
    REQUIRED(ibv_query_pkey),
    REQUIRED(ibv_alloc_pd),
    REQUIRED(ibv_dealloc_pd),
    REQUIRED(ibv_reg_mr),
    REQUIRED(ibv_dereg_mr),
    REQUIRED(ibv_create_comp_channel),
    REQUIRED(ibv_destroy_comp_channel),
    REQUIRED(ibv_create_cq),
    REQUIRED(ibv_resize_cq),
    REQUIRED(ibv_destroy_cq),
    REQUIRED(ibv_get_cq_event),
    REQUIRED(ibv_ack_cq_events),
    REQUIRED(ibv_get_async_event),
    REQUIRED(ibv_ack_async_event),
    REQUIRED(ibv_create_qp),
    REQUIRED(ibv_modify_qp),
    REQUIRED(ibv_query_qp),
    REQUIRED(ibv_destroy_qp),
    REQUIRED(ibv_create_srq),
    REQUIRED(ibv_modify_srq),
    REQUIRED(ibv_query_srq),
    REQUIRED(ibv_destroy_srq),
    REQUIRED(ibv_create_ah),
    REQUIRED(ibv_destroy_ah),
    REQUIRED(ibv_attach_mcast),
    REQUIRED(ibv_detach_mcast),
    REQUIRED(ibv_fork_init),
    OPTIONAL(ibv_reg_mr_iova),
    OPTIONAL(ibv_reg_mr_iova2),
    OPTIONAL(ibv_rereg_mr),
    OPTIONAL(_ibv_query_gid_table),
};

std::string load() {
  void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  for (const Symbol& symbol : symbols) {
    *symbol.target = dlsym(library, symbol.name);
    if (*symbol.target == nullptr && symbol.required)
      return std::string("libibverbs.so.1 has no function ") + symbol.name;
  }
  // Before anything is registered. On kernels that copy pinned pages at fork (since 5.12) the library finds that there
  // is nothing to do.
  ibv_fork_init();
  return "";
}

}  // namespace

std::string loadVerbsLibrary() {
  static std::once_flag once;
  static std::string reason;
  std::call_once(once, [] { reason = load(); });
  return reason;
}

static napi_value Load(napi_env env, napi_callback_info) {
  const std::string reason = loadVerbsLibrary();
  napi_value text = nullptr;
  napi_create_string_utf8(env, reason.c_str(), reason.size(), &text);
  return text;
}

void registerVerbsLibrary(napi_env env, napi_value exports) {
  define(env, exports, "load", Load);
}

}  // namespace aether
