// The kernels for any processor of this architecture, and the choice of the best table.
#include "arrays-kernels.h"
#include "arrays-keys.h"

#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <utility>

#define AETHER_INTRINSICS 0
// All types: the other sets leave integers of 8 and 16 bits to this one.
#define AETHER_NARROW 1

namespace aether {

namespace baseline {
namespace {
#include "arrays-math.h"
#include "arrays-elementwise.h"
#include "arrays-reducing.h"
#include "arrays-butterflies.h"
#include "arrays-radix-sort.h"

constexpr size_t kTileBytes = 16, kTileRows = 4, kTileVectors = 2;
#include "arrays-multiplying.h"

// Functions that are computed one by one.
#define AETHER_SINGLE(Name, function)                      \
  struct Name {                                            \
    static bool fits(double) { return false; }             \
    static double of(double x) { return x; }               \
    static double rest(double x) { return std::function(x); } \
  };
AETHER_SINGLE(Asin, asin)
AETHER_SINGLE(Acos, acos)
AETHER_SINGLE(Asinh, asinh)
AETHER_SINGLE(Acosh, acosh)
AETHER_SINGLE(Atanh, atanh)
#undef AETHER_SINGLE

void fillSingleMath(Kernel (&table)[kOperations][kDTypes]) {
  setMath<Asin>(table[op_asin]);
  setMath<Acos>(table[op_acos]);
  setMath<Asinh>(table[op_asinh]);
  setMath<Acosh>(table[op_acosh]);
  setMath<Atanh>(table[op_atanh]);
}

template <class Key>
void sortKeys(Key* keys, Key* scratch, size_t count) {
  radixSort(keys, scratch, keys, count);
}

template <class F>
void fillExtreme(Reducer (&row)[kDTypes]) {
  row[kBool] = row[kUint8] = integerReducerOf<F, uint8_t>();
  row[kInt8] = integerReducerOf<F, int8_t>();
  row[kInt16] = integerReducerOf<F, int16_t>();
  row[kInt32] = integerReducerOf<F, int32_t>();
  row[kInt64] = integerReducerOf<F, int64_t>();
  row[kUint16] = integerReducerOf<F, uint16_t>();
  row[kUint32] = integerReducerOf<F, uint32_t>();
  row[kUint64] = integerReducerOf<F, uint64_t>();
}

// All that need no wide vectors are here alone.
void fillOtherReducers(Kernels* table) {
  table->reducers[kSum][kComplex64] = complexReducerOf<ComplexSum, float>();
  table->reducers[kSum][kComplex128] = complexReducerOf<ComplexSum, double>();
  Reducer(&product)[kDTypes] = table->reducers[kProduct];
  product[kInt64] = product[kUint64] = reducerOf<ReduceProduct, uint64_t>();
  product[kFloat32] = reducerOf<ReduceProduct, float>();
  product[kFloat64] = reducerOf<ReduceProduct, double>();
  fillExtreme<ReduceMinimum>(table->reducers[kMinimum]);
  fillExtreme<ReduceMaximum>(table->reducers[kMaximum]);
}
}  // namespace
}  // namespace baseline

void fillBaseline(Kernels* table) {
  baseline::fillElementwise(table);
  baseline::fillMath(table->elementwise);
  baseline::fillSingleMath(table->elementwise);
  baseline::fillWideReducers(table);
  baseline::fillOtherReducers(table);
  baseline::fillMultipliers(table);
  baseline::fillButterflies(table);
  baseline::fillKeys(table);
  table->sort64.sort = baseline::sortKeys<uint64_t>;
  table->sort32.sort = baseline::sortKeys<uint32_t>;
}

static Kernels best() {
  Kernels table;
  fillBaseline(&table);
#if defined(__x86_64__)
  // The least that may be used, for comparing the sets: their results are the same.
  const char* const set = getenv("AETHER_NATIVE_ARRAYS");
  const std::string most = set != nullptr ? set : "";
  if (most == "baseline") return table;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return table;
  fillAvx2(&table);
  if (most == "avx2") return table;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    fillAvx512(&table);
#endif
  return table;
}

const Kernels& kernels() {
  static const Kernels table = best();
  return table;
}

DType resultOf(Operation operation, DType type) {
  switch (operation) {
    case op_equal:
    case op_not_equal:
    case op_less:
    case op_less_equal:
    case op_greater:
    case op_greater_equal:
    case op_logical_and:
    case op_logical_or:
    case op_logical_xor:
    case op_logical_not:
    case op_signbit:
    case op_isfinite:
    case op_isinf:
    case op_isnan:
      return kBool;
    case op_abs:
    case op_real:
    case op_imag:
      return realOf(type);
    default:
      return type;
  }
}

}  // namespace aether
