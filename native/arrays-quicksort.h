// Sorting of unsigned keys with AVX-512: quicksort that compresses what is less than a pivot to one side and the rest
// to the other (after B. Bramas, "A Novel Hybrid Quicksort Algorithm Vectorized using AVX-512", 2017), and bitonic
// networks (K. Batcher, 1968) for what fits the registers. Included in the namespace of the set of instructions.

// For each mask of eight lanes the lanes in it, and behind them the others, both in their order.
struct PartedLanes {
  uint8_t lanes[256][8] = {};

  constexpr PartedLanes() {
    for (size_t mask = 0; mask < 256; mask++)
      for (size_t turn = 0, place = 0; turn < 2; turn++)
        for (size_t lane = 0; lane < 8; lane++)
          if ((mask >> lane & 1) != turn) lanes[mask][place++] = static_cast<uint8_t>(lane);
  }
};

alignas(64) constexpr PartedLanes kPartedLanes;

template <class Key>
struct Vector;

template <>
struct Vector<uint64_t> {
  static constexpr size_t lanes = 8;
  using Mask = __mmask8;
  static __m512i load(const uint64_t* from) { return _mm512_loadu_si512(from); }
  static __m512i loadSome(const uint64_t* from, Mask mask) { return _mm512_maskz_loadu_epi64(mask, from); }
  static void storeSome(uint64_t* to, Mask mask, __m512i v) { _mm512_mask_storeu_epi64(to, mask, v); }
  static __m512i all(uint64_t key) { return _mm512_set1_epi64(static_cast<int64_t>(key)); }
  static __m512i least(__m512i a, __m512i b) { return _mm512_min_epu64(a, b); }
  static __m512i most(__m512i a, __m512i b) { return _mm512_max_epu64(a, b); }
  static Mask less(__m512i a, __m512i b) { return _mm512_cmplt_epu64_mask(a, b); }
  static __m512i compress(Mask mask, __m512i v) { return _mm512_maskz_compress_epi64(mask, v); }
  // Those of the mask in front, behind them the others, both in their order.
  static __m512i parted(Mask mask, __m512i v) {
    const auto* const lanes = reinterpret_cast<const __m128i*>(kPartedLanes.lanes[mask]);
    return _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(_mm_loadl_epi64(lanes)), v);
  }
  static __m512i blend(Mask mask, __m512i a, __m512i b) { return _mm512_mask_blend_epi64(mask, a, b); }
  static __m512i mirror(__m512i v, size_t bits) {
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_permutexvar_epi64(_mm512_xor_si512(lane, all(bits)), v);
  }
};

template <>
struct Vector<uint32_t> {
  static constexpr size_t lanes = 16;
  using Mask = __mmask16;
  static __m512i load(const uint32_t* from) { return _mm512_loadu_si512(from); }
  static __m512i loadSome(const uint32_t* from, Mask mask) { return _mm512_maskz_loadu_epi32(mask, from); }
  static void storeSome(uint32_t* to, Mask mask, __m512i v) { _mm512_mask_storeu_epi32(to, mask, v); }
  static __m512i all(uint32_t key) { return _mm512_set1_epi32(static_cast<int32_t>(key)); }
  static __m512i least(__m512i a, __m512i b) { return _mm512_min_epu32(a, b); }
  static __m512i most(__m512i a, __m512i b) { return _mm512_max_epu32(a, b); }
  static Mask less(__m512i a, __m512i b) { return _mm512_cmplt_epu32_mask(a, b); }
  static __m512i compress(Mask mask, __m512i v) { return _mm512_maskz_compress_epi32(mask, v); }
  static __m512i parted(Mask mask, __m512i v) {
    const auto behind = static_cast<Mask>(0xffff << __builtin_popcount(mask));
    return _mm512_mask_expand_epi32(compress(mask, v), behind, compress(static_cast<Mask>(~mask), v));
  }
  static __m512i blend(Mask mask, __m512i a, __m512i b) { return _mm512_mask_blend_epi32(mask, a, b); }
  static __m512i mirror(__m512i v, size_t bits) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_permutexvar_epi32(_mm512_xor_si512(lane, all(static_cast<uint32_t>(bits))), v);
  }
};

