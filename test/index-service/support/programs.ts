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

const key: Part = (pick) => pick.of(KEYS)
/** A key that often holds this type. */
const like =
  (...names: string[]): Part =>
  (pick) =>
    pick.once(12) ? pick.of(KEYS) : pick.of(names)
const word: Part = (pick) => (pick.once(40) ? 'x'.repeat(pick.below(200)) : pick.of(WORDS))
const integer: Part = (pick) => (pick.once(20) ? pick.of(EDGES) : pick.of(INTEGERS))
const float: Part = (pick) => (pick.once(15) ? pick.of(FLOAT_EDGES) : pick.of(FLOATS))
const pattern: Part = (pick) => pick.of(PATTERNS)
/** Not so large that memory for it would be taken. */
const small: Part = (pick) =>
  pick.once(20) ? pick.of(['-1', 'abc', '9223372036854775807', '']) : String(pick.below(40))
const timeout: Part = (pick) => (pick.once(10) ? pick.of(['-1', 'abc', 'nan', '']) : '0.001')

const list: Part = like('list', 'list2')
const set: Part = like('set', 'set2', 'k4')
const hash: Part = like('hash', 'k3')
const text: Part = like('k1', 'k2', 'n', '\0t1')
const sortedSet: Part = like('z', 'z2')
const stream: Part = like('st')

/** Members of one score: with several, what ranges of members give is not defined. */
const lexSet: Part = (pick) => pick.of(['zl', 'zl', 'zl', 'zl', 'text'])
const anySet: Part = like('z', 'z2', 'set')
const scoreBound: Part = (pick) =>
  (pick.once(4) ? '(' : '') + (pick.once(4) ? pick.of(['-inf', '+inf', 'inf']) : (float(pick) as string))
const lexBound: Part = (pick) =>
  pick.once(3) ? pick.of(['-', '+', '', 'a', '+a']) : pick.of(['[', '(']) + (word(pick) as string)

