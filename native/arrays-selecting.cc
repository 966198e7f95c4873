// Elements by index, elements that a mask selects, elements several times, and how often integers are there.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "arrays-kernels.h"

namespace aether {

namespace {

constexpr size_t kThreadPicks = 1 << 16;

template <class T, class Index>
void takeSingles(const uint8_t* from, uint8_t* to, const Index* indices, size_t count, int64_t extent) {
  const T* const source = reinterpret_cast<const T*>(from);
  T* const target = reinterpret_cast<T*>(to);
  for (size_t i = 0; i < count; i++) {
    const auto index = static_cast<int64_t>(indices[i]);
    target[i] = source[index < 0 ? index + extent : index];
  }
}

// From blocks [outer][extent][inner] to blocks [outer][count][inner].
template <class Index>
struct Taking {
  const uint8_t* from;
  uint8_t* to;
  const Index* indices;
  size_t outer, count, width;  // bytes of `inner` elements
  int64_t extent;
  size_t threads;

  bool areInside() const {
    for (size_t i = 0; i < count; i++) {
      const auto index = static_cast<int64_t>(indices[i]);
      if (index < -extent || index >= extent) return false;
    }
    return true;
  }

  void takeRange(size_t block, size_t first, size_t last) const {
    const uint8_t* const source = from + block * static_cast<size_t>(extent) * width;
    uint8_t* const target = to + (block * count + first) * width;
    const Index* const own = indices + first;
    const size_t length = last - first;
    switch (width) {
      case 1: return takeSingles<uint8_t>(source, target, own, length, extent);
      case 2: return takeSingles<uint16_t>(source, target, own, length, extent);
      case 4: return takeSingles<uint32_t>(source, target, own, length, extent);
      case 8: return takeSingles<uint64_t>(source, target, own, length, extent);
      case 16: return takeSingles<Sixteen>(source, target, own, length, extent);
      default: break;
    }
    for (size_t i = 0; i < length; i++) {
      const auto index = static_cast<int64_t>(own[i]);
      memcpy(target + i * width, source + static_cast<size_t>(index < 0 ? index + extent : index) * width, width);
    }
  }

  bool run() const {
    // Another thread of JavaScript may change shared indices meanwhile: they are checked where they are read.
    std::unique_ptr<Index[]> own(new Index[count]);
    memcpy(own.get(), indices, count * sizeof(Index));
    Taking copy = *this;
    copy.indices = own.get();
    if (!copy.areInside()) return false;
    if (outer * width == 0) return true;
    const size_t work = outer * count * std::max<size_t>(1, width / 8) / kThreadPicks;
    const size_t used = work < 2 ? 1 : std::min(threads, work);
    const size_t slices = outer == 1 ? std::min(used * 4, count) : 1;
    auto body = [&](size_t piece) {
      const size_t slice = piece % slices;
      copy.takeRange(piece / slices, count * slice / slices, count * (slice + 1) / slices);
    };
    inParallel(outer * slices, used, body);
    return true;
  }
};

// Eight at a time: the highest bit of each byte tells whether it is other than zero.
size_t countTrue(const uint8_t* mask, size_t count) {
  constexpr uint64_t low = 0x7f7f7f7f7f7f7f7f;
  size_t sum = 0, i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    memcpy(&eight, mask + i, 8);
    const uint64_t each = (eight | ((eight & low) + low)) >> 7 & 0x0101010101010101;
    sum += each * 0x0101010101010101 >> 56;
  }
  for (; i < count; i++) sum += mask[i] != 0;
  return sum;
}

// Writes the selected elements, at most `room`. It writes one element more than it keeps, but never beyond the room.
template <class T>
size_t compress(const uint8_t* mask, const T* from, T* to, size_t count, size_t room) {
  size_t next = 0, i = 0;
  for (; i < count && next < room; i++) {
    to[next] = from[i];
    next += mask[i] != 0;
  }
  return next;
}

size_t compressRows(const uint8_t* mask, const uint8_t* from, uint8_t* to, size_t count, size_t room, size_t width) {
  size_t next = 0;
  for (size_t i = 0; i < count && next < room; i++)
    if (mask[i] != 0) memcpy(to + next++ * width, from + i * width, width);
  return next;
}

size_t compressAny(const uint8_t* mask, const uint8_t* from, uint8_t* to, size_t count, size_t room, size_t width) {
  const auto as = [&](auto sample) {
    using T = decltype(sample);
    return compress(mask, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), count, room);
  };
  switch (width) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    case 8: return as(uint64_t{});
    case 16: return as(Sixteen{});
    default: return compressRows(mask, from, to, count, room, width);
  }
}

size_t placesOfTrue(const uint8_t* mask, int64_t* to, size_t count, size_t room) {
  size_t next = 0;
  for (size_t i = 0; i < count && next < room; i++) {
    to[next] = static_cast<int64_t>(i);
    next += mask[i] != 0;
  }
  return next;
}

