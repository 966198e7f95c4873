// Matrix products: operands are packed into panels that stay in the caches, and tiles of the result are summed in
// registers (K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008). The order of sums
// depends on the matrices' shapes only. Complex matrices are two real ones.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "arrays-kernels.h"

namespace aether {

namespace {

// A strip of the inner axis at most, and a block of rows: 384 KiB of packed float64 for the second cache.
constexpr int64_t kStrip = 384;
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 4096;
// Products that one thread makes at least.
constexpr int64_t kThreadProducts = 1 << 18;
// Of so many rows the first cache holds a line each.
constexpr int64_t kFewRows = 8;
constexpr size_t kTileBytesMax = 8 * 48 * 8;

// One matrix of numbers in memory, its strides in bytes.
struct Plane {
  uint8_t* first = nullptr;
  int64_t down = 0, along = 0;
  DType type = kFloat64;

  Plane transposed() const { return {first, along, down, type}; }
  // The real or the imaginary part of complex numbers.
  Plane part(size_t number, size_t width) const { return {first + number * width, down, along, realOf(type)}; }
};

struct Extents {
  int64_t rows, inner, columns;
};

// Panels of `width` rows of `from`, element by element of the inner axis. What is missing is 0.
template <class T, class Source>
void packAs(T* to, const Plane& from, int64_t first, int64_t count, int64_t start, int64_t depth, size_t width) {
  for (int64_t panel = 0; panel < count; panel += static_cast<int64_t>(width)) {
    const auto height = std::min(static_cast<int64_t>(width), count - panel);
    if (height < static_cast<int64_t>(width)) memset(to, 0, static_cast<size_t>(depth) * width * sizeof(T));
    const uint8_t* const corner = from.first + (first + panel) * from.down + start * from.along;
    const auto copy = [&](T* place, const uint8_t* source) {
      Source value;
      memcpy(&value, source, sizeof value);
      *place = static_cast<T>(value);
    };
    if (std::is_same_v<T, Source> && from.down == static_cast<int64_t>(sizeof(T))) {
      for (int64_t k = 0; k < depth; k++)
        memcpy(to + static_cast<size_t>(k) * width, corner + k * from.along, static_cast<size_t>(height) * sizeof(T));
    } else if (height <= kFewRows || std::abs(from.down) < std::abs(from.along)) {
      for (int64_t k = 0; k < depth; k++) {
        const uint8_t* source = corner + k * from.along;
        T* const place = to + static_cast<size_t>(k) * width;
        for (int64_t row = 0; row < height; row++, source += from.down) copy(place + row, source);
      }
    } else {
      for (int64_t row = 0; row < height; row++)
        for (int64_t k = 0; k < depth; k++)
          copy(to + static_cast<size_t>(k) * width + row, corner + row * from.down + k * from.along);
    }
    to += static_cast<size_t>(depth) * width;
  }
}

template <class T>
void pack(T* to, const Plane& from, int64_t first, int64_t count, int64_t start, int64_t depth, size_t width) {
  const auto as = [&](auto sample) { packAs<T, decltype(sample)>(to, from, first, count, start, depth, width); };
  if constexpr (std::is_floating_point_v<T>) return as(T{});
  else if constexpr (sizeof(T) == 8) return as(uint64_t{});
  else {
    switch (from.type) {
      case kBool:
      case kUint8: return as(uint8_t{});
      case kInt8: return as(int8_t{});
      case kUint16: return as(uint16_t{});
      case kInt16: return as(int16_t{});
      default: return as(uint32_t{});
    }
  }
}

constexpr size_t kLine = 64;
// From the start of a line of the cache on: loads of vectors would cross lines otherwise.
void* aligned(void* memory) {
  return static_cast<uint8_t*>(memory) + (kLine - reinterpret_cast<uintptr_t>(memory) % kLine) % kLine;
}

// Memory for packed panels.
class Panels {
 public:
  void* of(size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset(new uint8_t[bytes + kLine]);
      bytes_ = bytes;
    }
    return aligned(memory_.get());
  }

