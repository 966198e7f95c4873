import { DONE } from '../heap-holds.ts'
import { HOLDER_OFFSET } from '../leader.ts'
import { VersionOffset } from '../rcu/cell-core.ts'
import { LockOffset, READ_WRITE_LOCK_BYTES, ReaderOffset } from '../read-write-lock.ts'
import { lowOf, termOf } from '../term-word.ts'
import { BELL_BYTES } from '../waiting/bell.ts'
import { checkCell } from './check-cell.ts'
import type { CheckedPart, CheckedStructure } from './checked-heap.ts'
import { must } from './damage.ts'

const NOT_A_MEMBER = 'who holds it is not a member that the space has had'
/** A rate limiter is never paid for more than its longest interval in advance. */
const INTERVAL_MS_MAX = 2 ** 30

/** Any number is a counter's. */
export function checkCounter(): number {
  return 1
}

export function checkSequence({ heap, body }: CheckedPart): number {
  must(heap.sight.long(body) >= 0n, 'it has given out a number below 1')
  return 1
}

export function checkFlag({ heap, body }: CheckedPart): number {
  must((heap.sight.word(body + BELL_BYTES) & ~1) === 0, 'it is neither up nor down')
  return 1
}

export function checkOnce({ heap, body }: CheckedPart): number {
  const word = heap.sight.word(body + BELL_BYTES)
  must(word === DONE || heap.isOwnerOrNone(word), NOT_A_MEMBER)
  return 1
}

export function checkMutex({ heap, body }: CheckedPart): number {
  must(heap.isOwnerOrNone(heap.sight.word(body + BELL_BYTES)), NOT_A_MEMBER)
  return 1
}

export function checkSemaphore({ heap, body, parameters }: CheckedStructure): number {
  const [permits = 0] = parameters
  for (let at = 0; at < permits; at += 1)
    must(heap.isOwnerOrNone(heap.sight.word(body + BELL_BYTES + at * 4)), NOT_A_MEMBER)
  return 0
}

export function checkLatch({ heap, body, parameters }: CheckedStructure): number {
  const [count = 0] = parameters
  const counted = heap.sight.word(body + BELL_BYTES)
  must(counted >= 0 && counted <= count, `it was counted down ${counted} times, of ${count}`)
  return 1
}

/** The opening, then who has arrived: fewer than it waits for. */
export function checkBarrier(structure: CheckedStructure): number {
  const { heap, body, parameters } = structure
  const [parties = 0] = parameters
  const state = checkCell({ ...structure, body: body + BELL_BYTES })
  if (state === undefined) return 0
  const { offset, valueLength } = state
  must(valueLength % 4 === 0 && valueLength >= 4 && valueLength <= parties * 4, 'more have arrived than it waits for')
  for (let at = 4; at < valueLength; at += 4)
    must(heap.isOwner(heap.sight.word(offset + VersionOffset.Value + at)), 'one that has arrived is not a member')
  return 0
}

export function checkReadWriteLock({ heap, body }: CheckedPart): number {
  const { sight } = heap
  for (const place of [LockOffset.Writer, LockOffset.Dirty])
    must(heap.isOwnerOrNone(sight.word(body + place)), NOT_A_MEMBER)
  for (let at = LockOffset.Readers; at < READ_WRITE_LOCK_BYTES; at += 8) {
    const owner = sight.word(body + at + ReaderOffset.Owner)
    const count = sight.word(body + at + ReaderOffset.Count)
    must(
      heap.isOwnerOrNone(owner) && count >= 0 && (owner !== 0 || count === 0),
      'the holds of a reader are not counted',
    )
  }
  return 1
}

export function checkLeader({ heap, body }: CheckedPart): number {
  const [word, holder] = [heap.sight.long(body + BELL_BYTES), heap.sight.long(body + BELL_BYTES + HOLDER_OFFSET)]
  must(termOf(holder) <= termOf(word), 'its leader is of a term that has not begun')
  must(holder === 0n || heap.isOwner(lowOf(holder)), NOT_A_MEMBER)
  return 1
}

export function checkRateLimiter({ heap, body }: CheckedPart): number {
  const paidMs = Number(heap.sight.long(body)) / 1000
  must(
    paidMs >= 0 && paidMs <= heap.nowMs + INTERVAL_MS_MAX,
    'what was let through is paid for at no time that there is',
  )
  return 1
}
