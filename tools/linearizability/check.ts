import type { HistoryCall, SequentialModel } from './history.ts'

/** A call, or a return, in the order of time; linked, so that a call can be taken out with its return and put back. */
interface Event {
  readonly call: number
  readonly isReturn: boolean
  before: Event | undefined
  after: Event | undefined
}

/** What {@link checkLinearizable} found: an order in which the calls could have come, or that there is none. */
export interface LinearizabilityResult {
  readonly linearizable: boolean
  /** Indexes of calls: an order that explains them all, or the longest that explains some. */
  readonly order: readonly number[]
}

/**
 * Whether the calls of a history could have taken effect one after another, each between its call and its return. It is
 * the search of Wing and Gong with the memory of Lowe ("Testing for linearizability", 2017), as in Porcupine. The time
 * is exponential in the number of overlapping calls. So keep histories short, and check independent parts, such as the
 * keys of a map, one by one.
 */
export function checkLinearizable<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  history: readonly HistoryCall<Input, Output>[],
): LinearizabilityResult {
  const { head, returns } = eventsOf(history)
  const seen = new Set<string>()
  const taken: { readonly event: Event; readonly state: State }[] = []
  const done = new Set<number>()
  let left = returns.size
  let state = model.initial
  let longest: number[] = []
  let at = head.after
  while (left > 0) {
    const next = at === undefined || at.isReturn ? undefined : stepOf(model, state, history, at.call)
    if (at !== undefined && next !== undefined && isNew(seen, done, at.call, model.nameOf(next.state))) {
      taken.push({ event: at, state })
      state = next.state
      done.add(at.call)
      if (returns.has(at.call)) left -= 1
      takeOut(at, returns.get(at.call))
      if (taken.length > longest.length) longest = taken.map(({ event }) => event.call)
      at = head.after
    } else if (at !== undefined && !at.isReturn) {
      at = at.after
    } else {
      // Nothing that was called before this return can come first: take the last choice back.
      const last = taken.pop()
      if (last === undefined) return { linearizable: false, order: longest }
      state = last.state
      done.delete(last.event.call)
      if (returns.has(last.event.call)) left += 1
      putBack(last.event, returns.get(last.event.call))
      at = last.event.after
    }
  }
  return { linearizable: true, order: taken.map(({ event }) => event.call) }
}

function stepOf<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  state: State,
  history: readonly HistoryCall<Input, Output>[],
  call: number,
): { readonly state: State } | undefined {
  const { input, returned } = history[call]!
  return model.step(state, input, returned === undefined ? undefined : { value: returned.output })
}

/** Whether the same calls have not led to the same state before. */
function isNew(seen: Set<string>, done: ReadonlySet<number>, call: number, state: string): boolean {
  const name = `${[...done, call].sort((a, b) => a - b).join(' ')}|${state}`
  if (seen.has(name)) return false
  seen.add(name)
  return true
}

/** Calls before returns of the same instant: the clock may be coarse, and they may have overlapped. */
function eventsOf(history: readonly HistoryCall<unknown, unknown>[]): {
  readonly head: Event
  readonly returns: ReadonlyMap<number, Event>
} {
  const times: { readonly at: number; readonly event: Event }[] = []
  const returns = new Map<number, Event>()
  for (const [call, { calledAt, returned }] of history.entries()) {
    times.push({ at: calledAt, event: { call, isReturn: false, before: undefined, after: undefined } })
    if (returned === undefined) continue
    const event: Event = { call, isReturn: true, before: undefined, after: undefined }
    returns.set(call, event)
    times.push({ at: returned.at, event })
  }
  times.sort((a, b) => a.at - b.at || Number(a.event.isReturn) - Number(b.event.isReturn))
  const head: Event = { call: -1, isReturn: false, before: undefined, after: undefined }
  let last = head
  for (const { event } of times) {
    last.after = event
    event.before = last
    last = event
  }
  return { head, returns }
}

function takeOut(...events: readonly (Event | undefined)[]): void {
  for (const event of events) {
    if (event?.before !== undefined) event.before.after = event.after
    if (event?.after !== undefined) event.after.before = event.before
  }
}

/** In the reverse order. */
function putBack(...events: readonly (Event | undefined)[]): void {
  for (const event of [...events].reverse()) {
    if (event?.before !== undefined) event.before.after = event
    if (event?.after !== undefined) event.after.before = event
  }
}
