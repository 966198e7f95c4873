// The element-wise kernels but for those of arrays-math.h. What each does is specified by its twin in
// src/arrays/kernels. Included in a namespace for each set of instructions.

template <class T>
struct Arithmetic;
// What integers are computed in, so that no overflow is undefined.
template <> struct Arithmetic<uint8_t> { using Wide = uint32_t; using Signed = int8_t; };
template <> struct Arithmetic<uint16_t> { using Wide = uint32_t; using Signed = int16_t; };
template <> struct Arithmetic<uint32_t> { using Wide = uint32_t; using Signed = int32_t; };
template <> struct Arithmetic<uint64_t> { using Wide = uint64_t; using Signed = int64_t; };
template <> struct Arithmetic<int8_t> { using Wide = uint32_t; using Signed = int8_t; };
template <> struct Arithmetic<int16_t> { using Wide = uint32_t; using Signed = int16_t; };
template <> struct Arithmetic<int32_t> { using Wide = uint32_t; using Signed = int32_t; };
template <> struct Arithmetic<int64_t> { using Wide = uint64_t; using Signed = int64_t; };
template <> struct Arithmetic<float> { using Wide = float; using Signed = float; };
template <> struct Arithmetic<double> { using Wide = double; using Signed = double; };

template <class T>
constexpr bool isFloat = std::is_floating_point_v<T>;
template <class T>
using WideOf = typename Arithmetic<T>::Wide;

template <class F, class T, class R>
void unaryKernel(void* out, const void* a, const void*, const void*, size_t count) {
  R* const o = static_cast<R*>(out);
  const T* const x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (size_t i = 0; i < count; i++) o[i] = static_cast<R>(F::of(x[i]));
}

template <class F, class T, class R>
void binaryKernel(void* out, const void* a, const void* b, const void*, size_t count) {
  R* const o = static_cast<R*>(out);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
#pragma GCC ivdep
  for (size_t i = 0; i < count; i++) o[i] = static_cast<R>(F::of(x[i], y[i]));
}

// A comparison as another one with the operands the other way round, or with the opposite answer.
enum Reading : uint8_t { kPlain, kSwapped, kOpposite, kSwappedOpposite };

__attribute__((noinline)) void turnOver(uint8_t* answers, size_t count) {
  for (size_t i = 0; i < count; i++) answers[i] ^= 1;
}

template <Reading reading, class F, class T>
__attribute__((noinline)) void testKernel(void* out, const void* a, const void* b, const void* c, size_t count) {
  if constexpr (reading == kPlain) binaryKernel<F, T, uint8_t>(out, a, b, c, count);
  else if constexpr (reading == kSwapped) testKernel<kPlain, F, T>(out, b, a, c, count);
  else {
    testKernel<reading == kOpposite ? kPlain : kSwapped, F, T>(out, a, b, c, count);
    turnOver(static_cast<uint8_t*>(out), count);
  }
}

template <class T>
void whereKernel(void* out, const void* a, const void* b, const void* c, size_t count) {
  T* const o = static_cast<T*>(out);
  const uint8_t* const condition = static_cast<const uint8_t*>(a);
  const T* const x = static_cast<const T*>(b);
  const T* const y = static_cast<const T*>(c);
#pragma GCC ivdep
  for (size_t i = 0; i < count; i++) o[i] = condition[i] != 0 ? x[i] : y[i];
}

#define AETHER_UNARY(Name, expression)               \
  struct Name {                                      \
    template <class T>                               \
    static inline auto of(T x) { return expression; } \
  };
#define AETHER_BINARY(Name, expression)                   \
  struct Name {                                           \
    template <class T>                                    \
    static inline auto of(T x, T y) { return expression; } \
  };

