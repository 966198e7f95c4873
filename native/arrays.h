// What the files of the arrays room share: data types, the numbers of a call, and memory that a call may touch.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.h"
#include "support.h"

namespace aether {

// The order of DTYPES in src/arrays/types/dtype.ts.
enum DType : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kDTypes,
};

constexpr size_t kWidths[kDTypes] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
constexpr size_t kAxesMax = 32;

// An element of 16 bytes, to be moved.
struct Sixteen {
  uint64_t halves[2];
};

constexpr bool isComplex(DType type) { return type >= kComplex64; }
constexpr DType realOf(DType type) {
  return type == kComplex64 ? kFloat32 : type == kComplex128 ? kFloat64 : type;
}
// What an element must be aligned to.
constexpr size_t alignmentOf(DType type) { return isComplex(type) ? kWidths[type] / 2 : kWidths[type]; }

// The numbers that describe a call, read one after another. A number that is not what it must be ends the reading: `ok`
// is false from then on, and zeros follow. The numbers are copied first, since another thread may share their memory.
class Numbers {
 public:
  Numbers(Arguments* arguments, size_t index);

  int64_t integer(int64_t least, int64_t most) {
    const double value = next_ < count_ ? first_[next_++] : NAN;
    // Written so that NaN is refused.
    if (ok_ && value >= static_cast<double>(least) && value <= static_cast<double>(most)) {
      const auto whole = static_cast<int64_t>(value);
      if (static_cast<double>(whole) == value) return whole;
    }
    ok_ = false;
    return 0;
  }
  DType dtype() { return static_cast<DType>(integer(0, kDTypes - 1)); }
  // Eight bytes as they lie there.
  uint64_t raw();
  bool ok() const { return ok_; }
  void fail() { ok_ = false; }

 private:
  static constexpr size_t kFew = 128;

  double few_[kFew];
  std::vector<double> many_;
  const double* first_ = few_;
  size_t count_ = 0;
  size_t next_ = 0;
  bool ok_ = true;
};

constexpr int64_t kCountMax = int64_t{1} << 53;

struct Shape {
  size_t rank = 0;
  int64_t extents[kAxesMax];  // as many as there are axes
  int64_t size = 1;

  // Reads the rank and the extents.
  void read(Numbers* numbers);
};

// Elements in memory and how to walk them. Strides count bytes.
struct Span {
  uint8_t* first = nullptr;
  DType dtype = kBool;
  int64_t strides[kAxesMax];  // as many as there are axes

  // Do the elements lie in row-major order without gaps?
  bool isWhole(const Shape& shape) const;
};

// The typed arrays of a call: its last arguments, or if there are more than a call can have, one array of them.
class Memories {
 public:
  Memories(Arguments* arguments, size_t index);

  // Reads number of the memory, data type, offset and one stride for each axis. Fails `numbers` if an element would lie
  // outside of the memory.
  void read(Numbers* numbers, const Shape& shape, Span* span);
  Span span(Numbers* numbers, const Shape& shape) {
    Span span;
    read(numbers, shape, &span);
    return span;
  }

 private:
  void readList(Arguments* arguments, napi_value list);

  static constexpr size_t kFew = 7;

  Bytes few_[kFew];
  std::vector<Bytes> many_;
  const Bytes* first_ = few_;
  size_t count_ = 0;
};

// Throws what a call with wrong numbers throws.
napi_value throwNumbers(napi_env env);

// Memory that a call needs for itself, which is kept for the next ones where it is large (arrays-memory.cc).
class Scratch {
 public:
  Scratch(napi_env env, size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return first_; }

 private:
  napi_env env_;
  void* first_ = nullptr;
  size_t length_ = 0;  // 0 if it is of malloc
};

void registerArrayPrograms(napi_env env, napi_value exports);
void registerArrayReductions(napi_env env, napi_value exports);
void registerArrayRandom(napi_env env, napi_value exports);
void registerArraySorting(napi_env env, napi_value exports);
void registerArraySelecting(napi_env env, napi_value exports);
void registerArrayProducts(napi_env env, napi_value exports);
void registerArrayTransforms(napi_env env, napi_value exports);
void registerArrayMemory(napi_env env, napi_value exports);
void endArrayMemory(napi_env env, Environment* environment);

}  // namespace aether