 private:
  std::unique_ptr<uint8_t[]> memory_;
  size_t bytes_ = 0;
};

// Those of a block of rows: each thread keeps 400 KiB at most, since new memory would cost a tenth of the time.
__attribute__((noinline)) Panels& ownPanels() {
  static thread_local Panels panels;
  return panels;
}

template <class T>
class Multiplying {
 public:
  // `memory` is for the panels of a strip; null if they are few.
  Multiplying(const Multiplier& multiplier, size_t threads, void* memory)
      : multiplier_(multiplier), threads_(threads), memory_(memory) {}

  // to = first * second, or where it adds to += …, or to -= …
  void run(T* to, int64_t down, int64_t along, Plane first, Plane second, Extents extents, bool adds, bool isNegative) {
    // A matrix of few columns is multiplied as one of few rows.
    if (extents.columns < static_cast<int64_t>(multiplier_.columns) && extents.columns < extents.rows) {
      std::swap(first, second);
      first = first.transposed();
      second = second.transposed();
      std::swap(down, along);
      std::swap(extents.rows, extents.columns);
    }
    const int64_t strips = (extents.inner + kStrip - 1) / kStrip;
    for (int64_t column = 0; column < extents.columns; column += kBlockColumns)
      for (int64_t strip = 0; strip < strips; strip++) {
        const int64_t start = extents.inner * strip / strips, end = extents.inner * (strip + 1) / strips;
        runStrip(to, down, along, first, second.transposed(), extents, column, start, end - start, adds || strip > 0,
                 isNegative);
      }
  }

 private:
  // `second` is transposed: its rows are columns of the product.
  void runStrip(T* to, int64_t down, int64_t along, const Plane& first, const Plane& second, const Extents& extents,
                int64_t column, int64_t start, int64_t depth, bool adds, bool isNegative) {
    const int64_t columns = std::min(kBlockColumns, extents.columns - column);
    const auto tileColumns = static_cast<int64_t>(multiplier_.columns), tileRows = static_cast<int64_t>(multiplier_.rows);
    const int64_t panels = (columns + tileColumns - 1) / tileColumns;
    const int64_t work = extents.rows * columns * depth / kThreadProducts;
    const size_t threads = work < 2 ? 1 : std::min(threads_, static_cast<size_t>(work));
    const auto size = static_cast<size_t>(panels * tileColumns * depth);
    T* const right = static_cast<T*>(memory_ != nullptr ? memory_ : right_.of(size * sizeof(T)));
    auto packRight = [&](size_t piece) {
      const int64_t pieces = std::min<int64_t>(panels, static_cast<int64_t>(threads) * 4);
      const int64_t from = panels * static_cast<int64_t>(piece) / pieces * tileColumns;
      const int64_t end = std::min(columns, panels * (static_cast<int64_t>(piece) + 1) / pieces * tileColumns);
      pack(right + from * depth, second, column + from, end - from, start, depth, multiplier_.columns);
    };
    inParallel(std::min(static_cast<size_t>(panels), threads * 4), threads, packRight);
    const int64_t blocks = (extents.rows + kBlockRows - 1) / kBlockRows;
    // Columns are shared out where there are too few blocks of rows.
    const int64_t wanted = threads == 1 ? 1 : static_cast<int64_t>(threads) * 2;
    const int64_t groups = std::min(panels, (wanted + blocks - 1) / blocks);
    auto body = [&](size_t piece) {
      const int64_t row = static_cast<int64_t>(piece) / groups * kBlockRows;
      const int64_t group = static_cast<int64_t>(piece) % groups;
      const int64_t rows = std::min(kBlockRows, extents.rows - row);
      const int64_t rowPanels = (rows + tileRows - 1) / tileRows;
      T* const left = static_cast<T*>(ownPanels().of(static_cast<size_t>(rowPanels * tileRows * depth) * sizeof(T)));
      pack(left, first, row, rows, start, depth, multiplier_.rows);
      if (isNegative)
        for (int64_t at = 0; at < rowPanels * tileRows * depth; at++) left[at] = 0 - left[at];
      for (int64_t panel = panels * group / groups; panel < panels * (group + 1) / groups; panel++)
        for (int64_t rowPanel = 0; rowPanel < rowPanels; rowPanel++) {
          const int64_t firstRow = row + rowPanel * tileRows, firstColumn = column + panel * tileColumns;
          const int64_t height = std::min(tileRows, row + rows - firstRow);
          const int64_t width = std::min(tileColumns, column + columns - firstColumn);
          T* const corner = to + firstRow * down + firstColumn * along;
          const bool isDirect = along == 1 && height == tileRows && width == tileColumns;
          alignas(64) T tile[kTileBytesMax / sizeof(T)];
          multiplier_.panel(isDirect ? corner : tile, isDirect ? static_cast<size_t>(down) : multiplier_.columns,
                            isDirect && adds, left + rowPanel * tileRows * depth,
                            right + panel * tileColumns * depth, static_cast<size_t>(depth));
          if (!isDirect) storeTile(corner, down, along, tile, height, width, adds);
        }
    };
    inParallel(static_cast<size_t>(blocks * groups), threads, body);
  }

