// Memory regions. The buffer under a region is referenced until it is deregistered: its pages stay the device's to write until then.
#include "verbs-objects.h"

#include <cerrno>

namespace aether {

static napi_value describe(napi_env env, const VerbsMemory* memory) {
  return describeNumbers(env, {{"handle", memory->token}, {"localKey", memory->mr->lkey}, {"remoteKey", memory->mr->rkey}});
}

static napi_value RegisterMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const Bytes bytes = arguments.bytes(1, "buffer");
  const auto access = static_cast<unsigned>(arguments.integer(2, "access", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  if (bytes.length == 0) return throwArgument(env, "buffer", "an empty buffer cannot be registered");
  auto* memory = createObject<VerbsMemory>(env, "ibv_reg_mr", {domain}, [&](VerbsMemory* made) {
    // The header's: it takes the function that knows the optional flags where they are asked for.
    made->mr = ibv_reg_mr(domain->pd, bytes.data, bytes.length, access);
    if (made->mr == nullptr) return errnoOf(made->mr);
    made->env = env;
    napi_create_reference(env, arguments.at(1), 1, &made->buffer);
    return 0;
  });
  return memory == nullptr ? nullptr : describe(env, memory);
}

void registerVerbsMemory(napi_env env, napi_value exports) { define(env, exports, "registerMemory", RegisterMemory); }

}  // namespace aether