AETHER_BINARY(Add, static_cast<WideOf<T>>(x) + static_cast<WideOf<T>>(y))
AETHER_BINARY(Subtract, static_cast<WideOf<T>>(x) - static_cast<WideOf<T>>(y))
AETHER_BINARY(Multiply, static_cast<WideOf<T>>(x) * static_cast<WideOf<T>>(y))
AETHER_BINARY(Divide, x / y)
AETHER_BINARY(And, x & y)
AETHER_BINARY(Or, x | y)
AETHER_BINARY(Xor, x ^ y)
AETHER_BINARY(Equal, x == y)
AETHER_BINARY(Less, x < y)
AETHER_BINARY(LessEqual, x <= y)
AETHER_BINARY(CopySign, static_cast<T>(__builtin_copysign(x, y)))
// The hypot of glibc 2.35 and later is another symbol; prebuilt addons take the older one, which all have.
#if defined(__GLIBC__) && defined(__x86_64__)
asm(".symver hypot, hypot@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
asm(".symver hypot, hypot@GLIBC_2.17");
#endif
AETHER_BINARY(Hypot, std::hypot(static_cast<double>(x), static_cast<double>(y)))
AETHER_BINARY(NextAfter, std::nextafter(x, y))
AETHER_BINARY(Atan2, std::atan2(static_cast<double>(x), static_cast<double>(y)))

struct Minimum {
  template <class T>
  static inline T of(T x, T y) {
    if constexpr (isFloat<T>) return (x <= y) | (x != x) ? x : y;
    return x <= y ? x : y;
  }
};

struct Maximum {
  template <class T>
  static inline T of(T x, T y) {
    if constexpr (isFloat<T>) return (x >= y) | (x != x) ? x : y;
    return x >= y ? x : y;
  }
};

// Of integers of at most 32 bits, by a double, which is many times faster than the processor's own division. It is
// exact: a quotient that is no integer is further from one than a double of that size is rounded. Not for a divisor 0.
template <class T>
inline int64_t shortFloorDivide(T x, T y) {
  const double quotient = static_cast<double>(x) / static_cast<double>(y);
  const auto whole = static_cast<int64_t>(quotient);
  return whole - (static_cast<double>(whole) > quotient ? 1 : 0);
}

// The remainder of a floor division: it has the sign of the divisor.
struct Remainder {
  static double of(double x, double y) {
    const double rest = std::fmod(x, y);
    if (rest == 0) return __builtin_copysign(0.0, y);
    return (rest < 0) == (y < 0) || rest != rest ? rest : rest + y;
  }
  static double of(float x, float y) { return of(static_cast<double>(x), static_cast<double>(y)); }
  template <class T>
  static T of(T x, T y) {
    if (y == 0) return 0;
    if constexpr (sizeof(T) <= 4) return static_cast<T>(x - shortFloorDivide(x, y) * static_cast<int64_t>(y));
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return 0;
      const T rest = static_cast<T>(x % y);
      return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
    } else {
      return static_cast<T>(x % y);
    }
  }
};

struct FloorDivide {
  static double of(double x, double y) {
    if (y == 0 || !std::isfinite(x) || !std::isfinite(y)) return x / y;
    const double quotient = (x - Remainder::of(x, y)) / y;
    if (quotient == 0) return std::signbit(x) != std::signbit(y) ? -0.0 : 0.0;
    const double floor = std::floor(quotient);
    return quotient - floor > 0.5 ? floor + 1 : floor;
  }
  static double of(float x, float y) { return of(static_cast<double>(x), static_cast<double>(y)); }
  template <class T>
  static T of(T x, T y) {
    if (y == 0) return 0;
    if constexpr (sizeof(T) <= 4) return static_cast<T>(shortFloorDivide(x, y));
    if constexpr (std::is_signed_v<T>) {
      // The least number by -1 wraps.
      if (y == -1) return static_cast<T>(0 - static_cast<WideOf<T>>(x));
      const T quotient = static_cast<T>(x / y);
      return x % y != 0 && (x < 0) != (y < 0) ? static_cast<T>(quotient - 1) : quotient;
    } else {
      return static_cast<T>(x / y);
    }
  }
};

struct Power {
  static double of(double x, double y) { return std::pow(x, y); }
  static double of(float x, float y) { return std::pow(static_cast<double>(x), static_cast<double>(y)); }
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_signed_v<T>)
      if (y < 0) return static_cast<T>(x == 1 ? 1 : x == -1 ? 1 - 2 * (y & 1) : 0);
    WideOf<T> result = 1, square = static_cast<WideOf<T>>(x);
    for (auto left = static_cast<uint64_t>(y); left != 0; left >>= 1) {
      if ((left & 1) != 0) result *= square;
      square *= square;
    }
    return static_cast<T>(result);
  }
};

