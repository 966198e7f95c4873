import { Random } from '../../../src/runtime/index.ts'

/** A command of a random program. */
export type Command = readonly string[]

type Part = (pick: Picker) => string | readonly string[]

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
export const word: Part = (pick) => (pick.once(40) ? 'x'.repeat(pick.below(200)) : pick.of(WORDS))
export const integer: Part = (pick) => (pick.once(20) ? pick.of(EDGES) : pick.of(INTEGERS))
export const float: Part = (pick) => (pick.once(15) ? pick.of(FLOAT_EDGES) : pick.of(FLOATS))
export const pattern: Part = (pick) => pick.of(PATTERNS)
/** Not so large that memory for it would be taken. */
const small: Part = (pick) =>
  pick.once(20) ? pick.of(['-1', 'abc', '9223372036854775807', '']) : String(pick.below(40))
const timeout: Part = (pick) => (pick.once(10) ? pick.of(['-1', 'abc', 'nan', '']) : '0.001')

export const list: Part = like('list', 'list2')
export const set: Part = like('set', 'set2', 'k4')
export const hash: Part = like('hash', 'k3')
export const text: Part = like('k1', 'k2', 'n', '\0t1')
export const sortedSet: Part = like('z', 'z2')
export const stream: Part = like('st')

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

/** In seconds and milliseconds, so far from now that it does not come. */
const FAR = ['33333333333', '44444444444', '55555555555']

