// The table of kernels: for each operation and data type a function over neighbouring elements. There is one table for
// each set of instructions, made from the same source, and the best that this processor has is chosen once.
#pragma once
#include <type_traits>

#include "arrays.h"

namespace aether {

// X(operation): names as the standard has them.
#define AETHER_ARRAY_OPERATIONS(X)                                                                                   \
  X(add) X(subtract) X(multiply) X(divide) X(floor_divide) X(remainder) X(pow) X(minimum) X(maximum) X(hypot)        \
  X(copysign) X(nextafter) X(atan2) X(logaddexp) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_left_shift)   \
  X(bitwise_right_shift) X(logical_and) X(logical_or) X(logical_xor) X(equal) X(not_equal) X(less) X(less_equal)     \
  X(greater) X(greater_equal) X(abs) X(negative) X(positive) X(sign) X(square) X(reciprocal) X(bitwise_invert)       \
  X(logical_not) X(signbit) X(isfinite) X(isinf) X(isnan) X(real) X(imag) X(conj) X(sqrt) X(ceil) X(floor) X(trunc)  \
  X(round) X(exp) X(expm1) X(log) X(log1p) X(log2) X(log10) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh)     \
  X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(where) X(cast)

enum Operation : uint8_t {
#define AETHER_OPERATION(name) op_##name,
  AETHER_ARRAY_OPERATIONS(AETHER_OPERATION)
#undef AETHER_OPERATION
      kOperations,
};

// Those that have kernels which write past the caches: the first ones, up to divide.
constexpr size_t kStreamedOperations = op_divide + 1;

// out[i] = operation(a[i], b[i], c[i]). `out` may be an operand of elements of the same width, and else overlaps none.
using Kernel = void (*)(void* out, const void* a, const void* b, const void* c, size_t count);

// The sums (or products, …) of blocks of kReducedBlock neighbouring elements each, the last of which may be shorter.
// `out` gets one for each block.
using BlockReduction = void (*)(void* out, const void* elements, size_t count);
// The same for `columns` neighbouring columns: adds rows `first` to `first + count` of a block to the eight lanes of
// each column, which are lanes[8][kReducedColumns]. With the rows from 0 on, at least eight are given unless there are
// fewer.
using ColumnReduction = void (*)(void* lanes, const uint8_t* const* rows, size_t first, size_t count, size_t columns);

constexpr size_t kReducedBlock = 4096;
constexpr size_t kReducedColumns = 128;

enum Reduction : uint8_t { kSum, kProduct, kMinimum, kMaximum, kReductions };

struct Reducer {
  BlockReduction block = nullptr;
  ColumnReduction columns = nullptr;
  Kernel merge = nullptr;
};

// The product of two packed panels: see arrays-products.cc.
struct Multiplier {
  size_t rows = 0;     // of a panel of the first operand
  size_t columns = 0;  // of a panel of the second
  // out[row * down + column] = sum over k of a[k][row] * b[k][column], or += where it adds.
  void (*panel)(void* out, size_t down, bool adds, const void* a, const void* b, size_t depth) = nullptr;
};

// Unsigned keys in ascending order. `scratch` has room for as many keys.
template <class Key>
struct KeySorting {
  // Sorts `keys` in place.
  void (*sort)(Key* keys, Key* scratch, size_t count) = nullptr;
  // Moves the keys to `to`, those that belong in front first, and returns how many these are: neither none nor all.
  // Returns 0 if all keys are equal. Null where `sort` would not be faster for parts.
  size_t (*split)(const Key* keys, Key* to, size_t count) = nullptr;
};

// Between floating-point numbers and their keys, each of which is `flip` with the key's bits turned over where it has a
// bit. The first returns how many numbers are -0.
template <class T>
struct FloatKeys {
  using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  size_t (*from)(const T* values, Key* keys, size_t count, Key flip) = nullptr;
  void (*to)(const Key* keys, T* values, size_t count, Key flip) = nullptr;
};

// Complex numbers, real and imaginary parts apart: those with which one position is transformed lie `step` apart.
struct Split {
  double* re = nullptr;
  double* im = nullptr;
  size_t step = 0;
};

// A pass of a Fourier transform over `count` neighbouring positions. Output j is multiplied by the roots of j - 1.
using Butterflies = void (*)(const Split& from, const Split& to, const Split& roots, size_t count);

struct Kernels {
  Kernel elementwise[kOperations][kDTypes] = {};
  Kernel casts[kDTypes][kDTypes] = {};
  Reducer reducers[kReductions][kDTypes] = {};
  Multiplier multipliers[kDTypes] = {};
  Butterflies butterflies[6] = {};  // by their radix
  KeySorting<uint64_t> sort64;
  KeySorting<uint32_t> sort32;
  FloatKeys<double> keys64;
  FloatKeys<float> keys32;
  // Copies neighbouring elements past the caches; null where the processor cannot.
  void (*stream)(uint8_t* out, const uint8_t* from, size_t bytes) = nullptr;
  // After all that is streamed, before other threads are told that they may read it.
  void (*endStream)() = nullptr;
  // Kernels of some operations that write past the caches. `out` is aligned to its elements.
  Kernel streamedFloats[kStreamedOperations] = {};
  Kernel streamedDoubles[kStreamedOperations] = {};

  Kernel streamed(Operation operation, DType type) const {
    if (operation >= kStreamedOperations) return nullptr;
    return type == kFloat64 ? streamedDoubles[operation] : type == kFloat32 ? streamedFloats[operation] : nullptr;
  }
};

// The data type of an operation's result on this type.
DType resultOf(Operation operation, DType type);

const Kernels& kernels();

void fillBaseline(Kernels* table);
#if defined(__x86_64__)
void fillAvx2(Kernels* table);
void fillAvx512(Kernels* table);
#endif

}  // namespace aether
