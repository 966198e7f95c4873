import type { Complex } from '../types/complex.ts'

/**
 * What each operation does with complex numbers. Branch cuts, signs of zero and the inverse functions are those of
 * W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987), special values those of C's annex G.
 */
type Unary = (z: Complex) => Complex
type Binary = (z: Complex, w: Complex) => Complex
/** Rounds what a step gives to the type of the parts. */
type Round = (x: number) => number

const HUGE = 1e150
const TINY = 1e-300

const complex = (re: number, im: number): Complex => ({ re, im })
const isNegative = (x: number): boolean => x < 0 || Object.is(x, -0)
const withSign = (magnitude: number, sign: number): number =>
  isNegative(sign) ? -Math.abs(magnitude) : Math.abs(magnitude)
/** Times i, and times -i: how the trigonometric functions come from the hyperbolic ones. */
const turn = ({ re, im }: Complex): Complex => ({ re: -im, im: re })
const turnBack = ({ re, im }: Complex): Complex => ({ re: im, im: -re })

function exponential({ re, im }: Complex): Complex {
  if (im === 0) return complex(Math.exp(re), im)
  if (re === -Infinity) return Number.isFinite(im) ? complex(0 * Math.cos(im), 0 * Math.sin(im)) : complex(0, 0)
  if (re === Infinity && !Number.isFinite(im)) return complex(Infinity, Number.NaN)
  // In two halves, since e^re may be too large where the result is not.
  const half = Math.exp(re / 2)
  if (re > 700) return complex(half * Math.cos(im) * half, half * Math.sin(im) * half)
  const whole = Math.exp(re)
  return complex(whole * Math.cos(im), whole * Math.sin(im))
}

function exponentialLess1({ re, im }: Complex): Complex {
  if (Math.abs(re) === Infinity && !Number.isFinite(im)) return re < 0 ? complex(-1, 0) : complex(re, Number.NaN)
  // Of -0 it is 0 by the standard, which looks at e^z.
  if (re === 0 && im === 0) return complex(0, im)
  const sine = Math.sin(im / 2)
  const { im: imaginary } = exponential({ re, im })
  return complex(im === 0 ? Math.expm1(re) : Math.expm1(re) * Math.cos(im) - 2 * sine * sine, imaginary)
}

function logarithm({ re, im }: Complex): Complex {
  return complex(logarithmOfSize(re, im), Math.atan2(im, re))
}

function logarithmOfSize(re: number, im: number): number {
  const size = Math.hypot(re, im)
  if (size > 0.5 && size < 2) {
    const greater = Math.max(Math.abs(re), Math.abs(im))
    const less = Math.min(Math.abs(re), Math.abs(im))
    return Math.log1p((greater - 1) * (greater + 1) + less * less) / 2
  }
  if (size < TINY && size > 0) return Math.log(Math.hypot(re * 2 ** 200, im * 2 ** 200)) - 200 * Math.LN2
  return size === Infinity ? Math.log(Math.hypot(re / 2, im / 2)) + Math.LN2 : Math.log(size)
}

function logarithmOf1Plus({ re, im }: Complex): Complex {
  const size = Math.hypot(re, im)
  const real = size < 0.5 ? Math.log1p(re * (2 + re) + im * im) / 2 : logarithmOfSize(1 + re, im)
  return complex(real, Math.atan2(im, 1 + re))
}

function times({ re, im }: Complex, factor: number): Complex {
  return complex(re * factor, im * factor)
}

function squareRoot({ re, im }: Complex): Complex {
  if (re === 0 && im === 0) return complex(0, im)
  if (im === Infinity || im === -Infinity) return complex(Infinity, im)
  if (Number.isNaN(re)) return complex(Number.NaN, Number.NaN)
  if (re === Infinity) return complex(Infinity, Number.isNaN(im) ? im : withSign(0, im))
  if (re === -Infinity) return Number.isNaN(im) ? complex(im, Infinity) : complex(0, withSign(Infinity, im))
  const size = Math.max(Math.abs(re), Math.abs(im))
  if (size > 1e300) return times(squareRoot(complex(re / 16, im / 16)), 4)
  if (size < TINY) return times(squareRoot(complex(re * 2 ** 200, im * 2 ** 200)), 2 ** -100)
  const part = Math.sqrt((Math.abs(re) + Math.hypot(re, im)) / 2)
  return re >= 0 ? complex(part, im / (2 * part)) : complex(Math.abs(im) / (2 * part), withSign(part, im))
}