struct LogAddExp {
  static double of(double x, double y) {
    if (x == y) return x + 0x1.62e42fefa39efp-1;
    return Maximum::of(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
  }
  static double of(float x, float y) { return of(static_cast<double>(x), static_cast<double>(y)); }
};

// Bits that are shifted by more than there are, or by a negative number, are gone.
struct LeftShift {
  template <class T>
  static inline WideOf<T> of(T x, T y) {
    constexpr auto bits = static_cast<WideOf<T>>(8 * sizeof(WideOf<T>));
    const auto by = static_cast<WideOf<T>>(y);
    return by < bits ? static_cast<WideOf<T>>(x) << (by & (bits - 1)) : 0;
  }
};

struct RightShift {
  template <class T>
  static inline T of(T x, T y) {
    constexpr auto bits = static_cast<WideOf<T>>(8 * sizeof(T));
    const auto by = static_cast<WideOf<T>>(y);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(x >> (by < bits ? by : bits - 1));
    return by < bits ? static_cast<T>(x >> (by & (bits - 1))) : 0;
  }
};

AETHER_UNARY(Negative, 0 - static_cast<WideOf<T>>(x))
AETHER_UNARY(NegativeFloat, -x)
AETHER_UNARY(Square, static_cast<WideOf<T>>(x) * static_cast<WideOf<T>>(x))
AETHER_UNARY(Reciprocal, static_cast<T>(1) / x)
AETHER_UNARY(Invert, ~static_cast<WideOf<T>>(x))
AETHER_UNARY(Not, x == 0)
AETHER_UNARY(Same, x)
AETHER_UNARY(Zero, x ^ x)
AETHER_UNARY(ZeroFloat, 0 * static_cast<int>(sizeof x))
AETHER_UNARY(One, (x ^ x) + 1)
AETHER_UNARY(Sign, (x > 0) - (x < 0))
AETHER_UNARY(SignFloat, x != x ? x : static_cast<T>((x > 0) - (x < 0)))
AETHER_UNARY(AbsInteger, x < 0 ? 0 - static_cast<WideOf<T>>(x) : static_cast<WideOf<T>>(x))
AETHER_UNARY(AbsFloat, static_cast<T>(__builtin_fabs(x)))
AETHER_UNARY(SignBit, __builtin_copysign(1.0, x) < 0)
AETHER_UNARY(IsNan, x != x)
AETHER_UNARY(IsInf, static_cast<T>(__builtin_fabs(x)) == static_cast<T>(__builtin_inf()))
AETHER_UNARY(IsFinite, static_cast<T>(__builtin_fabs(x)) < static_cast<T>(__builtin_inf()))
AETHER_UNARY(Sqrt, static_cast<T>(sizeof(T) == 4 ? __builtin_sqrtf(static_cast<float>(x)) : __builtin_sqrt(x)))
// Of 32 bits by way of trunc, of which the compiler makes vectors.
inline float floorOf(float x) {
  const float whole = __builtin_truncf(x);
  return whole - (whole > x ? 1.0f : 0.0f);
}
inline float ceilOf(float x) {
  const float whole = __builtin_truncf(x);
  return __builtin_copysignf(whole + (whole < x ? 1.0f : 0.0f), x);
}
AETHER_UNARY(Floor, static_cast<T>(sizeof(T) == 4 ? floorOf(static_cast<float>(x)) : __builtin_floor(x)))
AETHER_UNARY(Ceil, static_cast<T>(sizeof(T) == 4 ? ceilOf(static_cast<float>(x)) : __builtin_ceil(x)))
AETHER_UNARY(Trunc, static_cast<T>(sizeof(T) == 4 ? __builtin_truncf(static_cast<float>(x)) : __builtin_trunc(x)))
AETHER_UNARY(Round, static_cast<T>(sizeof(T) == 4 ? __builtin_rintf(static_cast<float>(x)) : __builtin_rint(x)))
#undef AETHER_UNARY
#undef AETHER_BINARY

// To an integer as a typed array stores a number: the whole part modulo 2^bits, and 0 for what is not finite.
template <class T>
inline uint64_t wrapped(T value) {
  const auto x = static_cast<double>(value);
  if (__builtin_fabs(x) < 0x1p62) return static_cast<uint64_t>(static_cast<int64_t>(x));
  if (!(__builtin_fabs(x) < __builtin_inf())) return 0;
  const double rest = std::fmod(x, 0x1p64);
  return rest < 0 ? 0 - static_cast<uint64_t>(-rest) : static_cast<uint64_t>(rest);
}

template <class T, class R>
void castKernel(void* out, const void* a, const void*, const void*, size_t count) {
  R* const o = static_cast<R*>(out);
  const T* const x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (size_t i = 0; i < count; i++) {
    if constexpr (isFloat<T> && !isFloat<R>) o[i] = static_cast<R>(wrapped(x[i]));
    else if constexpr (std::is_same_v<R, float>) o[i] = static_cast<R>(static_cast<double>(x[i]));
    else o[i] = static_cast<R>(x[i]);
  }
}

// From and to bool and complex numbers.
template <class T>
void toBool(void* out, const void* a, const void*, const void*, size_t count) {
  for (size_t i = 0; i < count; i++) static_cast<uint8_t*>(out)[i] = static_cast<const T*>(a)[i] != 0;
}
template <class T>
void complexToBool(void* out, const void* a, const void*, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < count; i++) static_cast<uint8_t*>(out)[i] = x[2 * i] != 0 || x[2 * i + 1] != 0;
}
template <class T, class R>
void toComplex(void* out, const void* a, const void*, const void*, size_t count) {
  R* const o = static_cast<R*>(out);
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < count; i++) {
    o[2 * i] = static_cast<R>(x[i]);
    o[2 * i + 1] = 0;
  }
}
template <class T, class R, int part>
void partOf(void* out, const void* a, const void*, const void*, size_t count) {
  for (size_t i = 0; i < count; i++) static_cast<R*>(out)[i] = static_cast<R>(static_cast<const T*>(a)[2 * i + part]);
}
template <class T, class R>
void complexToComplex(void* out, const void* a, const void*, const void*, size_t count) {
  castKernel<T, R>(out, a, nullptr, nullptr, 2 * count);
}

