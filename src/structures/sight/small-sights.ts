import { CellRate } from '../cell-rate.ts'
import { PARTIES_MAX } from '../cyclic-barrier.ts'
import { DONE } from '../heap-holds.ts'
import { HOLDER_OFFSET, isUnderLease } from '../leader.ts'
import { TOKEN_OFFSET } from '../mutex.ts'
import { VersionOffset } from '../rcu/cell-core.ts'
import { PERMITS_MAX } from '../semaphore.ts'
import { lowOf, termOf } from '../term-word.ts'
import { BELL_BYTES } from '../waiting/bell.ts'
import type { StructureOptions } from './contents.ts'
import { heldBy, ownerOf, type StructureFigures } from './figures.ts'
import type { BlockSight, HeapSight } from './heap-sight.ts'
import type { NamedStructure } from './named-structures.ts'

/** Structures whose whole state is a few words, which are read one by one. */
interface SmallSight {
  figures(heap: HeapSight, structure: NamedStructure): StructureFigures
  options?(heap: HeapSight, structure: NamedStructure): StructureOptions
}

export const counterSight: SmallSight = {
  figures: (heap, { body }) => ({ now: String(Number(heap.long(body))) }),
}

export const sequenceSight: SmallSight = {
  figures: (heap, { body }) => ({ now: `last ${Number(heap.long(body))}` }),
}

export const flagSight: SmallSight = {
  figures: (heap, { body }) => ({ now: heap.word(body + BELL_BYTES) === 1 ? 'raised' : 'lowered' }),
}

export const onceSight: SmallSight = {
  figures(heap, { body }) {
    const doer = heap.word(body + BELL_BYTES)
    if (doer === DONE) return { now: 'done' }
    return heldBy(doer, { now: doer === 0 ? 'not done' : 'being done' })
  },
}

export const mutexSight: SmallSight = {
  figures(heap, { body }) {
    const holder = heap.word(body + BELL_BYTES)
    return heldBy(holder, { now: holder === 0 ? 'free' : 'held' })
  },
  options: (heap, { body }) => [['last token', String(heap.word(body + BELL_BYTES + TOKEN_OFFSET) >>> 0)]],
}

export const semaphoreSight: SmallSight = {
  figures(heap, { body, block, parameters }) {
    const room = (block.offset + block.lengthBytes - body - BELL_BYTES) / 4
    const permits = Math.floor(Math.min(PERMITS_MAX, Math.max(0, room), Math.max(0, parameters[0] ?? 0))) || 0
    const words = Array.from({ length: permits }, (_, index) => heap.word(body + BELL_BYTES + index * 4))
    const holders = words.flatMap((word) => ownerOf(word) ?? [])
    return { now: `${permits - holders.length} of ${permits} free`, holders }
  },
}

export const rateLimiterSight: SmallSight = {
  figures(heap, { body, parameters }) {
    const [limit = 0, intervalMs = 0] = parameters
    if (!(limit >= 1 && intervalMs >= 1)) return {}
    const { verdict } = new CellRate({ limit, intervalMs }).ask(heap.long(body), heap.nowMs() * 1000, 1)
    return { now: `${verdict.remaining + (verdict.allowed ? 1 : 0)} of ${limit} left` }
  },
  options: (_heap, { parameters: [limit, intervalMs] }) => [['limit', `${limit} in ${intervalMs} ms`]],
}

export const latchSight: SmallSight = {
  figures(heap, { body, parameters: [count = 0] }) {
    const missing = Math.max(0, count - heap.word(body + BELL_BYTES))
    return { now: missing === 0 ? 'open' : `${missing} of ${count} missing` }
  },
}

/** The owners of those that have arrived are in the version of its cell, after the count of openings. */
export const barrierSight: SmallSight = {
  figures(heap, { body, parameters: [parties = 0] }) {
    const place = body + BELL_BYTES
    const owners =
      heap.word(place) === 0 ? [] : heap.settled(() => heap.through(place, (found) => arrived(heap, found)))
    if (owners === undefined) return { isChanging: true }
    return { now: `${owners.length} of ${parties} arrived`, holders: owners.flatMap((word) => ownerOf(word) ?? []) }
  },
}

export const leaderSight: SmallSight = {
  figures(heap, { body, parameters }) {
    const word = heap.long(body + BELL_BYTES)
    const term = termOf(word)
    if (!isUnderLease(word, parameters[0] ?? 0))
      return { now: term === 0 ? 'no leader yet' : `no leader, last term ${term}` }
    const note = heap.long(body + BELL_BYTES + HOLDER_OFFSET)
    // The note is written after the term began.
    return heldBy(termOf(note) === term ? lowOf(note) : 0, { now: `term ${term}, led` })
  },
  options: (_heap, { parameters: [leaseMs] }) => [['lease', `${leaseMs} ms`]],
}

/** Undefined if the version is none of a barrier. */
function arrived(heap: HeapSight, { offset, lengthBytes }: BlockSight): readonly number[] | undefined {
  const count = heap.word(offset + VersionOffset.Length) / 4 - 1
  if (!(count >= 0 && count <= PARTIES_MAX && VersionOffset.Value + 4 * (count + 1) <= lengthBytes)) return undefined
  return Array.from({ length: count }, (_, index) => heap.word(offset + VersionOffset.Value + 4 * (index + 1)))
}
