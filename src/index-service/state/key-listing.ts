import type { Records } from '../memory/records.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { keyOfRecord } from './record-format.ts'

const SCANNED = 256
const SAMPLED = 64

/**
 * The keys that lie in records. Their order differs between processes, as records are placed by what was there before.
 * So a command in the log, whose answer may not differ, gets keys in the order of their bytes.
 */
export class KeyListing {
  readonly #records: Records
  readonly #isLive: (key: Uint8Array) => boolean
  #sampleCursor = 0

  constructor(records: Records, isLive: (key: Uint8Array) => boolean) {
    this.#records = records
    this.#isLive = isLive
  }

  /** All of them, with those that have expired. */
  *every(): Generator<Uint8Array> {
    let cursor = 0
    do {
      const scanned = this.#records.scan(cursor, SCANNED)
      cursor = scanned.cursor
      for (const record of scanned.keys) {
        const key = keyOfRecord(record)
        if (key !== undefined) yield key
      }
    } while (cursor !== 0)
  }

  /** In the order of their bytes, as latin1. */
  sorted(): string[] {
    const names: string[] = []
    for (const key of this.every()) if (this.#isLive(key)) names.push(latin1Of(key))
    return names.sort()
  }

  /** For SCAN, in the order of records. */
  scan(cursor: number, count: number): { readonly cursor: number; readonly keys: readonly Uint8Array[] } {
    const scanned = this.#records.scan(cursor, count)
    return { cursor: scanned.cursor, keys: this.#liveOf(scanned.keys) }
  }

  /** The same for a command in the log: all keys at once. It may be one that began without the log. */
  scanAll(): { readonly cursor: number; readonly keys: readonly Uint8Array[] } {
    return { cursor: 0, keys: this.sorted().map(bytesOf) }
  }

  /** One of the next few keys, so that calls go through all of them. */
  sample(random: number): Uint8Array | undefined {
    for (let rounds = 0; rounds < 2; ) {
      const { cursor, keys } = this.scan(this.#sampleCursor, SAMPLED)
      this.#sampleCursor = cursor
      if (keys.length > 0) return keys[random % keys.length]!
      if (cursor === 0) rounds += 1
    }
    return undefined
  }

  /** One of all, the same in every process. */
  choose(random: number): Uint8Array | undefined {
    const names = this.sorted()
    return names.length === 0 ? undefined : bytesOf(names[random % names.length]!)
  }

  #liveOf(records: readonly Uint8Array[]): Uint8Array[] {
    const keys: Uint8Array[] = []
    for (const record of records) {
      const key = keyOfRecord(record)
      if (key !== undefined && this.#isLive(key)) keys.push(key)
    }
    return keys
  }
}