export const templates: readonly (readonly (Part | string)[])[] = [
  ['GET', text],
  ['SET', text, word, maybe(oneOf('NX', 'XX')), maybe(oneOf('GET')), maybe(oneOf('KEEPTTL', 'GET', 'EXAT', 'PX'))],
  ['SET', text, integer],
  ['SET', key, word, 'EXAT', oneOf(...FAR, integer)],
  ['SETNX', key, word],
  ['SETEX', key, oneOf('0', '-1', 'abc', '9223372036854775807'), word],
  ['PSETEX', key, oneOf('0', '-1', 'abc', '9223372036854775807'), word],
  ['GETSET', text, word],
  ['GETDEL', text],
  ['GETEX', text, maybe(oneOf('PERSIST', 'EXAT', 'PXAT')), maybe(oneOf(...FAR, integer))],
  ['MGET', many(1, 4, key)],
  ['MSET', many(1, 3, text, word)],
  ['MSETNX', many(1, 2, key, word)],
  ['APPEND', text, word],
  ['STRLEN', text],
  ['INCR', oneOf('n', text)],
  ['DECR', oneOf('n', text)],
  ['INCRBY', oneOf('n', text), integer],
  ['DECRBY', oneOf('n', text), integer],
  ['INCRBYFLOAT', oneOf('n', text), float],
  ['GETRANGE', text, integer, integer],
  ['SUBSTR', text, integer, integer],
  ['SETRANGE', text, small, word],
  ['LCS', text, text, maybe(oneOf('LEN', 'IDX')), maybe('MINMATCHLEN', integer), maybe('WITHMATCHLEN')],
  ['SETBIT', oneOf('bits', text), small, oneOf('0', '1', '1', '2')],
  ['GETBIT', oneOf('bits', text), small],
  ['BITCOUNT', oneOf('bits', text), maybe(integer, integer), maybe(oneOf('BIT', 'BYTE'))],
  [
    'BITPOS',
    oneOf('bits', text),
    oneOf('0', '1', '1', '0', '2', 'x'),
    maybe(integer),
    maybe(integer),
    maybe(oneOf('BIT', 'BYTE')),
  ],
  ['BITOP', oneOf('AND', 'OR', 'XOR', 'NOT', 'and', 'NAND'), text, many(1, 3, text)],
  ['DEL', many(1, 3, key)],
  ['UNLINK', key],
  ['EXISTS', many(1, 3, key)],
  ['TOUCH', many(1, 3, key)],
  ['TYPE', key],
  ['EXPIRE', key, oneOf('-1', '0', '9223372036854775807', 'abc'), maybe(oneOf('NX', 'XX', 'GT', 'LT', 'foo'))],
  ['EXPIREAT', key, oneOf(...FAR), maybe(oneOf('NX', 'XX', 'GT', 'LT')), maybe(oneOf('NX', 'XX', 'GT', 'LT'))],
  ['PEXPIREAT', key, oneOf('3333333333333', '44444444444444', '1', '-5'), maybe(oneOf('NX', 'XX', 'GT', 'LT'))],
  ['EXPIRETIME', key],
  ['PEXPIRETIME', key],
  ['PERSIST', key],
  ['KEYS', pattern],
  [
    'SCAN',
    oneOf('0', '0', 'abc', '1x'),
    maybe('MATCH', pattern),
    'COUNT',
    oneOf('1000', '0', 'x'),
    maybe('TYPE', oneOf('string', 'hash', 'zset', 'foo')),
  ],
  ['RANDOMKEY'],
  ['RENAME', key, key],
  ['RENAMENX', key, key],
  ['COPY', key, key, maybe('REPLACE')],
  ['OBJECT', oneOf('REFCOUNT', 'HELP', 'FOO', 'ENCODING'), maybe('missing')],
  ['PING', maybe(word)],
  ['ECHO', word],
  ['HSET', hash, many(1, 3, word, word)],
  ['HSET', hash, word, integer],
  ['HMSET', hash, many(1, 3, word, word)],
  ['HSETNX', hash, word, word],
  ['HGET', hash, word],
  ['HMGET', hash, many(1, 3, word)],
  ['HDEL', hash, many(1, 3, word)],
  ['HLEN', hash],
  ['HSTRLEN', hash, word],
  ['HEXISTS', hash, word],
  ['HGETALL', hash],
  ['HKEYS', hash],
  ['HVALS', hash],
  ['HINCRBY', hash, word, integer],
  ['HINCRBYFLOAT', hash, word, float],
  ['HRANDFIELD', hash, maybe(integer), maybe(oneOf('WITHVALUES', 'foo'))],
  ['HSCAN', hash, oneOf('0', '0', 'abc'), maybe('MATCH', pattern), 'COUNT', '1000'],
  ['LPUSH', list, many(1, 4, word)],
  ['RPUSH', list, many(1, 4, word)],
  ['LPUSHX', list, many(1, 2, word)],
  ['RPUSHX', list, many(1, 2, word)],
  ['LPOP', list, maybe(integer)],
  ['RPOP', list, maybe(integer)],
  ['LLEN', list],
  ['LINDEX', list, integer],
  ['LSET', list, integer, word],
  ['LRANGE', list, integer, integer],
  ['LTRIM', list, integer, integer],
  ['LREM', list, integer, word],
  ['LINSERT', list, oneOf('BEFORE', 'AFTER', 'after', 'foo'), word, word],
  [
    'LPOS',
    list,
    word,
    maybe('RANK', oneOf('0', '1', '-1', '2', '-2', '3', 'abc', '9223372036854775807')),
    maybe('COUNT', integer),
    maybe('MAXLEN', integer),
  ],
  ['RPOPLPUSH', list, list],
  ['LMOVE', list, list, oneOf('LEFT', 'RIGHT', 'foo'), oneOf('LEFT', 'RIGHT')],
  ['LMPOP', counted(list), oneOf('LEFT', 'RIGHT', 'foo'), maybe('COUNT', integer)],
  ['BLPOP', many(1, 3, list), timeout],
  ['BRPOP', many(1, 3, list), timeout],
  ['BRPOPLPUSH', list, list, timeout],
  ['BLMOVE', list, list, oneOf('LEFT', 'RIGHT'), oneOf('LEFT', 'RIGHT'), timeout],
  ['BLMPOP', timeout, counted(list), oneOf('LEFT', 'RIGHT'), maybe('COUNT', integer)],
  ['SADD', set, many(1, 4, word)],
  ['SREM', set, many(1, 3, word)],
  ['SMEMBERS', set],
  ['SISMEMBER', set, word],
  ['SMISMEMBER', set, many(1, 3, word)],
  ['SCARD', set],
  ['SPOP', set, maybe(integer)],
  ['SRANDMEMBER', set, maybe(integer)],
  ['SMOVE', set, set, word],
  ['SINTER', many(1, 3, set)],
  ['SUNION', many(1, 3, set)],
  ['SDIFF', many(1, 3, set)],
  ['SINTERSTORE', set, many(1, 3, set)],
  ['SUNIONSTORE', set, many(1, 3, set)],
  ['SDIFFSTORE', set, many(1, 3, set)],
  ['SINTERCARD', counted(set), maybe('LIMIT', integer)],
  ['SSCAN', set, oneOf('0', '0', 'abc'), maybe('MATCH', pattern), 'COUNT', '1000'],
]

/** A command: sometimes with an argument too few or too many, or in lower case. */
export function drawCommand(pick: Picker, from: typeof templates = templates): Command {
  if (pick.once(2000)) return ['FLUSHALL']
  const template = pick.of(from)
  const command = template.flatMap((part) => (typeof part === 'string' ? [part] : part(pick)))
  if (pick.once(60)) command.splice(1 + pick.below(command.length), 1)
  // Not at the end, where a count with many repetitions could be made.
  if (pick.once(80) && template[0] !== 'OBJECT') command.splice(1, 0, word(pick) as string)
  if (pick.once(10)) command[0] = command[0]!.toLowerCase()
  return command
}