template <class F, class T>
void complexBinary(void* out, const void* a, const void* b, const void*, size_t count) {
  binaryKernel<F, T, T>(out, a, b, nullptr, 2 * count);
}
template <class T>
void complexNegative(void* out, const void* a, const void*, const void*, size_t count) {
  unaryKernel<NegativeFloat, T, T>(out, a, nullptr, nullptr, 2 * count);
}
// Every step is rounded to the type of the parts.
template <class T>
void complexMultiply(void* out, const void* a, const void* b, const void*, size_t count) {
  T* const o = static_cast<T*>(out);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  for (size_t i = 0; i < 2 * count; i += 2) {
    const T xr = x[i], xi = x[i + 1], yr = y[i], yi = y[i + 1];
    o[i] = xr * yr - xi * yi;
    o[i + 1] = xr * yi + xi * yr;
  }
}
template <class T>
void complexSquare(void* out, const void* a, const void*, const void*, size_t count) {
  complexMultiply<T>(out, a, a, nullptr, count);
}
// R. L. Smith, "Algorithm 116: Complex division", 1962.
template <class T>
inline void divideComplex(T* o, T xr, T xi, T yr, T yi) {
  if (yr == 0 && yi == 0) {
    o[0] = xr / static_cast<T>(__builtin_fabs(yr));
    o[1] = xi / static_cast<T>(__builtin_fabs(yr));
  } else if (__builtin_fabs(yr) >= __builtin_fabs(yi)) {
    const T ratio = yi / yr, scale = 1 / (yr + yi * ratio);
    o[0] = (xr + xi * ratio) * scale;
    o[1] = (xi - xr * ratio) * scale;
  } else {
    const T ratio = yr / yi, scale = 1 / (yi + yr * ratio);
    o[0] = (xr * ratio + xi) * scale;
    o[1] = (xi * ratio - xr) * scale;
  }
}
template <class T>
void complexDivide(void* out, const void* a, const void* b, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  for (size_t i = 0; i < 2 * count; i += 2) divideComplex(static_cast<T*>(out) + i, x[i], x[i + 1], y[i], y[i + 1]);
}
template <class T>
void complexReciprocal(void* out, const void* a, const void*, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < 2 * count; i += 2)
    divideComplex(static_cast<T*>(out) + i, T{1}, T{0}, x[i], x[i + 1]);
}
template <class T>
void complexAbs(void* out, const void* a, const void*, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < count; i++)
    static_cast<T*>(out)[i] = static_cast<T>(std::hypot(static_cast<double>(x[2 * i]), static_cast<double>(x[2 * i + 1])));
}
template <class T>
void complexIsFinite(void* out, const void* a, const void*, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < count; i++)
    static_cast<uint8_t*>(out)[i] = std::isfinite(x[2 * i]) && std::isfinite(x[2 * i + 1]);
}
template <class T>
void complexIsInf(void* out, const void* a, const void*, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < count; i++)
    static_cast<uint8_t*>(out)[i] = std::isinf(x[2 * i]) || std::isinf(x[2 * i + 1]);
}
template <class T>
void complexIsNan(void* out, const void* a, const void*, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < count; i++)
    static_cast<uint8_t*>(out)[i] = std::isnan(x[2 * i]) || std::isnan(x[2 * i + 1]);
}
template <class T>
void complexConj(void* out, const void* a, const void*, const void*, size_t count) {
  T* const o = static_cast<T*>(out);
  const T* const x = static_cast<const T*>(a);
  for (size_t i = 0; i < 2 * count; i += 2) {
    o[i] = x[i];
    o[i + 1] = -x[i + 1];
  }
}
template <class T, bool isEqual>
void complexEqual(void* out, const void* a, const void* b, const void*, size_t count) {
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  for (size_t i = 0; i < count; i++)
    static_cast<uint8_t*>(out)[i] = (x[2 * i] == y[2 * i] && x[2 * i + 1] == y[2 * i + 1]) == isEqual;
}

