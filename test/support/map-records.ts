import { Buffer } from 'node:buffer'
import type { Records } from '../../src/index-service/memory/records.ts'

/** Records in a Map, by key as latin1. Each process of a test may have another order of them: see `shuffle`. */
export class MapRecords implements Records {
  readonly #records = new Map<string, Uint8Array>()
  nowMs = 0
  #usedBytes = 0

  get size(): number {
    return this.#records.size
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#records.get(latin1(key))
  }

  set(key: Uint8Array, value: Uint8Array): void {
    const name = latin1(key)
    const old = this.#records.get(name)
    this.#usedBytes += value.length + (old === undefined ? key.length : -old.length)
    this.#records.set(name, Uint8Array.from(value))
    // What was a view must not be used any more.
    old?.fill(0xee)
  }

  delete(key: Uint8Array): boolean {
    const name = latin1(key)
    const old = this.#records.get(name)
    if (old === undefined) return false
    this.#records.delete(name)
    this.#usedBytes -= key.length + old.length
    old.fill(0xee)
    return true
  }

  idleMs(): undefined {
    return undefined
  }

  frequency(): undefined {
    return undefined
  }

  clear(): void {
    for (const old of this.#records.values()) old.fill(0xee)
    this.#records.clear()
    this.#usedBytes = 0
  }

  swapSpaces(): void {
    // No one reads it from outside.
  }

  scan(cursor: number, count: number): { readonly cursor: number; readonly keys: readonly Uint8Array[] } {
    const names = [...this.#records.keys()].sort()
    const end = cursor + count
    return {
      cursor: end < names.length ? end : 0,
      keys: names.slice(cursor, end).map((name) => Buffer.from(name, 'latin1')),
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
