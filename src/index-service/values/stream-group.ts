import type { SnapshotReader, SnapshotWriter } from '../state/snapshot-stream.ts'
import { OrderedMap } from './ordered-map.ts'

const PENDING_BYTES = 155
const CONSUMER_BYTES = 415
const GROUP_BYTES = 600

/** An entry that was delivered to a consumer and not acknowledged. */
export interface Pending {
  readonly id: bigint
  consumer: Consumer
  deliveredMs: number
  deliveries: number
}

/** A consumer of a group. */
export interface Consumer {
  readonly name: string
  /** When it asked last. */
  seenMs: number
  readonly pending: OrderedMap<bigint, Pending>
}

export function compareIds(one: bigint, other: bigint): number {
  return one < other ? -1 : one === other ? 0 : 1
}

/** A group of consumers, who share a stream. */
export class StreamGroup {
  readonly name: string
  /** The last entry that was delivered to any of them. */
  lastId: bigint
  /** How many entries were read up to there; undefined if it is unknown. */
  entriesRead: number | undefined
  readonly pending: OrderedMap<bigint, Pending> = new OrderedMap(compareIds)
  readonly #consumers = new Map<string, Consumer>()

  constructor(name: string, lastId: bigint, entriesRead: number | undefined) {
    this.name = name
    this.lastId = lastId
    this.entriesRead = entriesRead
  }

  get usedBytes(): number {
    return GROUP_BYTES + this.#consumers.size * CONSUMER_BYTES + this.pending.size * PENDING_BYTES
  }

  /** In the order of their names. */
  get consumers(): readonly Consumer[] {
    return [...this.#consumers.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  consumer(name: string): Consumer | undefined {
    return this.#consumers.get(name)
  }

  /** The consumer of that name, which is new if there is none. */
  consumerFrom(name: string, nowMs: number): Consumer {
    const known = this.#consumers.get(name)
    if (known !== undefined) return known
    const consumer: Consumer = { name, seenMs: nowMs, pending: new OrderedMap<bigint, Pending>(compareIds) }
    this.#consumers.set(name, consumer)
    return consumer
  }

  /** How many entries it had; undefined if there is no such consumer. */
  deleteConsumer(name: string): number | undefined {
    const consumer = this.#consumers.get(name)
    if (consumer === undefined) return undefined
    for (const [id] of consumer.pending) this.pending.delete(id)
    this.#consumers.delete(name)
    return consumer.pending.size
  }

  /** An entry was delivered to a consumer. Another one that had it has it no longer. */
  deliver(id: bigint, consumer: Consumer, nowMs: number): void {
    const old = this.pending.get(id)
    if (old === undefined) {
      this.add({ id, consumer, deliveredMs: nowMs, deliveries: 1 })
      return
    }
    this.give(old, consumer)
    old.deliveredMs = nowMs
    old.deliveries = 1
  }

  add(pending: Pending): void {
    this.pending.set(pending.id, pending)
    pending.consumer.pending.set(pending.id, pending)
  }

  give(pending: Pending, consumer: Consumer): void {
    if (pending.consumer === consumer) return
    pending.consumer.pending.delete(pending.id)
    consumer.pending.set(pending.id, pending)
    pending.consumer = consumer
  }

  /** False if it was not pending. */
  acknowledge(id: bigint): boolean {
    const pending = this.pending.get(id)
    if (pending === undefined) return false
    this.pending.delete(id)
    return pending.consumer.pending.delete(id)
  }

  encode(writer: SnapshotWriter): void {
    writer.text(this.name)
    writer.text(this.lastId.toString(16))
    writer.f64(this.entriesRead ?? -1)
    writer.count(this.#consumers.size)
    for (const { name, seenMs, pending } of this.#consumers.values()) {
      writer.text(name)
      writer.f64(seenMs)
      writer.count(pending.size)
      for (const [id, { deliveredMs, deliveries }] of pending) {
        writer.text(id.toString(16))
        writer.f64(deliveredMs)
        writer.f64(deliveries)
      }
    }
  }

  static decode(reader: SnapshotReader): StreamGroup {
    const name = reader.text()
    const lastId = readId(reader)
    const entriesRead = reader.finite()
    const group = new StreamGroup(name, lastId, entriesRead === -1 ? undefined : entriesRead)
    for (let left = reader.count(); left > 0; left -= 1) {
      const consumer = group.consumerFrom(reader.text(), reader.finite())
      for (let entries = reader.count(); entries > 0; entries -= 1)
        group.add({ id: readId(reader), consumer, deliveredMs: reader.finite(), deliveries: reader.finite() })
    }
    return group
  }
}

/** @throws RangeError */
export function readId(reader: SnapshotReader): bigint {
  const text = reader.text()
  if (!/^[\da-f]{1,32}$/.test(text)) throw new RangeError('an id of a stream in a snapshot cannot be read')
  return BigInt(`0x${text}`)
}