// ---- the table
// -------------------------------------------------------------------------------------------------------
using Row = Kernel[kDTypes];

// The same code for integers with and without sign.
template <class F>
void setBits(Row& row) {
#if AETHER_NARROW
  row[kInt8] = row[kUint8] = binaryKernel<F, uint8_t, uint8_t>;
  row[kInt16] = row[kUint16] = binaryKernel<F, uint16_t, uint16_t>;
#endif
  row[kInt32] = row[kUint32] = binaryKernel<F, uint32_t, uint32_t>;
  row[kInt64] = row[kUint64] = binaryKernel<F, uint64_t, uint64_t>;
}
template <class F>
void setBitsUnary(Row& row) {
#if AETHER_NARROW
  row[kInt8] = row[kUint8] = unaryKernel<F, uint8_t, uint8_t>;
  row[kInt16] = row[kUint16] = unaryKernel<F, uint16_t, uint16_t>;
#endif
  row[kInt32] = row[kUint32] = unaryKernel<F, uint32_t, uint32_t>;
  row[kInt64] = row[kUint64] = unaryKernel<F, uint64_t, uint64_t>;
}
template <class F, Reading reading = kPlain>
void setBitsTest(Row& row) {
  row[kBool] = row[kInt8] = row[kUint8] = testKernel<reading, F, uint8_t>;
#if AETHER_NARROW
  row[kInt16] = row[kUint16] = testKernel<reading, F, uint16_t>;
#endif
  row[kInt32] = row[kUint32] = testKernel<reading, F, uint32_t>;
  row[kInt64] = row[kUint64] = testKernel<reading, F, uint64_t>;
}
template <class F>
void setIntegers(Row& row) {
#if AETHER_NARROW
  row[kInt8] = binaryKernel<F, int8_t, int8_t>;
  row[kInt16] = binaryKernel<F, int16_t, int16_t>;
#endif
  row[kInt32] = binaryKernel<F, int32_t, int32_t>;
  row[kInt64] = binaryKernel<F, int64_t, int64_t>;
#if AETHER_NARROW
  row[kUint8] = binaryKernel<F, uint8_t, uint8_t>;
  row[kUint16] = binaryKernel<F, uint16_t, uint16_t>;
#endif
  row[kUint32] = binaryKernel<F, uint32_t, uint32_t>;
  row[kUint64] = binaryKernel<F, uint64_t, uint64_t>;
}
template <class F, Reading reading = kPlain>
void setIntegersTest(Row& row) {
#if AETHER_NARROW
  row[kInt8] = testKernel<reading, F, int8_t>;
  row[kInt16] = testKernel<reading, F, int16_t>;
#endif
  row[kInt32] = testKernel<reading, F, int32_t>;
  row[kInt64] = testKernel<reading, F, int64_t>;
#if AETHER_NARROW
  row[kUint8] = testKernel<reading, F, uint8_t>;
  row[kUint16] = testKernel<reading, F, uint16_t>;
#endif
  row[kUint32] = testKernel<reading, F, uint32_t>;
  row[kUint64] = testKernel<reading, F, uint64_t>;
}
template <class F>
void setFloats(Row& row) {
  row[kFloat32] = binaryKernel<F, float, float>;
  row[kFloat64] = binaryKernel<F, double, double>;
}
template <class F, Reading reading = kPlain>
void setFloatsTest(Row& row) {
  row[kFloat32] = testKernel<reading, F, float>;
  row[kFloat64] = testKernel<reading, F, double>;
}
template <class F>
void setFloatsUnary(Row& row) {
  row[kFloat32] = unaryKernel<F, float, float>;
  row[kFloat64] = unaryKernel<F, double, double>;
}
template <class F>
void setFloatsUnaryTest(Row& row) {
  row[kFloat32] = unaryKernel<F, float, uint8_t>;
  row[kFloat64] = unaryKernel<F, double, uint8_t>;
}
void setSame(Row& row) {
  setBitsUnary<Same>(row);
  setFloatsUnary<Same>(row);
}

