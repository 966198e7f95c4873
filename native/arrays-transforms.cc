// Fourier transforms of lengths without other primes than 2, 3 and 5: the passes of
// src/arrays/local/fft/mixed-radix.ts. A pass reads element (i, j, k) at i + stride * (j + radix * k) and writes it at
// i + stride * (k + groups * j). Where a line is longer than the caches, the passes are made in two sweeps over the
// memory instead of one each:
//
//   1. The first passes mix only positions that lie `rest` apart, of which there are `ways`. A tile has some
//      neighbouring positions, and all that are mixed with them.
//   2. Then each of the `ways` runs of `rest` elements is a transform of its own. Its element q belongs at
//      run + ways * q. Some runs are made together, so that whole lines of the cache are written.
//
// What is computed of which elements is the same, and so are the bits.
#include <algorithm>
#include <cstring>
#include <memory>

#include "arrays-kernels.h"

namespace aether {

namespace {

constexpr size_t kPassesMax = 64;
// Elements of a transform that is done in the caches.
constexpr size_t kWithinMax = 1 << 14;
constexpr size_t kRestMax = 1 << 14;
constexpr size_t kTile = 64;
// Runs that are written together.
constexpr size_t kRuns = 8;
// Passes of shorter strides are made on copies, in which positions of several groups are neighbours.
constexpr size_t kStrideMin = 16;
constexpr size_t kCopied = 64;
constexpr size_t kThreadElements = 1 << 16;

struct Pass {
  size_t radix = 0;
  size_t stride = 0;
  Split roots;
};

Split at(const Split& lanes, size_t place, size_t step) { return {lanes.re + place, lanes.im + place, step}; }

// A pass whose stride is too short for vectors.
void shortPass(const Pass& pass, size_t groups, const Split& from, const Split& to) {
  const size_t stride = pass.stride, radix = pass.radix, together = kCopied / stride;
  double copied[2][5 * kCopied], roots[2][4 * kCopied];
  for (size_t j = 0; j + 1 < radix; j++)
    for (size_t k = 0; k < together; k++)
      for (size_t i = 0; i < stride; i++) {
        roots[0][j * kCopied + k * stride + i] = pass.roots.re[j * stride + i];
        roots[1][j * kCopied + k * stride + i] = pass.roots.im[j * stride + i];
      }
  for (size_t first = 0; first < groups; first += together) {
    const size_t count = std::min(together, groups - first);
    const double* re = from.re + first * radix * stride;
    const double* im = from.im + first * radix * stride;
    for (size_t k = 0; k < count; k++)
      for (size_t j = 0; j < radix; j++)
        for (size_t i = 0; i < stride; i++) {
          copied[0][j * kCopied + k * stride + i] = *re++;
          copied[1][j * kCopied + k * stride + i] = *im++;
        }
    kernels().butterflies[radix]({copied[0], copied[1], kCopied}, at(to, first * stride, stride * groups),
                                 {roots[0], roots[1], kCopied}, count * stride);
  }
}

// Complex numbers in a block: those of a line, `step` complex numbers apart. Without `first` there are none.
struct Line {
  double* first = nullptr;
  size_t step = 1;
  size_t count = 0;
};

class Transforming {
 public:
  bool read(const Doubles& numbers, const Doubles& roots);
  // Lets it read a line, and write the result to another, instead of `data`.
  bool connect(const double* numbers, const Doubles& source, const Doubles& target);
  size_t length() const { return length_; }
  // The result is in `data`, unless there is a line for it; `work` has the same length.
  void run(const Split& data, const Split& work) const;

 private:
  void load(size_t start, size_t count, const Split& data, double* re, double* im) const;
  void store(size_t start, size_t apart, size_t count, const Split& from, const Split& data) const;
  bool within(size_t first, size_t length, const Split& data, const Split& work) const;
  void mixTile(size_t start, const Split& data, const Split& work, double* memory) const;
  void finishRuns(size_t first, const Split& data, const Split& work, double* memory) const;

