// Reductions in an order that depends on nothing but the number of elements: eight lanes, of which lane i takes the
// elements i, i + 8, …; then ((0 1) (2 3)) ((4 5) (6 7)). Lanes without an element are left out, which for a sum is to
// begin with -0. Included in a namespace for each set of instructions.

// Eight elements in vectors that the processor has: the compiler keeps wider ones in memory.
template <class T>
struct Lanes {
  static constexpr size_t all = 8 * sizeof(T);
  static constexpr size_t bytes = AETHER_INTRINSICS == 512 ? all : AETHER_INTRINSICS == 256 ? 32 : 16;
  typedef T Part __attribute__((vector_size(bytes), aligned(sizeof(T))));
  Part parts[all / bytes];

  static inline __attribute__((always_inline)) Part at(const T* from, size_t part) {
    return *reinterpret_cast<const Part*>(from + part * (bytes / sizeof(T)));
  }
  explicit inline __attribute__((always_inline)) Lanes(const T* from) {
#pragma GCC unroll 4
    for (size_t part = 0; part < all / bytes; part++) parts[part] = at(from, part);
  }
  template <class F>
  inline __attribute__((always_inline)) void take(const T* from) {
#pragma GCC unroll 4
    for (size_t part = 0; part < all / bytes; part++) parts[part] = F::of(parts[part], at(from, part));
  }
};

struct ReduceSum {
  template <class V> static inline V of(V x, V y) { return x + y; }
  template <class T> static T nothing(const T*) { return std::is_floating_point_v<T> ? -T{0} : T{0}; }
};
struct ReduceProduct {
  template <class V> static inline V of(V x, V y) { return x * y; }
  template <class T> static T nothing(const T*) { return 1; }
};
// The bits of x and of y: of -0 and 0 the sign is set if it is in both, or in one.
template <class V>
inline V bothBits(V x, V y) {
  if constexpr (std::is_same_v<V, float>) {
    uint32_t a, b;
    __builtin_memcpy(&a, &x, 4);
    __builtin_memcpy(&b, &y, 4);
    a &= b;
    __builtin_memcpy(&x, &a, 4);
  } else if constexpr (std::is_same_v<V, double>) {
    uint64_t a, b;
    __builtin_memcpy(&a, &x, 8);
    __builtin_memcpy(&b, &y, 8);
    a &= b;
    __builtin_memcpy(&x, &a, 8);
  } else if constexpr (!std::is_integral_v<V>) {
    using Bits = decltype(x < y);
    return (V)((Bits)x & (Bits)y);
  }
  return x;
}
// NaN if one is. -0 is less than 0.
struct ReduceMaximum {
  template <class V> static inline V of(V x, V y) {
    if constexpr (std::is_integral_v<V>) return x > y ? x : y;
    const V most = (x > y) | (x != x) ? x : y;
    return x == y ? bothBits(x, y) : most;
  }
  template <class T> static T nothing(const T* first) { return *first; }
};
struct ReduceMinimum {
  template <class V> static inline V of(V x, V y) {
    if constexpr (std::is_integral_v<V>) return x < y ? x : y;
    else return -ReduceMaximum::of(static_cast<V>(-x), static_cast<V>(-y));
  }
  template <class T> static T nothing(const T* first) { return *first; }
};

template <class F, class T>
inline T joinLanes(const T* l) {
  return F::of(F::of(F::of(l[0], l[1]), F::of(l[2], l[3])), F::of(F::of(l[4], l[5]), F::of(l[6], l[7])));
}

template <class F, class T>
T reduceShort(const T* x, size_t count) {
  T lanes[8];
  for (size_t lane = 0; lane < 8; lane++) lanes[lane] = lane < count ? x[lane] : F::nothing(x);
  for (size_t i = 8; i < count; i++) lanes[i % 8] = F::of(lanes[i % 8], x[i]);
  return joinLanes<F>(lanes);
}

// Four blocks at a time, since one alone would wait for its sums.
template <class F, class T>
void reduceBlocks(void* out, const void* elements, size_t count) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(elements);
  constexpr size_t step = kReducedBlock;
#if AETHER_INTRINSICS != 0
  const auto join = [](const Lanes<T>& lanes) {
    T each[8];
    __builtin_memcpy(each, lanes.parts, sizeof each);
    return joinLanes<F>(each);
  };
  for (; count >= 4 * step; count -= 4 * step, x += 4 * step, o += 4) {
    Lanes<T> a(x), b(x + step), c(x + 2 * step), d(x + 3 * step);
    for (size_t i = 8; i < step; i += 8) {
      a.template take<F>(x + i);
      b.template take<F>(x + step + i);
      c.template take<F>(x + 2 * step + i);
      d.template take<F>(x + 3 * step + i);
    }
    o[0] = join(a);
    o[1] = join(b);
    o[2] = join(c);
    o[3] = join(d);
  }
