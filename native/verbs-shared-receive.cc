// Shared receive queues, the ordinary ones and those of XRC.
#include <cerrno>

#include "verbs-objects.h"

namespace aether {

static struct ibv_srq* create(VerbsObject* made, VerbsDomain* domain, VerbsXrcDomain* xrcDomain,
                              VerbsCompletionQueue* queue, const struct ibv_srq_attr& wanted) {
  if (xrcDomain == nullptr) {
    struct ibv_srq_init_attr a = {};
    a.srq_context = made;
    a.attr = wanted;
    return ibv_create_srq(domain->pd, &a);
  }
  struct ibv_srq_init_attr_ex a = {};
  a.srq_context = made;
  a.attr = wanted;
  a.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  a.srq_type = IBV_SRQT_XRC;
  a.pd = domain->pd;
  a.xrcd = xrcDomain->xrcd;
  a.cq = queue->cq;
  return ibv_create_srq_ex(domain->pd->context, &a);
}

static napi_value CreateSharedReceiveQueue(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  auto* xrcDomain = optionalHandleOf<VerbsXrcDomain>(arguments, 1);
  auto* queue = optionalHandleOf<VerbsCompletionQueue>(arguments, 2);
  struct ibv_srq_attr wanted = {};
  wanted.max_wr = static_cast<uint32_t>(arguments.integer(3, "maxRequests", 0, UINT32_MAX));
  wanted.max_sge = static_cast<uint32_t>(arguments.integer(4, "maxSegments", 0, UINT32_MAX));
  if (!arguments.ok()) return nullptr;
  if ((xrcDomain == nullptr) != (queue == nullptr))
    return throwArgument(
        env, "completion queue",
        "a shared receive queue of XRC needs both a domain and a completion queue, another has neither");
  auto* shared = createObject<VerbsSharedReceiveQueue>(env, "ibv_create_srq", usesOf({domain, xrcDomain, queue}),
                                                       [&](VerbsSharedReceiveQueue* made) {
                                                         made->srq = create(made, domain, xrcDomain, queue, wanted);
                                                         return errnoOf(made->srq);
                                                       });
  if (shared == nullptr) return nullptr;
  uint32_t number = 0;
  if (xrcDomain != nullptr) ibv_get_srq_num(shared->srq, &number);
  return describeNumbers(env, {{"handle", shared->token}, {"number", number}});
}

static napi_value QuerySharedReceiveQueue(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* shared = handleOf<VerbsSharedReceiveQueue>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  struct ibv_srq_attr a = {};
  errno = 0;
  if (const int error = errnoOf(ibv_query_srq(shared->srq, &a))) return throwSystem(env, "ibv_query_srq", error);
  return describeNumbers(env, {{"maxRequests", a.max_wr}, {"maxSegments", a.max_sge}, {"limit", a.srq_limit}});
}

// -1 leaves one of the two as it is.
static napi_value ModifySharedReceiveQueue(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* shared = handleOf<VerbsSharedReceiveQueue>(arguments, 0);
  const double maxRequests = arguments.integer(1, "maxRequests", -1, UINT32_MAX);
  const double limit = arguments.integer(2, "limit", -1, UINT32_MAX);
  if (!arguments.ok()) return nullptr;
  struct ibv_srq_attr a = {};
  int mask = 0;
  if (maxRequests >= 0) {
    a.max_wr = static_cast<uint32_t>(maxRequests);
    mask |= IBV_SRQ_MAX_WR;
  }
  if (limit >= 0) {
    a.srq_limit = static_cast<uint32_t>(limit);
    mask |= IBV_SRQ_LIMIT;
  }
  errno = 0;
  return makeNumber(env, errnoOf(ibv_modify_srq(shared->srq, &a, mask)));
}

void registerVerbsSharedReceives(napi_env env, napi_value exports) {
  define(env, exports, "createSharedReceiveQueue", CreateSharedReceiveQueue);
  define(env, exports, "querySharedReceiveQueue", QuerySharedReceiveQueue);
  define(env, exports, "modifySharedReceiveQueue", ModifySharedReceiveQueue);
}

}  // namespace aether
