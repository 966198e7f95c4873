/** Numbers of calls of the arrays' functions that are right, and such with one number that may be wrong. */
const float64 = 10
const int64 = 4

const row = (memory: number, ...strides: number[]): number[] => [memory, float64, 0, ...strides]

/** As src/arrays/kernels writes them, without the count in front. */
const right = {
  // x + y, then times a constant: shape, how many of each, inputs, the constant, two steps, the output.
  runArrayProgram: [
    1,
    1,
    16,
    2,
    1,
    2,
    1,
    ...row(0, 1),
    ...row(1, 1),
    float64,
    2,
    0,
    0,
    10,
    10,
    0,
    1,
    2,
    10,
    10,
    3,
    2,
    4,
    ...row(2, 1),
  ],
  reduceArray: [1, 0, 1, 2, 4, 4, ...row(0, 4, 1), ...row(2, 1)],
  sortArray: [1, 0, 0, 2, 4, 4, ...row(0, 4, 1), ...row(2, 4, 1)],
  selectFromArray: [1, 0, 1, 4, 3, int64, 0, 1, 3, 1, 4, 2, ...row(2, 8, 2, 1), 3, 1, 8, 2, ...row(0, 16, 2, 1)],
  multiplyMatrices: [1, 2, 4, 3, ...row(0, 3, 1), 2, 3, 5, ...row(1, 5, 1), 2, 4, 5, ...row(2, 5, 1)],
}

const memories = [new Float64Array(32), new Float64Array(32), new Float64Array(32), new BigInt64Array(8)]
const values = [
  -1,
  0,
  1,
  2,
  3,
  4,
  5,
  9,
  12,
  13,
  31,
  33,
  64,
  0.5,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  Number.NaN,
  Number.POSITIVE_INFINITY,
]

/** Numbers of which, in most calls, the next one in turn is replaced by the next value. */
function oftenWrong(right: readonly number[]): () => Float64Array {
  let turn = 0
  return () => {
    const numbers = Float64Array.from(right)
    turn += 1
    if (turn % 4 !== 0) numbers[turn % numbers.length] = values[Math.floor(turn / numbers.length) % values.length]!
    return numbers
  }
}

/** What each function's parameters may be. */
export const arrayCalls: Readonly<Record<string, readonly (() => unknown)[]>> = {
  arrayKernels: [],
  normalNumbers: [
    () => new Float64Array(768),
    () => new Uint32Array(8),
    () => new Float64Array(4),
    () => new Uint32Array(2),
  ],
  // A transform of 30, from a line of every second number.
  transformLine: [
    oftenWrong([3, 1, 2, 30, 0, 1, 0.5, 1, 2, 3, 5]),
    ...[60, 30, 30, 30, 30, 122, 60].map((length) => () => new Float64Array(length)),
  ],
  philoxBlocks: [() => new Uint32Array(4), () => new Uint32Array(8), () => new Uint32Array(16)],
  ...Object.fromEntries(
    Object.entries(right).map(([name, own]) => {
      let turn = 0
      // One by one, or all in a list.
      const first = (): unknown => {
        turn += 1
        return turn % 2 === 0 ? memories : memories[0]
      }
      const numbers = oftenWrong([own.length + 1, ...own])
      return [name, [numbers, first, () => memories[1], () => memories[2], () => memories[3]]]
    }),
  ),
}
