import type { Wait, WaitKind } from './wait.ts'

/** Length of one member's table in bytes. */
export const WAIT_TABLE_BYTES = 4096

const SLOT_BYTES = 256
const SLOTS: number = WAIT_TABLE_BYTES / SLOT_BYTES
const TEXT_BYTES: number = SLOT_BYTES - 24
const Word = { State: 0, Sequence: 1, Length: 2, Thread: 3 } as const
const WORDS: number = SLOT_BYTES / 4
const SINCE_INDEX = 2
const Free = 0
const Taken = 1
/** How often a reader looks again at what is being written. */
const READS_MAX = 16

/** A wait as read from a table. */
export interface WaitReading extends Wait {
  /** Thread id of the writer. */
  readonly thread: number
}

/**
 * What a member's threads wait for, in shared memory, so that others see it while those threads are blocked. A wait is
 * written here only once it is slow:
 *
 * ```
 * 16 slots of 256 bytes
 *    0  state     Int32    0 free, 1 taken, by compare-and-swap
 *    4  sequence  Int32    odd while its writer changes it
 *    8  length    Int32    of the text, in bytes
 *   12  thread    Int32    thread id of the writer
 *   16  since     Float64  CLOCK_MONOTONIC, in ns
 *   24  text               UTF-8 of [kind, object, state, ranks, processes] as JSON
 * ```
 *
 * Any thread of the member takes slots; if none is free, the wait is not shown. The waits of a dead member stay until
 * another takes its place.
 */
export class WaitTable {
  readonly #words: Int32Array
  readonly #times: Float64Array
  readonly #bytes: Uint8Array

  /** Opens `WAIT_TABLE_BYTES` of zeroed or used shared memory, at a multiple of 8. */
  constructor(buffer: ArrayBufferLike = new SharedArrayBuffer(WAIT_TABLE_BYTES), offsetBytes = 0) {
    this.#words = new Int32Array(buffer, offsetBytes, WAIT_TABLE_BYTES / 4)
    this.#times = new Float64Array(buffer, offsetBytes, WAIT_TABLE_BYTES / 8)
    this.#bytes = new Uint8Array(buffer, offsetBytes, WAIT_TABLE_BYTES)
  }

  /** Take a slot for the calling thread; undefined if all are taken. */
  take(): number | undefined {
    for (let slot = 0; slot < SLOTS; slot += 1)
      if (Atomics.compareExchange(this.#words, slot * WORDS + Word.State, Free, Taken) === Free) return slot
    return undefined
  }

  /** Show `wait` in a slot of the caller. */
  write(slot: number, wait: Wait, thread: number): void {
    const at = slot * WORDS
    const text = textOf(wait)
    Atomics.add(this.#words, at + Word.Sequence, 1)
    this.#words[at + Word.Length] = text.length
    this.#words[at + Word.Thread] = thread
    this.#times[(slot * SLOT_BYTES) / 8 + SINCE_INDEX] = wait.sinceNs
    this.#bytes.set(text, slot * SLOT_BYTES + SLOT_BYTES - TEXT_BYTES)
    Atomics.add(this.#words, at + Word.Sequence, 1)
  }

  /** Free a slot: the wait is over. */
  free(slot: number): void {
    const at = slot * WORDS
    Atomics.add(this.#words, at + Word.Sequence, 1)
    this.#words[at + Word.Length] = 0
    Atomics.add(this.#words, at + Word.Sequence, 1)
    Atomics.store(this.#words, at + Word.State, Free)
  }

  /** Return the waits shown now, the longest first. Garbage is skipped. */
  read(): WaitReading[] {
    const waits: WaitReading[] = []
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const wait = this.#readSlot(slot)
      if (wait !== undefined) waits.push(wait)
    }
    return waits.sort((a, b) => a.sinceNs - b.sinceNs)
  }

  #readSlot(slot: number): WaitReading | undefined {
    const at = slot * WORDS
    for (let attempt = 0; attempt < READS_MAX; attempt += 1) {
      const before = Atomics.load(this.#words, at + Word.Sequence)
      if (Atomics.load(this.#words, at + Word.State) === Free) return undefined
      const length = this.#words[at + Word.Length]!
      const thread = this.#words[at + Word.Thread]!
      const sinceNs = this.#times[(slot * SLOT_BYTES) / 8 + SINCE_INDEX]!
      const from = slot * SLOT_BYTES + SLOT_BYTES - TEXT_BYTES
      // Copied before it is decoded: the writer may be at it.
      const text = Uint8Array.from(this.#bytes.subarray(from, from + Math.min(TEXT_BYTES, Math.max(0, length))))
      if (before % 2 === 0 && Atomics.load(this.#words, at + Word.Sequence) === before)
        return length === 0 ? undefined : parse(text, sinceNs, thread)
    }
    return undefined
  }
}

/** Shortened, by the state first, until it fits. */
function textOf({ kind, object, state, ranks, processes }: Wait): Uint8Array {
  for (let length = TEXT_BYTES; length > 0; length -= 16) {
    const parts = [kind, shorten(object, Math.max(length, 96)), shorten(state, length), ranks.slice(0, 8), processes]
    const text = Buffer.from(JSON.stringify(parts))
    if (text.length <= TEXT_BYTES) return text
  }
  return Buffer.from(JSON.stringify([kind, shorten(object, 32), '', [], []]))
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

function parse(text: Uint8Array, sinceNs: number, thread: number): WaitReading | undefined {
  try {
    const [kind, object, state, ranks, processes] = JSON.parse(Buffer.from(text).toString()) as unknown[]
    const isSound =
      typeof kind === 'string' &&
      typeof object === 'string' &&
      typeof state === 'string' &&
      isList(ranks) &&
      isList(processes)
    return isSound ? { kind: kind as WaitKind, object, state, ranks, processes, sinceNs, thread } : undefined
  } catch {
    return undefined
  }
}

function isList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => Number.isSafeInteger(entry))
}
