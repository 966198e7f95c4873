// Functions of 64-bit floating-point numbers over blocks of elements, in loops that a compiler makes vectors of. Every
// product and sum is rounded, none is fused, so that the results are the same on all processors.
//
// Each function is right for the operands of its `fits`. The rest (huge, infinite, NaN) is computed one by one by the C
// library. Polynomials are near-minimax (Chebyshev), computed with 90 digits. Reduction of arguments: Cody and Waite,
// "Software Manual for the Elementary Functions", 1980; logarithm by atanh(f / (2 + f)) as Tang, ACM TOMS 16 (4), 1990.
//
// This file is included in a namespace for each set of instructions.

constexpr size_t kMathBlock = 256;
// Added to a number below 2^51, it leaves the nearest integer in the low bits.
constexpr double kRounder = 0x1.8p52;

inline uint64_t bitsOf(double value) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline double doubleOf(uint64_t bits) {
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

#if AETHER_INTRINSICS == 512
typedef double EightDoubles __attribute__((vector_size(64)));
typedef uint64_t EightWords __attribute__((vector_size(64)));
inline EightWords bitsOf(EightDoubles values) { return (EightWords)values; }
inline EightDoubles doubleOf(EightWords bits) { return (EightDoubles)bits; }
#endif

// exp(r) - 1 - r for |r| <= log(2) / 2. With c = r - (r coth(r / 2) - 2), which is r less a series of r^2, it is
// r c / (2 - c): half the terms of a series of r itself, and fewer of them wait for each other.
inline double expTail(double r) {
  const double z = r * r, y = z * z;
  const double high = (0x1.1566ab5c0cca8p-14 - 0x1.bbd53204bb10fp-20 * z) + 0x1.63f262586d051p-25 * y;
  const double c = r - z * ((0x1.5555555555553p-3 - 0x1.6c16c16c0abe6p-9 * z) + y * high);
  return r * c / (2 - c);
}

struct Exponent {
  double high, low;  // the rest, in two parts
  uint64_t power;    // k, where the bits of a number have its exponent
};

inline Exponent splitExponent(double x) {
  const double shifted = x * 0x1.71547652b82fep+0 + kRounder;
  const double k = shifted - kRounder;
  return {x - k * 0x1.62e42feep-1, k * 0x1.a39ef35793c76p-33, bitsOf(shifted) << 52};
}

// exp(x) - 1 but for the power: exp(x) = 2^k (1 + rest).
inline double restOf(const Exponent& e) { return e.high + (expTail(e.high - e.low) - e.low); }

// 2^(j / 8)
constexpr double kEighths[] = {0x1p+0,
                               0x1.172b83c7d517bp+0,
                               0x1.306fe0a31b715p+0,
                               0x1.4bfdad5362a27p+0,
                               0x1.6a09e667f3bcdp+0,
                               0x1.8ace5422aa0dbp+0,
                               0x1.ae89f995ad3adp+0,
                               0x1.d5818dcfba487p+0};

// exp(x) of one number or a vector of them, as 2^(k / 8) exp(r). `powerOf` gives kEighths by the last three bits.
template <class V, class PowerOf>
inline V expOf(V x, PowerOf powerOf) {
  const V shifted = x * 0x1.71547652b82fep+3 + kRounder;
  const V k = shifted - kRounder;
  const V r = (x - k * 0x1.62e42fecp-4) - k * 0x1.d1cf79abc9e3bp-35;
  const auto bits = bitsOf(shifted);
  const V power = powerOf(bits);
  const V z = r * r;
  // (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 16, in pairs, of which few wait for each other.
  const V high = (0x1.5555554e93acap-5 + 0x1.1111110e10556p-7 * r) + z * (0x1.6c1b7131a0993p-10 + 0x1.a01e2c15a33f3p-13 * r);
  const V q = (0x1.000000000002ep-1 + 0x1.555555555556ap-3 * r) + z * high;
  return doubleOf(bitsOf(power + power * (r + z * q)) + ((bits & ~uint64_t{7}) << 49));
}

constexpr double kExpMax = 708;

struct Exp {
  static bool fits(double x) { return __builtin_fabs(x) < kExpMax; }
  static double of(double x) {
    return expOf(x, [](uint64_t bits) { return kEighths[bits & 7]; });
  }
  static double rest(double x) { return std::exp(x); }
};

inline double expm1Of(double x) {
  const Exponent e = splitExponent(x);
  const double power = doubleOf(e.power + 0x3ff0000000000000);
  return (power - 1) + power * restOf(e);
}

struct Expm1 {
  // Tiny ones keep their sign and their last place.
  static bool fits(double x) { return (__builtin_fabs(x) < 708) & (__builtin_fabs(x) > 0x1p-54); }
  static double of(double x) { return expm1Of(x); }
  static double rest(double x) { return std::expm1(x); }
};

struct Logarithm {
  double k;        // the exponent
  double f, tail;  // log(1 + f) = f - tail
};

inline Logarithm splitLogarithm(double x) {
  // From sqrt(1/2) to sqrt(2): the exponent counts from there, and is biased to be positive.
  const uint64_t bits = bitsOf(x) - 0x3fe6a09e667f3bcd;
  const uint64_t exponent = (bits + 0x4000000000000000) >> 52;
  const double k = doubleOf(exponent + 0x4330000000000000) - (0x1p52 + 1024);
  const double f = doubleOf((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd) - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  double r = 0x1.2b6688a387e03p-3;
  r = r * z + 0x1.39fd392179a95p-3;
  r = r * z + 0x1.7462bd8f7796ep-3;
  r = r * z + 0x1.c71c62c639fdep-3;
  r = r * z + 0x1.2492492e09d4dp-2;
  r = r * z + 0x1.9999999995204p-2;
  r = r * z + 0x1.5555555555558p-1;
  const double half = 0.5 * f * f;
  return {k, f, half - s * (half + z * r)};
}

struct Log {
  static bool fits(double x) { return (x >= 0x1p-1022) & (x < __builtin_inf()); }
  static double of(double x) {
    const Logarithm l = splitLogarithm(x);
    return l.k * 0x1.62e42feep-1 - ((l.tail - l.k * 0x1.a39ef35793c76p-33) - l.f);
  }
  static double rest(double x) { return std::log(x); }
};

struct Log1p {
  static bool fits(double x) { return (x > -0.99) & (x < 0x1p1000) & (__builtin_fabs(x) > 0x1p-54); }
  static double of(double x) {
    const double u = 1 + x;
    // What the sum lost: of the smaller of both.
    const double lost = __builtin_fabs(x) < 1 ? x - (u - 1) : 1 - (u - x);
    const Logarithm l = splitLogarithm(u);
    return l.k * 0x1.62e42feep-1 - ((l.tail - (l.k * 0x1.a39ef35793c76p-33 + lost / u)) - l.f);
  }
  static double rest(double x) { return std::log1p(x); }
};

// f - tail in two parts, the first of 26 bits, so that its products with numbers of 26 bits are exact.
struct TwoParts {
  double high, low;
};
inline TwoParts inTwo(const Logarithm& l) {
  const double whole = l.f - l.tail;
  const double high = doubleOf(bitsOf(whole) & 0xfffffffff8000000);
  return {high, (l.f - high) - l.tail};
}

struct Log2 {
  static bool fits(double x) { return Log::fits(x); }
  static double of(double x) {
    const Logarithm l = splitLogarithm(x);
    const TwoParts p = inTwo(l);
    const double first = p.high * 0x1.715476p+0;
    const double rest = (p.high + p.low) * 0x1.4ae0bf85ddf44p-26 + p.low * 0x1.715476p+0;
    const double sum = l.k + first;
    return sum + ((l.k - sum) + first + rest);
  }
  static double rest(double x) { return std::log2(x); }
};

struct Log10 {
  static bool fits(double x) { return Log::fits(x); }
  static double of(double x) {
    const Logarithm l = splitLogarithm(x);
    const TwoParts p = inTwo(l);
    const double first = p.high * 0x1.bcb7b1p-2;
    const double whole = l.k * 0x1.34413508p-2;
    const double rest = l.k * 0x1.f79fef311f12bp-34 + (p.high + p.low) * 0x1.49b9438ca9aaep-28 + p.low * 0x1.bcb7b1p-2;
    const double sum = whole + first;
    return sum + ((whole - sum) + first + rest);
  }
  static double rest(double x) { return std::log10(x); }
};

struct Quadrant {
  double high, low;  // the angle less a multiple of pi / 2, in two parts
  uint64_t number;   // of that multiple
};

inline Quadrant splitAngle(double x) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRounder;
  const double k = shifted - kRounder;
  // Products with the first two parts of pi / 2, of 33 bits each, are exact.
  const double first = x - k * 0x1.921fb544p+0;
  const double second = k * 0x1.0b4611a6p-34;
  const double between = first - second;
  const double third = k * 0x1.3198a2e037073p-69 - ((first - between) - second);
  const double high = between - third;
  return {high, (between - high) - third, bitsOf(shifted)};
}

inline double sineOf(const Quadrant& q) {
  const double z = q.high * q.high;
  double p = 0x1.5dfb39c3139b6p-33;
  p = p * z - 0x1.ae5fde7f12068p-26;
  p = p * z + 0x1.71de376b644ccp-19;
  p = p * z - 0x1.a01a019e620eep-13;
  p = p * z + 0x1.1111111110b23p-7;
  const double cube = z * q.high;
  // sin(h + l) = h + (l (1 - h^2 / 2) + h^3 (-1/6 + h^2 p))
  return q.high - ((z * (0.5 * q.low - cube * p) - q.low) + cube * 0x1.5555555555555p-3);
}

inline double cosineOf(const Quadrant& q) {
  const double z = q.high * q.high;
  double p = -0x1.906dbf4fda044p-37;
  p = p * z + 0x1.1eeb52a201da3p-29;
  p = p * z - 0x1.27e4fa0241f7cp-22;
  p = p * z + 0x1.a01a019f3dde1p-16;
  p = p * z - 0x1.6c16c16c1691fp-10;
  p = p * z + 0x1.5555555555555p-5;
  const double half = 0.5 * z;
  const double most = 1 - half;
  return most + (((1 - most) - half) + (z * z * p - q.high * q.low));
}

inline bool isAngle(double x) { return __builtin_fabs(x) < 0x1p18; }

struct Sin {
  static bool fits(double x) { return isAngle(x) & (__builtin_fabs(x) > 0x1p-500); }
  static double of(double x) {
    const Quadrant q = splitAngle(x);
    const double value = (q.number & 1) != 0 ? cosineOf(q) : sineOf(q);
    return doubleOf(bitsOf(value) ^ ((q.number & 2) << 62));
  }
  static double rest(double x) { return std::sin(x); }
};

struct Cos {
  static bool fits(double x) { return isAngle(x); }
  static double of(double x) {
    const Quadrant q = splitAngle(x);
    const double value = (q.number & 1) != 0 ? sineOf(q) : cosineOf(q);
    return doubleOf(bitsOf(value) ^ (((q.number + 1) & 2) << 62));
  }
  static double rest(double x) { return std::cos(x); }
};

struct Tan {
  static bool fits(double x) { return Sin::fits(x); }
  static double of(double x) {
    const Quadrant q = splitAngle(x);
    const double sine = sineOf(q), cosine = cosineOf(q);
    const bool isOdd = (q.number & 1) != 0;
    const double value = (isOdd ? cosine : sine) / (isOdd ? sine : cosine);
    return doubleOf(bitsOf(value) ^ ((q.number & 1) << 63));
  }
  static double rest(double x) { return std::tan(x); }
};

struct Tanh {
  static bool fits(double x) { return (__builtin_fabs(x) < 20) & (__builtin_fabs(x) > 0x1p-54); }
  static double of(double x) {
    const double t = expm1Of(2 * __builtin_fabs(x));
    return __builtin_copysign(t / (t + 2), x);
  }
  static double rest(double x) { return std::tanh(x); }
};

struct Sinh {
  static bool fits(double x) { return (__builtin_fabs(x) < 700) & (__builtin_fabs(x) > 0x1p-54); }
  static double of(double x) {
    const double t = expm1Of(__builtin_fabs(x));
    return __builtin_copysign(0.5 * (t + t / (t + 1)), x);
  }
  static double rest(double x) { return std::sinh(x); }
};

struct Cosh {
  static bool fits(double x) { return __builtin_fabs(x) < 700; }
  static double of(double x) {
    const Exponent e = splitExponent(__builtin_fabs(x));
    const double t = doubleOf(bitsOf(1 + restOf(e)) + e.power);
    return 0.5 * t + 0.5 / t;
  }
  static double rest(double x) { return std::cosh(x); }
};

// atan(x) by the angle of 0, pi / 4 or pi / 2 that is nearest.
struct Atan {
  static bool fits(double x) { return (__builtin_fabs(x) < 0x1p60) & (__builtin_fabs(x) > 0x1p-500); }
  static double of(double x) {
    const double a = __builtin_fabs(x);
    const bool isMiddle = a > 0x1.a827999fcef32p-2, isLarge = a > 0x1.3504f333f9de6p+1;
    const double upper = isLarge ? -1.0 : isMiddle ? a - 1 : a;
    const double lower = isLarge ? a : isMiddle ? a + 1 : 1.0;
    const double t = upper / lower;
    const double high = isLarge ? 0x1.921fb54442d18p+0 : isMiddle ? 0x1.921fb54442d18p-1 : 0.0;
    const double low = isLarge ? 0x1.1a62633145c07p-54 : isMiddle ? 0x1.1a62633145c07p-55 : 0.0;
    const double z = t * t;
    double p = -0x1.355ae1fe465f5p-6;
    p = p * z + 0x1.3f63e6e441d3dp-5;
    p = p * z - 0x1.9fe7006e7a9bdp-5;
    p = p * z + 0x1.dfc3cf85f40d7p-5;
    p = p * z - 0x1.10f8768ae01e9p-4;
    p = p * z + 0x1.3b123e394e01dp-4;
    p = p * z - 0x1.745d098efb5fep-4;
    p = p * z + 0x1.c71c717b0de45p-4;
    p = p * z - 0x1.2492492425bfap-3;
    p = p * z + 0x1.9999999999207p-3;
    p = p * z - 0x1.5555555555555p-2;
    return __builtin_copysign(high + (t + (t * z * p + low)), x);
  }
  static double rest(double x) { return std::atan(x); }
};

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// The functions of float32 that have formulas of their own are off by less than 1.5 units in the last place.
inline float floatExp(float x) {
  constexpr float rounder = 0x1.8p23f;
  const float shifted = x * 0x1.715476p+0f + rounder;
  const float k = shifted - rounder;
  // A product with the first part of log(2), of 10 bits, is exact.
  const float r = (x - k * 0x1.63p-1f) - k * -0x1.bd0106p-13f;
  const float z = r * r;
  const float high = 0x1.1110ep-7f + r * (0x1.6d4316p-10f + r * 0x1.a124e4p-13f);
  const float tail = r + z * ((0x1p-1f + 0x1.555556p-3f * r) + z * (0x1.5554eap-5f + r * high));
  return floatOf(bitsOf(1 + tail) + (bitsOf(shifted) << 23));
}

struct FloatExp {
  static bool fits(float x) { return __builtin_fabsf(x) < 87; }
  static float of(float x) { return floatExp(x); }
  static double rest(double x) { return std::exp(x); }
};

struct FloatLog {
  static bool fits(float x) { return (x >= 0x1p-126f) & (x < __builtin_inff()); }
  static float of(float x) {
    // As splitLogarithm().
    const uint32_t bits = bitsOf(x) - 0x3f3504f3;
    const float k = static_cast<float>(static_cast<int32_t>(bits) >> 23);
    const float f = floatOf((bits & 0x007fffff) + 0x3f3504f3) - 1;
    const float z = f * f;
    float p = 0x1.1d8ea6p-4f;
    p = p * f - 0x1.d635bcp-4f;
    p = p * f + 0x1.dea282p-4f;
    p = p * f - 0x1.fcf4c6p-4f;
    p = p * f + 0x1.23d21ap-3f;
    p = p * f - 0x1.555b4ap-3f;
    p = p * f + 0x1.999d5ap-3f;
    p = p * f - 0x1.fffffcp-3f;
    p = p * f + 0x1.555554p-2f;
    return (f + (z * (f * p - 0.5f) + k * -0x1.bd0106p-13f)) + k * 0x1.63p-1f;
  }
  static double rest(double x) { return std::log(x); }
};

struct FloatTanh {
  static bool fits(float x) { return (__builtin_fabsf(x) < 40) & (__builtin_fabsf(x) > 0x1p-60f); }
  static float of(float x) {
    const float a = __builtin_fabsf(x), z = x * x;
    float p = -0x1.8c2d0ap-8f;
    p = p * z + 0x1.576e3p-6f;
    p = p * z - 0x1.b91582p-5f;
    p = p * z + 0x1.110dd8p-3f;
    p = p * z - 0x1.555552p-2f;
    const float small = a + a * (z * p), large = 1 - 2 / (floatExp(2 * a) + 1);
    // Chosen by bits: of a condition GCC would make a branch, and no vectors.
    const uint32_t isSmall = a < 0.625f ? 0xffffffff : 0;
    return __builtin_copysignf(floatOf((bitsOf(small) & isSmall) | (bitsOf(large) & ~isSmall)), x);
  }
  static double rest(double x) { return std::tanh(x); }
};

// Returns whether there are some that do not fit.
template <class Function, class T>
inline bool computeAll(const T* __restrict from, T* __restrict to, size_t length) {
  std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t> misfits = 0;
  for (size_t i = 0; i < length; i++) {
    to[i] = Function::of(from[i]);
    misfits |= Function::fits(from[i]) ? 0 : 1;
  }
  return misfits != 0;
}

#if AETHER_INTRINSICS == 512
// The compiler would load each power by itself; here one instruction finds eight in a register.
template <>
inline bool computeAll<Exp, double>(const double* __restrict from, double* __restrict to, size_t length) {
  const __m512d powers = _mm512_loadu_pd(kEighths), most = _mm512_set1_pd(kExpMax);
  __mmask8 misfits = 0;
  const auto eight = [&](__m512d x) {
    misfits |= _mm512_cmp_pd_mask(_mm512_abs_pd(x), most, _CMP_NLT_UQ);
    return (__m512d)expOf((EightDoubles)x, [&](EightWords bits) {
      return (EightDoubles)_mm512_permutexvar_pd((__m512i)bits, powers);
    });
  };
  size_t i = 0;
  for (; i + 8 <= length; i += 8) _mm512_storeu_pd(to + i, eight(_mm512_loadu_pd(from + i)));
  if (i < length) {
    const auto rest = static_cast<__mmask8>((1 << (length - i)) - 1);
    _mm512_mask_storeu_pd(to + i, rest, eight(_mm512_maskz_loadu_pd(rest, from + i)));
  }
  return misfits != 0;
}
#endif

// One block, whose results are not written over its operands: those that do not fit are computed from them afterwards.
template <class Function, class T>
__attribute__((noinline)) void computeBlock(const T* __restrict from, T* __restrict to, size_t length) {
  if (!computeAll<Function, T>(from, to, length)) return;
  for (size_t i = 0; i < length; i++)
    if (!Function::fits(from[i])) to[i] = static_cast<T>(Function::rest(from[i]));
}

template <class T>
using ComputeBlock = void (*)(const T* from, T* to, size_t length);

template <class T>
__attribute__((noinline)) void computeBlocks(ComputeBlock<T> compute, T* out, const T* a, size_t count) {
  T to[kMathBlock];
  for (size_t start = 0; start < count; start += kMathBlock) {
    const size_t length = count - start < kMathBlock ? count - start : kMathBlock;
    compute(a + start, out == a ? to : out + start, length);
    if (out == a) __builtin_memcpy(out + start, to, length * sizeof *to);
  }
}

// Others are computed as doubles and rounded once.
__attribute__((noinline)) void computeAsDoubles(ComputeBlock<double> compute, float* out, const float* a, size_t count) {
  double from[kMathBlock], to[kMathBlock];
  for (size_t start = 0; start < count; start += kMathBlock) {
    const size_t length = count - start < kMathBlock ? count - start : kMathBlock;
    for (size_t i = 0; i < length; i++) from[i] = static_cast<double>(a[start + i]);
    compute(from, to, length);
    for (size_t i = 0; i < length; i++) out[start + i] = static_cast<float>(to[i]);
  }
}

template <class Function, class T>
void mathKernel(void* out, const void* a, const void*, const void*, size_t count) {
  computeBlocks<T>(computeBlock<Function, T>, static_cast<T*>(out), static_cast<const T*>(a), count);
}
template <class Function>
void mathKernelAsDoubles(void* out, const void* a, const void*, const void*, size_t count) {
  computeAsDoubles(computeBlock<Function, double>, static_cast<float*>(out), static_cast<const float*>(a), count);
}

template <class F>
void setMath(Kernel (&row)[kDTypes]) {
  row[kFloat32] = mathKernelAsDoubles<F>;
  row[kFloat64] = mathKernel<F, double>;
}
template <class F, class Single>
void setMathOfBoth(Kernel (&row)[kDTypes]) {
  row[kFloat32] = mathKernel<Single, float>;
  row[kFloat64] = mathKernel<F, double>;
}
// What programs call most.
void fillCommonMath(Kernel (&table)[kOperations][kDTypes]) {
  setMathOfBoth<Exp, FloatExp>(table[op_exp]);
  setMathOfBoth<Log, FloatLog>(table[op_log]);
  setMath<Sin>(table[op_sin]);
  setMath<Cos>(table[op_cos]);
  setMathOfBoth<Tanh, FloatTanh>(table[op_tanh]);
}

#ifndef AETHER_COMMON_MATH_ONLY
void fillMath(Kernel (&table)[kOperations][kDTypes]) {
  fillCommonMath(table);
  setMath<Expm1>(table[op_expm1]);
  setMath<Log1p>(table[op_log1p]);
  setMath<Log2>(table[op_log2]);
  setMath<Log10>(table[op_log10]);
  setMath<Tan>(table[op_tan]);
  setMath<Atan>(table[op_atan]);
  setMath<Sinh>(table[op_sinh]);
  setMath<Cosh>(table[op_cosh]);
}
#endif
