import type { Store } from '../store/store.ts'
import { EventOffset, QueueOffset } from './layout.ts'
import type { QueueMeta } from './queue-meta.ts'

/** The queue that events are about. */
interface EventfulQueue {
  readonly name: string
  readonly store: Store
  readonly meta: QueueMeta
  /** Where its record begins. */
  readonly at: number
}

/** An event as QueueEvents expects it: its id, `<ms>-<sequence>`, then names and values in turn. */
export type Event = [id: string, fields: string[]]

/** The events of a queue, oldest first. The latest are kept. */
export class JobEvents {
  readonly #queue: EventfulQueue

  constructor(queue: EventfulQueue) {
    this.#queue = queue
  }

  /** Append an event, and drop the oldest ones beyond `kept`. Returns its id. */
  add(fields: readonly string[], kept: number = this.#queue.meta.eventsMax()): string {
    const { memory, allocator, texts } = this.#queue.store
    const { ms, sequence } = this.#nextId()
    const text = JSON.stringify(fields)
    const length = Buffer.byteLength(text)
    const event = allocator.allocate(EventOffset.Text + length)
    const last = this.#word(QueueOffset.EventLast)
    memory.freshWord(event + EventOffset.Next, 0)
    memory.freshWord(event + EventOffset.Previous, last)
    memory.freshWord(event + EventOffset.Length, length)
    memory.freshFloat(event + EventOffset.Ms, ms)
    memory.freshFloat(event + EventOffset.Sequence, sequence)
    texts.write(event + EventOffset.Text, text, length)
    if (last === 0) this.#setWord(QueueOffset.EventFirst, event)
    else memory.setWord(last + EventOffset.Next, event)
    this.#setWord(QueueOffset.EventLast, event)
    this.#setWord(QueueOffset.EventCount, this.count + 1)
    this.trim(kept)
    this.#queue.store.announce('events', this.#queue.name)
    return `${ms}-${sequence}`
  }

  get count(): number {
    return this.#word(QueueOffset.EventCount)
  }

  get lastId(): string {
    const { memory } = this.#queue.store
    const { at } = this.#queue
    return `${memory.float(at + QueueOffset.EventMs)}-${memory.float(at + QueueOffset.EventSequence)}`
  }

  /** Events later than `id`. */
  after(id: string): Event[] {
    const { memory, texts } = this.#queue.store
    const [ms = 0, sequence = 0] = id.split('-').map(Number)
    const found: Event[] = []
    for (
      let event = this.#word(QueueOffset.EventLast);
      event !== 0;
      event = memory.word(event + EventOffset.Previous)
    ) {
      const eventMs = memory.float(event + EventOffset.Ms)
      const eventSequence = memory.float(event + EventOffset.Sequence)
      if (eventMs < ms || (eventMs === ms && eventSequence <= sequence)) break
      const text = texts.read(event + EventOffset.Text, memory.word(event + EventOffset.Length))
      found.push([`${eventMs}-${eventSequence}`, JSON.parse(text) as string[]])
    }
    return found.reverse()
  }

  /** Keep the latest; returns how many were dropped. */
  trim(kept: number): number {
    const { memory, allocator } = this.#queue.store
    const surplus = Math.max(0, this.count - Math.max(0, kept))
    if (surplus === 0) return 0
    let event = this.#word(QueueOffset.EventFirst)
    for (let at = 0; at < surplus; at += 1) {
      const next = memory.word(event + EventOffset.Next)
      allocator.free(event)
      event = next
    }
    this.#setWord(QueueOffset.EventFirst, event)
    if (event === 0) this.#setWord(QueueOffset.EventLast, 0)
    else memory.setWord(event + EventOffset.Previous, 0)
    this.#setWord(QueueOffset.EventCount, this.count - surplus)
    return surplus
  }

  /** Ids never go back, even if the clock does. */
  #nextId(): { readonly ms: number; readonly sequence: number } {
    const { memory } = this.#queue.store
    const { at } = this.#queue
    const lastMs = memory.float(at + QueueOffset.EventMs)
    const ms = Math.max(Date.now(), lastMs)
    const sequence = ms === lastMs ? memory.float(at + QueueOffset.EventSequence) + 1 : 0
    if (ms !== lastMs) memory.setFloat(at + QueueOffset.EventMs, ms)
    memory.setFloat(at + QueueOffset.EventSequence, sequence)
    return { ms, sequence }
  }

  #word(offset: number): number {
    return this.#queue.store.memory.word(this.#queue.at + offset)
  }

  #setWord(offset: number, value: number): void {
    this.#queue.store.memory.setWord(this.#queue.at + offset, value)
  }
}
