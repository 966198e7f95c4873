// Address handles and multicast groups.
#include <cerrno>

#include "verbs-attributes.h"
#include "verbs-objects.h"

namespace aether {

static napi_value CreateAddressHandle(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const Doubles words = doublesOf(arguments, 1, "vector", kVectorWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_ah_attr a = {};
  if (!takeVector(words.data, &a))
    return throwArgument(env, "vector", "a field of the address vector is not a number of its range");
  auto* handle = createObject<VerbsAddressHandle>(env, "ibv_create_ah", {domain}, [&](VerbsAddressHandle* made) {
    made->ah = ibv_create_ah(domain->pd, &a);
    return errnoOf(made->ah);
  });
  return handle == nullptr ? nullptr : makeNumber(env, handle->token);
}

template <class Verb>
static napi_value changeMembership(napi_env env, napi_callback_info info, Verb verb) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  const Doubles words = doublesOf(arguments, 1, "gid", 4);
  const auto localIdentifier = static_cast<uint16_t>(arguments.integer(2, "localIdentifier", 0, UINT16_MAX));
  if (!arguments.ok()) return nullptr;
  union ibv_gid gid = {};
  if (!takeGid(words.data, &gid)) return throwArgument(env, "gid", "a gid is four words of 32 bits");
  errno = 0;
  return makeNumber(env, errnoOf(verb(pair->qp, &gid, localIdentifier)));
}

static napi_value AttachMulticast(napi_env env, napi_callback_info info) {
  return changeMembership(env, info, ibv_attach_mcast);
}

static napi_value DetachMulticast(napi_env env, napi_callback_info info) {
  return changeMembership(env, info, ibv_detach_mcast);
}

void registerVerbsDatagrams(napi_env env, napi_value exports) {
  define(env, exports, "createAddressHandle", CreateAddressHandle);
  define(env, exports, "attachMulticast", AttachMulticast);
  define(env, exports, "detachMulticast", DetachMulticast);
}

}  // namespace aether