function hyperbolicSine({ re, im }: Complex): Complex {
  if (im === 0) return complex(Math.sinh(re), im)
  if (!Number.isFinite(im) && (re === 0 || Math.abs(re) === Infinity)) return complex(re, Number.NaN)
  if (Math.abs(re) > 700) {
    const { re: real, im: imaginary } = exponential(complex(Math.abs(re) - Math.LN2, im))
    return complex(re < 0 ? -real : real, imaginary)
  }
  return complex(re === 0 ? re * Math.cos(im) : Math.sinh(re) * Math.cos(im), Math.cosh(re) * Math.sin(im))
}

function hyperbolicCosine({ re, im }: Complex): Complex {
  if (im === 0) return complex(Math.cosh(re), isNegative(re) === isNegative(im) ? 0 : -0)
  if (!Number.isFinite(im) && re === 0) return complex(Number.NaN, 0)
  if (!Number.isFinite(im) && Math.abs(re) === Infinity) return complex(Infinity, Number.NaN)
  if (Math.abs(re) > 700) {
    const { re: real, im: imaginary } = exponential(complex(Math.abs(re) - Math.LN2, im))
    return complex(real, re < 0 ? -imaginary : imaginary)
  }
  return complex(Math.cosh(re) * Math.cos(im), Math.sinh(re) * Math.sin(im))
}

function hyperbolicTangent({ re, im }: Complex): Complex {
  if (im === 0) return complex(Math.tanh(re), im)
  if (Math.abs(re) === Infinity)
    // C has the sign of sin(2 im) here, and the standard that of im.
    return complex(withSign(1, re), Number.isFinite(im) ? withSign(0, im) : 0)
  if (!Number.isFinite(im)) return complex(re === 0 ? re : Number.NaN, Number.NaN)
  if (Math.abs(re) > 22) return complex(withSign(1, re), 4 * Math.sin(im) * Math.cos(im) * Math.exp(-2 * Math.abs(re)))
  const tangent = Math.tan(im)
  const sine = Math.sinh(re)
  const root = Math.sqrt(1 + sine * sine)
  const square = 1 + tangent * tangent
  const divisor = 1 + square * sine * sine
  return complex((square * root * sine) / divisor, tangent / divisor)
}

/** sqrt(1 - z) and sqrt(1 + z), of which the inverse functions are made. */
function roots({ re, im }: Complex): readonly [Complex, Complex] {
  return [squareRoot(complex(1 - re, -im)), squareRoot(complex(1 + re, im))]
}

function isHuge({ re, im }: Complex): boolean {
  return Math.abs(re) > HUGE || Math.abs(im) > HUGE
}

/** log |2z| */
function logarithmOfTwice({ re, im }: Complex): number {
  return logarithmOfSize(re, im) + Math.LN2
}

function arcSine(z: Complex): Complex {
  if (z.re === 0 && Number.isNaN(z.im)) return z
  if (isHuge(z)) return complex(Math.atan2(z.re, Math.abs(z.im)), withSign(logarithmOfTwice(z), z.im))
  const [less, more] = roots(z)
  const cosine = less.re * more.re - less.im * more.im
  return complex(Math.atan2(z.re, cosine), Math.asinh(less.re * more.im - less.im * more.re))
}

function arcCosine(z: Complex): Complex {
  if (z.re === 0 && Number.isNaN(z.im)) return complex(Math.PI / 2, z.im)
  if (isHuge(z)) return complex(Math.atan2(Math.abs(z.im), z.re), -withSign(logarithmOfTwice(z), z.im))
  const [less, more] = roots(z)
  return complex(2 * Math.atan2(less.re, more.re), Math.asinh(more.re * less.im - more.im * less.re))
}

function areaCosine(z: Complex): Complex {
  if (z.re === 0 && Number.isNaN(z.im)) return complex(z.im, Math.PI / 2)
  if (isHuge(z)) return complex(logarithmOfTwice(z), Math.atan2(z.im, z.re))
  const less = squareRoot(complex(z.re - 1, z.im))
  const more = squareRoot(complex(z.re + 1, z.im))
  return complex(Math.asinh(less.re * more.re + less.im * more.im), 2 * Math.atan2(less.im, more.re))
}

function areaTangent({ re, im }: Complex): Complex {
  if (isNegative(re)) {
    const mirrored = areaTangent(complex(-re, -im))
    return complex(-mirrored.re, -mirrored.im)
  }
  if (Number.isNaN(im) && (re === 0 || re === Infinity)) return complex(0, im)
  if (isHuge({ re, im })) {
    if (Number.isNaN(im)) return complex(im, im)
    if (Number.isNaN(re) && Number.isFinite(im)) return complex(re, re)
    const size = Math.hypot(re, im)
    return complex(Number.isFinite(size) ? re / size / size : 0, withSign(Math.PI / 2, im))
  }
  if (re === 1 && im === 0) return complex(Infinity, im)
  const rest = 1 - re
  return complex(Math.log1p((4 * re) / (rest * rest + im * im)) / 4, Math.atan2(2 * im, rest * (1 + re) - im * im) / 2)
}

