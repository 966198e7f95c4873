// Memory on the device itself.
#include <cerrno>

#include "verbs-objects.h"

namespace aether {

static napi_value AllocateDeviceMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  const auto length = static_cast<size_t>(arguments.integer(1, "length", 1, kSafeIntegerMax));
  const auto exponent = static_cast<uint32_t>(arguments.integer(2, "alignmentExponent", 0, 63));
  if (!arguments.ok()) return nullptr;
  auto* memory = createObject<VerbsDeviceMemory>(env, "ibv_alloc_dm", {device}, [&](VerbsDeviceMemory* made) {
    struct ibv_alloc_dm_attr a = {};
    a.length = length;
    a.log_align_req = exponent;
    made->dm = ibv_alloc_dm(device->context, &a);
    made->length = length;
    return errnoOf(made->dm);
  });
  return memory == nullptr ? nullptr : makeNumber(env, memory->token);
}

// Offset and bytes of a copy, which the library does by the processor: nothing may reach beyond the end.
static VerbsDeviceMemory* takeCopy(Arguments& arguments, uint64_t* offset, Bytes* bytes) {
  auto* memory = handleOf<VerbsDeviceMemory>(arguments, 0);
  *offset = static_cast<uint64_t>(arguments.integer(1, "offset", 0, kSafeIntegerMax));
  *bytes = arguments.bytes(2, "bytes");
  return arguments.ok() ? memory : nullptr;
}

static bool isWithin(const VerbsDeviceMemory* memory, uint64_t offset, size_t length) {
  return offset <= memory->length && length <= memory->length - offset;
}

static napi_value CopyToDeviceMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  uint64_t offset = 0;
  Bytes bytes;
  VerbsDeviceMemory* memory = takeCopy(arguments, &offset, &bytes);
  if (memory == nullptr) return nullptr;
  if (!isWithin(memory, offset, bytes.length)) return makeNumber(env, EFAULT);
  errno = 0;
  return makeNumber(env, errnoOf(ibv_memcpy_to_dm(memory->dm, offset, bytes.data, bytes.length)));
}

static napi_value CopyFromDeviceMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  uint64_t offset = 0;
  Bytes bytes;
  VerbsDeviceMemory* memory = takeCopy(arguments, &offset, &bytes);
  if (memory == nullptr) return nullptr;
  if (!isWithin(memory, offset, bytes.length)) return makeNumber(env, EFAULT);
  errno = 0;
  return makeNumber(env, errnoOf(ibv_memcpy_from_dm(bytes.data, memory->dm, offset, bytes.length)));
}

void registerVerbsDeviceMemory(napi_env env, napi_value exports) {
  define(env, exports, "allocateDeviceMemory", AllocateDeviceMemory);
  define(env, exports, "copyToDeviceMemory", CopyToDeviceMemory);
  define(env, exports, "copyFromDeviceMemory", CopyFromDeviceMemory);
}

}  // namespace aether
