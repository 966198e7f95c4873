// Sorting lines of neighbouring elements, and the order of their elements. Elements become unsigned keys that compare
// as they do; a key and the number of its element together are unique, so that equal elements keep their order.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "arrays-kernels.h"
#include "arrays-keys.h"

namespace aether {

namespace {

// Fewer keys are not worth another thread.
constexpr size_t kThreadKeys = 1 << 16;

template <class T>
const FloatKeys<T>& floatKeys() {
  if constexpr (sizeof(T) == 8) return kernels().keys64;
  else return kernels().keys32;
}

template <class Key>
const KeySorting<Key>& sorting() {
  if constexpr (sizeof(Key) == 8) return kernels().sort64;
  else return kernels().sort32;
}

// Sorts keys in place, in several threads if there are many.
template <class Key>
void sortAll(Key* keys, Key* scratch, size_t count, size_t threads) {
  const KeySorting<Key>& sorter = sorting<Key>();
  threads = std::min(threads, count / kThreadKeys);
  if (threads < 2 || sorter.split == nullptr) return sorter.sort(keys, scratch, count);
  // Parts that are sorted apart, each where the last split has left it.
  struct Part {
    size_t start, count;
    bool isMoved, isEqual;
  };
  std::vector<Part> parts{{0, count, false, false}};
  for (size_t next = 0; parts.size() < 4 * threads && next < 64; next++) {
    const auto largest = std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return (a.isEqual ? 0 : a.count) < (b.isEqual ? 0 : b.count);
    });
    const Part part = *largest;
    if (part.isEqual || part.count < kThreadKeys / 4) break;
    Key* const from = (part.isMoved ? scratch : keys) + part.start;
    Key* const to = (part.isMoved ? keys : scratch) + part.start;
    const size_t below = sorter.split(from, to, part.count);
    if (below == 0) {
      largest->isEqual = true;
      continue;
    }
    *largest = {part.start, below, !part.isMoved, false};
    parts.push_back({part.start + below, part.count - below, !part.isMoved, false});
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.count > b.count; });
  auto body = [&](size_t number) {
    const Part& part = parts[number];
    Key* const own = keys + part.start;
    Key* const other = scratch + part.start;
    if (part.isMoved) memcpy(own, other, part.count * sizeof(Key));
    if (!part.isEqual) sorter.sort(own, other, part.count);
  };
  inParallel(parts.size(), threads, body);
}

// Keys lie where the sorted elements shall, if they are as wide.
template <class T>
constexpr bool kKeysInPlace = sizeof(KeyOf<T>) == sizeof(T);

template <class T>
void sortLine(const T* from, T* to, size_t count, bool isDescending, KeyOf<T>* scratch, size_t threads) {
  using Key = KeyOf<T>;
  auto* const keys = kKeysInPlace<T> ? reinterpret_cast<Key*>(to) : scratch + count;
  const Key flip = isDescending ? static_cast<Key>(~Key{0}) : 0;
  // Equal zeros keep their order: their signs, in the order of the line.
  std::vector<bool> signs;
  if constexpr (std::is_floating_point_v<T>) {
    if (floatKeys<T>().from(from, keys, count, flip) != 0)
      for (size_t i = 0; i < count; i++)
        if (from[i] == 0) signs.push_back(__builtin_signbit(from[i]));
  } else {
    for (size_t i = 0; i < count; i++) keys[i] = keyOf(from[i]) ^ flip;
  }
  sortAll(keys, scratch, count, threads);
  T* place = to + (signs.empty() ? 0 : std::lower_bound(keys, keys + count, keyOf(T{0}) ^ flip) - keys);
  if constexpr (std::is_floating_point_v<T>) floatKeys<T>().to(keys, to, count, flip);
  else
    for (size_t i = 0; i < count; i++) to[i] = valueOf<T>(keys[i] ^ flip);
  for (const bool isNegative : signs) *place++ = static_cast<T>(isNegative ? -0.0 : 0.0);
}

// Small integers are counted.
template <class T>
void countLine(const T* from, T* to, size_t count, bool isDescending) {
  size_t counts[256] = {};
  for (size_t i = 0; i < count; i++) counts[static_cast<uint8_t>(from[i])]++;
  constexpr int least = std::is_signed_v<T> ? -128 : 0;
  for (int index = 0; index < 256; index++) {
    const int value = least + (isDescending ? 255 - index : index);
    const size_t equal = counts[static_cast<uint8_t>(value)];
    std::fill(to, to + equal, static_cast<T>(value));
    to += equal;
  }
}

