// Memory windows. Those of type 2 are bound by a work request (verbs-post.cc).
#include <cerrno>

#include "verbs-objects.h"

namespace aether {

static napi_value AllocateWindow(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const auto type = static_cast<enum ibv_mw_type>(arguments.integer(1, "type", IBV_MW_TYPE_1, IBV_MW_TYPE_2));
  if (!arguments.ok()) return nullptr;
  auto* window = createObject<VerbsWindow>(env, "ibv_alloc_mw", {domain}, [&](VerbsWindow* made) {
    made->mw = ibv_alloc_mw(domain->pd, type);
    return errnoOf(made->mw);
  });
  return window == nullptr ? nullptr
                           : describeNumbers(env, {{"handle", window->token}, {"remoteKey", window->mw->rkey}});
}

// fields: id, flags, address, length, access.
static napi_value BindWindow(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  auto* window = handleOf<VerbsWindow>(arguments, 1);
  auto* memory = optionalHandleOf<VerbsMemory>(arguments, 2);
  const Doubles fields = doublesOf(arguments, 3, "fields", 5);
  if (!arguments.ok()) return nullptr;
  bool ok = true;
  struct ibv_mw_bind bind = {};
  bind.wr_id = static_cast<uint64_t>(static_cast<int64_t>(
      fields.data[0] >= -kSafeIntegerMax && fields.data[0] <= kSafeIntegerMax ? fields.data[0] : 0));
  bind.send_flags = static_cast<unsigned>(wholeNumber(fields.data[1], 15, &ok));
  bind.bind_info.mr = memory == nullptr ? nullptr : memory->mr;
  bind.bind_info.addr = wholeNumber(fields.data[2], kSafeIntegerMax, &ok);
  bind.bind_info.length = wholeNumber(fields.data[3], kSafeIntegerMax, &ok);
  bind.bind_info.mw_access_flags = static_cast<unsigned>(wholeNumber(fields.data[4], INT32_MAX, &ok));
  if (!ok || (memory == nullptr && bind.bind_info.length != 0)) return makeNumber(env, EINVAL);
  if (memory == nullptr && deviceOf(window)->isRxe) return makeNumber(env, EOPNOTSUPP);
  errno = 0;
  return makeNumber(env, errnoOf(ibv_bind_mw(pair->qp, window->mw, &bind)));
}

// The library knows the key that a bind of type 1 has made.
static napi_value WindowKey(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* window = handleOf<VerbsWindow>(arguments, 0);
  return arguments.ok() ? makeNumber(env, window->mw->rkey) : nullptr;
}

void registerVerbsWindows(napi_env env, napi_value exports) {
  define(env, exports, "allocateWindow", AllocateWindow);
  define(env, exports, "bindWindow", BindWindow);
  define(env, exports, "windowKey", WindowKey);
}

}  // namespace aether