  void storeTile(T* to, int64_t down, int64_t along, const T* tile, int64_t rows, int64_t columns, bool adds) const {
    for (int64_t row = 0; row < rows; row++, tile += multiplier_.columns) {
      T* place = to + row * down;
      for (int64_t column = 0; column < columns; column++, place += along)
        *place = adds ? *place + tile[column] : tile[column];
    }
  }

  const Multiplier& multiplier_;
  size_t threads_;
  void* memory_;
  Panels right_;
};

// Stores sums as the type of the result, row by row.
template <class T>
void store(const T* sums, const Plane& to, const Extents& extents) {
  const T* from = sums;
  const size_t width = std::min(sizeof(T), kWidths[to.type]);
  for (int64_t row = 0; row < extents.rows; row++)
    for (int64_t column = 0; column < extents.columns; column++, from++) {
      uint8_t* const place = to.first + row * to.down + column * to.along;
      // The low bytes come first.
      if (to.type == kBool) *place = *from != 0;
      else memcpy(place, from, width);
    }
}

template <class T>
void multiply(const Plane& first, const Plane& second, const Plane& to, const Extents& extents, size_t threads,
              DType computed, void* memory) {
  Multiplying<T> multiplying(kernels().multipliers[computed], threads, memory);
  const auto size = static_cast<size_t>(extents.rows * extents.columns);
  const auto columns = extents.columns;
  if (isComplex(to.type)) {
    constexpr size_t width = sizeof(T);
    for (size_t part = 0; part < 2; part++) {
      std::vector<T> sums(size);
      multiplying.run(sums.data(), columns, 1, first.part(0, width), second.part(part, width), extents, false, false);
      multiplying.run(sums.data(), columns, 1, first.part(1, width), second.part(1 - part, width), extents, true, part == 0);
      store(sums.data(), to.part(part, width), extents);
    }
    return;
  }
  const bool isWhole = to.along == static_cast<int64_t>(sizeof(T)) && kWidths[to.type] == sizeof(T);
  if (isWhole) {
    multiplying.run(reinterpret_cast<T*>(to.first), to.down / to.along, 1, first, second, extents, false, false);
    return;
  }
  std::vector<T> sums(size);
  multiplying.run(sums.data(), columns, 1, first, second, extents, false, false);
  store(sums.data(), to, extents);
}

}  // namespace

