import type { TuplePart } from '../../../src/index-service/index.ts'
import type { Random } from '../../../src/runtime/index.ts'

/** The order that keys promise, from the words of its definition alone: no bytes are looked at. */
export function compareTuples(one: readonly TuplePart[], other: readonly TuplePart[]): number {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const order = compareParts(one[index]!, other[index]!)
    if (order !== 0) return order
  }
  return one.length - other.length
}

export function compareParts(one: TuplePart, other: TuplePart): number {
  const byType = typeRank(one) - typeRank(other)
  if (byType !== 0 || one === null) return byType
  if (typeof one === 'string') return compareTuples(codePoints(one), codePoints(other as string))
  if (typeof one === 'object') return compareTuples(listOf(one), listOf(other as Uint8Array))
  // Or bigints, or false and true: JavaScript compares all of them by value.
  const [value, otherValue] = [one as number, other as number]
  return value < otherValue ? -1 : Number(value > otherValue)
}

function typeRank(part: TuplePart): number {
  if (part === null) return 0
  if (typeof part === 'boolean') return 1
  if (typeof part === 'number' || typeof part === 'bigint') return 2
  if (typeof part === 'string') return 3
  return part instanceof Uint8Array ? 4 : 5
}

const codePoints = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)!)
const listOf = (part: Uint8Array | readonly TuplePart[]): readonly TuplePart[] =>
  part instanceof Uint8Array ? [...part] : part

/** What comes back for a part. */
export function returned(part: TuplePart): TuplePart {
  if (typeof part === 'bigint') return Number.isSafeInteger(Number(part)) ? Number(part) : part
  if (typeof part === 'number') return part + 0
  if (part instanceof Uint8Array) return new Uint8Array(part)
  return Array.isArray(part) ? part.map(returned) : part
}

const exponents = [1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 49, 52, 53]
const powers = exponents.flatMap((exponent) => [2 ** exponent - 1, 2 ** exponent, 2 ** exponent + 1])
const magnitudes = [
  ...[
    1,
    0.5,
    1.5,
    5e-324,
    1e-300,
    0.1,
    0.9999999999999999,
    1.0000000000000002,
    254.5,
    255.5,
    256.5,
    65535.5,
    2 ** 52 - 0.5,
  ],
  ...powers.filter(Number.isSafeInteger),
]
const bigMagnitudes = [1, 8, 52, 53, 55, 56, 57, 63, 64, 65, 71, 72, 73, 128, 2032, 2039].flatMap((exponent) => [
  2n ** BigInt(exponent) - 1n,
  2n ** BigInt(exponent),
  2n ** BigInt(exponent) + 1n,
])

const texts = [
  ...[
    '',
    '\0',
    '\0\0',
    '\0\0a',
    '\0\u0001',
    '\0ÿ',
    '\u0001',
    'a',
    'a\0',
    'a\0\0',
    'a\0b',
    'a\u0001',
    'aa',
    'ab',
    'b',
    'Z',
  ],
  ...[
    '\x7f',
    '\x80',
    'ÿ',
    '\u07ff',
    '\u0800',
    '\ud7ff',
    '\ue000',
    '\ufeff',
    '\ufeffa',
    '\uffff',
    '\u{10000}',
    '\u{10ffff}',
  ],
  ...['user:7', 'user:70', 'x'.repeat(300), `${'x'.repeat(300)}\0`, '😀', '😀\0', 'grüße'],
]
const byteLists = [
  [],
  [0],
  [0, 0],
  [0, 1],
  [0, 254],
  [0, 255],
  [0, 255, 0],
  [1],
  [1, 0],
  [1, 0, 255],
  [1, 1],
  [254],
  [255],
  [255, 255],
]
const tuples: TuplePart[][] = [
  ...[
    [],
    [null],
    [null, null],
    [[]],
    [[], []],
    [[[]]],
    [[null]],
    [[], null],
    [false],
    [true],
    [0],
    [0, 0],
    [5],
    [5, null],
    [5.5],
  ],
  ...[
    [-5],
    [-5, 'x'],
    [-5.5],
    [-6],
    [-6, Number.POSITIVE_INFINITY],
    [2n ** 70n],
    [''],
    ['', ''],
    ['\0'],
    ['a'],
    ['a', 'b'],
    ['a\0'],
  ],
  ...[[Uint8Array.of()], [Uint8Array.of(0)], [Uint8Array.of(0), 1], [['a', [1]], 2], [['a', [1, 2]]], [['a', [1.5]]]],
]

/** Parts that lie close together, or at the edges of a form. */
export const interestingParts: readonly TuplePart[] = [
  ...[null, false, true, 0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ...[...magnitudes, ...bigMagnitudes].flatMap((magnitude) => [magnitude, -magnitude]),
  ...[...texts, ...byteLists.map((list) => Uint8Array.from(list)), ...tuples],
]

export function randomTuple(random: Random, lengthMax = 4): TuplePart[] {
  return Array.from({ length: random.below(lengthMax + 1) }, () => {
    if (random.below(8) === 0) return randomTuple(random, lengthMax - 1)
    if (random.below(4) === 0) return random.below(4) - 1.5
    return interestingParts[random.below(interestingParts.length)]!
  })
}
