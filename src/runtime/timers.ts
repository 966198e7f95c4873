/** A timer of a state machine: runs once, when its owner's loop finds it due. */
export interface Timer {
  readonly atNs: number
  readonly run: () => void
}

/** Timers in a binary heap, ordered by time. It has no clock of its own, so agents and simulators drive it alike. */
export class Timers {
  readonly #heap: Timer[] = []

  /** Run `run` once the time is `atNs` or later. A timer cannot be cancelled: let it find nothing to do. */
  at(atNs: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ atNs, run })
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1
      if (heap[parent]!.atNs <= heap[child]!.atNs) break
      ;[heap[parent], heap[child]] = [heap[child]!, heap[parent]!]
      child = parent
    }
  }

  /** When the next timer is due; Infinity if there is none. */
  get nextNs(): number {
    return this.#heap[0]?.atNs ?? Number.POSITIVE_INFINITY
  }

  /** Run all timers that are due. Returns true if there were any. */
  runDue(nowNs: number): boolean {
    let any = false
    while (this.nextNs <= nowNs) {
      this.#pop().run()
      any = true
    }
    return any
  }

  #pop(): Timer {
    const heap = this.#heap
    const first = heap[0]!
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    return first
  }

  #sink(): void {
    const heap = this.#heap
    for (let parent = 0; ; ) {
      let least = parent
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && heap[child]!.atNs < heap[least]!.atNs) least = child
      }
      if (least === parent) return
      ;[heap[parent], heap[least]] = [heap[least]!, heap[parent]!]
      parent = least
    }
  }
}