// multiplyMatrices(numbers, memories): stacks of matrices, whose last two axes are rows and columns.
static napi_value MultiplyMatrices(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Numbers numbers(&arguments, 0);
  Memories memories(&arguments, 1);
  if (!arguments.ok()) return nullptr;
  const auto threads = static_cast<size_t>(numbers.integer(1, kThreadsMax));
  Shape shapes[3];
  Span spans[3];
  for (size_t each = 0; each < 3; each++) {
    shapes[each].read(&numbers);
    spans[each] = memories.span(&numbers, shapes[each]);
  }
  const size_t rank = shapes[2].rank;
  bool fits = numbers.ok() && rank >= 2;
  for (size_t each = 0; fits && each < 2; each++) {
    fits = shapes[each].rank == rank && spans[each].dtype == spans[2].dtype;
    for (size_t axis = 0; fits && axis + 2 < rank; axis++) fits = shapes[each].extents[axis] == shapes[2].extents[axis];
  }
  if (!fits) return throwNumbers(env);
  const Extents extents{shapes[2].extents[rank - 2], shapes[0].extents[rank - 1], shapes[2].extents[rank - 1]};
  if (shapes[0].extents[rank - 2] != extents.rows || shapes[1].extents[rank - 2] != extents.inner ||
      shapes[1].extents[rank - 1] != extents.columns || !spans[2].isWhole(shapes[2]))
    return throwNumbers(env);
  // Without an inner axis the product is 0, and the operands have no elements to point to.
  if (shapes[2].size == 0) return nullptr;
  const int64_t matrix = extents.rows * extents.columns, count = shapes[2].size / matrix;
  if (extents.inner == 0) {
    memset(spans[2].first, 0, static_cast<size_t>(shapes[2].size) * kWidths[spans[2].dtype]);
    return nullptr;
  }
  const DType type = spans[2].dtype;
  // Few large products share the threads; of many small ones each thread takes some.
  const bool isMany = count > 1 && matrix * extents.inner < 4 * kThreadProducts;
  const int64_t most = std::min(kBlockColumns, std::max(extents.rows, extents.columns)) + static_cast<int64_t>(kLine);
  const Scratch scratch(env, isMany ? 0 : static_cast<size_t>(most * std::min(kStrip, extents.inner)) * 8 + kLine);
  void* const memory = isMany ? nullptr : aligned(scratch.data());
  auto body = [&](size_t piece) {
    Plane planes[3];
    auto index = static_cast<int64_t>(piece);
    for (size_t each = 0; each < 3; each++)
      planes[each] = {spans[each].first, spans[each].strides[rank - 2], spans[each].strides[rank - 1], type};
    for (size_t axis = rank - 2; axis-- > 0;) {
      for (size_t each = 0; each < 3; each++)
        planes[each].first += index % shapes[2].extents[axis] * spans[each].strides[axis];
      index /= shapes[2].extents[axis];
    }
    // An axis of one element has no stride, but rows of the result are written as a whole.
    planes[2].along = static_cast<int64_t>(kWidths[type]);
    planes[2].down = extents.columns * planes[2].along;
    const size_t own = isMany ? 1 : threads;
    switch (realOf(type)) {
      case kFloat32: return multiply<float>(planes[0], planes[1], planes[2], extents, own, kFloat32, memory);
      case kFloat64: return multiply<double>(planes[0], planes[1], planes[2], extents, own, kFloat64, memory);
      case kInt64:
      case kUint64: return multiply<uint64_t>(planes[0], planes[1], planes[2], extents, own, kUint64, memory);
      default: return multiply<uint32_t>(planes[0], planes[1], planes[2], extents, own, kUint32, memory);
    }
  };
  if (isMany) inParallel(static_cast<size_t>(count), threads, body);
  else
    for (size_t piece = 0; piece < static_cast<size_t>(count); piece++) body(piece);
  return nullptr;
}

void registerArrayProducts(napi_env env, napi_value exports) {
  define(env, exports, "multiplyMatrices", MultiplyMatrices);
}

}  // namespace aether
