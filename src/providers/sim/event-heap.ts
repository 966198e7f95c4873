/** Something that happens at a moment of virtual time. */
export interface ScheduledEvent {
  readonly atNs: number
  /** Order of scheduling, which breaks ties at the same moment. */
  readonly sequence: number
  readonly run: () => void
}

/** Events by time, then by the order in which they were scheduled: a binary heap. */
export class EventHeap {
  readonly #events: ScheduledEvent[] = []

  get size(): number {
    return this.#events.length
  }

  /** The time of the next event; Infinity if there is none. */
  get nextNs(): number {
    return this.#events[0]?.atNs ?? Number.POSITIVE_INFINITY
  }

  push(event: ScheduledEvent): void {
    const events = this.#events
    let child = events.length
    events.push(event)
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!isBefore(event, events[parent]!)) break
      events[child] = events[parent]!
      child = parent
    }
    events[child] = event
  }

  /** Take the first event. The caller knows that there is one. */
  pop(): ScheduledEvent {
    const events = this.#events
    const first = events[0]!
    const last = events.pop()!
    if (events.length > 0) this.#sink(last)
    return first
  }

  clear(): void {
    this.#events.length = 0
  }

  #sink(event: ScheduledEvent): void {
    const events = this.#events
    let parent = 0
    for (;;) {
      let child = 2 * parent + 1
      if (child >= events.length) break
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child += 1
      if (!isBefore(events[child]!, event)) break
      events[parent] = events[child]!
      parent = child
    }
    events[parent] = event
  }
}

function isBefore(one: ScheduledEvent, other: ScheduledEvent): boolean {
  return one.atNs < other.atNs || (one.atNs === other.atNs && one.sequence < other.sequence)
}
