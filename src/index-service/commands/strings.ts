import * as memory from '../memory/copy.ts'
import type { Keyspace } from '../state/keyspace.ts'
import { bytesOf } from '../values/latin1.ts'
import { allKeys, type CommandContext, type CommandSpec, evenKeys, firstKey, frees, grows, reads } from './command.ts'
import { type ExpiryUnit, expiryOf, MILLISECONDS, SECONDS, unitNamed } from './expiry-options.ts'
import { checkLength } from './limits.ts'
import { addLongDoubles, formatLongDouble, type LongDouble, parseLongDouble } from './long-double.ts'
import { INT64_MAX, INT64_MIN, integerOf, isWord, narrow, notAnInteger, numberOf, parseInteger } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'

type Args = readonly Uint8Array[]

export function copyOf(bytes: Uint8Array): Uint8Array {
  return memory.copyOf(bytes, 0, bytes.length)
}

function get(keyspace: Keyspace, args: Args): Reply {
  const value = keyspace.string(args[0]!)
  return value === undefined ? null : copyOf(value)
}

interface SetOptions {
  readonly condition: 'nx' | 'xx' | undefined
  readonly returnsOld: boolean
  readonly keepsTtl: boolean
  readonly expiry: { readonly argument: Uint8Array; readonly unit: ExpiryUnit } | undefined
}

function set(keyspace: Keyspace, args: Args, context: CommandContext): Reply {
  const key = args[0]!
  if (args.length === 2) {
    keyspace.setString(key, args[1]!)
    return 'OK'
  }
  const { condition, returnsOld, keepsTtl, expiry } = setOptions(args)
  const atMs = expiry === undefined ? 0 : expiryOf(expiry.argument, expiry.unit, 'set', context.timeMs)
  const old = returnsOld ? get(keyspace, args) : null
  if (condition !== undefined && keyspace.has(key) !== (condition === 'xx')) return old
  if (keepsTtl) keyspace.keepString(key, args[1]!)
  else keyspace.setString(key, args[1]!, atMs)
  // It may expire at once.
  if (atMs !== 0) keyspace.has(key)
  return returnsOld ? old : 'OK'
}

function setOptions(args: Args): SetOptions {
  let condition: SetOptions['condition']
  let [returnsOld, keepsTtl] = [false, false]
  let expiry: SetOptions['expiry']
  for (let at = 2; at < args.length; at += 1) {
    const option = args[at]!
    const unit = unitNamed(option)
    if (isWord(option, 'nx') && condition !== 'xx') condition = 'nx'
    else if (isWord(option, 'xx') && condition !== 'nx') condition = 'xx'
    else if (isWord(option, 'get')) returnsOld = true
    else if (isWord(option, 'keepttl') && expiry === undefined) keepsTtl = true
    else if (unit !== undefined && expiry === undefined && !keepsTtl && at + 1 < args.length) {
      at += 1
      expiry = { argument: args[at]!, unit }
    } else throw syntaxFault()
  }
  return { condition, returnsOld, keepsTtl, expiry }
}

function setnx(keyspace: Keyspace, args: Args): Reply {
  if (keyspace.has(args[0]!)) return 0
  keyspace.setString(args[0]!, args[1]!)
  return 1
}

function setWithExpiry(name: string, unit: ExpiryUnit): CommandSpec['run'] {
  return (keyspace, args, { timeMs }) => {
    keyspace.setString(args[0]!, args[2]!, expiryOf(args[1]!, unit, name, timeMs))
    return 'OK'
  }
}

function getset(keyspace: Keyspace, args: Args): Reply {
  const old = get(keyspace, args)
  keyspace.setString(args[0]!, args[1]!)
  return old
}

function getdel(keyspace: Keyspace, args: Args): Reply {
  const old = get(keyspace, args)
  if (old !== null) keyspace.remove(args[0]!)
  return old
}