// Lanes whose number has this bit.
template <class Key>
constexpr uint32_t upperLanes(size_t bit) {
  uint32_t mask = 0;
  for (size_t lane = 0; lane < Vector<Key>::lanes; lane++)
    if ((lane & bit) != 0) mask |= 1u << lane;
  return mask;
}

// Compares each lane with the one whose number differs by `bits`, and keeps the greater where the highest bit is set.
template <class Key>
inline __attribute__((always_inline)) __m512i exchange(__m512i v, size_t bits, size_t highest) {
  using V = Vector<Key>;
  const __m512i other = V::mirror(v, bits);
  return V::blend(static_cast<typename V::Mask>(upperLanes<Key>(highest)), V::least(v, other), V::most(v, other));
}

// Makes ascending runs of `size` registers of ascending runs of half as many.
template <class Key, size_t count>
inline __attribute__((always_inline)) void mergeRegisters(__m512i (&v)[count], size_t size) {
  using V = Vector<Key>;
#pragma GCC unroll 8
  for (size_t first = 0; first < count; first += size)
#pragma GCC unroll 8
    for (size_t i = 0; i < size / 2; i++) {
      const __m512i a = v[first + i], b = V::mirror(v[first + size - 1 - i], V::lanes - 1);
      v[first + i] = V::least(a, b);
      v[first + size - 1 - i] = V::mirror(V::most(a, b), V::lanes - 1);
    }
#pragma GCC unroll 4
  for (size_t apart = size / 4; apart > 0; apart /= 2)
#pragma GCC unroll 16
    for (size_t i = 0; i < count; i++)
      if ((i & apart) == 0) {
        const __m512i a = v[i], b = v[i + apart];
        v[i] = V::least(a, b);
        v[i + apart] = V::most(a, b);
      }
#pragma GCC unroll 4
  for (size_t bit = V::lanes / 2; bit > 0; bit /= 2)
#pragma GCC unroll 16
    for (size_t i = 0; i < count; i++) v[i] = exchange<Key>(v[i], bit, bit);
}

template <class Key, size_t count>
inline __attribute__((always_inline)) void sortRegisters(__m512i (&v)[count]) {
  using V = Vector<Key>;
  // Inside of each register: runs of 2, 4, … lanes. The first step of each size mirrors, so that all runs ascend.
#pragma GCC unroll 4
  for (size_t size = 2; size <= V::lanes; size *= 2) {
#pragma GCC unroll 16
    for (size_t i = 0; i < count; i++) v[i] = exchange<Key>(v[i], size - 1, size / 2);
#pragma GCC unroll 4
    for (size_t bit = size / 4; bit > 0; bit /= 2)
#pragma GCC unroll 16
      for (size_t i = 0; i < count; i++) v[i] = exchange<Key>(v[i], bit, bit);
  }
#pragma GCC unroll 4
  for (size_t size = 2; size <= count; size *= 2) mergeRegisters<Key>(v, size);
}

// Sorts some keys; if they are two runs, which meet at the middle register, it only merges these.
template <class Key, size_t registers, bool areRuns = false>
__attribute__((noinline)) void sortFew(const Key* keys, Key* to, size_t count) {
  using V = Vector<Key>;
  using Mask = typename V::Mask;
  constexpr uint32_t whole = (uint64_t{1} << V::lanes) - 1;
  const auto present = [&](size_t i) {
    const size_t start = i * V::lanes;
    if (count >= start + V::lanes) return static_cast<Mask>(whole);
    return static_cast<Mask>(count <= start ? 0 : whole >> (V::lanes - (count - start)));
  };
  __m512i v[registers];
  // Places without a key hold the greatest, and go last.
#pragma GCC unroll 16
  for (size_t i = 0; i < registers; i++) {
    const Mask mask = present(i);
    v[i] = V::blend(mask, V::all(static_cast<Key>(~Key{0})), V::loadSome(keys + i * V::lanes, mask));
  }
  if constexpr (areRuns) mergeRegisters<Key>(v, registers);
  else sortRegisters<Key>(v);
#pragma GCC unroll 16
  for (size_t i = 0; i < registers; i++) V::storeSome(to + i * V::lanes, present(i), v[i]);
}

template <class Key>
constexpr size_t kFew = 16 * Vector<Key>::lanes;

