import { native } from '../native/index.ts'
import type { CompletionBatch } from '../providers/index.ts'
import type { PairLatency } from './pair-latency.ts'

/** Ids of requests that are timed lie below; those of the conveniences are negative, too, and above. */
const TIMED_BELOW = -(2 ** 52)
/**
 * Some devices leave completions behind of queue pairs that were reset or destroyed. The ids of this many such queue
 * pairs are remembered.
 */
const DEPARTED_MAX = 1024

interface TimedRequest {
  readonly latency: PairLatency
  readonly kind: number
  /** What the program calls it. */
  readonly id: number
  readonly beganNs: number
}

/**
 * The requests of this thread that are timed. Ids of programs may be used again, and counting completions would cost
 * each of them; so a request that is timed goes under an id of its own, and has its program's again when its completion
 * is found.
 */
class TimedRequests {
  readonly #underWay = new Map<number, TimedRequest>()
  readonly #departed: number[] = []
  #last = TIMED_BELOW

  /** From now on; the id under which it goes. */
  begin(latency: PairLatency, kind: number, id: number): number {
    this.#last -= 1
    this.#underWay.set(this.#last, { latency, kind, id, beganNs: native.monotonicNs() })
    return this.#last
  }

  /** What its program calls it. */
  idOf(timedAs: number): number {
    return this.#underWay.get(timedAs)!.id
  }

  /** The device did not take it. */
  cancel(timedAs: number): void {
    this.#underWay.delete(timedAs)
  }

  /** Its completion is in `row`. What failed requests took says nothing. */
  completed(batch: CompletionBatch, row: number): void {
    const id = batch.id[row]!
    const request = this.#underWay.get(id)
    if (request === undefined) return
    this.#underWay.delete(id)
    batch.id[row] = request.id
    if (batch.status[row] === 0) request.latency.record(request.kind, native.monotonicNs() - request.beganNs)
  }

  /** The queue pair was reset or destroyed: what is under way will hardly complete. */
  forget(latency: PairLatency): void {
    for (const [id, request] of this.#underWay) if (request.latency === latency) this.#departed.push(id)
    for (const id of this.#departed.splice(0, this.#departed.length - DEPARTED_MAX)) this.#underWay.delete(id)
  }
}

/** One table: a completion queue may belong to another opening of the device than the queue pair. */
export const timedRequests: TimedRequests = new TimedRequests()

export function isTimed(id: number): boolean {
  return id < TIMED_BELOW
}
