// The kernels for x64 with AVX-512 where its wider vectors count: mathematical functions and reductions.
#include "arrays-kernels.h"
#include "arrays-keys.h"

#if defined(__x86_64__)
// GCC 12 warns of what its own header leaves open on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include <cmath>
#include <type_traits>
#include <utility>

// Clang does not set a target for a part of a file: it makes what needs none of these instructions.
#if defined(__clang__)
#define AETHER_INTRINSICS 0
#else
#define AETHER_INTRINSICS 512
#endif

// Without fma: the compiler would make one of a product and a sum where both are of a complex product.
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")

namespace aether {

namespace avx512 {
namespace {
// The others are those of AVX2: each takes 1 to 2 KB of the package.
#define AETHER_COMMON_MATH_ONLY
#include "arrays-math.h"
#include "arrays-reducing.h"
#include "arrays-radix-sort.h"
#if AETHER_INTRINSICS != 0
#include "arrays-quicksort.h"
#endif

constexpr size_t kTileBytes = 64, kTileRows = 8, kTileVectors = 3;
#include "arrays-multiplying.h"
}  // namespace
}  // namespace avx512

void fillAvx512(Kernels* table) {
  avx512::fillCommonMath(table->elementwise);
  avx512::fillWideReducers(table);
  avx512::fillMultipliers(table);
  avx512::fillKeys(table);
#if AETHER_INTRINSICS != 0
  table->sort64 = {avx512::sortKeys<uint64_t>, avx512::splitKeys<uint64_t>};
  table->sort32 = {avx512::sortKeys<uint32_t>, avx512::splitKeys<uint32_t>};
#endif
}

}  // namespace aether
#pragma GCC pop_options
#endif
