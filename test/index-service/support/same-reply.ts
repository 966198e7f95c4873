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
  if (name === 'HSCAN' || name === 'ZSCAN') return shownScan(reply)
  return shown(reply, UNORDERED.has(name))
}

function shownScan(reply: Reply): string {
  if (!Array.isArray(reply)) return shown(reply, false)
  const [cursor, flat] = reply as [Reply, Reply[]]
  const pairs = flat.flatMap((field, at) => (at % 2 === 0 ? [shown([field, flat[at + 1]!], false)] : []))
  return `${shown(cursor, false)} ${pairs.sort().join()}`
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
