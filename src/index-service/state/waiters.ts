import type { Reply } from '../commands/reply.ts'
import { latin1Of } from '../values/latin1.ts'
import { readReply, writeReply } from './reply-format.ts'
import type { Call } from './shard-command.ts'
import type { SnapshotReader, SnapshotWriter } from './snapshot-stream.ts'

/** A call that waits. */
export interface Waiter {
  readonly id: number
  readonly call: Call
  readonly db: number
  /** As latin1. */
  readonly keys: readonly string[]
}

const WAITER_BYTES = 730
const SERVED_BYTES = 337

/** Calls that wait for keys, in the order in which they came, and what those came to whose callers do not have it. */
export class Waiters {
  /** In the order in which they came. */
  readonly #waiting = new Map<number, Waiter>()
  /** The same by database and key. */
  readonly #byKey = new Map<number, Map<string, Map<number, Waiter>>>()
  readonly #served = new Map<number, Reply>()

  get size(): number {
    return this.#waiting.size
  }

  get ids(): Iterable<number> {
    return this.#waiting.keys()
  }

  get usedBytes(): number {
    return this.#waiting.size * WAITER_BYTES + this.#served.size * SERVED_BYTES
  }

  /** What waiters came to, by their ids. */
  get served(): ReadonlyMap<number, Reply> {
    return this.#served
  }

  has(id: number): boolean {
    return this.#waiting.has(id) || this.#served.has(id)
  }

  add(id: number, call: Call, keys: readonly Uint8Array[]): void {
    this.#add({ id, call, db: call.db ?? 0, keys: [...new Set(keys.map(latin1Of))] })
  }

  /** Those that wait for a key, the first first. */
  of(db: number, key: string): readonly Waiter[] {
    const waiters = this.#byKey.get(db)?.get(key)
    return waiters === undefined ? [] : [...waiters.values()]
  }

  /** The keys of a database for which some wait. */
  keysOf(db: number): string[] {
    return [...(this.#byKey.get(db)?.keys() ?? [])]
  }

  serve({ id }: Waiter, reply: Reply): void {
    this.#remove(id)
    this.#served.set(id, reply)
  }

  /** What it was served, which is then forgotten; undefined if nothing was. It waits no longer. */
  cancel(id: number): { readonly served: Reply } | { readonly cancelled: boolean } {
    const served = this.#served.get(id)
    if (served === undefined) return { cancelled: this.#remove(id) }
    this.#served.delete(id)
    return { served }
  }

  /** How many of them were known. */
  forget(ids: readonly number[]): number {
    let forgotten = 0
    for (const id of ids) if (this.#served.delete(id)) forgotten += 1
    return forgotten
  }

  encode(writer: SnapshotWriter): void {
    writer.count(this.#waiting.size)
    for (const { id, call, db, keys } of this.#waiting.values()) {
      writer.f64(id)
      writer.u8(db)
      writer.text(call.name)
      writer.count(call.args.length)
      for (const argument of call.args) writer.bytes(argument)
      writer.count(keys.length)
      for (const key of keys) writer.text(key)
    }
    writer.count(this.#served.size)
    for (const [id, reply] of this.#served) {
      writer.f64(id)
      writeReply(writer, reply)
    }
  }

  /** Replace all by what was written. */
  decode(reader: SnapshotReader): void {
    this.#waiting.clear()
    this.#byKey.clear()
    this.#served.clear()
    for (let left = reader.count(); left > 0; left -= 1) {
      const id = reader.f64()
      const db = reader.u8()
      const name = reader.text()
      const args = Array.from({ length: reader.count() }, () => reader.bytes())
      const keys = Array.from({ length: reader.count() }, () => reader.text())
      this.#add({ id, call: { name, args, db }, db, keys })
    }
    for (let left = reader.count(); left > 0; left -= 1) this.#served.set(reader.f64(), readReply(reader))
  }

  #add(waiter: Waiter): void {
    this.#waiting.set(waiter.id, waiter)
    const byKey = this.#byKey.get(waiter.db) ?? new Map<string, Map<number, Waiter>>()
    this.#byKey.set(waiter.db, byKey)
    for (const key of waiter.keys) {
      const waiters = byKey.get(key) ?? new Map<number, Waiter>()
      waiters.set(waiter.id, waiter)
      byKey.set(key, waiters)
    }
  }

  #remove(id: number): boolean {
    const waiter = this.#waiting.get(id)
    if (waiter === undefined) return false
    this.#waiting.delete(id)
    const byKey = this.#byKey.get(waiter.db)!
    for (const key of waiter.keys) {
      const waiters = byKey.get(key)!
      waiters.delete(id)
      if (waiters.size === 0) byKey.delete(key)
    }
    return true
  }
}
