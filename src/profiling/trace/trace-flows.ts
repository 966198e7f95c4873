import type { TraceEvent } from './trace-event.ts'

interface Hop {
  readonly at: number
  readonly pid: number
  readonly tid: number
}

/** What began and has its end, with what it caused. */
interface Cause extends Hop {
  readonly cat: string
  /** Infinity while it has not been seen to end. */
  end: number
  readonly hops: Hop[]
}

/** Just inside a slice that begins there. */
const INSIDE = 0.001

/**
 * Finds what caused what. Beginnings name a flow, and so do the steps, at any process, that were done for it; no two of one flow are under way at a time, so
 * the clock says which of them a step belongs to: the last that began before it, if that had not ended.
 *
 * First every event is shown to `begin`, then every one to `join`; then `arrows` says what is to be drawn.
 */
export class TraceFlows {
  /** By name, in the order of their beginnings. */
  readonly #causes = new Map<string, Cause[]>()
  /** What is open on a lane. */
  readonly #open = new Map<number, Cause>()

  begin(event: TraceEvent): void {
    const { ph, ts = 0, pid, tid } = event
    if (ph === 'E') {
      const cause = this.#open.get(tid)
      if (cause !== undefined) cause.end = ts
      this.#open.delete(tid)
      return
    }
    const flow = event.args?.['flow']
    if (ph !== 'B' || typeof flow !== 'string') return
    const cause = { at: ts, pid, tid, cat: event.cat ?? '', end: Number.POSITIVE_INFINITY, hops: [] }
    this.#open.set(tid, cause)
    const others = this.#causes.get(flow)
    if (others === undefined) this.#causes.set(flow, [cause])
    else others.push(cause)
  }

  join({ ph, ts = 0, pid, tid, args }: TraceEvent): void {
    const flow = args?.['flow']
    if (ph !== 'X' || typeof flow !== 'string') return
    const cause = lastBefore(this.#causes.get(flow) ?? [], ts)
    if (cause !== undefined && ts <= cause.end) cause.hops.push({ at: ts, pid, tid })
  }

  /** A flow for each that caused anything: from it, through its steps in the order of time, to the last of them. */
  *arrows(): Generator<TraceEvent, void> {
    let id = 0
    for (const causes of this.#causes.values()) {
      for (const { cat, hops, ...from } of causes) {
        if (hops.length === 0) continue
        id++
        const flow = { name: 'caused', cat, id }
        yield { ...flow, ph: 's', ts: from.at + INSIDE, pid: from.pid, tid: from.tid }
        hops.sort((one, other) => one.at - other.at)
        for (const { at, pid, tid } of hops.slice(0, -1)) yield { ...flow, ph: 't', ts: at + INSIDE, pid, tid, bp: 'e' }
        const { at, pid, tid } = hops.at(-1)!
        yield { ...flow, ph: 'f', ts: at + INSIDE, pid, tid, bp: 'e' }
      }
    }
  }
}

function lastBefore(causes: readonly Cause[], at: number): Cause | undefined {
  let [low, high] = [0, causes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (causes[middle]!.at <= at) low = middle + 1
    else high = middle
  }
  return causes[low - 1]
}