template <class Key>
void sortFewAny(const Key* keys, Key* to, size_t count) {
  constexpr size_t lanes = Vector<Key>::lanes;
  if (count <= lanes) sortFew<Key, 1>(keys, to, count);
  else if (count <= 2 * lanes) sortFew<Key, 2>(keys, to, count);
  else if (count <= 4 * lanes) sortFew<Key, 4>(keys, to, count);
  else if (count <= 8 * lanes) sortFew<Key, 8>(keys, to, count);
  else {
    // All in one function would be three times its code.
    constexpr size_t half = 8 * lanes;
    sortFew<Key, 8>(keys, to, half);
    sortFew<Key, 8>(keys + half, to + half, count - half);
    sortFew<Key, 16, true>(to, to, count);
  }
}

// Moves keys below the pivot to the front of `to`, the others to its end. Returns how many are below.
template <class Key>
size_t partition(const Key* keys, Key* to, size_t count, Key pivot) {
  using V = Vector<Key>;
  using Mask = typename V::Mask;
  constexpr uint32_t whole = (uint64_t{1} << V::lanes) - 1;
  const __m512i bound = V::all(pivot);
  Key* low = to;
  Key* high = to + count;
  size_t i = 0;
  // A whole register is written to both sides as long as what it writes too much lies between them.
  for (; i + 2 * V::lanes <= count; i += V::lanes) {
    const __m512i v = V::load(keys + i);
    const Mask below = V::less(v, bound);
    const auto lows = static_cast<size_t>(__builtin_popcount(below));
    const __m512i parted = V::parted(below, v);
    _mm512_storeu_si512(low, parted);
    _mm512_storeu_si512(high - V::lanes, parted);
    low += lows;
    high -= V::lanes - lows;
  }
  for (; i < count; i += V::lanes) {
    const size_t left = count - i;
    const auto present = static_cast<Mask>(left >= V::lanes ? whole : whole >> (V::lanes - left));
    const __m512i v = V::loadSome(keys + i, present);
    const auto below = static_cast<Mask>(V::less(v, bound) & present), above = static_cast<Mask>(~below & present);
    const auto lows = static_cast<size_t>(__builtin_popcount(below));
    const auto highs = static_cast<size_t>(__builtin_popcount(above));
    V::storeSome(low, static_cast<Mask>((uint64_t{1} << lows) - 1), V::compress(below, v));
    low += lows;
    high -= highs;
    V::storeSome(high, static_cast<Mask>((uint64_t{1} << highs) - 1), V::compress(above, v));
  }
  return static_cast<size_t>(low - to);
}

// The median of some keys that lie evenly apart: of few keys where there are few.
template <class Key>
Key pivotOf(const Key* keys, size_t count) {
  constexpr size_t most = 8 * Vector<Key>::lanes;
  const size_t samples = count < 32 * most ? Vector<Key>::lanes : most;
  Key some[most];
  const size_t step = count / samples;
  for (size_t i = 0; i < samples; i++) some[i] = keys[i * step + step / 2];
  sortFewAny(some, some, samples);
  return some[samples / 2];
}

template <class Key>
size_t splitKeys(const Key* keys, Key* to, size_t count) {
  Key pivot = pivotOf(keys, count);
  size_t below = partition(keys, to, count, pivot);
  if (below != 0) return below;
  // The pivot is the least: all that are equal to it go in front.
  if (pivot == static_cast<Key>(~Key{0})) return 0;
  below = partition(keys, to, count, static_cast<Key>(pivot + 1));
  return below == count ? 0 : below;
}

// Sorts `count` keys, which lie in `keys`, into `to`: either `keys` itself or the memory beside it.
template <class Key>
void quicksort(Key* keys, Key* other, Key* to, size_t count, size_t depth) {
  while (count > kFew<Key>) {
    if (depth == 0) return radixSort<Key>(keys, other, to, count);
    depth--;
    const size_t below = splitKeys(keys, other, count);
    if (below == 0) {
      if (to != keys) __builtin_memcpy(to, keys, count * sizeof(Key));
      return;
    }
    quicksort(other, keys, to, below, depth);
    keys += below;
    other += below;
    to += below;
    count -= below;
    std::swap(keys, other);
  }
  sortFewAny(keys, to, count);
}

template <class Key>
void sortKeys(Key* keys, Key* scratch, size_t count) {
  size_t depth = 8;
  for (size_t left = count; left > 1; left /= 2) depth += 2;
  quicksort(keys, scratch, keys, count, depth);
}
