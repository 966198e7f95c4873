import type { Keyspace } from '../state/keyspace.ts'
import { type CommandSpec, firstKey, grows, reads } from './command.ts'
import { STRING_BYTES_MAX } from './limits.ts'
import { isWord, numberOf, parseInteger } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'

type Args = readonly Uint8Array[]

const NO_BYTES = new Uint8Array()

/** @throws CommandFault */
function bitOffsetOf(argument: Uint8Array): number {
  const offset = parseInteger(argument)
  if (offset === undefined || offset < 0 || Number(offset) >= STRING_BYTES_MAX * 8)
    throw new CommandFault('bit offset is not an integer or out of range')
  return Number(offset)
}

/** A copy of a string with `lengthBytes` at least. */
export function lengthened(old: Uint8Array | undefined, lengthBytes: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(old?.length ?? 0, lengthBytes))
  if (old !== undefined) bytes.set(old)
  return bytes
}

function setbit(keyspace: Keyspace, args: Args): Reply {
  const offset = bitOffsetOf(args[1]!)
  const bit = parseInteger(args[2]!)
  if (bit !== 0 && bit !== 1) throw new CommandFault('bit is not an integer or out of range')
  const at = Math.floor(offset / 8)
  const stored = keyspace.string(args[0]!)
  const bytes = lengthened(stored, at + 1)
  const mask = 0x80 >> (offset % 8)
  const old = (bytes[at]! & mask) === 0 ? 0 : 1
  bytes[at] = bit === 1 ? bytes[at]! | mask : bytes[at]! & ~mask
  if (bit !== old || bytes.length !== stored?.length) keyspace.keepString(args[0]!, bytes)
  return old
}

export function bitAt(bytes: Uint8Array, offset: number): number {
  return ((bytes[Math.floor(offset / 8)] ?? 0) >> (7 - (offset % 8))) & 1
}

function getbit(keyspace: Keyspace, args: Args): Reply {
  const offset = bitOffsetOf(args[1]!)
  return bitAt(keyspace.string(args[0]!) ?? NO_BYTES, offset)
}

interface BitRange {
  /** Bits from `from` up to before `to`. */
  readonly from: number
  readonly to: number
}

/** Arguments from `at` on: start, end and unit, for a string of `lengthBytes`. */
function bitRangeOf(start: number, end: number, isBit: boolean, lengthBytes: number): BitRange {
  const total = isBit ? lengthBytes * 8 : lengthBytes
  const from = Math.max(0, start < 0 ? start + total : start)
  const last = Math.min(total - 1, Math.max(0, end < 0 ? end + total : end))
  if (from > last) return { from: 0, to: 0 }
  return isBit ? { from, to: last + 1 } : { from: from * 8, to: (last + 1) * 8 }
}

function isBitUnit(argument: Uint8Array | undefined): boolean {
  if (argument === undefined || isWord(argument, 'byte')) return false
  if (isWord(argument, 'bit')) return true
  throw syntaxFault()
}

const ONES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0
  for (let left = byte; left > 0; left >>= 1) count += left & 1
  return count
})

function countOnes(bytes: Uint8Array, { from, to }: BitRange): number {
  let count = 0
  let at = from
  for (; at < to && at % 8 !== 0; at += 1) count += bitAt(bytes, at)
  for (; at + 8 <= to; at += 8) count += ONES[bytes[at / 8]!]!
  for (; at < to; at += 1) count += bitAt(bytes, at)
  return count
}

function bitcount(keyspace: Keyspace, args: Args): Reply {
  const bytes = keyspace.string(args[0]!)
  if (bytes === undefined) return 0
  if (args.length === 1) return countOnes(bytes, { from: 0, to: bytes.length * 8 })
  if (args.length === 2 || args.length > 4) throw syntaxFault()
  const [start, end] = [numberOf(args[1]!), numberOf(args[2]!)]
  const isBit = isBitUnit(args[3])
  if (start < 0 && end < 0 && start > end) return 0
  return countOnes(bytes, bitRangeOf(start, end, isBit, bytes.length))
}

function bitpos(keyspace: Keyspace, args: Args): Reply {
  const bit = parseInteger(args[1]!)
  if (bit === undefined) throw new CommandFault('value is not an integer or out of range')
  if (bit !== 0 && bit !== 1) throw new CommandFault('The bit argument must be 1 or 0.')
  const bytes = keyspace.string(args[0]!)
  if (bytes === undefined) return bit === 1 ? -1 : 0
  if (args.length > 5) throw syntaxFault()
  if (args.length === 2) return positionOf(bytes, bit, { from: 0, to: bytes.length * 8 }, bytes.length * 8)
  const start = numberOf(args[2]!)
  const isBit = isBitUnit(args[4])
  const hasEnd = args.length > 3
  const end = hasEnd ? numberOf(args[3]!) : bytes.length - 1
  const range = bitRangeOf(start, end, isBit, bytes.length)
  // Without an end, a string counts as if zeros followed it.
  return positionOf(bytes, bit, range, hasEnd ? -1 : bytes.length * 8)
}

function positionOf(bytes: Uint8Array, bit: number, { from, to }: BitRange, beyond: number): number {
  if (from >= to) return -1
  const skipped = bit === 1 ? 0 : 0xff
  for (let at = from; at < to; at += 1) {
    while (at % 8 === 0 && at + 8 < to && bytes[at / 8] === skipped) at += 8
    if (bitAt(bytes, at) === bit) return at
  }
  return bit === 1 ? -1 : beyond
}

const OPERATIONS: Readonly<Record<string, (one: number, other: number) => number>> = {
  and: (one, other) => one & other,
  or: (one, other) => one | other,
  xor: (one, other) => one ^ other,
}

function bitop(keyspace: Keyspace, args: Args): Reply {
  const name = ['and', 'or', 'xor', 'not'].find((known) => isWord(args[0]!, known))
  if (name === undefined) throw syntaxFault()
  if (name === 'not' && args.length !== 3) throw new CommandFault('BITOP NOT must be called with a single source key.')
  const sources = args.slice(2).map((key) => Uint8Array.from(keyspace.string(key) ?? NO_BYTES))
  const result = new Uint8Array(Math.max(...sources.map(({ length }) => length)))
  const operate = OPERATIONS[name]
  for (let at = 0; at < result.length; at += 1) {
    const [first, ...others] = sources.map((bytes) => bytes[at] ?? 0)
    result[at] = operate === undefined ? ~first! : others.reduce(operate, first!)
  }
  if (result.length === 0) keyspace.remove(args[1]!)
  else keyspace.setString(args[1]!, result)
  return result.length
}

/** Strings as bits. */
export const bits: readonly CommandSpec[] = [
  grows('setbit', 4, firstKey, setbit),
  reads('getbit', 3, firstKey, getbit),
  reads('bitcount', -2, firstKey, bitcount),
  reads('bitpos', -3, firstKey, bitpos),
  grows('bitop', -4, (args) => args.slice(1).map((_, index) => index + 1), bitop),
]