template <class T>
void setCastsFrom(Row& row) {
  row[kBool] = toBool<T>;
#if AETHER_NARROW
  row[kInt8] = row[kUint8] = castKernel<T, uint8_t>;
  row[kInt16] = row[kUint16] = castKernel<T, uint16_t>;
#endif
  row[kInt32] = row[kUint32] = castKernel<T, uint32_t>;
  row[kInt64] = row[kUint64] = castKernel<T, uint64_t>;
  row[kFloat32] = castKernel<T, float>;
  row[kFloat64] = castKernel<T, double>;
#if AETHER_NARROW
  row[kComplex64] = toComplex<T, float>;
  row[kComplex128] = toComplex<T, double>;
#endif
}

void setCasts(Row (&casts)[kDTypes]) {
#if AETHER_NARROW
  setCastsFrom<int8_t>(casts[kInt8]);
  setCastsFrom<int16_t>(casts[kInt16]);
  setCastsFrom<uint8_t>(casts[kUint8]);
  setCastsFrom<uint16_t>(casts[kUint16]);
#endif
  setCastsFrom<int32_t>(casts[kInt32]);
  setCastsFrom<int64_t>(casts[kInt64]);
  setCastsFrom<uint32_t>(casts[kUint32]);
  setCastsFrom<uint64_t>(casts[kUint64]);
  setCastsFrom<float>(casts[kFloat32]);
  setCastsFrom<double>(casts[kFloat64]);
  for (size_t to = 0; to < kDTypes; to++) casts[kBool][to] = casts[kUint8][to];
  casts[kComplex64][kBool] = complexToBool<float>;
  casts[kComplex128][kBool] = complexToBool<double>;
  casts[kComplex64][kFloat32] = partOf<float, float, 0>;
  casts[kComplex64][kFloat64] = partOf<float, double, 0>;
  casts[kComplex128][kFloat32] = partOf<double, float, 0>;
  casts[kComplex128][kFloat64] = partOf<double, double, 0>;
  casts[kComplex64][kComplex64] = complexToComplex<float, float>;
  casts[kComplex64][kComplex128] = complexToComplex<float, double>;
  casts[kComplex128][kComplex64] = complexToComplex<double, float>;
  casts[kComplex128][kComplex128] = complexToComplex<double, double>;
}

