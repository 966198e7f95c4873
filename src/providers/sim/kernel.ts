import { EventHeap } from './event-heap.ts'
import { type Choose, Stream } from './stream.ts'
import { TraceHash } from './trace-hash.ts'

/** Virtual time: what happens, when, and every random decision. One thread, no clock. */
export class Kernel {
  /** Nanoseconds since the start; exact for 104 days. */
  nowNs = 0
  readonly seed: number
  readonly trace: TraceHash = new TraceHash()
  /** True while an event is being carried out. */
  running = false
  /** Events carried out so far. */
  events = 0
  readonly #heap = new EventHeap()
  readonly #choose: Choose | undefined
  readonly #streams = new Map<string, Stream>()
  #sequence = 0

  constructor(seed: number, choose: Choose | undefined) {
    this.seed = seed
    this.#choose = choose
  }

  /** The stream of a concern. The same seed and name give the same numbers, whatever other streams are used. */
  stream(name: string): Stream {
    let stream = this.#streams.get(name)
    if (stream === undefined) {
      stream = new Stream(this.seed, name, this.#choose)
      this.#streams.set(name, stream)
    }
    return stream
  }

  /** A time in the past means now. */
  at(atNs: number, run: () => void): void {
    this.#sequence += 1
    this.#heap.push({ atNs: Math.max(atNs, this.nowNs), sequence: this.#sequence, run })
  }

  after(delayNs: number, run: () => void): void {
    this.at(this.nowNs + delayNs, run)
  }

  /** The time of the next event; Infinity if there is none. */
  get nextNs(): number {
    return this.#heap.nextNs
  }

  /** Carry out the next event. Returns false if there is none. */
  step(): boolean {
    if (this.#heap.size === 0) return false
    const event = this.#choose === undefined ? this.#heap.pop() : this.#popChosen(this.#choose)
    this.nowNs = event.atNs
    this.events += 1
    this.trace.add(event.atNs)
    const outer = this.running
    this.running = true
    try {
      event.run()
    } finally {
      this.running = outer
    }
    return true
  }

  /** Carry out all that happens until then, and set the time to it. */
  runTo(timeNs: number): void {
    while (this.#heap.nextNs <= timeNs) this.step()
    this.nowNs = Math.max(this.nowNs, timeNs)
  }

  /** Drop all events. */
  clear(): void {
    this.#heap.clear()
  }

  /** Take one of the events of the next moment; `choose` decides which is first. */
  #popChosen(choose: Choose): { readonly atNs: number; readonly run: () => void } {
    const atNs = this.#heap.nextNs
    const together = []
    while (this.#heap.nextNs === atNs) together.push(this.#heap.pop())
    const index = together.length === 1 ? 0 : choose(together.length, 'order')
    const [chosen] = together.splice(index, 1)
    for (const event of together) this.#heap.push(event)
    return chosen!
  }
}
