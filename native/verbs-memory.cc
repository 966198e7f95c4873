// Memory regions. The buffer under a region is referenced until it is deregistered: its pages stay the device's to
// write until then.
#include <cerrno>

#include "verbs-objects.h"

namespace aether {

static napi_value describe(napi_env env, const VerbsMemory* memory) {
  return describeNumbers(env,
                         {{"handle", memory->token}, {"localKey", memory->mr->lkey}, {"remoteKey", memory->mr->rkey}});
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
    made->hold(env, arguments.at(1), bytes.data);
    return 0;
  });
  return memory == nullptr ? nullptr : describe(env, memory);
}

// The whole address space, paged on demand: there is no buffer to hold.
static napi_value RegisterImplicit(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const auto access = static_cast<unsigned>(arguments.integer(1, "access", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  auto* memory = createObject<VerbsMemory>(env, "ibv_reg_mr", {domain}, [&](VerbsMemory* made) {
    made->mr = ibv_reg_mr(domain->pd, nullptr, SIZE_MAX, access | IBV_ACCESS_ON_DEMAND);
    return errnoOf(made->mr);
  });
  return memory == nullptr ? nullptr : describe(env, memory);
}

// A zero-based region on memory of the device.
static napi_value RegisterDeviceMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  auto* deviceMemory = handleOf<VerbsDeviceMemory>(arguments, 1);
  const double lengthMost = arguments.ok() ? static_cast<double>(deviceMemory->length) : 0;
  const auto offset = static_cast<uint64_t>(arguments.integer(2, "offset", 0, lengthMost));
  const auto length = static_cast<size_t>(arguments.integer(3, "length", 0, lengthMost - static_cast<double>(offset)));
  const auto access = static_cast<unsigned>(arguments.integer(4, "access", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  auto* memory = createObject<VerbsMemory>(env, "ibv_reg_dm_mr", {domain, deviceMemory}, [&](VerbsMemory* made) {
    made->mr = ibv_reg_dm_mr(domain->pd, deviceMemory->dm, offset, length, access | IBV_ACCESS_ZERO_BASED);
    return errnoOf(made->mr);
  });
  return memory == nullptr ? nullptr : describe(env, memory);
}

// Which of the changes are wanted is said by what is given: a domain or 0, a buffer or undefined, an access or -1.
static napi_value ReregisterMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* memory = handleOf<VerbsMemory>(arguments, 0);
  auto* domain = optionalHandleOf<VerbsDomain>(arguments, 1);
  napi_valuetype type = napi_undefined;
  napi_typeof(env, arguments.at(2), &type);
  const Bytes bytes = type == napi_undefined ? Bytes() : arguments.bytes(2, "buffer");
  const auto access = static_cast<int>(arguments.integer(3, "access", -1, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  int flags = 0;
  if (domain != nullptr) flags |= IBV_REREG_MR_CHANGE_PD;
  if (bytes.data != nullptr) flags |= IBV_REREG_MR_CHANGE_TRANSLATION;
  if (access >= 0) flags |= IBV_REREG_MR_CHANGE_ACCESS;
  errno = 0;
  const int result = ibv_rereg_mr(memory->mr, flags, domain == nullptr ? nullptr : domain->pd, bytes.data, bytes.length,
                                  access < 0 ? 0 : access);
  // It returns a number of its own below zero, whose reason is in errno.
  if (result != 0) return throwSystem(env, "ibv_rereg_mr", errno != 0 ? errno : EINVAL);
  if (domain != nullptr) VerbsTable::exchange(memory, memory->uses[0], domain);
  if (bytes.data != nullptr) {
    if (memory->buffer != nullptr) napi_delete_reference(env, memory->buffer);
    memory->hold(env, arguments.at(2), bytes.data);
  }
  return describe(env, memory);
}

// ranges: triples (address, length, key).
static napi_value Advise(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const auto advice =
      static_cast<enum ibv_advise_mr_advice>(arguments.integer(1, "advice", 0, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT));
  const bool flush = arguments.boolean(2, "flush");
  const Doubles ranges = doublesOf(arguments, 3, "ranges", 3);
  if (!arguments.ok()) return nullptr;
  std::vector<struct ibv_sge> segments(ranges.length / 3);
  bool ok = true;
  for (size_t index = 0; index < segments.size(); index++) {
    const double* range = ranges.data + 3 * index;
    segments[index].addr = wholeNumber(range[0], kSafeIntegerMax, &ok);
    segments[index].length = static_cast<uint32_t>(wholeNumber(range[1], UINT32_MAX, &ok));
    segments[index].lkey = static_cast<uint32_t>(wholeNumber(range[2], UINT32_MAX, &ok));
  }
  if (!ok) return throwArgument(env, "ranges", "ranges must be triples of address, length below 2^32 and key");
  errno = 0;
  const int error = errnoOf(ibv_advise_mr(domain->pd, advice, flush ? IBV_ADVISE_MR_FLAG_FLUSH : 0, segments.data(),
                                          static_cast<uint32_t>(segments.size())));
  return makeNumber(env, error);
}

void registerVerbsMemory(napi_env env, napi_value exports) {
  define(env, exports, "registerMemory", RegisterMemory);
  define(env, exports, "registerImplicit", RegisterImplicit);
  define(env, exports, "registerDeviceMemory", RegisterDeviceMemory);
  define(env, exports, "reregisterMemory", ReregisterMemory);
  define(env, exports, "advise", Advise);
}

}  // namespace aether
