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
  readonly replies: Reply[]
}

/** What was done for a cause, and waited for. */
interface Reply extends Hop {
  /** Infinity while it has not been seen to end. */
  end: number
}

/** What arrows from a cause are called; those back are 'answered'. */
export const CAUSED = 'caused'
/** Just inside a slice that begins or ends there. */
const INSIDE = 0.001

/**
 * Finds what caused what. Beginnings name a flow, and so do the steps, at any process, that were done for it; no two of
 * one flow are under way at a time, so the clock says which of them a step belongs to: the last that began before it,
 * if that had not ended. What names a flow that it answers belongs to it in the same way.
 *
 * First every event is shown to `begin`, those of a thread in their order, then `sort` is called, then every one is
 * shown to `join`; then `arrows` says what is to be drawn.
 */
export class TraceFlows {
  /** By name; in the order of their beginnings once they are sorted. */
  readonly #causes = new Map<string, Cause[]>()
  /** What is open on a lane. */
  readonly #open = new Map<number, Cause>()
  readonly #openReplies = new Map<number, Reply>()

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
    const cause = { at: ts, pid, tid, cat: event.cat ?? '', end: Number.POSITIVE_INFINITY, hops: [], replies: [] }
    this.#open.set(tid, cause)
    const others = this.#causes.get(flow)
    if (others === undefined) this.#causes.set(flow, [cause])
    else others.push(cause)
  }

  /** All have begun: several threads may have begun the same flow, one after the other. */
  sort(): void {
    for (const causes of this.#causes.values()) causes.sort((one, other) => one.at - other.at)
  }

  join({ ph, ts = 0, pid, tid, args }: TraceEvent): void {
    if (ph === 'E') {
      const reply = this.#openReplies.get(tid)
      if (reply !== undefined) reply.end = ts
      this.#openReplies.delete(tid)
      return
    }
    const answers = args?.['answers']
    if (ph === 'B' && typeof answers === 'string') {
      const reply = { at: ts, pid, tid, end: Number.POSITIVE_INFINITY }
      this.#openReplies.set(tid, reply)
      this.#causeOf(answers, ts)?.replies.push(reply)
      return
    }
    const flow = args?.['flow']
    if (ph === 'X' && typeof flow === 'string') this.#causeOf(flow, ts)?.hops.push({ at: ts, pid, tid })
  }

  #causeOf(flow: string, at: number): Cause | undefined {
    const cause = lastBefore(this.#causes.get(flow) ?? [], at)
    return cause !== undefined && at <= cause.end ? cause : undefined
  }

  /**
   * A flow for each that caused anything: from it, through its steps in the order of time, to the last of them. And two
   * for each that was answered: there, and back.
   */
  *arrows(): Generator<TraceEvent, void> {
    let id = 0
    for (const causes of this.#causes.values()) {
      for (const { cat, hops, replies, end, ...from } of causes) {
        for (const { end: replyEnd, ...reply } of replies) {
          yield* arrow({ name: CAUSED, cat, id: ++id }, inside(from), inside(reply))
          if (replyEnd > end || end === Number.POSITIVE_INFINITY) continue
          yield* arrow({ name: 'answered', cat, id: ++id }, insideEnd(reply, replyEnd), insideEnd(from, end))
        }
        if (hops.length === 0) continue
        id += 1
        const flow = { name: CAUSED, cat, id }
        yield { ...flow, ph: 's', ts: from.at + INSIDE, pid: from.pid, tid: from.tid }
        hops.sort((one, other) => one.at - other.at)
        for (const { at, pid, tid } of hops.slice(0, -1)) yield { ...flow, ph: 't', ts: at + INSIDE, pid, tid, bp: 'e' }
        const { at, pid, tid } = hops.at(-1)!
        yield { ...flow, ph: 'f', ts: at + INSIDE, pid, tid, bp: 'e' }
      }
    }
  }
}

const inside = ({ at, pid, tid }: Hop): Hop => ({ at: at + INSIDE, pid, tid })
const insideEnd = ({ pid, tid }: Hop, end: number): Hop => ({ at: end - INSIDE, pid, tid })

function* arrow(
  flow: { readonly name: string; readonly cat: string; readonly id: number },
  from: Hop,
  to: Hop,
): Generator<TraceEvent, void> {
  yield { ...flow, ph: 's', ts: from.at, pid: from.pid, tid: from.tid }
  yield { ...flow, ph: 'f', ts: to.at, pid: to.pid, tid: to.tid, bp: 'e' }
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