function getex(keyspace: Keyspace, args: Args, { timeMs }: CommandContext): Reply {
  const key = args[0]!
  const option = args[1]
  const unit = option === undefined ? undefined : unitNamed(option)
  const persists = option !== undefined && isWord(option, 'persist')
  const isWhole = unit !== undefined ? args.length === 3 : args.length === (persists ? 2 : 1)
  if (!isWhole) throw syntaxFault()
  const value = get(keyspace, args)
  if (value === null) return null
  if (unit !== undefined) {
    const atMs = expiryOf(args[2]!, unit, 'getex', timeMs)
    if (atMs <= timeMs) keyspace.remove(key)
    else keyspace.setExpiry(key, atMs)
  } else if (persists && keyspace.expiryOf(key) !== 0) keyspace.setExpiry(key, 0)
  return value
}

function mget(keyspace: Keyspace, args: Args): Reply {
  return args.map((key) => (keyspace.typeOf(key) === 1 ? copyOf(keyspace.string(key)!) : null))
}

function checkPairs(args: Args, name: string): void {
  if (args.length % 2 !== 0) throw new CommandFault(`wrong number of arguments for '${name}' command`)
}

function setAll(keyspace: Keyspace, args: Args): void {
  for (let at = 0; at < args.length; at += 2) keyspace.setString(args[at]!, args[at + 1]!)
}

function mset(keyspace: Keyspace, args: Args): Reply {
  checkPairs(args, 'mset')
  setAll(keyspace, args)
  return 'OK'
}

function msetnx(keyspace: Keyspace, args: Args): Reply {
  checkPairs(args, 'msetnx')
  for (let at = 0; at < args.length; at += 2) if (keyspace.has(args[at]!)) return 0
  setAll(keyspace, args)
  return 1
}

function append(keyspace: Keyspace, args: Args): Reply {
  const [key, more] = args as [Uint8Array, Uint8Array]
  const old = keyspace.string(key)
  if (old === undefined) {
    keyspace.setString(key, more)
    return more.length
  }
  checkLength(old.length + more.length)
  const whole = new Uint8Array(old.length + more.length)
  whole.set(old)
  whole.set(more, old.length)
  keyspace.keepString(key, whole)
  return whole.length
}

function strlen(keyspace: Keyspace, args: Args): Reply {
  return keyspace.string(args[0]!)?.length ?? 0
}

function increase(keyspace: Keyspace, key: Uint8Array, by: number | bigint): Reply {
  const old = keyspace.string(key)
  const value = old === undefined ? 0 : parseInteger(old)
  if (value === undefined) throw notAnInteger()
  const sum = sumOf(value, by)
  if (sum === undefined) throw new CommandFault('increment or decrement would overflow')
  keyspace.keepString(key, decimal(sum))
  return sum
}

/** undefined: it does not fit into 64 bits. */
export function sumOf(one: number | bigint, other: number | bigint): number | bigint | undefined {
  if (typeof one === 'number' && typeof other === 'number') {
    const sum = one + other
    if (Number.isSafeInteger(sum)) return sum
  }
  const exact = BigInt(one) + BigInt(other)
  return exact > INT64_MAX || exact < INT64_MIN ? undefined : narrow(exact)
}

const digits = new Uint8Array(20)
const lastDigits = Array.from(digits, (_, at) => digits.subarray(at))

/** A number as text, valid until the next one. Short ones are written without a string: counters change often. */
function decimal(value: number | bigint): Uint8Array {
  if (typeof value === 'bigint' || value < 0 || value > 0x7fffffff) return bytesOf(String(value))
  let [at, left] = [digits.length, value]
  do {
    at -= 1
    digits[at] = 0x30 + (left % 10)
    left = (left / 10) | 0
  } while (left > 0)
  return lastDigits[at]!
}

function incrby(keyspace: Keyspace, args: Args): Reply {
  return increase(keyspace, args[0]!, integerOf(args[1]!))
}

