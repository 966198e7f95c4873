// How requests are encoded (src/providers/encoded-request.ts), for the files that post them.
#pragma once
#include "verbs-mlx5.h"

namespace aether {

enum RequestSlot : size_t {
  kId,
  kOpcode,
  kFlags,
  kRemoteAddress,
  kRemoteKey,
  kImmediate,
  kCompareAdd,
  kSwap,
  kSegmentCount,
  kAddressHandle,
  kRemoteQueuePair,
  kRequestQueueKey,
  kWindow,
  kMemory,
  kLength,
  kRequestAccess,
  kSegments,
};
constexpr size_t kSegmentSlots = 3;
// Of masked atomics: two words, in the place of a bind's window and memory.
constexpr size_t kMasks = kWindow;
// Opcodes that `enum ibv_wr_opcode` does not have.
constexpr double kConfigureIndirectKey = 11, kMaskedCompareSwap = 20, kMaskedFetchAdd = 21;

// The object that a slot names, or null: a request may outlive what it names.
template <class T>
T* liveOf(napi_env env, double token) {
  VerbsObject* object = VerbsTable::of(env)->find(token);
  return object != nullptr && object->is(T::kKind) ? static_cast<T*>(object) : nullptr;
}

}  // namespace aether