void fillBinary(Row (&table)[kOperations]) {
#if AETHER_NARROW
  // Computed one by one with any instructions.
  setIntegers<FloorDivide>(table[op_floor_divide]);
  setIntegers<Remainder>(table[op_remainder]);
  setIntegers<Power>(table[op_pow]);
  setFloats<Power>(table[op_pow]);
  setFloats<Hypot>(table[op_hypot]);
  setFloats<NextAfter>(table[op_nextafter]);
  setFloats<Atan2>(table[op_atan2]);
  setFloats<LogAddExp>(table[op_logaddexp]);
#endif
  setBits<Add>(table[op_add]);
  setFloats<Add>(table[op_add]);
  setBits<Subtract>(table[op_subtract]);
  setFloats<Subtract>(table[op_subtract]);
  setBits<Multiply>(table[op_multiply]);
  setFloats<Multiply>(table[op_multiply]);
  setFloats<Divide>(table[op_divide]);
  setFloats<FloorDivide>(table[op_floor_divide]);
  setFloats<Remainder>(table[op_remainder]);
  setIntegers<Minimum>(table[op_minimum]);
  setFloats<Minimum>(table[op_minimum]);
  setIntegers<Maximum>(table[op_maximum]);
  setFloats<Maximum>(table[op_maximum]);
  setFloats<CopySign>(table[op_copysign]);
  setBits<And>(table[op_bitwise_and]);
  setBits<Or>(table[op_bitwise_or]);
  setBits<Xor>(table[op_bitwise_xor]);
  for (const Operation operation : {op_bitwise_and, op_bitwise_or, op_bitwise_xor})
    table[operation][kBool] = table[operation][kUint8];
  table[op_logical_and][kBool] = table[op_bitwise_and][kBool];
  table[op_logical_or][kBool] = table[op_bitwise_or][kBool];
  table[op_logical_xor][kBool] = table[op_bitwise_xor][kBool];
  setBits<LeftShift>(table[op_bitwise_left_shift]);
  setIntegers<RightShift>(table[op_bitwise_right_shift]);
  setBitsTest<Equal>(table[op_equal]);
  setFloatsTest<Equal>(table[op_equal]);
  setBitsTest<Equal, kOpposite>(table[op_not_equal]);
  setFloatsTest<Equal, kOpposite>(table[op_not_equal]);
  setIntegersTest<Less>(table[op_less]);
  setFloatsTest<Less>(table[op_less]);
  setIntegersTest<Less, kSwappedOpposite>(table[op_less_equal]);
  setFloatsTest<LessEqual>(table[op_less_equal]);
  setIntegersTest<Less, kSwapped>(table[op_greater]);
  setFloatsTest<Less, kSwapped>(table[op_greater]);
  setIntegersTest<Less, kOpposite>(table[op_greater_equal]);
  // A NaN is neither less nor not less.
  setFloatsTest<LessEqual, kSwapped>(table[op_greater_equal]);
  Row& where = table[op_where];
  where[kBool] = where[kInt8] = where[kUint8] = whereKernel<uint8_t>;
  where[kInt16] = where[kUint16] = whereKernel<uint16_t>;
  where[kInt32] = where[kUint32] = where[kFloat32] = whereKernel<uint32_t>;
  where[kInt64] = where[kUint64] = where[kFloat64] = where[kComplex64] = whereKernel<uint64_t>;
  where[kComplex128] = whereKernel<Sixteen>;
}