#endif
  for (; count != 0; x += step, o++) {
    const size_t length = count < step ? count : step;
    count -= length;
    if (length < 8) {
      *o = reduceShort<F>(x, length);
      continue;
    }
    Lanes<T> lanes(x);
    size_t i = 8;
    for (; i + 8 <= length; i += 8) lanes.template take<F>(x + i);
    T each[8];
    __builtin_memcpy(each, lanes.parts, sizeof each);
    for (size_t lane = 0; i + lane < length; lane++) each[lane] = F::of(each[lane], x[i + lane]);
    *o = joinLanes<F>(each);
  }
}

// Integers have the same least and greatest in any order.
template <class F, class T>
void reduceInAnyOrder(void* out, const void* elements, size_t count) {
  T* o = static_cast<T*>(out);
  const T* x = static_cast<const T*>(elements);
  for (; count != 0; o++) {
    const size_t length = count < kReducedBlock ? count : kReducedBlock;
    T best = x[0];
    for (size_t i = 0; i < length; i++) best = F::of(best, x[i]);
    *o = best;
    x += length;
    count -= length;
  }
}

template <class F, class T>
void reduceColumns(void* lanes, const uint8_t* const* rows, size_t first, size_t count, size_t columns) {
  T* const l = static_cast<T*>(lanes);
  const T* const top = reinterpret_cast<const T*>(rows[0]);
  if (first == 0)
    for (size_t lane = count; lane < 8; lane++)
      for (size_t c = 0; c < columns; c++) l[lane * kReducedColumns + c] = F::nothing(top + c);
  for (size_t r = 0; r < count; r++) {
    T* const lane = l + (first + r) % 8 * kReducedColumns;
    const T* const row = reinterpret_cast<const T*>(rows[r]);
    if (first + r < 8) {
      for (size_t c = 0; c < columns; c++) lane[c] = row[c];
    } else {
#pragma GCC ivdep
      for (size_t c = 0; c < columns; c++) lane[c] = F::of(lane[c], row[c]);
    }
  }
}

template <class F, class T>
void mergeReduced(void* out, const void* a, const void* b, const void*, size_t count) {
  T* const o = static_cast<T*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; i++) o[i] = F::of(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]);
}

// Complex numbers, one after another.
template <class T>
struct Complex {
  T re, im;
};
struct ComplexSum {
  template <class T> static Complex<T> of(Complex<T> x, Complex<T> y) { return {x.re + y.re, x.im + y.im}; }
  template <class T> static Complex<T> nothing(const Complex<T>*) { return {-T{0}, -T{0}}; }
};
template <class F, class T>
void reduceComplex(void* out, const void* elements, size_t count) {
  auto o = static_cast<Complex<T>*>(out);
  auto x = static_cast<const Complex<T>*>(elements);
  for (; count != 0; o++) {
    const size_t length = count < kReducedBlock ? count : kReducedBlock;
    *o = reduceShort<F>(x, length);
    x += length;
    count -= length;
  }
}

template <class F, class T>
constexpr Reducer reducerOf() {
  return {reduceBlocks<F, T>, reduceColumns<F, T>, mergeReduced<F, T>};
}
template <class F, class T>
constexpr Reducer integerReducerOf() {
  return {reduceInAnyOrder<F, T>, reduceColumns<F, T>, mergeReduced<F, T>};
}
template <class F, class T>
constexpr Reducer complexReducerOf() {
  return {reduceComplex<F, T>, reduceColumns<F, Complex<T>>, mergeReduced<F, Complex<T>>};
}

// Those for which wide vectors count.
void fillWideReducers(Kernels* table) {
  Reducer(&sum)[kDTypes] = table->reducers[kSum];
  sum[kInt64] = sum[kUint64] = reducerOf<ReduceSum, uint64_t>();
  sum[kFloat32] = reducerOf<ReduceSum, float>();
  sum[kFloat64] = reducerOf<ReduceSum, double>();
  table->reducers[kMinimum][kFloat32] = reducerOf<ReduceMinimum, float>();
  table->reducers[kMinimum][kFloat64] = reducerOf<ReduceMinimum, double>();
  table->reducers[kMaximum][kFloat32] = reducerOf<ReduceMaximum, float>();
  table->reducers[kMaximum][kFloat64] = reducerOf<ReduceMaximum, double>();
  table->reducers[kMinimum][kInt32].block = reduceInAnyOrder<ReduceMinimum, int32_t>;
  table->reducers[kMinimum][kInt64].block = reduceInAnyOrder<ReduceMinimum, int64_t>;
  table->reducers[kMaximum][kInt32].block = reduceInAnyOrder<ReduceMaximum, int32_t>;
  table->reducers[kMaximum][kInt64].block = reduceInAnyOrder<ReduceMaximum, int64_t>;
}
