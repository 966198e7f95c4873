import { native, SystemError } from '../../native/index.ts'
import { openLife, type ProcessLife } from '../../runtime/index.ts'

/** A busy replica looks this often. One that sleeps is woken. */
const LOOK_NS = 200_000

const NONE: readonly number[] = []

/**
 * Sees the ends of other replicas' processes on this machine in the replica's own thread. What the group says comes
 * later: by way of its agent, the agreement of its members, and the program. Told of an end that it knows, a replica
 * does nothing.
 */
export class ReplicaEnds {
  readonly #ended: (id: number) => void
  readonly #watched = new Map<number, number>()
  /** The same array as long as there is nothing new in it. */
  #descriptors: readonly number[] = NONE
  #ready = new Int32Array(0)
  #lookedNs = 0

  constructor(ended: (id: number) => void) {
    this.#ended = ended
  }

  get descriptors(): readonly number[] {
    return this.#descriptors
  }

  /** The replica with that id is in that process, now. */
  watch(id: number, life: ProcessLife): void {
    this.forget(id)
    let descriptor: number | undefined
    try {
      descriptor = openLife(life)
    } catch (error) {
      // No descriptor is left: what the group says is enough.
      if (error instanceof SystemError) return
      throw error
    }
    if (descriptor === undefined) this.#ended(id)
    else {
      this.#watched.set(id, descriptor)
      this.#changed()
    }
  }

  /** Nothing is to be told of it any more. */
  forget(id: number): void {
    const descriptor = this.#watched.get(id)
    if (descriptor === undefined) return
    this.#watched.delete(id)
    native.closeDescriptor(descriptor)
    this.#changed()
  }

  /** A busy replica calls this in each turn. True if something was found. */
  lookIfDue(nowNs: number): boolean {
    if (nowNs - this.#lookedNs < LOOK_NS) return false
    this.#lookedNs = nowNs
    return this.look()
  }

  /** True if something was found. */
  look(): boolean {
    const ready = this.#ready
    if (ready.length === 0 || native.poll(Int32Array.from(this.#descriptors), ready, ready.length, 0) === 0)
      return false
    const ended = [...this.#watched.keys()].filter((_, place) => ready[place] !== 0)
    for (const id of ended) {
      this.forget(id)
      this.#ended(id)
    }
    return true
  }

  close(): void {
    for (const id of [...this.#watched.keys()]) this.forget(id)
  }

  #changed(): void {
    this.#descriptors = [...this.#watched.values()]
    this.#ready = new Int32Array(this.#descriptors.length)
  }
}
