import type { Collection } from '../values/collection.ts'
import { RecordType } from './record-format.ts'

/** An entry of the Map, the string of the key, this object. */
const HELD_BYTES = 152
const NONE: readonly string[] = []

interface Held {
  readonly value: Collection
  readonly ownBytes: number
  /** What it took when it was last looked at. */
  usedBytes: number
  /** The command that changed it last. */
  changedAt: number
}

/** The values of keys that are not strings, by key as latin1, what they take, and which of them became ready. */
export class Collections {
  readonly #held = new Map<string, Held>()
  readonly #ready = new Set<string>()
  #usedBytes = 0

  get usedBytes(): number {
    return this.#usedBytes
  }

  get names(): Iterable<string> {
    return this.#held.keys()
  }

  has(name: string): boolean {
    return this.#held.has(name)
  }

  /** It has to be there. */
  get(name: string): Collection {
    return this.#held.get(name)!.value
  }

  /** What it and the name of its key take. It has to be there. */
  usedBytesOf(name: string): number {
    return this.#held.get(name)!.usedBytes
  }

  /** A new one, for which commands may wait. */
  add(name: string, value: Collection): void {
    const ownBytes = HELD_BYTES + name.length
    this.#held.set(name, { value, ownBytes, usedBytes: ownBytes + value.usedBytes, changedAt: 0 })
    this.#usedBytes += ownBytes + value.usedBytes
    if (value.type === RecordType.List || value.type >= RecordType.SortedSet) this.#ready.add(name)
  }

  /** One that is there was changed by a command. False if it was by the same one before. */
  changed(name: string, command: number): boolean {
    const held = this.#held.get(name)!
    this.#usedBytes -= held.usedBytes
    held.usedBytes = held.ownBytes + held.value.usedBytes
    this.#usedBytes += held.usedBytes
    if (held.changedAt === command) return false
    held.changedAt = command
    return true
  }

  delete(name: string): void {
    const { value, usedBytes } = this.#held.get(name)!
    this.#held.delete(name)
    this.#usedBytes -= usedBytes
    this.#signalGone(name, value)
  }

  /** Something for which commands may wait has come to a key. */
  signal(name: string): void {
    this.#ready.add(name)
  }

  /** Keys for which commands may wait, in the order in which they became ready since the last call. */
  takeReady(): readonly string[] {
    if (this.#ready.size === 0) return NONE
    const ready = [...this.#ready]
    this.#ready.clear()
    return ready
  }

  clear(): void {
    for (const [name, { value }] of this.#held) this.#signalGone(name, value)
    this.#held.clear()
    this.#usedBytes = 0
  }

  /** Readers of a group of a stream are told when it is gone. */
  #signalGone(name: string, { type }: Collection): void {
    if (type === RecordType.Stream) this.#ready.add(name)
  }
}
