import { Buffer } from 'node:buffer'
import type { Reply } from '../../../src/index-service/commands/reply.ts'

/** Answers whose order means nothing. */
const UNORDERED = new Set(['KEYS', 'HKEYS', 'HVALS', 'SCAN', 'SSCAN'])
/** Answers of which only the shape is compared. */
const RANDOM = new Set(['SRANDMEMBER', 'HRANDFIELD', 'ZRANDMEMBER', 'RANDOMKEY'])

/** A reply as a text that is equal if the replies are, for this command. */
export function shownReply(command: readonly string[], reply: Reply): string {
  const name = command[0]!.toUpperCase()
  if (RANDOM.has(name)) return shapeOf(reply)
  if (name === 'HSCAN' || name === 'ZSCAN') return shownScan(reply, name === 'ZSCAN')
  // The order of a set, or of elements of one weight, means nothing; a limit cuts by it.
  if (name.startsWith('SORT') && command.includes('BY') && Array.isArray(reply)) return String(reply.length)
  const text = shown(reply, UNORDERED.has(name))
  // C ends names at a zero.
  if (text.startsWith('-NOGROUP')) return '-NOGROUP'
  // Both have clocks of their own.
  if (name === 'XPENDING') return text.replace(/,\d+,(\d+)\]/g, ',idle,$1]')
  return name === 'XINFO' ? text.replace(/"idle":\d+/g, 'idle').replace(/\b1[78]\d{11}\b/g, 'now') : text
}

/** Scores are compared as numbers: Redis 7.0 gives more digits than are needed. */
function shownScan(reply: Reply, hasScores: boolean): string {
  if (!Array.isArray(reply)) return shown(reply, false)
  const [cursor, flat] = reply as [Reply, Reply[]]
  const pairs = flat.flatMap((field, at) =>
    at % 2 === 0 ? [shown([field, scanValueOf(flat[at + 1]!, hasScores)], false)] : [],
  )
  return `${shown(cursor, false)} ${pairs.sort().join()}`
}

function scanValueOf(value: Reply, isScore: boolean): Reply {
  return isScore
    ? {
        double: Number(
          Buffer.from(value as Uint8Array)
            .toString()
            .replace('inf', 'Infinity'),
        ),
      }
    : value
}

function shapeOf(reply: Reply): string {
  if (reply instanceof Uint8Array) return 'bytes'
  if (Array.isArray(reply)) return `[${reply.map(shapeOf).join()}]`
  if (typeof reply === 'object' && reply !== null) {
    if ('pairs' in reply) return shapeOf(inPairs(reply.pairs))
    if ('double' in reply) return 'double'
  }
  return shown(reply, false)
}

/** Every reply as one line. */
export function shown(reply: Reply, isUnordered: boolean): string {
  if (reply === null) return 'null'
  if (reply instanceof Uint8Array) return JSON.stringify(Buffer.from(reply).toString('latin1'))
  if (typeof reply !== 'object') return typeof reply === 'string' ? `+${reply}` : String(reply)
  if (Array.isArray(reply)) {
    const parts = reply.map((part: Reply) => shown(part, isUnordered))
    return `[${(isUnordered ? parts.sort() : parts).join()}]`
  }
  if (reply instanceof Set)
    return `{${[...reply]
      .map((part: Reply) => shown(part, false))
      .sort()
      .join()}}`
  if (reply instanceof Map)
    return `{${[...reply]
      .map(([name, value]) => `${shown(name, false)}:${shown(value, false)}`)
      .sort()
      .join()}}`
  if ('double' in reply) return `,${reply.double}`
  if ('fault' in reply) return `-${reply.fault} ${reply.message}`
  if ('pairs' in reply) return shown(inPairs(reply.pairs), isUnordered)
  if ('byKey' in reply) return shown(new Map(inPairs(reply.byKey) as [Reply, Reply][]), isUnordered)
  throw new Error('unknown reply')
}

function inPairs(flat: readonly Reply[]): Reply[][] {
  return flat.flatMap((first, at) => (at % 2 === 0 ? [[first, flat[at + 1]!]] : []))
}
