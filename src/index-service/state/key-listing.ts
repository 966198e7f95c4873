import type { Records } from '../memory/records.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { keyOfRecord, spaceOfRecord } from './record-format.ts'

const SCANNED = 256
const SAMPLED = 64

/** The keys of all records. */
function* recordKeys(records: Records): Generator<Uint8Array> {
  let cursor = 0
  do {
    const scanned = records.scan(cursor, SCANNED)
    cursor = scanned.cursor
    yield* scanned.keys
  } while (cursor !== 0)
}

/**
 * The keys of a space that lie in records. Their order differs between processes, as records are placed by what was
 * there before. So a command in the log, whose answer may not differ, gets keys in the order of their bytes.
 */
export class KeyListing {
  readonly #records: Records
  readonly #space: number
  readonly #isLive: (key: Uint8Array) => boolean
  #sampleCursor = 0

  constructor(records: Records, space: number, isLive: (key: Uint8Array) => boolean) {
    this.#records = records
    this.#space = space
    this.#isLive = isLive
  }

  /** All of them, with those that have expired. */
  *every(): Generator<Uint8Array> {
    for (const record of recordKeys(this.#records)) if (spaceOfRecord(record) === this.#space) yield keyOfRecord(record)
  }

  /** In the order of their bytes, as latin1. */
  sorted(): string[] {
    const names: string[] = []
    for (const key of this.every()) if (this.#isLive(key)) names.push(latin1Of(key))
    return names.sort()
  }

  /**
   * For SCAN. Without the log, keys come in the order of records. A command in the log gets all keys at once. It may be
   * one that began without the log.
   */
  scan(
    cursor: number,
    count: number,
    isRead: boolean,
  ): { readonly cursor: number; readonly keys: readonly Uint8Array[] } {
    if (!isRead) return { cursor: 0, keys: this.sorted().map(bytesOf) }
    const scanned = this.#records.scan(cursor, count)
    return { cursor: scanned.cursor, keys: this.#liveOf(scanned.keys) }
  }

  /** Any key. `random` is a uniform uint32. */
  any(random: number, isRead: boolean): Uint8Array | undefined {
    if (isRead) return this.#sample(random)
    const names = this.sorted()
    return names.length === 0 ? undefined : bytesOf(names[random % names.length]!)
  }

  /** One of the next few keys, so that calls go through all of them. */
  #sample(random: number): Uint8Array | undefined {
    for (let rounds = 0; rounds < 2; ) {
      const { cursor, keys } = this.scan(this.#sampleCursor, SAMPLED, true)
      this.#sampleCursor = cursor
      if (keys.length > 0) return keys[random % keys.length]!
      if (cursor === 0) rounds += 1
    }
    return undefined
  }

  #liveOf(records: readonly Uint8Array[]): Uint8Array[] {
    const keys: Uint8Array[] = []
    for (const record of records) {
      if (spaceOfRecord(record) !== this.#space) continue
      const key = keyOfRecord(record)
      if (this.#isLive(key)) keys.push(key)
    }
    return keys
  }
}
