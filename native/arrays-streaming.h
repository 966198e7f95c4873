// Writing past the caches, with AVX. A line that is written whole is not read before, and pushes nothing out.

constexpr size_t kStreamWidth = 32;

// How many bytes are before the next place that a vector may be streamed to.
inline size_t bytesToAlign(const void* out, size_t bytes) {
  return std::min(bytes, (kStreamWidth - reinterpret_cast<uintptr_t>(out) % kStreamWidth) % kStreamWidth);
}

void streamBytes(uint8_t* out, const uint8_t* from, size_t bytes) {
  size_t at = bytesToAlign(out, bytes);
  if (at != 0) memcpy(out, from, at);
  for (; at + kStreamWidth <= bytes; at += kStreamWidth)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
  if (at != bytes) memcpy(out + at, from + at, bytes - at);
}

void endStreaming() { _mm_sfence(); }

template <class F, class T>
void streamedKernel(void* out, const void* a, const void* b, const void*, size_t count) {
  typedef T Vector __attribute__((vector_size(kStreamWidth), aligned(sizeof(T)), may_alias));
  T* const o = static_cast<T*>(out);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  size_t i = 0;
  for (const size_t first = bytesToAlign(out, count * sizeof(T)) / sizeof(T); i < first; i++) o[i] = F::of(x[i], y[i]);
  for (; i + kStreamWidth / sizeof(T) <= count; i += kStreamWidth / sizeof(T)) {
    const Vector both = F::of(*reinterpret_cast<const Vector*>(x + i), *reinterpret_cast<const Vector*>(y + i));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(o + i), (__m256i)both);
  }
  for (; i < count; i++) o[i] = F::of(x[i], y[i]);
}

struct StreamedAdd {
  template <class V>
  static V of(V x, V y) { return x + y; }
};
struct StreamedSubtract {
  template <class V>
  static V of(V x, V y) { return x - y; }
};
struct StreamedMultiply {
  template <class V>
  static V of(V x, V y) { return x * y; }
};
struct StreamedDivide {
  template <class V>
  static V of(V x, V y) { return x / y; }
};

template <class T>
void setStreamed(Kernel* kernels) {
  kernels[op_add] = streamedKernel<StreamedAdd, T>;
  kernels[op_subtract] = streamedKernel<StreamedSubtract, T>;
  kernels[op_multiply] = streamedKernel<StreamedMultiply, T>;
  kernels[op_divide] = streamedKernel<StreamedDivide, T>;
}

void fillStreaming(Kernels* table) {
  table->stream = streamBytes;
  table->endStream = endStreaming;
  setStreamed<float>(table->streamedFloats);
  setStreamed<double>(table->streamedDoubles);
}
