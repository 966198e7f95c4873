// Sums, products, least and greatest elements along axes, in blocks whose results are joined by a tree over the numbers
// of the blocks: the bits do not depend on threads, nor on what else is computed.
#include <algorithm>
#include <cstring>

#include "arrays-kernels.h"

namespace aether {

namespace {

constexpr int64_t kThreadReduced = 1 << 18;
constexpr size_t kElementBytesMax = 16;

// Some axes of a block, joined where they can be.
struct Axes {
  size_t rank = 0;
  int64_t extents[kAxesMax] = {};
  int64_t strides[kAxesMax] = {};
  int64_t size = 1;

  int64_t place(int64_t index) const {
    int64_t at = 0;
    for (size_t axis = rank; axis > 1; index /= extents[axis]) {
      axis--;
      at += index % extents[axis] * strides[axis];
    }
    return rank == 0 ? 0 : at + index * strides[0];
  }
  // How far apart neighbours lie: of the last axis.
  int64_t step() const { return rank == 0 ? 0 : strides[rank - 1]; }
  int64_t run() const { return rank == 0 ? 1 : extents[rank - 1]; }
};

Axes axesOf(const Shape& shape, const int64_t* strides, size_t first, size_t last) {
  Axes axes;
  for (size_t axis = first; axis < last; axis++) {
    axes.size *= shape.extents[axis];
    if (shape.extents[axis] == 1) continue;
    const bool joins = axes.rank > 0 && axes.strides[axes.rank - 1] == strides[axis] * shape.extents[axis];
    if (!joins) axes.extents[axes.rank++] = shape.extents[axis];
    else axes.extents[axes.rank - 1] *= shape.extents[axis];
    axes.strides[axes.rank - 1] = strides[axis];
  }
  return axes;
}

class Reducing {
 public:
  bool read(Numbers* numbers, Memories* memories);
  void run();

 private:
  void runRows(size_t piece);
  void runColumns(size_t piece);
  // The elements from `start` on of one reduced run, as the type of the result.
  const uint8_t* gathered(const uint8_t* first, int64_t start, int64_t count, uint8_t* memory, uint8_t* cast) const;
  void joinBlocks(int64_t row);
  void columnBlock(int64_t row, int64_t column, int64_t columns, int64_t block, uint8_t* out, uint8_t* memory) const;

