import type { Keyspace } from '../state/keyspace.ts'
import { latin1Of } from '../values/latin1.ts'
import { bitAt, lengthened } from './bits.ts'
import { type CommandSpec, firstKey, grows, reads } from './command.ts'
import { checkLength, STRING_BYTES_MAX } from './limits.ts'
import { integerOf, isWord, narrow } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'

type Args = readonly Uint8Array[]
type Overflow = 'wrap' | 'sat' | 'fail'

/** A number, and how many bits it has. */
interface FieldType {
  readonly isSigned: boolean
  readonly bits: number
}

interface FieldOperation {
  readonly name: 'get' | 'set' | 'incrby'
  readonly type: FieldType
  /** In bits. */
  readonly offset: number
  readonly value: bigint
  readonly overflow: Overflow
}

const OFFSET_MAX: bigint = BigInt(STRING_BYTES_MAX) * 8n

function fieldType(argument: Uint8Array): FieldType {
  const match = /^([iu])(\d{1,2})$/.exec(latin1Of(argument))
  const bits = Number(match?.[2] ?? 0)
  const isSigned = match?.[1] === 'i'
  if (bits < 1 || bits > (isSigned ? 64 : 63))
    throw new CommandFault(
      'Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.',
    )
  return { isSigned, bits }
}

/** In bits, or behind a `#` in numbers of this size. */
function fieldOffset(argument: Uint8Array, bits: number): number {
  const isMultiple = argument[0] === 0x23
  const text = latin1Of(isMultiple ? argument.subarray(1) : argument)
  const offset = /^(?:0|[1-9]\d{0,18})$/.test(text) ? BigInt(text) * (isMultiple ? BigInt(bits) : 1n) : OFFSET_MAX
  if (offset >= OFFSET_MAX) throw new CommandFault('bit offset is not an integer or out of range')
  return Number(offset)
}

function operationsOf(args: Args, onlyReads: boolean): FieldOperation[] {
  const operations: FieldOperation[] = []
  let overflow: Overflow = 'wrap'
  for (let at = 1; at < args.length; ) {
    const word = args[at]!
    const left = args.length - at - 1
    if (left >= 1 && isWord(word, 'overflow')) {
      overflow = overflowOf(args[at + 1]!)
      at += 2
      continue
    }
    const name = (['get', 'set', 'incrby'] as const).find((known) => isWord(word, known))
    if (name === undefined || left < (name === 'get' ? 2 : 3)) throw syntaxFault()
    const type = fieldType(args[at + 1]!)
    const offset = fieldOffset(args[at + 2]!, type.bits)
    const value = name === 'get' ? 0n : BigInt(integerOf(args[at + 3]!))
    operations.push({ name, type, offset, value, overflow })
    at += name === 'get' ? 3 : 4
  }
  if (onlyReads && operations.some(({ name }) => name !== 'get'))
    throw new CommandFault('BITFIELD_RO only supports the GET subcommand')
  return operations
}

function overflowOf(argument: Uint8Array): Overflow {
  const overflow = (['wrap', 'sat', 'fail'] as const).find((known) => isWord(argument, known))
  if (overflow === undefined) throw new CommandFault('Invalid OVERFLOW type specified')
  return overflow
}

function readField(bytes: Uint8Array, offset: number, { bits, isSigned }: FieldType): bigint {
  let value = 0n
  for (let bit = 0; bit < bits; bit += 1) value = (value << 1n) | BigInt(bitAt(bytes, offset + bit))
  return isSigned ? BigInt.asIntN(bits, value) : value
}

function writeField(bytes: Uint8Array, offset: number, { bits }: FieldType, value: bigint): void {
  for (let bit = 0; bit < bits; bit += 1) {
    const at = offset + bits - 1 - bit
    const mask = 0x80 >> (at % 8)
    const byte = Math.floor(at / 8)
    if (((value >> BigInt(bit)) & 1n) === 1n) bytes[byte] = bytes[byte]! | mask
    else bytes[byte] = bytes[byte]! & ~mask
  }
}

/** The value as the type holds it; undefined if it does not fit, and that is a failure. */
function fitted(value: bigint, { bits, isSigned }: FieldType, overflow: Overflow): bigint | undefined {
  const size = BigInt(bits)
  const [min, max] = isSigned ? [-(1n << (size - 1n)), (1n << (size - 1n)) - 1n] : [0n, (1n << size) - 1n]
  if (value >= min && value <= max) return value
  if (overflow === 'fail') return undefined
  if (overflow === 'sat') return value > max ? max : min
  return isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)
}

/** Unsigned numbers of SET are taken as they are in 64 bits, so a negative one is large. */
function valueToSet({ value, type }: FieldOperation): bigint {
  return type.isSigned || value >= 0n ? value : BigInt.asUintN(64, value)
}

function bitfield(keyspace: Keyspace, args: Args, onlyReads: boolean): Reply {
  const operations = operationsOf(args, onlyReads)
  const old = keyspace.string(args[0]!)
  const writes = operations.filter(({ name }) => name !== 'get')
  if (writes.length === 0)
    return operations.map(({ type, offset }) => narrow(readField(old ?? new Uint8Array(), offset, type)))
  const end = Math.max(...writes.map(({ offset, type }) => offset + type.bits))
  checkLength(Math.ceil(end / 8))
  const bytes = lengthened(old, Math.ceil(end / 8))
  const hasGrown = bytes.length !== old?.length
  const results = operations.map((operation) => operated(bytes, operation))
  const isSet = results.some(({ before, after }) => after !== undefined && (hasGrown || before !== after))
  // If nothing did fit, room was made for it.
  if (isSet || hasGrown) keyspace.keepString(args[0]!, bytes, isSet)
  return results.map(({ reply }) => reply)
}

interface Operated {
  readonly reply: Reply
  readonly before: bigint
  /** undefined: nothing was set. */
  readonly after: bigint | undefined
}

function operated(bytes: Uint8Array, operation: FieldOperation): Operated {
  const { name, type, offset, value, overflow } = operation
  const before = readField(bytes, offset, type)
  if (name === 'get') return { reply: narrow(before), before, after: undefined }
  const after = fitted(name === 'set' ? valueToSet(operation) : before + value, type, overflow)
  if (after === undefined) return { reply: null, before, after }
  writeField(bytes, offset, type, after)
  return { reply: narrow(name === 'set' ? before : after), before, after }
}

/** Strings as arrays of numbers of any size. */
export const bitfields: readonly CommandSpec[] = [
  grows('bitfield', -2, firstKey, (keyspace, args) => bitfield(keyspace, args, false)),
  reads('bitfield_ro', -2, firstKey, (keyspace, args) => bitfield(keyspace, args, true)),
]