function decrby(keyspace: Keyspace, args: Args): Reply {
  const by = integerOf(args[1]!)
  if (by === INT64_MIN) throw new CommandFault('decrement would overflow')
  return increase(keyspace, args[0]!, typeof by === 'number' ? -by : narrow(-by))
}

function incrbyfloat(keyspace: Keyspace, args: Args): Reply {
  const old = keyspace.string(args[0]!)
  const text = addFloat(old, args[1]!, 'value is not a valid float')
  keyspace.keepString(args[0]!, text)
  return text
}

const NOTHING: LongDouble = { mantissa: 0n, exponent: 0 }

/** The sum of what is stored and an argument, as Redis writes it. @throws CommandFault */
export function addFloat(old: Uint8Array | undefined, by: Uint8Array, notStored: string): Uint8Array {
  const value = old === undefined ? NOTHING : parseLongDouble(old)
  if (value === undefined) throw new CommandFault(notStored)
  const increment = parseLongDouble(by)
  if (increment === undefined) throw new CommandFault('value is not a valid float')
  const sum = value === 'infinite' || increment === 'infinite' ? undefined : addLongDoubles(value, increment)
  if (sum === undefined) throw new CommandFault('increment would produce NaN or Infinity')
  return bytesOf(formatLongDouble(sum))
}

/** Where a range from `start` to `end` lies, both as Redis counts them, in `length` things. */
export function rangeOf(start: number, end: number, length: number): { readonly from: number; readonly to: number } {
  const from = Math.max(0, start < 0 ? start + length : start)
  const to = Math.min(length, (end < 0 ? end + length : end) + 1)
  return { from, to: Math.max(from, to) }
}

function getrange(keyspace: Keyspace, args: Args): Reply {
  const start = numberOf(args[1]!)
  const end = numberOf(args[2]!)
  const value = keyspace.string(args[0]!)
  if (value === undefined || (start < 0 && end < 0 && start > end)) return new Uint8Array()
  // An end before the first byte counts as the first one.
  const { from, to } = rangeOf(start, end < 0 ? Math.max(end, -value.length) : end, value.length)
  return Uint8Array.prototype.slice.call(value, from, to)
}

function setrange(keyspace: Keyspace, args: Args): Reply {
  const [key, , part] = args as [Uint8Array, Uint8Array, Uint8Array]
  const offset = numberOf(args[1]!)
  if (offset < 0) throw new CommandFault('offset is out of range')
  const old = keyspace.string(key)
  if (part.length === 0) return old?.length ?? 0
  checkLength(offset + part.length)
  const whole = new Uint8Array(Math.max(old?.length ?? 0, offset + part.length))
  if (old !== undefined) whole.set(old)
  whole.set(part, offset)
  keyspace.keepString(key, whole)
  return whole.length
}

interface LcsOptions {
  readonly isLength: boolean
  readonly isIndexes: boolean
  readonly hasLengths: boolean
  readonly lengthMin: number
}

function lcsOptions(args: Args): LcsOptions {
  let [isLength, isIndexes, hasLengths, lengthMin] = [false, false, false, 0]
  for (let at = 2; at < args.length; at += 1) {
    const option = args[at]!
    if (isWord(option, 'idx')) isIndexes = true
    else if (isWord(option, 'len')) isLength = true
    else if (isWord(option, 'withmatchlen')) hasLengths = true
    else if (isWord(option, 'minmatchlen') && at + 1 < args.length) {
      at += 1
      lengthMin = Math.max(0, numberOf(args[at]!))
    } else throw syntaxFault()
  }
  if (isLength && isIndexes) throw new CommandFault('If you want both the length and indexes, please just use IDX.')
  return { isLength, isIndexes, hasLengths, lengthMin }
}