  size_t threads_ = 1;
  Reducer reducer_;
  Kernel cast_ = nullptr;
  DType type_ = kBool;  // of the result
  Span input_, output_;
  Shape keptShape_;
  Axes kept_, reduced_;
  int64_t blocks_ = 1;  // of a reduced run
  size_t width_ = 1;
  size_t pieces_ = 1;
  // Column by column: neighbouring kept elements at once, in tiles.
  int64_t tiles_ = 1;
  std::vector<uint8_t> partial_;  // blocks_ results for each kept element, one after another
};

bool Reducing::read(Numbers* numbers, Memories* memories) {
  threads_ = static_cast<size_t>(numbers->integer(1, kThreadsMax));
  const auto reduction = static_cast<Reduction>(numbers->integer(0, kReductions - 1));
  const auto keptAxes = static_cast<size_t>(numbers->integer(0, kAxesMax));
  Shape shape;
  shape.read(numbers);
  if (!numbers->ok() || keptAxes > shape.rank) return false;
  input_ = memories->span(numbers, shape);
  keptShape_.rank = keptAxes;
  std::copy(shape.extents, shape.extents + keptAxes, keptShape_.extents);
  for (size_t axis = 0; axis < keptAxes; axis++) keptShape_.size *= shape.extents[axis];
  if (shape.size == 0) return false;
  output_ = memories->span(numbers, keptShape_);
  if (!numbers->ok()) return false;
  type_ = output_.dtype;
  width_ = kWidths[type_];
  reducer_ = kernels().reducers[reduction][type_];
  if (input_.dtype != type_) cast_ = kernels().casts[input_.dtype][type_];
  kept_ = axesOf(shape, input_.strides, 0, keptAxes);
  reduced_ = axesOf(shape, input_.strides, keptAxes, shape.rank);
  return reducer_.block != nullptr && (input_.dtype == type_ || cast_ != nullptr);
}

void Reducing::run() {
  constexpr auto block = static_cast<int64_t>(kReducedBlock);
  blocks_ = (reduced_.size + block - 1) / block;
  partial_.resize(static_cast<size_t>(kept_.size * blocks_) * width_);
  const auto width = static_cast<int64_t>(kWidths[input_.dtype]);
  const bool isByColumn = kept_.run() >= 8 && kept_.step() == width && reduced_.step() != width && reduced_.size > 1;
  const int64_t work = kept_.size * reduced_.size / kThreadReduced;
  const size_t threads = work < 2 ? 1 : std::min(threads_, static_cast<size_t>(work));
  constexpr auto tile = static_cast<int64_t>(kReducedColumns);
  tiles_ = (kept_.run() + tile - 1) / tile;
  const int64_t units = isByColumn ? kept_.size / kept_.run() * tiles_ * blocks_ : kept_.size * ((blocks_ + 3) / 4);
  pieces_ = threads == 1 ? 1 : std::min(static_cast<size_t>(units), threads * 8);
  auto body = [&](size_t piece) { isByColumn ? runColumns(piece) : runRows(piece); };
  inParallel(pieces_, threads, body);
  const Axes out = axesOf(keptShape_, output_.strides, 0, keptShape_.rank);
  for (int64_t row = 0; row < kept_.size; row++) {
    joinBlocks(row);
    memcpy(output_.first + out.place(row), &partial_[static_cast<size_t>(row * blocks_) * width_], width_);
  }
}

// Neighbouring blocks two by two, until one is left. One that has no neighbour stays as it is.
void Reducing::joinBlocks(int64_t row) {
  uint8_t* const first = &partial_[static_cast<size_t>(row * blocks_) * width_];
  for (auto count = static_cast<size_t>(blocks_); count > 1; count = (count + 1) / 2) {
    for (size_t pair = 0; pair < count / 2; pair++)
      reducer_.merge(first + pair * width_, first + 2 * pair * width_, first + (2 * pair + 1) * width_, nullptr, 1);
    if (count % 2 == 1) memmove(first + count / 2 * width_, first + (count - 1) * width_, width_);
  }
}

const uint8_t* Reducing::gathered(const uint8_t* first, int64_t start, int64_t count, uint8_t* memory,
                                  uint8_t* cast) const {
  const size_t width = kWidths[input_.dtype];
  const uint8_t* elements = memory;
  if (reduced_.rank == 1 && reduced_.strides[0] == static_cast<int64_t>(width)) {
    elements = first + start * static_cast<int64_t>(width);
  } else {
    const int64_t step = reduced_.step(), run = reduced_.run();
    uint8_t* to = memory;
    for (int64_t index = start, left = count; left > 0;) {
      const int64_t length = std::min(left, run - index % run);
      const uint8_t* from = first + reduced_.place(index);
      for (int64_t i = 0; i < length; i++, from += step, to += width) memcpy(to, from, width);
      index += length;
      left -= length;
    }
  }
  if (cast_ == nullptr) return elements;
  cast_(cast, elements, nullptr, nullptr, static_cast<size_t>(count));
  return cast;
}

void Reducing::runRows(size_t piece) {
  // Blocks are reduced by four.
  constexpr auto group = static_cast<int64_t>(4 * kReducedBlock);
  const int64_t groups = (blocks_ + 3) / 4;
  const int64_t all = kept_.size * groups;
  const auto number = static_cast<int64_t>(piece), pieces = static_cast<int64_t>(pieces_);
  const auto bytes = static_cast<size_t>(std::min(group, reduced_.size)) * kElementBytesMax;
  std::unique_ptr<uint8_t[]> memory(new uint8_t[bytes]), cast(cast_ != nullptr ? new uint8_t[bytes] : nullptr);
  for (int64_t unit = all * number / pieces; unit < all * (number + 1) / pieces; unit++) {
    const int64_t row = unit / groups, start = unit % groups * group;
    const int64_t count = std::min(group, reduced_.size - start);
    const uint8_t* const first = input_.first + kept_.place(row);
    const uint8_t* const elements = gathered(first, start, count, memory.get(), cast.get());
    uint8_t* const out = &partial_[static_cast<size_t>(row * blocks_ + unit % groups * 4) * width_];
    reducer_.block(out, elements, static_cast<size_t>(count));
  }
}

// One block of rows of some neighbouring columns.
void Reducing::columnBlock(int64_t row, int64_t column, int64_t columns, int64_t block, uint8_t* out,
                           uint8_t* memory) const {
  constexpr auto rowsMax = static_cast<int64_t>(kReducedBlock);
  constexpr int64_t together = 64;
  const auto width = static_cast<int64_t>(kWidths[input_.dtype]);
  const uint8_t* const first = input_.first + kept_.place(row * kept_.run()) + column * width;
  uint8_t* const cast = memory + 8 * kReducedColumns * kElementBytesMax;
  const int64_t start = block * rowsMax, end = std::min(reduced_.size, start + rowsMax);
  for (int64_t index = start; index < end; index += together) {
    const uint8_t* rows[together];
    const int64_t count = std::min(together, end - index);
    for (int64_t each = 0; each < count; each++) {
      rows[each] = first + reduced_.place(index + each);
      if (cast_ == nullptr) continue;
      uint8_t* const to = cast + static_cast<size_t>(each) * kReducedColumns * width_;
      cast_(to, rows[each], nullptr, nullptr, static_cast<size_t>(columns));
      rows[each] = to;
    }
    reducer_.columns(memory, rows, static_cast<size_t>(index - start), static_cast<size_t>(count),
                     static_cast<size_t>(columns));
  }
  const auto lane = [&](size_t number) { return memory + number * kReducedColumns * width_; };
  for (size_t apart = 1; apart < 8; apart *= 2)
    for (size_t number = 0; number < 8; number += 2 * apart)
      reducer_.merge(lane(number), lane(number), lane(number + apart), nullptr, static_cast<size_t>(columns));
  for (int64_t each = 0; each < columns; each++)
    memcpy(out + static_cast<size_t>(each * blocks_) * width_, memory + static_cast<size_t>(each) * width_, width_);
}

void Reducing::runColumns(size_t piece) {
  constexpr auto tile = static_cast<int64_t>(kReducedColumns);
  const int64_t all = kept_.size / kept_.run() * tiles_ * blocks_;
  const auto number = static_cast<int64_t>(piece), pieces = static_cast<int64_t>(pieces_);
  // From the first line of the cache on: a vector that lies in two takes twice as long.
  const size_t rows = cast_ == nullptr ? 8 : 8 + 64;
  std::unique_ptr<uint8_t[]> scratch(new uint8_t[rows * kReducedColumns * kElementBytesMax + 64]);
  uint8_t* const memory = scratch.get() + (64 - reinterpret_cast<uintptr_t>(scratch.get()) % 64) % 64;
  for (int64_t unit = all * number / pieces; unit < all * (number + 1) / pieces; unit++) {
    const int64_t block = unit % blocks_, column = unit / blocks_ % tiles_ * tile, row = unit / blocks_ / tiles_;
    const int64_t columns = std::min(tile, kept_.run() - column);
    uint8_t* const out = &partial_[static_cast<size_t>(((row * kept_.run() + column) * blocks_ + block)) * width_];
    columnBlock(row, column, columns, block, out, memory);
  }
}

}  // namespace

// reduceArray(numbers, memories)
static napi_value ReduceArray(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Numbers numbers(&arguments, 0);
  Memories memories(&arguments, 1);
  if (!arguments.ok()) return nullptr;
  Reducing reducing;
  if (!reducing.read(&numbers, &memories)) return throwNumbers(env);
  reducing.run();
  return nullptr;
}

void registerArrayReductions(napi_env env, napi_value exports) { define(env, exports, "reduceArray", ReduceArray); }

}  // namespace aether