// Numbers of elements in the order of the upper half of their keys, then those of equal upper halves by the lower half.
template <class T>
void orderLine(const T* from, int64_t* to, size_t count, bool isDescending, uint64_t* keys, size_t threads) {
  uint64_t* const scratch = keys + count;
  using Key = KeyOf<T>;
  const Key flip = isDescending ? static_cast<Key>(~Key{0}) : 0;
  constexpr size_t shift = sizeof(Key) == 8 ? 32 : 0;
  for (size_t i = 0; i < count; i++)
    keys[i] = static_cast<uint64_t>((keyOf(from[i]) ^ flip) >> shift) << 32 | i;
  sortAll(keys, scratch, count, threads);
  if constexpr (sizeof(Key) == 8) {
    for (size_t start = 0; start < count;) {
      size_t end = start + 1;
      while (end < count && keys[end] >> 32 == keys[start] >> 32) end++;
      if (end - start > 1) {
        uint64_t* const run = keys + start;
        for (size_t i = 0; i < end - start; i++) {
          const uint64_t number = run[i] & 0xffffffff;
          run[i] = static_cast<uint64_t>(keyOf(from[number]) ^ flip) << 32 | number;
        }
        if (end - start < 16) {
          for (size_t i = 1; i < end - start; i++) {
            const uint64_t key = run[i];
            size_t at = i;
            for (; at > 0 && run[at - 1] > key; at--) run[at] = run[at - 1];
            run[at] = key;
          }
        } else {
          sorting<uint64_t>().sort(run, scratch + start, end - start);
        }
      }
      start = end;
    }
  }
  for (size_t i = 0; i < count; i++) to[i] = static_cast<int64_t>(keys[i] & 0xffffffff);
}

struct Lines {
  const uint8_t* from = nullptr;
  uint8_t* to = nullptr;
  DType type = kBool;
  size_t count = 0, length = 0;
  bool isDescending = false, isOrder = false;
  size_t threads = 1;

  template <class T>
  void sort(napi_env env) const {
    const size_t scratchBytes = isOrder ? 2 * length * sizeof(uint64_t) : (kKeysInPlace<T> ? 1 : 2) * length * sizeof(KeyOf<T>);
    // One line has all threads, else each piece has one.
    const auto sortPiece = [&](size_t first, size_t last, void* scratch, size_t ownThreads) {
      for (size_t line = first; line < last; line++) {
        const T* const source = reinterpret_cast<const T*>(from) + line * length;
        T* const target = reinterpret_cast<T*>(to) + line * length;
        if (isOrder)
          orderLine(source, reinterpret_cast<int64_t*>(to) + line * length, length, isDescending,
                    static_cast<uint64_t*>(scratch), ownThreads);
        else if constexpr (sizeof(T) == 1) countLine(source, target, length, isDescending);
        else sortLine(source, target, length, isDescending, static_cast<KeyOf<T>*>(scratch), ownThreads);
      }
    };
    const size_t pieces = piecesOf();
    if (pieces == 1) {
      const Scratch scratch(env, scratchBytes);
      return sortPiece(0, count, scratch.data(), count == 1 ? threads : 1);
    }
    auto body = [&](size_t piece) {
      const std::unique_ptr<uint64_t[]> scratch(new uint64_t[scratchBytes / sizeof(uint64_t) + 1]);
      sortPiece(count * piece / pieces, count * (piece + 1) / pieces, scratch.get(), 1);
    };
    inParallel(pieces, threads, body);
  }

  size_t piecesOf() const {
    const size_t work = count * length / kThreadKeys;
    return count == 1 || work < 2 || threads == 1 ? 1 : std::min(count, threads * 8);
  }
};

}  // namespace

// sortArray(numbers, memories)
static napi_value SortArray(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Numbers numbers(&arguments, 0);
  Memories memories(&arguments, 1);
  if (!arguments.ok()) return nullptr;
  Lines lines;
  lines.threads = static_cast<size_t>(numbers.integer(1, kThreadsMax));
  lines.isDescending = numbers.integer(0, 1) == 1;
  lines.isOrder = numbers.integer(0, 1) == 1;
  Shape shape;
  shape.read(&numbers);
  const Span from = memories.span(&numbers, shape);
  const Span to = memories.span(&numbers, shape);
  if (!numbers.ok() || shape.rank != 2 || isComplex(from.dtype) || !from.isWhole(shape) || !to.isWhole(shape) ||
      to.dtype != (lines.isOrder ? kInt64 : from.dtype) || shape.extents[1] > UINT32_MAX)
    return throwNumbers(env);
  if (shape.size == 0) return nullptr;
  lines.from = from.first;
  lines.to = to.first;
  lines.count = static_cast<size_t>(shape.extents[0]);
  lines.length = static_cast<size_t>(shape.extents[1]);
  switch (from.dtype) {
    case kBool:
    case kUint8: lines.sort<uint8_t>(env); break;
    case kInt8: lines.sort<int8_t>(env); break;
    case kInt16: lines.sort<int16_t>(env); break;
    case kUint16: lines.sort<uint16_t>(env); break;
    case kInt32: lines.sort<int32_t>(env); break;
    case kUint32: lines.sort<uint32_t>(env); break;
    case kInt64: lines.sort<int64_t>(env); break;
    case kUint64: lines.sort<uint64_t>(env); break;
    case kFloat32: lines.sort<float>(env); break;
    default: lines.sort<double>(env); break;
  }
  return nullptr;
}

void registerArraySorting(napi_env env, napi_value exports) { define(env, exports, "sortArray", SortArray); }

}  // namespace aether
