import { COUNTER_BYTES } from '../counter.ts'
import { CYCLIC_BARRIER_BYTES } from '../cyclic-barrier.ts'
import { FLAG_BYTES } from '../flag.ts'
import { DONE } from '../heap-holds.ts'
import { LATCH_BYTES } from '../latch.ts'
import { endedWord, LEADER_BYTES } from '../leader.ts'
import { MUTEX_BYTES, TOKEN_OFFSET } from '../mutex.ts'
import { ONCE_BYTES } from '../once.ts'
import { RATE_LIMITER_BYTES } from '../rate-limiter.ts'
import { LockOffset, READ_WRITE_LOCK_BYTES } from '../read-write-lock.ts'
import { semaphoreBytes } from '../semaphore.ts'
import { SEQUENCE_BYTES } from '../sequence.ts'
import { termOf } from '../term-word.ts'
import { BELL_BYTES } from '../waiting/bell.ts'
import type { SavedBody, SavedKind } from './saved-kind.ts'

/**
 * Fencing tokens and terms go on this much higher than they were saved: those that were given out after the save must
 * not be given out again.
 */
const TOKENS_SKIPPED = 2 ** 20

/** A structure whose whole state is one number. */
interface WordKind {
  readonly bytes: number
  read(body: SavedBody): bigint
  write(body: SavedBody, value: bigint): void
}

function savedWord({ bytes, read, write }: WordKind): SavedKind {
  return {
    bodyBytes: () => bytes,
    *dump(body) {
      const record = Buffer.alloc(8)
      record.writeBigInt64LE(read(body))
      yield record
    },
    restore: (body) => (record) => write(body, Buffer.from(record).readBigInt64LE()),
  }
}

/** Holders are gone after a restore, so there is nothing to save but that it is there. */
function nothingSaved(bodyBytes: (parameters: readonly number[]) => number): SavedKind {
  return {
    bodyBytes,
    *dump() {},
    restore: () => () => {},
  }
}

function long(bytes: number): SavedKind {
  return savedWord({
    bytes,
    read: ({ heap, offset }) => heap.memory.load64(offset),
    write: ({ heap, offset }, value) => heap.memory.store64(offset, value),
  })
}

function word(bytes: number, place: number): SavedKind {
  return savedWord({
    bytes,
    read: ({ heap, offset }) => BigInt(heap.memory.load(offset + place)),
    write: ({ heap, offset }, value) => heap.memory.store(offset + place, Number(value)),
  })
}

function token(bytes: number, place: number): SavedKind {
  return savedWord({
    bytes,
    read: ({ heap, offset }) => BigInt(heap.memory.load(offset + place)),
    write: ({ heap, offset }, value) => heap.memory.store(offset + place, skipped(Number(value))),
  })
}

/** 0: none was given out. */
function skipped(value: number): number {
  return value === 0 ? 0 : (value + TOKENS_SKIPPED) | 0
}

export const savedCounter: SavedKind = long(COUNTER_BYTES)
export const savedSequence: SavedKind = long(SEQUENCE_BYTES)
export const savedFlag: SavedKind = word(FLAG_BYTES, BELL_BYTES)
export const savedLatch: SavedKind = word(LATCH_BYTES, BELL_BYTES)
export const savedMutex: SavedKind = token(MUTEX_BYTES, BELL_BYTES + TOKEN_OFFSET)
export const savedReadWriteLock: SavedKind = token(READ_WRITE_LOCK_BYTES, LockOffset.Tokens)
export const savedSemaphore: SavedKind = nothingSaved(([permits = 1]) => semaphoreBytes(permits))
export const savedBarrier: SavedKind = nothingSaved(() => CYCLIC_BARRIER_BYTES)

/** Work that was being done is not done. */
export const savedOnce: SavedKind = savedWord({
  bytes: ONCE_BYTES,
  read: ({ heap, offset }) => (heap.memory.load(offset + BELL_BYTES) === DONE ? 1n : 0n),
  write: ({ heap, offset }, value) => heap.memory.store(offset + BELL_BYTES, value === 1n ? DONE : 0),
})

export const savedLeader: SavedKind = savedWord({
  bytes: LEADER_BYTES,
  read: ({ heap, offset }) => BigInt(termOf(heap.memory.load64(offset + BELL_BYTES))),
  write: ({ heap, offset }, term) =>
    heap.memory.store64(offset + BELL_BYTES, term === 0n ? 0n : endedWord(Number(term) + TOKENS_SKIPPED)),
})

/** The time at which all that was let through is paid for, in microseconds; 0 if nothing was. */
export const savedRateLimiter: SavedKind = savedWord({
  bytes: RATE_LIMITER_BYTES,
  read({ heap, offset, clock }) {
    const paidUs = heap.memory.load64(offset)
    return paidUs === 0n ? 0n : BigInt(Math.round(clock.toWall(Number(paidUs) / 1000) * 1000))
  },
  write({ heap, offset, clock }, wallUs) {
    const paidUs = BigInt(Math.round(clock.toHeap(Number(wallUs) / 1000) * 1000))
    heap.memory.store64(offset, wallUs === 0n || paidUs < 0n ? 0n : paidUs)
  },
})
