import assert from 'node:assert/strict'
import { MemoryExhaustedError } from '../../src/dsm/index.ts'
import type { Backing } from '../../src/structures/memory/backing.ts'

export const PAGE_BYTES = 4096
/** What is seen by one who reads where there is no memory. */
const NOTHING = 0xdb

/**
 * Which pages of a memory were taken, as a kernel knows it. To touch another one fails the test: in reality it takes
 * memory that no one has asked for, or ends the process where there is none.
 */
export class Pages implements Backing {
  isWhole = false
  /** Pages that can be had in total. */
  limit: number = Number.POSITIVE_INFINITY
  /** How often memory was taken or given back. */
  calls = 0
  readonly #bytes: Uint8Array
  readonly #there: Uint8Array
  #taken = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes.fill(NOTHING)
    this.#there = new Uint8Array(Math.ceil(bytes.length / PAGE_BYTES))
  }

  /** Pages that are there. */
  get taken(): number {
    return this.#taken
  }

  take(offsetBytes: number, lengthBytes: number): void {
    this.calls += 1
    const [begin, end] = pagesOf(offsetBytes, lengthBytes)
    const missing = this.#there.subarray(begin, end).filter((there) => there === 0).length
    if (this.#taken + missing > this.limit)
      throw new MemoryExhaustedError('region', lengthBytes, undefined, 'the disk is full (ENOSPC)')
    for (let page = begin; page < end; page += 1)
      if (this.#there[page] === 0) this.#bytes.fill(0, page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
    this.#there.fill(1, begin, end)
    this.#taken += missing
  }

  giveBack(offsetBytes: number, lengthBytes: number): void {
    this.calls += 1
    const [begin, end] = pagesOf(offsetBytes, lengthBytes)
    this.#taken -= this.#there.subarray(begin, end).filter((there) => there === 1).length
    this.#there.fill(0, begin, end)
    this.#bytes.fill(NOTHING, offsetBytes, offsetBytes + lengthBytes)
  }

  /** The bytes are about to be touched. */
  touch(offsetBytes: number, lengthBytes: number): void {
    for (let page = Math.floor(offsetBytes / PAGE_BYTES); page * PAGE_BYTES < offsetBytes + lengthBytes; page += 1)
      if (this.#there[page] !== 1) assert.fail(`page ${page} is touched, and was not taken`)
  }
}

function pagesOf(offsetBytes: number, lengthBytes: number): readonly [number, number] {
  assert.ok(offsetBytes % PAGE_BYTES === 0 && lengthBytes % PAGE_BYTES === 0, 'whole pages')
  return [offsetBytes / PAGE_BYTES, (offsetBytes + lengthBytes) / PAGE_BYTES]
}
