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

/** The name of arrows from a cause; return arrows are called 'answered'. */
export const CAUSED = 'caused'
/** Just inside a slice that begins or ends there. */
const INSIDE = 0.001

/**
 * Finds what caused what. The start of a slice may name a flow, and so may the steps done for it, in any process. No
 * two slices of one flow are under way at a time. So time tells which of them a step belongs to: the last that started
 * before the step, if it had not ended. A slice that names the flow it answers belongs to that flow in the same way.
 *
 * Usage: show every event to `begin`, each thread's in order; call `sort`; show every event to `join`. Then `arrows`
 * says what to draw.
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

  /** Call it when all have begun: several threads may have begun the same flow, one after the other. */
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
   * One flow for each cause that caused anything: from it, through its steps in the order of time, to the last. Two for
   * each that was answered: to the answer and back.
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
