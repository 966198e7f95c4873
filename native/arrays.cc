#include "arrays.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace aether {

Numbers::Numbers(Arguments* arguments, size_t index) {
  Bytes bytes = arguments->bytes(index, "numbers");
  ok_ = arguments->ok();
  if (!ok_) return;
  if (reinterpret_cast<uintptr_t>(bytes.data) % alignof(double) != 0) bytes.length = 0;
  // The first says how many there are: the memory is used for one call after another.
  double count = 0;
  if (bytes.length >= sizeof count) memcpy(&count, bytes.data, sizeof count);
  ok_ = count >= 1 && count <= static_cast<double>(bytes.length / sizeof(double)) && count == std::floor(count);
  if (!ok_) return;
  const double* const first = reinterpret_cast<const double*>(bytes.data);
  count_ = static_cast<size_t>(count) - 1;
  if (count_ <= kFew) {
    std::copy(first + 1, first + 1 + count_, few_);
    return;
  }
  many_.assign(first + 1, first + 1 + count_);
  first_ = many_.data();
}

uint64_t Numbers::raw() {
  uint64_t bits = 0;
  if (!ok_ || next_ >= count_) {
    ok_ = false;
    return 0;
  }
  memcpy(&bits, &first_[next_++], sizeof bits);
  return bits;
}

void Shape::read(Numbers* numbers) {
  rank = static_cast<size_t>(numbers->integer(0, kAxesMax));
  __int128 product = 1;
  for (size_t axis = 0; axis < rank; axis++) {
    extents[axis] = numbers->integer(0, kCountMax);
    product *= extents[axis];
    if (product > kCountMax) {
      numbers->fail();
      product = 0;
    }
  }
  size = static_cast<int64_t>(product);
}

bool Span::isWhole(const Shape& shape) const {
  auto stride = static_cast<int64_t>(kWidths[dtype]);
  for (size_t axis = shape.rank; axis-- > 0;) {
    if (shape.extents[axis] > 1 && strides[axis] != stride) return false;
    stride *= shape.extents[axis];
  }
  return true;
}

static constexpr char kNoMemories[] = "memories must be typed arrays, at most 7, or an array of at most 4096";

Memories::Memories(Arguments* arguments, size_t index) {
  if (!arguments->ok()) return;
  const size_t count = arguments->count() - std::min(index, arguments->count());
  const auto isTyped = [&](size_t each) {
    return typedBytesOf(arguments->env, arguments->at(index + each), &few_[each]);
  };
  if (count > 0 && count <= kFew && !isTyped(0)) {
    readList(arguments, arguments->at(index));
    return;
  }
  while (count <= kFew && count_ < count && isTyped(count_)) count_++;
  if (count == 0 || count_ < count) arguments->fail("memories", kNoMemories);
}

void Memories::readList(Arguments* arguments, napi_value list) {
  bool isArray = false;
  uint32_t length = 0;
  if (napi_is_array(arguments->env, list, &isArray) != napi_ok || !isArray ||
      napi_get_array_length(arguments->env, list, &length) != napi_ok || length > 4096)
    return arguments->fail("memories", kNoMemories);
  // Getting an element may run code that detaches a memory: all are got before any is looked at, which runs none.
  std::vector<napi_value> values(length, nullptr);
  many_.resize(length);
  bool areTyped = true;
  for (uint32_t each = 0; areTyped && each < length; each++)
    areTyped = napi_get_element(arguments->env, list, each, &values[each]) == napi_ok;
  for (uint32_t each = 0; areTyped && each < length; each++)
    areTyped = typedBytesOf(arguments->env, values[each], &many_[each]);
  if (areTyped) {
    first_ = many_.data();
    count_ = length;
    return;
  }
  bool pending = false;
  napi_is_exception_pending(arguments->env, &pending);
  napi_value thrown = nullptr;
  if (pending) napi_get_and_clear_last_exception(arguments->env, &thrown);
  arguments->fail("memories", kNoMemories);
}

void Memories::read(Numbers* numbers, const Shape& shape, Span* span) {
  const auto memory = static_cast<size_t>(numbers->integer(0, static_cast<int64_t>(count_) - 1));
  span->dtype = numbers->dtype();
  const auto width = static_cast<int64_t>(kWidths[span->dtype]);
  __int128 least = numbers->integer(0, kCountMax);
  __int128 most = least;
  const __int128 offset = least;
  for (size_t axis = 0; axis < shape.rank; axis++) {
    const int64_t stride = numbers->integer(-kCountMax, kCountMax);
    const __int128 reach = static_cast<__int128>(stride) * (shape.extents[axis] - 1);
    (reach < 0 ? least : most) += reach;
    // Fits: where it would not, an axis of more than one element is outside of any memory.
    span->strides[axis] = shape.extents[axis] > 1 ? stride * width : 0;
  }
  if (!numbers->ok() || shape.size == 0) return;
  const Bytes& bytes = first_[memory];
  const auto count = static_cast<__int128>(bytes.length / static_cast<size_t>(width));
  if (least < 0 || most >= count || reinterpret_cast<uintptr_t>(bytes.data) % alignmentOf(span->dtype) != 0) {
    numbers->fail();
    return;
  }
  span->first = bytes.data + static_cast<int64_t>(offset) * width;
}

napi_value throwNumbers(napi_env env) {
  return throwArgument(env, "numbers", "numbers must describe blocks that lie within the memories");
}

}  // namespace aether
