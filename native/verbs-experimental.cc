// The one experimental verb that is wanted here: registering physical memory, ibv_exp_reg_mr of MLNX_OFED 3 and 4. No
// header of today has it, so what is needed of its layout is written down. It is not an exported function either: that
// library keeps a table of its further calls in front of a device's struct verbs_context, whose length it says in `sz`,
// and announces the table by bit 62 of the word before `sz`. rdma-core has a placeholder there, which is 0.
//
//     words counted from the end of the table
//     -29                                        -1
//     register memory │ 27 further calls ………… │ bytes of the table │ struct verbs_context, `sz` bytes: … │ mask │ sz │
//     struct ibv_context
//
// The table has grown at its front only, so these distances hold for every release that has the call.
#include <cerrno>

#include "verbs-objects.h"

namespace aether {

namespace {

constexpr uint64_t kHasTable = 1ULL << 62;
constexpr ptrdiff_t kRegisterWord = -29;
constexpr ptrdiff_t kTableBytesWord = -1;
// Rights below 2^32 are those of ibv_reg_mr.
constexpr uint64_t kAccessPhysical = 1ULL << 48;

// What the call reads: later releases have more fields, which count only where `mask` names them.
struct Registration {
  struct ibv_pd* pd;
  void* address;  // must be null, and the length 0: it is all of the memory
  size_t length;
  uint64_t access;
  uint32_t mask;
  uint32_t flags;
  uint64_t later[4];
};
static_assert(offsetof(Registration, access) == 24 && offsetof(Registration, mask) == 32 &&
                  offsetof(Registration, later) == 40,
              "as the library reads it");

using RegisterPhysicalCall = struct ibv_mr* (*)(Registration*);

// The call, or null where this library has none.
RegisterPhysicalCall findCall(struct ibv_context* context) {
  const struct verbs_context* verbs = verbs_get_ctx(context);
  if (verbs == nullptr || (verbs->_ABI_placeholder3 & kHasTable) == 0) return nullptr;
  auto* end = reinterpret_cast<void**>(reinterpret_cast<char*>(context) + sizeof *context - verbs->sz);
  const auto bytes = reinterpret_cast<size_t>(end[kTableBytesWord]);
  if (bytes < -kRegisterWord * sizeof(void*)) return nullptr;
  return reinterpret_cast<RegisterPhysicalCall>(end[kRegisterWord]);
}

}  // namespace

// registerPhysical(domain, access): EOPNOTSUPP where the library does not have the call.
static napi_value RegisterPhysical(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const auto access = static_cast<uint64_t>(arguments.integer(1, "access", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  const RegisterPhysicalCall call = findCall(domain->pd->context);
  if (call == nullptr) return throwSystem(env, "ibv_exp_reg_mr", EOPNOTSUPP);
  auto* memory = createObject<VerbsMemory>(env, "ibv_exp_reg_mr", {domain}, [&](VerbsMemory* made) {
    Registration registration = {};
    registration.pd = domain->pd;
    registration.access = access | kAccessPhysical;
    made->mr = call(&registration);
    return errnoOf(made->mr);
  });
  if (memory == nullptr) return nullptr;
  return describeNumbers(env,
                         {{"handle", memory->token}, {"localKey", memory->mr->lkey}, {"remoteKey", memory->mr->rkey}});
}

void registerVerbsExperimental(napi_env env, napi_value exports) {
  define(env, exports, "registerPhysical", RegisterPhysical);
}

}  // namespace aether
