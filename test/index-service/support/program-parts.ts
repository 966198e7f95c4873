import { Random } from '../../../src/runtime/index.ts'

/** Draws a part of a command. */
export type Part = (pick: Picker) => string | readonly string[]

const KEYS = ['k1', 'k2', 'k3', 'k4', 'list', 'list2', 'set', 'set2', 'hash', 'z', 'z2', 'st', 'n', 'bits', '\0t1', '']
const WORDS = [
  'a',
  'b',
  'c',
  'd',
  'e',
  'f',
  'g',
  '',
  'hello',
  'world',
  '1',
  '2',
  '3',
  '10',
  '\xff\x00\x01',
  'é',
  'aaaa',
]
const INTEGERS = ['0', '1', '-1', '2', '-2', '3', '5', '-3', '10', '100', '-100', '4611686018427387904']
const EDGES = [
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  'abc',
  '',
  '1.5',
  ' 1',
  '1 ',
  '+1',
  '01',
  '-0',
  '18446744073709551616',
  '--1',
]
const FLOATS = [
  '0',
  '1',
  '-1',
  '1.5',
  '3.14',
  '-0.1',
  '1e3',
  '1e-3',
  '5e30',
  '0.1',
  '10.6',
  '123456789.123456',
  '100',
  '3',
  '-7',
]
const FLOAT_EDGES = [
  'inf',
  '-inf',
  'nan',
  'abc',
  '',
  '1e400',
  '1e-400',
  '0x10',
  ' 1',
  '1 ',
  '+5',
  '+inf',
  '1e',
  '.5',
  '5.',
  'infinity',
]
const PATTERNS = ['*', '?', 'k*', '*s*', '[kl]*', 'h?llo', '[^a]*', '\\a', 'l[a-i]st', '', '*t2', '[', 'a\\']

/** Draws parts of commands. */
export class Picker {
  readonly #random: Random

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  below(bound: number): number {
    return this.#random.below(bound)
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0
  }
}

export const key: Part = (pick) => pick.of(KEYS)
/** A key that often holds this type. */
const like =
  (...names: string[]): Part =>
  (pick) =>
    pick.once(12) ? pick.of(KEYS) : pick.of(names)
/** Programs use this many. */
export const DATABASES = 3
export const database: Part = (pick) =>
  pick.once(20) ? pick.of(['16', '-1', 'x', '99999999999', '']) : String(pick.below(DATABASES))
export const word: Part = (pick) => (pick.once(40) ? 'x'.repeat(pick.below(200)) : pick.of(WORDS))
export const integer: Part = (pick) => (pick.once(20) ? pick.of(EDGES) : pick.of(INTEGERS))
export const float: Part = (pick) => (pick.once(15) ? pick.of(FLOAT_EDGES) : pick.of(FLOATS))
export const pattern: Part = (pick) => pick.of(PATTERNS)
/** Not so large that memory for it would be taken. */
export const small: Part = (pick) =>
  pick.once(20) ? pick.of(['-1', 'abc', '9223372036854775807', '']) : String(pick.below(40))
export const timeout: Part = (pick) => (pick.once(10) ? pick.of(['-1', 'abc', 'nan', '']) : '0.001')

export const list: Part = like('list', 'list2')
export const set: Part = like('set', 'set2', 'k4')
export const hash: Part = like('hash', 'k3')
export const text: Part = like('k1', 'k2', 'n', '\0t1')
export const sortedSet: Part = like('z', 'z2')
export const stream: Part = like('st')

/** Members of one score: with several, what ranges of members give is not defined. */
export const lexSet: Part = (pick) => pick.of(['zl', 'zl', 'zl', 'zl', 'text'])
export const anySet: Part = like('z', 'z2', 'set')
export const scoreBound: Part = (pick) =>
  (pick.once(4) ? '(' : '') + (pick.once(4) ? pick.of(['-inf', '+inf', 'inf']) : (float(pick) as string))
export const lexBound: Part = (pick) =>
  pick.once(3) ? pick.of(['-', '+', '', 'a', '+a']) : pick.of(['[', '(']) + (word(pick) as string)

export const bitOperation: Part = (pick) => {
  const type = pick.once(15)
    ? pick.of(['u64', 'i65', 'x8', 'i0', '8'])
    : pick.of(['u1', 'u8', 'i8', 'i16', 'u63', 'i64', 'u5', 'i3'])
  const offset = pick.once(15)
    ? pick.of(['-1', '#', 'abc', '4294967296', '#-1'])
    : pick.of(['0', '1', '7', '8', '#1', '#2', '30'])
  // Redis takes the lowest number for one that is too high: a sum overflows there.
  const value = (integer(pick) as string).replace('-9223372036854775808', '-4611686018427387904')
  return pick.of([
    ['GET', type, offset],
    ['SET', type, offset, value],
    ['INCRBY', type, offset, value],
    ['OVERFLOW', pick.of(['WRAP', 'SAT', 'FAIL', 'foo', 'sat', 'fail'])],
  ])
}
export const sortPattern: Part = (pick) => pick.of(['*', '#', 'k*', '*->a', 'nosort', 'has*->hello', 'h*->', '*sh->b'])
export const group: Part = (pick) => pick.of(['g1', 'g2'])
export const consumer: Part = (pick) => pick.of(['c1', 'c2', 'c3'])
const ID_EDGES = [
  '-',
  '+',
  '$',
  '1-',
  '-1',
  'abc',
  '',
  '0',
  '0-0',
  '18446744073709551615',
  '1-2-3',
  '18446744073709551616',
]
export const id: Part = (pick) =>
  pick.once(15) ? pick.of(ID_EDGES) : `${pick.below(30)}${pick.once(3) ? `-${pick.below(4)}` : ''}`
/** Grows slowly: a stream accepts some of them. */
export const newId: Part = (pick) =>
  pick.once(20) ? (id(pick) as string) : `${pick.below(40)}${pick.of(['', '-*', '-1', '-2'])}`
export const idBound: Part = (pick) =>
  pick.once(3) ? pick.of(['-', '+']) : (pick.once(6) ? '(' : '') + (id(pick) as string)
export const trimming: Part = (pick) => [
  pick.of(['MAXLEN', 'MINID']),
  ...pick.of([[], ['='], ['~']]),
  pick.once(15) ? pick.of(['-1', 'x']) : String(pick.below(20)),
]

export const many =
  (min: number, max: number, ...parts: Part[]): Part =>
  (pick) => {
    const count = min + pick.below(max - min + 1)
    return Array.from({ length: count }, () => parts.flatMap((part) => part(pick))).flat()
  }
export const maybe =
  (...parts: (Part | string)[]): Part =>
  (pick) =>
    pick.once(2) ? [] : parts.flatMap((part) => (typeof part === 'string' ? [part] : part(pick)))
export const oneOf =
  (...choices: (string | Part)[]): Part =>
  (pick) => {
    const choice = pick.of(choices)
    return typeof choice === 'string' ? choice : choice(pick)
  }
/** A number, and as many of a part; the number is seldom wrong. */
export const counted =
  (part: Part): Part =>
  (pick) => {
    const parts = many(1, 3, part)(pick) as readonly string[]
    return [pick.once(20) ? pick.of(['0', '-1', '4', 'abc', '2']) : String(parts.length), ...parts]
  }