template <class T>
void repeat(const uint8_t* from, uint8_t* to, size_t count, size_t times) {
  const T* const source = reinterpret_cast<const T*>(from);
  T* target = reinterpret_cast<T*>(to);
  for (size_t i = 0; i < count; i++) {
    const T element = source[i];
    for (size_t time = 0; time < times; time++) *target++ = element;
  }
}

void repeatAny(const uint8_t* from, uint8_t* to, size_t count, size_t times, size_t width) {
  switch (width) {
    case 1: return repeat<uint8_t>(from, to, count, times);
    case 2: return repeat<uint16_t>(from, to, count, times);
    case 4: return repeat<uint32_t>(from, to, count, times);
    case 8: return repeat<uint64_t>(from, to, count, times);
    default: return repeat<Sixteen>(from, to, count, times);
  }
}

// False if one is no number of a bin.
bool countInto(const int64_t* numbers, int64_t* bins, size_t count, size_t room) {
  for (size_t i = 0; i < count; i++) {
    const auto bin = static_cast<uint64_t>(numbers[i]);
    if (bin >= room) return false;
    bins[bin]++;
  }
  return true;
}

enum Selection { kTake, kCount, kCompress, kPlaces, kRepeat, kBins, kSelections };

struct Selecting {
  size_t threads = 1;
  Selection selection = kTake;
  Shape source, picked, target;
  Span from, indices, to;

  bool read(Numbers* numbers, Memories* memories) {
    threads = static_cast<size_t>(numbers->integer(1, kThreadsMax));
    selection = static_cast<Selection>(numbers->integer(0, kSelections - 1));
    picked.read(numbers);
    indices = memories->span(numbers, picked);
    if (!numbers->ok() || picked.rank != 1 || !indices.isWhole(picked)) return false;
    if (selection == kTake && indices.dtype != kInt64 && indices.dtype != kUint32) return false;
    if (selection >= kCount && selection <= kPlaces && indices.dtype != kBool) return false;
    if (selection == kCount) return true;
    target.read(numbers);
    to = memories->span(numbers, target);
    if (!numbers->ok() || !to.isWhole(target)) return false;
    if (selection == kPlaces) return to.dtype == kInt64 && target.rank == 1;
    if (selection == kBins) return indices.dtype == kInt64 && to.dtype == kInt64 && target.rank == 1;
    if (selection == kRepeat)
      return to.dtype == indices.dtype && target.rank == 2 && target.extents[0] == picked.extents[0];
    source.read(numbers);
    from = memories->span(numbers, source);
    if (!numbers->ok() || !from.isWhole(source) || from.dtype != to.dtype) return false;
    if (selection == kTake)
      return source.rank == 3 && target.rank == 3 && source.extents[0] == target.extents[0] &&
             target.extents[1] == picked.extents[0] && source.extents[2] == target.extents[2];
    return source.rank == 2 && target.rank == 2 && source.extents[0] == picked.extents[0] &&
           source.extents[1] == target.extents[1];
  }

  template <class Index>
  double take() const {
    const Taking<Index> taking{from.first,
                               to.first,
                               reinterpret_cast<const Index*>(indices.first),
                               static_cast<size_t>(source.extents[0]),
                               static_cast<size_t>(picked.size),
                               static_cast<size_t>(source.extents[2]) * kWidths[from.dtype],
                               source.extents[1],
                               threads};
    return taking.run() ? static_cast<double>(picked.size) : -1;
  }

  double run() const {
    const auto count = static_cast<size_t>(picked.size);
    if (count == 0) return 0;
    if (selection == kCount) return static_cast<double>(countTrue(indices.first, count));
    const auto room = static_cast<size_t>(selection == kTake ? target.size : target.extents[0]);
    if (selection == kBins) {
      const auto* const numbers = reinterpret_cast<const int64_t*>(indices.first);
      return countInto(numbers, reinterpret_cast<int64_t*>(to.first), count, room) ? static_cast<double>(count) : -1;
    }
    if (target.size == 0 && selection != kTake) return 0;
    if (selection == kRepeat) {
      repeatAny(indices.first, to.first, count, static_cast<size_t>(target.extents[1]), kWidths[to.dtype]);
      return static_cast<double>(target.size);
    }
    if (selection == kPlaces)
      return static_cast<double>(
          placesOfTrue(indices.first, reinterpret_cast<int64_t*>(to.first), count, room));
    if (selection == kCompress)
      return static_cast<double>(compressAny(indices.first, from.first, to.first, count, room,
                                             static_cast<size_t>(source.extents[1]) * kWidths[from.dtype]));
    return indices.dtype == kInt64 ? take<int64_t>() : take<uint32_t>();
  }
};

}  // namespace

// selectFromArray(numbers, memories)
static napi_value SelectFromArray(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Numbers numbers(&arguments, 0);
  Memories memories(&arguments, 1);
  if (!arguments.ok()) return nullptr;
  Selecting selecting;
  if (!selecting.read(&numbers, &memories)) return throwNumbers(env);
  return makeNumber(env, selecting.run());
}

void registerArraySelecting(napi_env env, napi_value exports) {
  define(env, exports, "selectFromArray", SelectFromArray);
}

}  // namespace aether
