import { type Configuration, OpenCalls } from './configuration.ts'
import type { HistoryCall, SequentialModel } from './history.ts'
import { Timeline } from './timeline.ts'

/** `unknown`: the search was given up, see {@link CheckOptions.stepsMax}. It proves nothing, so a test must fail. */
export type LinearizabilityVerdict = 'linearizable' | 'not linearizable' | 'unknown'

/** What {@link checkLinearizable} found: an order in which the calls could have come, or that there is none. */
export interface LinearizabilityResult {
  readonly verdict: LinearizabilityVerdict
  /** Indexes of calls: an order that explains them all, or the longest found that explains some. */
  readonly order: readonly number[]
  /** How many steps of the model it took. */
  readonly steps: number
}

export interface CheckOptions {
  /** How many steps of the model may be tried before it gives up; 50 million if not given. */
  readonly stepsMax?: number
}

/**
 * Whether the calls of a history could have taken effect one after another, each between its call and its return.
 *
 * It goes from return to return, as in Lowe ("Testing for linearizability", 2017): calls take effect only when one that
 * returns needs them. It remembers where it has been: event, state, and which open calls are done, due or free.
 *
 * 1. A call that never returned is free: it may take effect, or not.
 * 2. A due call that would change nothing where the search stands becomes free. It can take effect there without a
 *    trace; or later, if that helps. A read is done at once, because it leaves no trace anywhere.
 * 3. A due overwrite becomes free when another overwrite takes effect. It can come just before that, without a trace;
 *    so can any set of them. A call that is not an overwrite cannot: with several, each could hide but not all.
 * 4. What can follow a due or a done call can follow a free one, too. So a configuration is left out if one was seen
 *    at the same event and state with the same calls, or some of them free. Suppose this lost every order: take the
 *    configuration seen that has the shortest rest of an order. Its next one was seen, or one with the same rest; that
 *    is shorter.
 * 5. Of calls that never returned and have equal inputs, the first that is open stands for all: they can be exchanged.
 *
 * The time grows with the number of configurations at one return, not with the length of the history. It can still be
 * exponential in the number of overlapping calls whose order nothing shows, as in a queue of many clients. Then the
 * verdict is `unknown`.
 */
export function checkLinearizable<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  history: readonly HistoryCall<Input, Output>[],
  { stepsMax = 50_000_000 }: CheckOptions = {},
): LinearizabilityResult {
  return new Search(model, history, stepsMax).run()
}

/** What is to be tried at one return: what needs fewer calls before it comes first. */
interface Frame<State> {
  readonly waiting: Configuration<State>[]
  /** The returning call was tried; other calls before it were not. */
  widen: Configuration<State> | undefined
}

class Search<State, Input, Output> {
  readonly #model: SequentialModel<State, Input, Output>
  readonly #history: readonly HistoryCall<Input, Output>[]
  readonly #timeline: Timeline
  readonly #stepsMax: number
  readonly #seen: Map<string, OpenCalls[]>[] = []
  readonly #outputs: readonly ({ readonly value: Output } | undefined)[]
  readonly #kinds: readonly ('read' | 'overwrite' | 'other')[]
  readonly #unseen: readonly boolean[]
  #steps = 0

  constructor(
    model: SequentialModel<State, Input, Output>,
    history: readonly HistoryCall<Input, Output>[],
    stepsMax: number,
  ) {
    this.#model = model
    this.#history = history
    this.#stepsMax = stepsMax
    const isUnseen = model.unseenIn?.(history)
    this.#unseen = history.map(({ input }) => isUnseen?.(input) === true)
    this.#timeline = new Timeline(history, (call) => history[call]!.returned !== undefined || !this.#unseen[call])
    this.#outputs = history.map(({ returned }) => returned && { value: returned.output })
    this.#kinds = history.map(({ input }) => model.kindOf?.(input) ?? 'other')
  }

  run(): LinearizabilityResult {
    const end = this.#timeline.events.length
    let longest = this.#advance({
      state: this.#model.initial,
      calls: new OpenCalls(this.#timeline.slotCount),
      event: -1,
      before: undefined,
      order: [],
      length: 0,
    })
    if (longest.event === end) return this.#result('linearizable', longest)
    const stack = [frameOf(longest)]
    while (this.#steps <= this.#stepsMax) {
      const frame = stack.at(-1)
      if (frame === undefined) return this.#result('not linearizable', longest)
      const next = this.#next(frame)
      if (next === undefined) stack.pop()
      else {
        if (next.length > longest.length) longest = next
        if (next.event === end) return this.#result('linearizable', next)
        if (this.#isNew(next)) stack.push(frameOf(next))
      }
    }
    return this.#result('unknown', longest)
  }

  #result(verdict: LinearizabilityVerdict, last: Configuration<State>): LinearizabilityResult {
    const order = new Set<number>()
    const fragments: (readonly number[])[] = []
    for (let at: Configuration<State> | undefined = last; at !== undefined; at = at.before) fragments.push(at.order)
    for (const fragment of fragments) for (const call of fragment.toReversed()) order.add(call)
    return { verdict, order: [...order].reverse(), steps: this.#steps }
  }

