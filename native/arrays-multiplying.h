// The innermost loop of a matrix product: a tile of the result in registers. Products and sums may be fused here: of
// matrix products a bound is promised, not bits. Included in a namespace for each set of instructions, which defines
// kTileBytes, the bytes of a vector, kTileRows and kTileVectors. The compiler does not define its own macros for a
// target that is set for a part of a file: AETHER_INTRINSICS says the bits of the vectors that have functions.

template <class T>
struct TileVector {
  typedef T Of __attribute__((vector_size(kTileBytes), aligned(sizeof(T))));
};

template <class T>
inline __attribute__((always_inline)) T fusedOrNot(T a, T b, T c) {
  return a * b + c;
}
#if AETHER_INTRINSICS == 512
inline __attribute__((always_inline)) __m512d fusedOrNot(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_pd(a, b, c);
}
inline __attribute__((always_inline)) __m512 fusedOrNot(__m512 a, __m512 b, __m512 c) {
  return _mm512_fmadd_ps(a, b, c);
}
#elif AETHER_INTRINSICS == 256
inline __attribute__((always_inline)) __m256d fusedOrNot(__m256d a, __m256d b, __m256d c) {
  return _mm256_fmadd_pd(a, b, c);
}
inline __attribute__((always_inline)) __m256 fusedOrNot(__m256 a, __m256 b, __m256 c) {
  return _mm256_fmadd_ps(a, b, c);
}
#endif

// One row of zeros stands for all to which is not added.
alignas(kTileBytes) constexpr uint8_t kZeros[kTileVectors * kTileBytes] = {};

// out[row * down + column] = sum over k of a[k][row] * b[k][column], or += where it adds.
template <class T>
void multiplyTile(void* out, size_t down, bool adds, const void* first, const void* second, size_t depth) {
  using V = typename TileVector<T>::Of;
  constexpr size_t lanes = kTileBytes / sizeof(T);
  T* o = static_cast<T*>(out);
  const T* before = adds ? o : reinterpret_cast<const T*>(kZeros);
  const size_t apart = adds ? down : 0;
  const T* a = static_cast<const T*>(first);
  const T* b = static_cast<const T*>(second);
  // Needed at the end, and far from each other.
  for (size_t row = 0; row < kTileRows; row++)
    for (size_t v = 0; v < kTileVectors; v++) __builtin_prefetch(o + row * down + v * lanes, 1);
  V sums[kTileRows][kTileVectors] = {};
  for (size_t k = 0; k < depth; k++, a += kTileRows, b += kTileVectors * lanes) {
    V columns[kTileVectors];
#pragma GCC unroll 8
    for (size_t v = 0; v < kTileVectors; v++) columns[v] = *reinterpret_cast<const V*>(b + v * lanes);
#pragma GCC unroll 8
    for (size_t row = 0; row < kTileRows; row++) {
      const V factor = a[row] - V{};
#pragma GCC unroll 8
      for (size_t v = 0; v < kTileVectors; v++) sums[row][v] = fusedOrNot(factor, columns[v], sums[row][v]);
    }
  }
#pragma GCC unroll 8
  for (size_t row = 0; row < kTileRows; row++, o += down, before += apart) {
    // The addresses one by one: all at once would be computed before.
    asm("" : "+r"(o), "+r"(before));
#pragma GCC unroll 8
    for (size_t v = 0; v < kTileVectors; v++)
      *reinterpret_cast<V*>(o + v * lanes) = *reinterpret_cast<const V*>(before + v * lanes) + sums[row][v];
  }
}

template <class T>
constexpr Multiplier multiplierOf() {
  return {kTileRows, kTileVectors * kTileBytes / sizeof(T), multiplyTile<T>};
}

// Integers of 8 and 16 bits are multiplied as those of 32.
void fillMultipliers(Kernels* table) {
  table->multipliers[kFloat32] = multiplierOf<float>();
  table->multipliers[kFloat64] = multiplierOf<double>();
  table->multipliers[kUint32] = multiplierOf<uint32_t>();
  table->multipliers[kUint64] = multiplierOf<uint64_t>();
}
