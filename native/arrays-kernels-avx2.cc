// The kernels for x64 with AVX2. The target is set here and not for the whole file, so that functions of the C++
// library that are compiled with it are not taken for those of other files.
#include "arrays-kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

// Clang does not set a target for a part of a file: it makes what needs none of these instructions.
#if defined(__clang__)
#define AETHER_INTRINSICS 0
#else
#define AETHER_INTRINSICS 256
#endif
#define AETHER_NARROW 0

// Without fma: the compiler would make one of a product and a sum where both are of a complex product.
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")

namespace aether {

namespace avx2 {
namespace {
#include "arrays-math.h"
#include "arrays-elementwise.h"
#include "arrays-reducing.h"
#include "arrays-butterflies.h"
#if AETHER_INTRINSICS != 0
#include "arrays-streaming.h"
#endif
#pragma GCC push_options
#pragma GCC target("fma")
constexpr size_t kTileBytes = 32, kTileRows = 4, kTileVectors = 3;
#include "arrays-multiplying.h"
#pragma GCC pop_options
}  // namespace
}  // namespace avx2

void fillAvx2(Kernels* table) {
  avx2::fillElementwise(table);
  avx2::fillMath(table->elementwise);
  avx2::fillWideReducers(table);
  avx2::fillMultipliers(table);
  avx2::fillButterflies(table);
#if AETHER_INTRINSICS != 0
  avx2::fillStreaming(table);
#endif
}

}  // namespace aether
#pragma GCC pop_options
#endif
