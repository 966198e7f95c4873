import {
  type CacheAction,
  type CacheEvent,
  type CacheRow,
  type Cell,
  cacheEvents,
  type DirectoryAction,
  type DirectoryEvent,
  type DirectoryRow,
  directoryEvents,
  type Right,
  type Table,
  type Worth,
} from '../protocol.ts'

/** The next state of a transition after which each page is in the state that it was in. */
export const stay: unique symbol = Symbol('stay')

/** One row of a protocol: whichever of the events comes in whichever of the states. */
interface Transition<State extends string, Event, Action> {
  readonly states: readonly State[]
  readonly events: readonly Event[]
  readonly next: State | typeof stay
  readonly actions: readonly Action[]
}

export type CacheTransition<State extends string> = Transition<State, CacheEvent, CacheAction>
export type DirectoryTransition<State extends string> = Transition<State, DirectoryEvent, DirectoryAction>

/** A set of one may be written as its member. */
type Set<Member> = Member | readonly Member[]

/** If any of `events` comes in any of `states`: do the actions in their order, then be in `next`. */
export function on<State extends string, Event extends string, Action extends string, Next extends string>(
  states: Set<State>,
  events: Set<Event>,
  next: Next,
  ...actions: readonly Action[]
): Transition<State | Next, Event, Action>
export function on<State extends string, Event extends string, Action extends string>(
  states: Set<State>,
  events: Set<Event>,
  next: typeof stay,
  ...actions: readonly Action[]
): Transition<State, Event, Action>
export function on<State extends string, Event extends string, Action extends string>(
  states: Set<State>,
  events: Set<Event>,
  next: State | typeof stay,
  ...actions: readonly Action[]
): Transition<State, Event, Action> {
  return { states: listed(states), events: listed(events), next, actions }
}

function listed<Member extends string>(set: Set<Member>): readonly Member[] {
  return typeof set === 'string' ? [set] : set
}

// ---- states

export type CopyFacts = Omit<CacheRow<never>, 'on'>
export type HomeFacts = Omit<DirectoryRow<never>, 'on'>

/** A state of a copy in which it may stay. */
export function resting(right: Right, worth: Worth, describe: string): CopyFacts {
  return { describe, transient: false, right, worth }
}

/** A state of a copy that ends with a message. */
export function waiting(right: Right, worth: Worth, describe: string): CopyFacts {
  return { describe, transient: true, right, worth }
}

/** A state of home in which it may stay. */
export function idle(memory: HomeFacts['memory'], describe: string): HomeFacts {
  return { describe, transient: false, memory }
}

/** A state of home that ends with a message. */
export function busy(memory: HomeFacts['memory'], describe: string): HomeFacts {
  return { describe, transient: true, memory }
}

// ---- tables

export function cacheTable<State extends string>(
  states: Readonly<Record<State, CopyFacts>>,
  transitions: readonly CacheTransition<State>[],
): Table<State, CacheRow<State>>['states'] {
  return rowsOf(states, cacheEvents, transitions)
}

export function directoryTable<State extends string>(
  states: Readonly<Record<State, HomeFacts>>,
  transitions: readonly DirectoryTransition<State>[],
): Table<State, DirectoryRow<State>>['states'] {
  return rowsOf(states, directoryEvents, transitions)
}

/** Cells are in the order of the events, whatever the order of the rows. @throws RangeError if two are for one cell. */
function rowsOf<State extends string, Facts, Event extends string, Action>(
  states: Readonly<Record<State, Facts>>,
  events: readonly Event[],
  transitions: readonly Transition<State, Event, Action>[],
): { readonly [S in State]: Facts & { readonly on: { readonly [E in Event]?: Cell<Action, State> } } } {
  const cells = new Map<string, Cell<Action, State>>()
  for (const { states: from, events: come, next, actions } of transitions)
    for (const cell of from.flatMap((state) => come.map((event) => ({ state, event })))) {
      const name = `${cell.state}/${cell.event}`
      if (cells.has(name)) throw new RangeError(`two rows say what happens in ${name}; leave it out of one`)
      cells.set(name, { actions, next: next === stay ? cell.state : next })
    }
  const rows = Object.entries<Facts>(states).map(([state, facts]) => {
    const on = events.map((event) => [event, cells.get(`${state}/${event}`)] as const)
    return [state, { ...facts, on: Object.fromEntries(on.filter(([, cell]) => cell !== undefined)) }]
  })
  return Object.fromEntries(rows)
}
