/** As `integer-twins.ts`, for the integers of 64 bits. */
type Unary = (x: bigint) => bigint | number
type Binary = (x: bigint, y: bigint) => bigint | number

function remainder(x: bigint, y: bigint): bigint {
  if (y === 0n) return 0n
  const rest = x % y
  return rest !== 0n && rest < 0n !== y < 0n ? rest + y : rest
}

function floorDivide(x: bigint, y: bigint): bigint {
  return y === 0n ? 0n : (x - remainder(x, y)) / y
}

function power(base: bigint, exponent: bigint): bigint {
  if (exponent < 0n) return base === 1n ? 1n : base === -1n ? 1n - 2n * (exponent & 1n) : 0n
  let result = 1n
  for (let square = base, left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = BigInt.asUintN(64, result * square)
    square = BigInt.asUintN(64, square * square)
  }
  return result
}

const outOfBits = (y: bigint): boolean => y < 0n || y > 63n
const same: Unary = (x) => x

export const wideUnary: Readonly<Record<string, Unary>> = {
  abs: (x) => (x < 0n ? -x : x),
  bitwise_invert: (x) => ~x,
  ceil: same,
  conj: same,
  floor: same,
  imag: () => 0n,
  isfinite: () => 1,
  isinf: () => 0,
  isnan: () => 0,
  negative: (x) => -x,
  positive: same,
  real: same,
  round: same,
  sign: (x) => (x < 0n ? -1n : x > 0n ? 1n : 0n),
  square: (x) => x * x,
  trunc: same,
}

export const wideBinary: Readonly<Record<string, Binary>> = {
  add: (x, y) => x + y,
  bitwise_and: (x, y) => x & y,
  bitwise_left_shift: (x, y) => (outOfBits(y) ? 0n : x << y),
  bitwise_or: (x, y) => x | y,
  bitwise_right_shift: (x, y) => (outOfBits(y) ? (x < 0n ? -1n : 0n) : x >> y),
  bitwise_xor: (x, y) => x ^ y,
  equal: (x, y) => Number(x === y),
  floor_divide: floorDivide,
  greater: (x, y) => Number(x > y),
  greater_equal: (x, y) => Number(x >= y),
  less: (x, y) => Number(x < y),
  less_equal: (x, y) => Number(x <= y),
  // biome-ignore lint/complexity/useMathMinMax: Math takes no bigints
  maximum: (x, y) => (x >= y ? x : y),
  // biome-ignore lint/complexity/useMathMinMax: Math takes no bigints
  minimum: (x, y) => (x <= y ? x : y),
  multiply: (x, y) => x * y,
  not_equal: (x, y) => Number(x !== y),
  pow: power,
  remainder,
  subtract: (x, y) => x - y,
}
