/**
 * What each operation does with integers of up to 32 bits, and with bool. What is too large wraps where the result is
 * stored. Dividing by zero gives 0.
 */
type Unary = (x: number) => number
type Binary = (x: number, y: number) => number

function remainder(x: number, y: number): number {
  if (y === 0) return 0
  const rest = x % y
  return rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest
}

/** By squaring, modulo 2^32. A negative exponent gives the power's whole part. */
function power(base: number, exponent: number): number {
  if (exponent < 0) return base === 1 ? 1 : base === -1 ? 1 - 2 * (exponent & 1) : 0
  let result = 1
  for (let square = base, left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = Math.imul(result, square)
    square = Math.imul(square, square)
  }
  return result
}

/** No bit stays of what is shifted by as many bits as there are, or by a negative number, read as unsigned. */
const outOfBits = (y: number): boolean => y < 0 || y > 31
const same: Unary = (x) => x

export const integerUnary: Readonly<Record<string, Unary>> = {
  abs: Math.abs,
  bitwise_invert: (x) => ~x,
  ceil: same,
  conj: same,
  floor: same,
  imag: () => 0,
  isfinite: () => 1,
  isinf: () => 0,
  isnan: () => 0,
  negative: (x) => -x,
  positive: same,
  real: same,
  round: same,
  sign: Math.sign,
  square: (x) => Math.imul(x, x),
  trunc: same,
}

export const boolUnary: Readonly<Record<string, Unary>> = { bitwise_invert: (x) => 1 - x, logical_not: (x) => 1 - x }

export const integerBinary: Readonly<Record<string, Binary>> = {
  add: (x, y) => x + y,
  bitwise_and: (x, y) => x & y,
  bitwise_left_shift: (x, y) => (outOfBits(y) ? 0 : x << y),
  bitwise_or: (x, y) => x | y,
  bitwise_right_shift: (x, y) => (outOfBits(y) ? -Number(x < 0) : Math.floor(x / 2 ** y)),
  bitwise_xor: (x, y) => x ^ y,
  equal: (x, y) => Number(x === y),
  floor_divide: (x, y) => (y === 0 ? 0 : Math.floor(x / y)),
  greater: (x, y) => Number(x > y),
  greater_equal: (x, y) => Number(x >= y),
  less: (x, y) => Number(x < y),
  less_equal: (x, y) => Number(x <= y),
  logical_and: (x, y) => x & y,
  logical_or: (x, y) => x | y,
  logical_xor: (x, y) => x ^ y,
  maximum: Math.max,
  minimum: Math.min,
  multiply: Math.imul,
  not_equal: (x, y) => Number(x !== y),
  pow: power,
  remainder,
  subtract: (x, y) => x - y,
}
