import { bytesOf, latin1Of } from '../values/latin1.ts'
import type { StreamEntry } from '../values/stream-value.ts'
import { CommandFault, type Reply } from './reply.ts'

const PART_MAX = 2n ** 64n - 1n
const SHIFT = 64n

export const ID_MAX: bigint = 2n ** 128n - 1n

function invalidId(): CommandFault {
  return new CommandFault('Invalid stream ID specified as stream command argument')
}

function partOf(text: string): bigint {
  if (!/^\+?\d{1,40}$/.test(text)) throw invalidId()
  const part = BigInt(text.replace('+', ''))
  if (part > PART_MAX) throw invalidId()
  return part
}

function idFrom(ms: bigint, sequence: bigint): bigint {
  return (ms << SHIFT) | sequence
}

/** An id whose sequence may be left out: it is `missing` then. @throws CommandFault */
export function parseId(argument: Uint8Array, missing: bigint = 0n): bigint {
  const text = latin1Of(argument)
  const dash = text.indexOf('-')
  if (dash === -1) return idFrom(partOf(text), missing)
  return idFrom(partOf(text.slice(0, dash)), partOf(text.slice(dash + 1)))
}

/** True if it is an id. */
export function isId(argument: Uint8Array): boolean {
  try {
    parseId(argument)
    return true
  } catch {
    return false
  }
}

/** The first id of an interval: `-`, `+`, an id, or `(` and an id for the next one. @throws CommandFault */
export function startOf(argument: Uint8Array): bigint {
  return boundOf(argument, 0n, (id) => {
    if (id === ID_MAX) throw new CommandFault('invalid start ID for the interval')
    return id + 1n
  })
}

/** The last id of an interval. @throws CommandFault */
export function endOf(argument: Uint8Array): bigint {
  return boundOf(argument, PART_MAX, (id) => {
    if (id === 0n) throw new CommandFault('invalid end ID for the interval')
    return id - 1n
  })
}

function boundOf(argument: Uint8Array, missing: bigint, beyond: (id: bigint) => bigint): bigint {
  const text = latin1Of(argument)
  if (text === '-') return 0n
  if (text === '+') return ID_MAX
  // Just the sign is no id either.
  if (text.startsWith('(') && text.length > 1) return beyond(parseId(argument.subarray(1), missing))
  return parseId(argument, missing)
}

/** The id of a new entry behind `last`: `*`, an id, or milliseconds and `*`. undefined if it is not behind it. */
export function nextId(argument: Uint8Array, last: bigint, nowMs: number): bigint | undefined {
  const text = latin1Of(argument)
  if (text === '*') {
    const now = idFrom(BigInt(Math.floor(nowMs)), 0n)
    return now > last ? now : last + 1n
  }
  if (!text.endsWith('-*')) {
    const id = parseId(argument)
    return id > last ? id : undefined
  }
  const ms = partOf(text.slice(0, -2))
  const lastMs = last >> SHIFT
  if (ms !== lastMs) return ms > lastMs ? idFrom(ms, 0n) : undefined
  return (last & PART_MAX) === PART_MAX ? undefined : last + 1n
}

export function idReply(id: bigint): Uint8Array {
  return bytesOf(`${id >> SHIFT}-${id & PART_MAX}`)
}

export function entryReply([id, fields]: StreamEntry): Reply {
  return [idReply(id), fields.map(bytesOf)]
}
