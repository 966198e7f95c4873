// What mlx5-verbs.cc offers to the files that make queue pairs and post. It is there only where <infiniband/mlx5dv.h>
// was.
#pragma once
#include <cstring>

#include "verbs-objects.h"

namespace aether {

// Operands of atomics are 64-bit integers in their slots.
inline uint64_t bitsOf(const double* request, size_t slot) {
  uint64_t bits = 0;
  memcpy(&bits, request + slot, sizeof bits);
  return bits;
}

#ifdef AETHER_MLX5
// mlx5-verbs.cc. Whether a request must be posted by mlx5's own verbs, and posting a whole batch by them: 0 or an
// errno, and then none was taken.
bool needsMlx5(const VerbsQueuePair* pair, double opcode);
int postByMlx5(napi_env env, VerbsQueuePair* pair, const double* slots, size_t count, size_t stride);
struct ibv_qp* createByMlx5(VerbsQueuePair* made, VerbsDomain* domain, const struct ibv_qp_init_attr& a, double type,
                            uint64_t accessKey);
void registerMlx5(napi_env env, napi_value exports);
#endif

// Types that `enum ibv_qp_type` has one number for; src/providers/queue-pair-state.ts.
constexpr double kTypeDci = 0xff, kTypeDct = 0x1ff;

}  // namespace aether