function direction({ re, im }: Complex): Complex {
  if (re === 0 && im === 0) return complex(0, 0)
  const size = Math.hypot(re, im)
  return complex(re / size, im / size)
}

/** One number for each element. */
export const complexToReal: Readonly<Record<string, (z: Complex) => number>> = {
  abs: ({ re, im }) => Math.hypot(re, im),
  imag: ({ im }) => im,
  isfinite: ({ re, im }) => Number(Number.isFinite(re) && Number.isFinite(im)),
  isinf: ({ re, im }) => Number(Math.abs(re) === Infinity || Math.abs(im) === Infinity),
  isnan: ({ re, im }) => Number(Number.isNaN(re) || Number.isNaN(im)),
  real: ({ re }) => re,
}

export const complexComparisons: Readonly<Record<string, (z: Complex, w: Complex) => number>> = {
  equal: (z, w) => Number(z.re === w.re && z.im === w.im),
  not_equal: (z, w) => Number(z.re !== w.re || z.im !== w.im),
}

/** The functions of one operand and of two, whose parts are rounded at every step of arithmetic. */
export function complexFunctions(
  round: Round,
  roundHalfEven: Round,
): { readonly unary: Readonly<Record<string, Unary>>; readonly binary: Readonly<Record<string, Binary>> } {
  const multiply: Binary = (z, w) => ({
    re: round(round(z.re * w.re) - round(z.im * w.im)),
    im: round(round(z.re * w.im) + round(z.im * w.re)),
  })

  /** R. L. Smith, "Algorithm 116: Complex division" (1962). */
  const divide: Binary = (z, w) => {
    if (w.re === 0 && w.im === 0) return complex(z.re / Math.abs(w.re), z.im / Math.abs(w.re))
    if (Math.abs(w.re) >= Math.abs(w.im)) {
      const ratio = round(w.im / w.re)
      const scale = round(1 / round(w.re + round(w.im * ratio)))
      return {
        re: round(round(z.re + round(z.im * ratio)) * scale),
        im: round(round(z.im - round(z.re * ratio)) * scale),
      }
    }
    const ratio = round(w.re / w.im)
    const scale = round(1 / round(w.im + round(w.re * ratio)))
    return {
      re: round(round(round(z.re * ratio) + z.im) * scale),
      im: round(round(round(z.im * ratio) - z.re) * scale),
    }
  }

  /** Small whole exponents by multiplying, so that they are exact where they can be. */
  const power: Binary = (z, w) => {
    if (w.re === 0 && w.im === 0) return complex(1, 0)
    if (z.re === 0 && z.im === 0) return w.re > 0 ? complex(0, 0) : complex(Number.NaN, Number.NaN)
    if (w.im !== 0 || !Number.isInteger(w.re) || Math.abs(w.re) > 100) return exponential(multiply(w, logarithm(z)))
    let result: Complex | undefined
    let square = z
    for (let left = Math.abs(w.re); left > 0; left = Math.floor(left / 2)) {
      if (left % 2 === 1) result = result === undefined ? square : multiply(result, square)
      if (left > 1) square = multiply(square, square)
    }
    const whole = result!
    return w.re < 0 ? divide(complex(1, 0), whole) : whole
  }

  return {
    unary: {
      acos: arcCosine,
      acosh: areaCosine,
      asin: arcSine,
      asinh: (z) => turn(arcSine(turnBack(z))),
      atan: (z) => turnBack(areaTangent(turn(z))),
      atanh: areaTangent,
      conj: ({ re, im }) => complex(re, -im),
      cos: (z) => hyperbolicCosine(turn(z)),
      cosh: hyperbolicCosine,
      exp: exponential,
      expm1: exponentialLess1,
      log: logarithm,
      log10: (z) => times(logarithm(z), Math.LOG10E),
      log1p: logarithmOf1Plus,
      log2: (z) => times(logarithm(z), Math.LOG2E),
      negative: ({ re, im }) => complex(-re, -im),
      positive: (z) => z,
      reciprocal: (z) => divide(complex(1, 0), z),
      round: ({ re, im }) => complex(roundHalfEven(re), roundHalfEven(im)),
      sign: direction,
      sin: (z) => turnBack(hyperbolicSine(turn(z))),
      sinh: hyperbolicSine,
      sqrt: squareRoot,
      square: (z) => multiply(z, z),
      tan: (z) => turnBack(hyperbolicTangent(turn(z))),
      tanh: hyperbolicTangent,
    },
    binary: {
      add: (z, w) => complex(z.re + w.re, z.im + w.im),
      divide,
      multiply,
      pow: power,
      subtract: (z, w) => complex(z.re - w.re, z.im - w.im),
    },
  }
}