void fillUnary(Row (&table)[kOperations]) {
  Row& absolute = table[op_abs];
  absolute[kInt8] = unaryKernel<AbsInteger, int8_t, int8_t>;
  absolute[kInt16] = unaryKernel<AbsInteger, int16_t, int16_t>;
  absolute[kInt32] = unaryKernel<AbsInteger, int32_t, int32_t>;
  absolute[kInt64] = unaryKernel<AbsInteger, int64_t, int64_t>;
  setFloatsUnary<AbsFloat>(absolute);
  setBitsUnary<Negative>(table[op_negative]);
  setFloatsUnary<NegativeFloat>(table[op_negative]);
  Row& sign = table[op_sign];
  setBitsUnary<Sign>(sign);
  sign[kInt8] = unaryKernel<Sign, int8_t, int8_t>;
  sign[kInt16] = unaryKernel<Sign, int16_t, int16_t>;
  sign[kInt32] = unaryKernel<Sign, int32_t, int32_t>;
  sign[kInt64] = unaryKernel<Sign, int64_t, int64_t>;
  setFloatsUnary<SignFloat>(sign);
  setBitsUnary<Square>(table[op_square]);
  setFloatsUnary<Square>(table[op_square]);
  setFloatsUnary<Reciprocal>(table[op_reciprocal]);
  setBitsUnary<Invert>(table[op_bitwise_invert]);
  table[op_logical_not][kBool] = table[op_bitwise_invert][kBool] = unaryKernel<Not, uint8_t, uint8_t>;
  setFloatsUnaryTest<SignBit>(table[op_signbit]);
  setFloatsUnaryTest<IsFinite>(table[op_isfinite]);
  setFloatsUnaryTest<IsInf>(table[op_isinf]);
  setFloatsUnaryTest<IsNan>(table[op_isnan]);
  for (const Operation operation : {op_positive, op_real, op_conj, op_ceil, op_floor, op_trunc, op_round})
    setSame(table[operation]);
  for (size_t unsign : {kUint8, kUint16, kUint32, kUint64}) absolute[unsign] = table[op_positive][unsign];
  setBitsUnary<Zero>(table[op_imag]);
  setFloatsUnary<ZeroFloat>(table[op_imag]);
  setFloatsUnary<Sqrt>(table[op_sqrt]);
  setFloatsUnary<Floor>(table[op_floor]);
  setFloatsUnary<Ceil>(table[op_ceil]);
  setFloatsUnary<Trunc>(table[op_trunc]);
  setFloatsUnary<Round>(table[op_round]);
  // Integers are finite.
  for (const Operation operation : {op_isfinite, op_isinf, op_isnan}) {
    Row& row = table[operation];
    row[kInt8] = row[kUint8] = operation == op_isfinite ? unaryKernel<One, uint8_t, uint8_t> : unaryKernel<Zero, uint8_t, uint8_t>;
    row[kInt16] = row[kUint16] = operation == op_isfinite ? unaryKernel<One, uint16_t, uint8_t> : unaryKernel<Zero, uint16_t, uint8_t>;
    row[kInt32] = row[kUint32] = operation == op_isfinite ? unaryKernel<One, uint32_t, uint8_t> : unaryKernel<Zero, uint32_t, uint8_t>;
    row[kInt64] = row[kUint64] = operation == op_isfinite ? unaryKernel<One, uint64_t, uint8_t> : unaryKernel<Zero, uint64_t, uint8_t>;
  }
}

template <class T>
void fillComplex(Row (&table)[kOperations], DType type) {
  table[op_add][type] = complexBinary<Add, T>;
  table[op_subtract][type] = complexBinary<Subtract, T>;
  table[op_multiply][type] = complexMultiply<T>;
  table[op_divide][type] = complexDivide<T>;
  table[op_square][type] = complexSquare<T>;
  table[op_reciprocal][type] = complexReciprocal<T>;
  table[op_abs][type] = complexAbs<T>;
  table[op_isfinite][type] = complexIsFinite<T>;
  table[op_isinf][type] = complexIsInf<T>;
  table[op_isnan][type] = complexIsNan<T>;
  table[op_negative][type] = complexNegative<T>;
  table[op_positive][type] = complexToComplex<T, T>;
  table[op_conj][type] = complexConj<T>;
  table[op_real][type] = partOf<T, T, 0>;
  table[op_imag][type] = partOf<T, T, 1>;
  table[op_equal][type] = complexEqual<T, true>;
  table[op_not_equal][type] = complexEqual<T, false>;
}

void fillElementwise(Kernels* table) {
  fillBinary(table->elementwise);
  fillUnary(table->elementwise);
  fillComplex<float>(table->elementwise, kComplex64);
  fillComplex<double>(table->elementwise, kComplex128);
  setCasts(table->casts);
}