function lcs(keyspace: Keyspace, args: Args): Reply {
  for (const key of args.slice(0, 2)) {
    const type = keyspace.typeOf(key)
    if (type > 1) throw new CommandFault('The specified keys must contain string values')
  }
  const one = copyOf(keyspace.string(args[0]!) ?? new Uint8Array())
  const other = copyOf(keyspace.string(args[1]!) ?? new Uint8Array())
  const options = lcsOptions(args)
  const width = other.length + 1
  const lengths = new Uint32Array((one.length + 1) * width)
  for (let row = 1; row <= one.length; row += 1)
    for (let column = 1; column < width; column += 1)
      lengths[row * width + column] =
        one[row - 1] === other[column - 1]
          ? lengths[(row - 1) * width + column - 1]! + 1
          : Math.max(lengths[(row - 1) * width + column]!, lengths[row * width + column - 1]!)
  const length = lengths[one.length * width + other.length]!
  return options.isLength ? length : tracedLcs({ one, other, lengths }, options)
}

interface LcsTable {
  readonly one: Uint8Array
  readonly other: Uint8Array
  readonly lengths: Uint32Array
}

/** Goes back from the end, as Redis does, so that it finds the same of several. */
function tracedLcs({ one, other, lengths }: LcsTable, options: LcsOptions): Reply {
  const width = other.length + 1
  const length = lengths[one.length * width + other.length]!
  const common = new Uint8Array(length)
  const matches: Reply[] = []
  let left = length
  /** Ends of the match in which it stands: positions of its last bytes, and how many it has. */
  let match: { readonly row: number; readonly column: number; count: number } | undefined
  const close = () => {
    if (match === undefined) return
    const { row, column, count } = match
    const [ofOne, ofOther] = [row, column].map((end) => [end - count, end - 1])
    if (count >= options.lengthMin) matches.push([ofOne!, ofOther!, ...(options.hasLengths ? [count] : [])])
    match = undefined
  }
  for (let [row, column] = [one.length, other.length]; row > 0 && column > 0; ) {
    if (one[row - 1] === other[column - 1]) {
      left -= 1
      common[left] = one[row - 1]!
      match ??= { row, column, count: 0 }
      match.count += 1
      row -= 1
      column -= 1
      continue
    }
    close()
    if (lengths[(row - 1) * width + column]! > lengths[row * width + column - 1]!) row -= 1
    else column -= 1
  }
  close()
  if (!options.isIndexes) return common
  return new Map<Reply, Reply>([
    [bytesOf('matches'), matches],
    [bytesOf('len'), length],
  ])
}

/** Strings and counters. */
export const strings: readonly CommandSpec[] = [
  reads('get', 2, firstKey, get),
  grows('set', -3, firstKey, set),
  grows('setnx', 3, firstKey, setnx),
  grows('setex', 4, firstKey, setWithExpiry('setex', SECONDS)),
  grows('psetex', 4, firstKey, setWithExpiry('psetex', MILLISECONDS)),
  grows('getset', 3, firstKey, getset),
  frees('getdel', 2, firstKey, getdel),
  frees('getex', -2, firstKey, getex),
  reads('mget', -2, allKeys, mget),
  grows('mset', -3, evenKeys, mset),
  grows('msetnx', -3, evenKeys, msetnx),
  grows('append', 3, firstKey, append),
  reads('strlen', 2, firstKey, strlen),
  grows('incr', 2, firstKey, (keyspace, args) => increase(keyspace, args[0]!, 1)),
  grows('decr', 2, firstKey, (keyspace, args) => increase(keyspace, args[0]!, -1)),
  grows('incrby', 3, firstKey, incrby),
  grows('decrby', 3, firstKey, decrby),
  grows('incrbyfloat', 3, firstKey, incrbyfloat),
  reads('getrange', 4, firstKey, getrange),
  reads('substr', 4, firstKey, getrange),
  grows('setrange', 4, firstKey, setrange),
  reads('lcs', -3, (args) => [0, 1].slice(0, args.length), lcs),
]