  size_t threads_ = 1;
  size_t length_ = 1;
  Line source_, target_;
  double factor_ = 1;
  // A transform backward is one forward with real and imaginary parts exchanged.
  bool isBackward_ = false;
  Pass passes_[kPassesMax];
  size_t count_ = 0;
  // Of the first sweep.
  size_t mixing_ = 0;
  size_t ways_ = 1;
  size_t rest_ = 1;
};

constexpr size_t kHeader = 8;

size_t whole(double value, double least, double most) {
  return value >= least && value <= most ? static_cast<size_t>(value) : static_cast<size_t>(least);
}

// `numbers`: how many threads may work, then those of connect(), and the radix of each pass.
bool Transforming::read(const Doubles& numbers, const Doubles& roots) {
  if (numbers.length <= kHeader || numbers.length - kHeader > kPassesMax) return false;
  threads_ = whole(numbers.data[0], 1, kThreadsMax);
  count_ = numbers.length - kHeader;
  for (size_t pass = 0; pass < count_; pass++) {
    passes_[pass].radix = whole(numbers.data[kHeader + pass], 2, 5);
    length_ *= passes_[pass].radix;
    if (length_ > roots.length / 2) return false;
  }
  const Split all{roots.data, roots.data + length_, 0};
  size_t stride = length_, place = 0;
  for (size_t index = 0; index < count_; index++) {
    Pass& pass = passes_[index];
    pass.stride = stride /= pass.radix;
    pass.roots = at(all, place, stride);
    place += stride * (pass.radix - 1);
  }
  rest_ = length_;
  while (length_ > kWithinMax && rest_ > kRestMax) {
    ways_ *= passes_[mixing_].radix;
    rest_ /= passes_[mixing_++].radix;
  }
  return true;
}

// Of each line: its first number, how far apart numbers are, and of the source how many there are. Then what results
// are multiplied by, and whether it goes backward.
bool Transforming::connect(const double* numbers, const Doubles& source, const Doubles& target) {
  constexpr double most = 1e15;
  const auto lineIn = [](const Doubles& memory, double place, double step, size_t count) {
    const size_t first = whole(place, 0, most), apart = whole(step, 0, most), size = memory.length / 2;
    if (count == 0 || first >= size || (count > 1 && apart > (size - 1 - first) / (count - 1))) return Line();
    return Line{memory.data + 2 * first, apart, count};
  };
  source_ = lineIn(source, numbers[1], numbers[2], std::min(whole(numbers[3], 0, most), length_));
  target_ = lineIn(target, numbers[4], numbers[5], length_);
  factor_ = numbers[6];
  isBackward_ = numbers[7] != 0;
  return source_.first != nullptr && target_.first != nullptr;
}

// Elements from `start` on.
void Transforming::load(size_t start, size_t count, const Split& data, double* re, double* im) const {
  if (source_.first == nullptr) {
    memcpy(re, data.re + start, count * sizeof(double));
    memcpy(im, data.im + start, count * sizeof(double));
    return;
  }
  if (isBackward_) std::swap(re, im);
  const size_t there = source_.count <= start ? 0 : std::min(count, source_.count - start);
  const double* from = source_.first + 2 * source_.step * start;
  for (size_t i = 0; i < there; i++, from += 2 * source_.step) {
    re[i] = from[0];
    im[i] = from[1];
  }
  std::fill(re + there, re + count, 0.0);
  std::fill(im + there, im + count, 0.0);
}

// Writes elements `start`, `start` + `apart`, … of the result.
void Transforming::store(size_t start, size_t apart, size_t count, const Split& from, const Split& data) const {
  const double *re = from.re, *im = from.im;
  if (target_.first == nullptr && apart == 1) {
    memcpy(data.re + start, re, count * sizeof(double));
    memcpy(data.im + start, im, count * sizeof(double));
    return;
  }
  if (target_.first == nullptr) {
    for (size_t i = 0; i < count; i++) {
      data.re[start + apart * i] = re[i];
      data.im[start + apart * i] = im[i];
    }
    return;
  }
  if (isBackward_) std::swap(re, im);
  double* to = target_.first + 2 * target_.step * start;
  for (size_t i = 0; i < count; i++, to += 2 * target_.step * apart) {
    to[0] = re[i] * factor_;
    to[1] = im[i] * factor_;
  }
}

// Passes from `first` on over neighbouring elements. Returns whether the result is in `work`.
bool Transforming::within(size_t first, size_t length, const Split& data, const Split& work) const {
  Split from = data, to = work;
  for (size_t index = first; index < count_; index++) {
    const Pass& pass = passes_[index];
    const size_t groups = length / (pass.stride * pass.radix);
    if (pass.stride < kStrideMin) shortPass(pass, groups, from, to);
    else
      for (size_t k = 0; k < groups; k++)
        kernels().butterflies[pass.radix](at(from, pass.stride * pass.radix * k, pass.stride),
                                          at(to, pass.stride * k, pass.stride * groups), pass.roots, pass.stride);
    std::swap(from, to);
  }
  return (count_ - first) % 2 == 1;
}

// The first passes of the positions from `start` on.
void Transforming::mixTile(size_t start, const Split& data, const Split& work, double* memory) const {
  const size_t count = std::min(kTile, rest_ - start), size = ways_ * kTile;
  Split from{memory, memory + size, 0}, to{memory + 2 * size, memory + 3 * size, 0};
  for (size_t row = 0; row < ways_; row++) {
    load(start + row * rest_, count, data, from.re + row * kTile, from.im + row * kTile);
  }
  size_t groups = 1;
  for (size_t index = 0; index < mixing_; index++) {
    const Pass& pass = passes_[index];
    const size_t rows = ways_ / (groups * pass.radix);
    for (size_t k = 0; k < groups; k++)
      for (size_t row = 0; row < rows; row++)
        kernels().butterflies[pass.radix](at(from, kTile * (row + rows * pass.radix * k), kTile * rows),
                                          at(to, kTile * (row + rows * k), kTile * rows * groups),
                                          at(pass.roots, start + rest_ * row, pass.stride), count);
    groups *= pass.radix;
    std::swap(from, to);
  }
  for (size_t row = 0; row < ways_; row++) {
    memcpy(work.re + start + row * rest_, from.re + row * kTile, count * sizeof(double));
    memcpy(work.im + start + row * rest_, from.im + row * kTile, count * sizeof(double));
  }
}

// The other passes of some runs from number `first` on.
void Transforming::finishRuns(size_t first, const Split& data, const Split& work, double* memory) const {
  const size_t count = std::min(kRuns, ways_ - first);
  Split runs[kRuns];
  for (size_t each = 0; each < count; each++) {
    const Split run = at(work, (first + each) * rest_, 0);
    const Split own{memory + 2 * each * rest_, memory + (2 * each + 1) * rest_, 0};
    runs[each] = within(mixing_, rest_, run, own) ? own : run;
  }
  // A few of each run at a time, so that the lines of the cache are still there for those of the next.
  constexpr size_t few = 64;
  for (size_t q = 0; q < rest_; q += few)
    for (size_t each = 0; each < count; each++)
      store(first + each + ways_ * q, ways_, std::min(few, rest_ - q), at(runs[each], q, 0), data);
}

void Transforming::run(const Split& data, const Split& work) const {
  if (ways_ == 1) {
    if (source_.first != nullptr) load(0, length_, data, data.re, data.im);
    const bool isInWork = within(0, length_, data, work);
    if (isInWork || target_.first != nullptr) store(0, 1, length_, isInWork ? work : data, data);
    return;
  }
  const size_t threads = std::min(threads_, std::max<size_t>(1, length_ / kThreadElements));
  const auto sweep = [&](size_t units, size_t unit, size_t doubles, auto act) {
    const size_t all = (units + unit - 1) / unit, pieces = threads == 1 ? 1 : std::min(all, threads * 4);
    auto body = [&](size_t piece) {
      std::unique_ptr<double[]> memory(new double[doubles]);
      for (size_t each = all * piece / pieces; each < all * (piece + 1) / pieces; each++) act(each * unit, memory.get());
    };
    inParallel(pieces, threads, body);
  };
  sweep(rest_, kTile, 4 * ways_ * kTile, [&](size_t start, double* memory) { mixTile(start, data, work, memory); });
  sweep(ways_, kRuns, 2 * kRuns * rest_, [&](size_t first, double* memory) { finishRuns(first, data, work, memory); });
}

}  // namespace

// transformLine(numbers, roots, re, im, workRe, workIm, source, target): the data in place, or if there are a source
// and a target, from line to line. What is written over then are `re` and `im`, and in any case `work`.
static napi_value TransformLine(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  static const char* const names[] = {"numbers", "roots", "re", "im", "workRe", "workIm", "source", "target"};
  Doubles lists[8];
  const size_t count = arguments.count() > 6 ? 8 : 6;
  for (size_t index = 0; index < count; index++) lists[index] = doublesOf(arguments, index, names[index], 1);
  if (!arguments.ok()) return nullptr;
  Transforming transforming;
  bool fits = transforming.read(lists[0], lists[1]);
  for (size_t index = 2; fits && index < 6; index++) fits = lists[index].length >= transforming.length();
  if (!fits || (count == 8 && !transforming.connect(lists[0].data, lists[6], lists[7]))) return throwNumbers(env);
  transforming.run({lists[2].data, lists[3].data, 0}, {lists[4].data, lists[5].data, 0});
  return nullptr;
}

void registerArrayTransforms(napi_env env, napi_value exports) { define(env, exports, "transformLine", TransformLine); }

}  // namespace aether