const bitOperation: Part = (pick) => {
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
const sortPattern: Part = (pick) => pick.of(['*', '#', 'k*', '*->a', 'nosort', 'has*->hello', 'h*->', '*sh->b'])
const group: Part = (pick) => pick.of(['g1', 'g2'])
const consumer: Part = (pick) => pick.of(['c1', 'c2', 'c3'])
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
const id: Part = (pick) =>
  pick.once(15) ? pick.of(ID_EDGES) : `${pick.below(30)}${pick.once(3) ? `-${pick.below(4)}` : ''}`
/** Grows slowly: a stream accepts some of them. */
const newId: Part = (pick) =>
  pick.once(20) ? (id(pick) as string) : `${pick.below(40)}${pick.of(['', '-*', '-1', '-2'])}`
const idBound: Part = (pick) => (pick.once(3) ? pick.of(['-', '+']) : (pick.once(6) ? '(' : '') + (id(pick) as string))
const trimming: Part = (pick) => [
  pick.of(['MAXLEN', 'MINID']),
  ...pick.of([[], ['='], ['~']]),
  pick.once(15) ? pick.of(['-1', 'x']) : String(pick.below(20)),
]

const many =
  (min: number, max: number, ...parts: Part[]): Part =>
  (pick) => {
    const count = min + pick.below(max - min + 1)
    return Array.from({ length: count }, () => parts.flatMap((part) => part(pick))).flat()
  }
const maybe =
  (...parts: (Part | string)[]): Part =>
  (pick) =>
    pick.once(2) ? [] : parts.flatMap((part) => (typeof part === 'string' ? [part] : part(pick)))
const oneOf =
  (...choices: (string | Part)[]): Part =>
  (pick) => {
    const choice = pick.of(choices)
    return typeof choice === 'string' ? choice : choice(pick)
  }
/** A number, and as many of a part; the number is seldom wrong. */
const counted =
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
  ['ZADD', sortedSet, maybe(oneOf('NX', 'XX', 'GT', 'LT')), maybe(oneOf('CH', 'INCR', 'XX')), many(1, 3, float, word)],
  ['ZADD', sortedSet, many(1, 3, float, word)],
  ['SET', 'text', 'x'],
  ['ZADD', 'zl', many(1, 3, oneOf('0'), word)],
  ['ZINCRBY', sortedSet, float, word],
  ['ZREM', sortedSet, many(1, 2, word)],
  ['ZCARD', sortedSet],
  ['ZSCORE', sortedSet, word],
  ['ZMSCORE', sortedSet, many(1, 3, word)],
  ['ZRANK', sortedSet, word],
  ['ZREVRANK', sortedSet, word],
  ['ZRANGE', sortedSet, integer, integer, maybe('REV'), maybe('WITHSCORES')],
  [
    'ZRANGE',
    sortedSet,
    scoreBound,
    scoreBound,
    'BYSCORE',
    maybe('REV'),
    maybe('LIMIT', integer, integer),
    maybe('WITHSCORES'),
  ],
  ['ZRANGE', lexSet, lexBound, lexBound, 'BYLEX', maybe('REV'), maybe('LIMIT', integer, integer)],
  [
    'ZRANGE',
    lexSet,
    integer,
    integer,
    maybe('BYLEX'),
    maybe('LIMIT', integer, integer),
    maybe('WITHSCORES', 'BYSCORE'),
  ],
  ['ZREVRANGE', sortedSet, integer, integer, maybe(oneOf('WITHSCORES', 'REV'))],
  ['ZRANGEBYSCORE', sortedSet, scoreBound, scoreBound, maybe('WITHSCORES'), maybe('LIMIT', integer, integer)],
  ['ZREVRANGEBYSCORE', sortedSet, scoreBound, scoreBound, maybe('LIMIT', integer, integer), maybe('WITHSCORES')],
  ['ZRANGEBYLEX', lexSet, lexBound, lexBound, maybe('LIMIT', integer, integer)],
  ['ZREVRANGEBYLEX', lexSet, lexBound, lexBound, maybe('LIMIT', integer, integer)],
  ['ZRANGESTORE', sortedSet, sortedSet, integer, integer, maybe('REV'), maybe('WITHSCORES')],
  ['ZRANGESTORE', sortedSet, sortedSet, scoreBound, scoreBound, 'BYSCORE', maybe('LIMIT', integer, integer)],
  ['ZCOUNT', sortedSet, scoreBound, scoreBound],
  ['ZLEXCOUNT', lexSet, lexBound, lexBound],
  ['ZREMRANGEBYRANK', sortedSet, integer, integer],
  ['ZREMRANGEBYSCORE', sortedSet, scoreBound, scoreBound],
  ['ZREMRANGEBYLEX', lexSet, lexBound, lexBound],
  ['ZPOPMIN', sortedSet, maybe(integer)],
  ['ZPOPMAX', sortedSet, maybe(integer)],
  ['ZMPOP', counted(sortedSet), oneOf('MIN', 'MAX', 'foo'), maybe('COUNT', integer)],
  ['BZPOPMIN', many(1, 2, sortedSet), timeout],
  ['BZPOPMAX', many(1, 2, sortedSet), timeout],
  ['BZMPOP', timeout, counted(sortedSet), oneOf('MIN', 'MAX'), maybe('COUNT', integer)],
  [
    'ZUNION',
    counted(anySet),
    maybe('WEIGHTS', float, float),
    maybe('AGGREGATE', oneOf('SUM', 'MIN', 'MAX', 'foo')),
    maybe('WITHSCORES'),
  ],
  [
    'ZINTER',
    counted(anySet),
    maybe('WEIGHTS', float, float),
    maybe('AGGREGATE', oneOf('SUM', 'MIN', 'MAX')),
    maybe('WITHSCORES'),
  ],
  ['ZDIFF', counted(anySet), maybe('WITHSCORES')],
  ['ZUNIONSTORE', sortedSet, counted(anySet), maybe('WEIGHTS', float), maybe('AGGREGATE', oneOf('SUM', 'MIN', 'MAX'))],
  ['ZINTERSTORE', sortedSet, counted(anySet), maybe('WEIGHTS', float, float), maybe('AGGREGATE', oneOf('MIN', 'MAX'))],
  ['ZDIFFSTORE', sortedSet, counted(anySet), maybe('WITHSCORES')],
  ['ZINTERCARD', counted(anySet), maybe('LIMIT', integer)],
  ['ZRANDMEMBER', sortedSet, maybe(integer), maybe(oneOf('WITHSCORES', 'foo'))],
  ['ZSCAN', sortedSet, oneOf('0', '0', 'abc'), maybe('MATCH', pattern), 'COUNT', '1000'],
  ['BITFIELD', oneOf('bits', text), many(1, 3, bitOperation)],
  ['BITFIELD_RO', oneOf('bits', text), many(1, 3, bitOperation)],
  [
    'SORT',
    oneOf(list, anySet, set),
    maybe('BY', sortPattern),
    maybe('LIMIT', integer, integer),
    maybe('GET', sortPattern),
    maybe(oneOf('ASC', 'DESC')),
    maybe('ALPHA'),
  ],
  ['SORT', oneOf(list, anySet, set), 'ALPHA', maybe('DESC'), maybe('STORE', list)],
  ['SORT_RO', oneOf(list, anySet, set), maybe('BY', 'nosort'), maybe('GET', '#'), maybe('STORE', list)],
  ['XADD', stream, maybe(oneOf('NOMKSTREAM', 'MAXLEN', 'foo')), maybe(trimming), newId, many(1, 2, word, word)],
  ['XADD', stream, newId, many(1, 2, word, word)],
  ['XADD', stream, newId, 'f', 'v'],
  ['XLEN', stream],
  ['XTRIM', stream, trimming, maybe('LIMIT', integer)],
  ['XRANGE', stream, idBound, idBound, maybe('COUNT', integer)],
  ['XREVRANGE', stream, idBound, idBound, maybe('COUNT', integer)],
  ['XDEL', stream, many(1, 2, id)],
  ['XSETID', stream, id, maybe('ENTRIESADDED', oneOf('0', '1', '50', '-1', 'abc')), maybe('MAXDELETEDID', id)],
  [
    'XREAD',
    maybe('COUNT', integer),
    maybe('BLOCK', oneOf('1', '1', '-1', 'x')),
    'STREAMS',
    stream,
    oneOf('$', '>', id, id, id),
  ],
  ['XREAD', maybe('COUNT', '2'), 'STREAMS', stream, stream, id, id],
  [
    'XGROUP',
    'CREATE',
    stream,
    group,
    oneOf('$', id),
    maybe('MKSTREAM'),
    maybe('ENTRIESREAD', oneOf('0', '1', '5', '-1', '-2', 'abc')),
  ],
  ['XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM'],
  ['XGROUP', 'SETID', stream, group, oneOf('$', id), maybe('ENTRIESREAD', oneOf('0', '1', '5', '-1', '-2', 'abc'))],
  ['XGROUP', oneOf('DESTROY', 'foo', 'HELPER'), stream, group],
  ['XGROUP', oneOf('CREATECONSUMER', 'DELCONSUMER'), stream, group, consumer],
  [
    'XREADGROUP',
    'GROUP',
    group,
    consumer,
    maybe('COUNT', integer),
    maybe('NOACK'),
    'STREAMS',
    stream,
    oneOf('>', '>', '>', '0', id, '$'),
  ],
  ['XREADGROUP', 'GROUP', group, consumer, maybe('BLOCK', '1'), 'STREAMS', stream, oneOf('>', '>', '0')],
  ['XACK', stream, group, many(1, 2, id)],
  ['XPENDING', stream, group],
  ['XPENDING', stream, group, maybe('IDLE', '0'), idBound, idBound, integer, maybe(consumer)],
  [
    'XCLAIM',
    stream,
    group,
    consumer,
    oneOf('0', '100000', 'x'),
    many(1, 3, id),
    maybe(oneOf('FORCE', 'JUSTID')),
    maybe('RETRYCOUNT', integer),
    maybe('TIME', '1000'),
    maybe('LASTID', id),
  ],
  ['XAUTOCLAIM', stream, group, consumer, oneOf('0', '100000', 'x'), idBound, maybe('COUNT', integer), maybe('JUSTID')],
  ['XINFO', 'STREAM', stream],
  ['XINFO', 'STREAM', stream, 'FULL', maybe('COUNT', '1')],
  ['XINFO', 'GROUPS', stream],
  ['XINFO', 'CONSUMERS', stream, group],
]

/** Redis says other words about their subcommands than about arguments. */
const CONTAINERS = new Set<unknown>(['OBJECT', 'XGROUP', 'XINFO'])

/** A command: sometimes with an argument too few or too many, or in lower case. */
export function drawCommand(pick: Picker, from: typeof templates = templates): Command {
  if (pick.once(2000)) return ['FLUSHALL']
  const template = pick.of(from)
  const command = template.flatMap((part) => (typeof part === 'string' ? [part] : part(pick)))
  if (pick.once(60)) command.splice(1 + pick.below(command.length), 1)
  // Not at the end, where a count with many repetitions could be made.
  if (pick.once(80) && !CONTAINERS.has(template[0])) command.splice(1, 0, word(pick) as string)
  if (pick.once(10)) command[0] = command[0]!.toLowerCase()
  return command
}