  /** The next configuration behind the return at which a frame stands. */
  #next(frame: Frame<State>): Configuration<State> | undefined {
    for (;;) {
      if (frame.widen !== undefined) this.#widen(frame, frame.widen)
      frame.widen = undefined
      const at = frame.waiting.shift()
      if (at === undefined) return undefined
      const { call } = this.#timeline.events[at.event]!
      const slot = this.#timeline.slots[call]!
      if (!at.calls.isDue(slot)) {
        if (at.calls.isOpen(slot) && !this.#unseen[call]!) frame.waiting.push(this.#mustTakeEffect(at, call))
        const dropped = { ...at, calls: at.calls.copy(), before: at, order: [] }
        dropped.calls.setDone(slot)
        return this.#advance(dropped)
      }
      frame.widen = at
      const after = this.#take(at, call)
      if (after !== undefined) return this.#advance(after)
    }
  }

  #mustTakeEffect(at: Configuration<State>, call: number): Configuration<State> {
    const due = { ...at, calls: at.calls.copy(), before: at, order: [] }
    due.calls.setDue(this.#timeline.slots[call]!, this.#kinds[call] === 'overwrite')
    return due
  }

  /** Each other open call may take effect before the one that returns. */
  #widen(frame: Frame<State>, at: Configuration<State>): void {
    const timeline = this.#timeline
    const returning = timeline.events[at.event]!.call
    const unreturned = new Set<number>()
    for (const slot of at.calls.open()) {
      const call = timeline.callIn(slot, at.event)
      if (call === returning || (this.#unseen[call]! && !at.calls.isDue(slot))) continue
      if (slot >= timeline.firstUnreturnedSlot) {
        const alike = timeline.alike(slot)
        if (unreturned.has(alike)) continue
        unreturned.add(alike)
      }
      const after = this.#take(at, call)
      if (after !== undefined && after.state !== at.state && this.#isNew(after)) frame.waiting.push(after)
    }
  }

  /** A call takes effect. */
  #take(at: Configuration<State>, call: number): Configuration<State> | undefined {
    const stepped = this.#step(at.state, call)
    if (stepped === undefined) return undefined
    const { events, slots } = this.#timeline
    const calls = at.calls.copy()
    const order: number[] = []
    calls.setDone(slots[call]!)
    const returning = events[at.event]!.call
    if (this.#kinds[call] === 'overwrite') {
      for (const slot of calls.dueOverwrites()) {
        const other = this.#timeline.callIn(slot, at.event)
        if (other === returning) continue
        calls.setFree(slot)
        order.push(other)
      }
    }
    order.push(call)
    if (stepped.state !== at.state) {
      for (const slot of calls.due()) {
        const other = this.#timeline.callIn(slot, at.event)
        if (other === returning && this.#kinds[other] !== 'read') continue
        if (this.#step(stepped.state, other)?.state === stepped.state) this.#release({ calls, order }, other)
      }
    }
    const { event, length } = at
    return {
      state: stepped.state,
      calls,
      event,
      before: at,
      order,
      length: length + order.length,
    }
  }

  /** A due call may take effect here without a change: it is free from now on, and a read is done. */
  #release({ calls, order }: Pick<Configuration<State>, 'calls' | 'order'>, call: number): void {
    if (this.#kinds[call] === 'read') calls.setDone(this.#timeline.slots[call]!)
    else calls.setFree(this.#timeline.slots[call]!)
    order.push(call)
  }

  /** Go on to the next return of a call that is not done. */
  #advance(at: Configuration<State>): Configuration<State> {
    const { events, slots } = this.#timeline
    const placed = at.order.length
    for (at.event += 1; at.event < events.length; at.event += 1) {
      const { call, isReturn } = events[at.event]!
      const slot = slots[call]!
      if (isReturn && at.calls.isOpen(slot)) break
      if (isReturn) continue
      if (this.#outputs[call] === undefined) at.calls.setFree(slot)
      else {
        const stepped = this.#step(at.state, call)
        at.calls.setDue(slot, this.#kinds[call] === 'overwrite' && stepped !== undefined)
        if (stepped?.state === at.state) this.#release(at, call)
      }
    }
    at.length += at.order.length - placed
    return at
  }

  #step(state: State, call: number): { readonly state: State } | undefined {
    this.#steps += 1
    return this.#model.step(state, this.#history[call]!.input, this.#outputs[call])
  }

  #isNew({ event, state, calls }: Configuration<State>): boolean {
    this.#seen[event] ??= new Map<string, OpenCalls[]>()
    const seen = this.#seen[event]
    const name = this.#model.nameOf(state)
    const alike = seen.get(name)
    if (alike?.some((other) => other.covers(calls)) === true) return false
    if (alike === undefined) seen.set(name, [calls])
    else alike.push(calls)
    return true
  }
}

function frameOf<State>(at: Configuration<State>): Frame<State> {
  return { waiting: [at], widen: undefined }
}
