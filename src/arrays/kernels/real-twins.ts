/** What each operation does with floating point numbers. float32 is rounded where the result is stored. */
type Unary = (x: number) => number
type Binary = (x: number, y: number) => number

const isNegative = (x: number): boolean => x < 0 || Object.is(x, -0)
const withSign = (magnitude: number, negative: boolean): number =>
  negative ? -Math.abs(magnitude) : Math.abs(magnitude)

/** To the nearest whole number, ties to the even one; the sign of zero stays. */
function roundHalfEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  if (rest === 0 || !Number.isFinite(x)) return x
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0)
  return withSign(up ? floor + 1 : floor, x < 0)
}

/** IEEE 754-2019 pow: also 1 to any power and any base to the power of 0 are 1, and -1 to an infinite one. */
function power(x: number, y: number): number {
  return x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : x ** y
}

/** The quotient's floor. Infinite operands as the standard has them: what divides them keeps their size. */
function floorDivide(x: number, y: number): number {
  if (y === 0 || !Number.isFinite(x) || !Number.isFinite(y)) return x / y
  const quotient = (x - remainder(x, y)) / y
  if (quotient === 0) return withSign(0, isNegative(x) !== isNegative(y))
  const floor = Math.floor(quotient)
  return quotient - floor > 0.5 ? floor + 1 : floor
}

/** The remainder of a floor division: it has the sign of the divisor. */
function remainder(x: number, y: number): number {
  const rest = x % y
  if (rest === 0) return withSign(0, isNegative(y))
  return rest < 0 === y < 0 || Number.isNaN(rest) ? rest : rest + y
}

function logAddExp(x: number, y: number): number {
  if (x === y) return x + Math.LN2
  return Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)))
}

/** The neighbour of x towards y, among the values that the array `floats` and the whole numbers `bits` over it hold. */
function neighbour(
  x: number,
  y: number,
  floats: Float32Array | Float64Array,
  bits: Int32Array | BigInt64Array,
): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN
  if (x === y) return y
  floats[0] = x
  const away = x === 0 || x < y === x > 0
  if (bits instanceof BigInt64Array) {
    if (x === 0) bits[0] = 1n
    else bits[0] = bits[0]! + (away ? 1n : -1n)
  } else if (x === 0) bits[0] = 1
  else bits[0] = bits[0]! + (away ? 1 : -1)
  return x === 0 ? withSign(floats[0]!, y < 0) : floats[0]!
}

const wideFloat = new Float64Array(1)
const wideBits = new BigInt64Array(wideFloat.buffer)
const narrowFloat = new Float32Array(1)
const narrowBits = new Int32Array(narrowFloat.buffer)

export const nextAfterFloat32: Binary = (x, y) => neighbour(x, y, narrowFloat, narrowBits)

export const realUnary: Readonly<Record<string, Unary>> = {
  abs: Math.abs,
  acos: Math.acos,
  acosh: Math.acosh,
  asin: Math.asin,
  asinh: Math.asinh,
  atan: Math.atan,
  atanh: Math.atanh,
  ceil: Math.ceil,
  conj: (x) => x,
  cos: Math.cos,
  cosh: Math.cosh,
  exp: Math.exp,
  expm1: Math.expm1,
  floor: Math.floor,
  imag: () => 0,
  isfinite: (x) => Number(Number.isFinite(x)),
  isinf: (x) => Number(x === Infinity || x === -Infinity),
  isnan: (x) => Number(Number.isNaN(x)),
  log: Math.log,
  log10: Math.log10,
  log1p: Math.log1p,
  log2: Math.log2,
  negative: (x) => -x,
  positive: (x) => x,
  real: (x) => x,
  reciprocal: (x) => 1 / x,
  round: roundHalfEven,
  sign: (x) => (x === 0 ? 0 : Math.sign(x)),
  signbit: (x) => Number(isNegative(x)),
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  square: (x) => x * x,
  tan: Math.tan,
  tanh: Math.tanh,
  trunc: Math.trunc,
}

export const realBinary: Readonly<Record<string, Binary>> = {
  add: (x, y) => x + y,
  atan2: Math.atan2,
  copysign: (x, y) => withSign(x, isNegative(y)),
  divide: (x, y) => x / y,
  equal: (x, y) => Number(x === y),
  floor_divide: floorDivide,
  greater: (x, y) => Number(x > y),
  greater_equal: (x, y) => Number(x >= y),
  hypot: Math.hypot,
  less: (x, y) => Number(x < y),
  less_equal: (x, y) => Number(x <= y),
  logaddexp: logAddExp,
  maximum: (x, y) => (x >= y || Number.isNaN(x) ? x : y),
  minimum: (x, y) => (x <= y || Number.isNaN(x) ? x : y),
  multiply: (x, y) => x * y,
  nextafter: (x, y) => neighbour(x, y, wideFloat, wideBits),
  not_equal: (x, y) => Number(x !== y),
  pow: power,
  remainder,
  subtract: (x, y) => x - y,
}
