import { isDeepStrictEqual } from 'node:util'
import type { HistoryCall } from './history.ts'

/** A call, or a return, in the order of time. */
interface TimelineEvent {
  readonly call: number
  readonly isReturn: boolean
}

/**
 * The calls and returns of a history in the order of time. Each call has a slot while it is open; a later call takes
 * the slot of one that returned. So a set of open calls is a few words of bits, however long the history is. Calls that
 * never returned have slots of their own, in the order of their calls, behind all others.
 */
export class Timeline {
  readonly events: readonly TimelineEvent[]
  /** By call. */
  readonly slots: readonly number[]
  /** Slots from this one on are of calls that never returned. */
  readonly firstUnreturnedSlot: number
  readonly slotCount: number
  /** By slot from the first unreturned one: the first such slot with an equal input. */
  readonly #alike: readonly number[]
  /** By slot: its calls, and the events at which they took it. */
  readonly #holders: readonly { readonly calls: number[]; readonly events: number[]; at: number }[]

  /** Of the calls that `isTaken` names; the others are left out. */
  constructor(history: readonly HistoryCall<unknown, unknown>[], isTaken: (call: number) => boolean) {
    this.events = eventsOf(history).filter(({ call }) => isTaken(call))
    const slots = new Array<number>(history.length).fill(-1)
    const free: number[] = []
    const unreturned: number[] = []
    let count = 0
    for (const { call, isReturn } of this.events) {
      if (isReturn) free.push(slots[call]!)
      else if (history[call]!.returned === undefined) unreturned.push(call)
      else slots[call] = free.pop() ?? count++
    }
    for (const [index, call] of unreturned.entries()) slots[call] = count + index
    this.slots = slots
    this.firstUnreturnedSlot = count
    this.slotCount = count + unreturned.length
    this.#alike = unreturned.map(
      (call, index) =>
        count +
        unreturned.findIndex(
          (other, at) => at === index || isDeepStrictEqual(history[other]!.input, history[call]!.input),
        ),
    )
    this.#holders = Array.from({ length: this.slotCount }, () => ({ calls: [], events: [], at: 0 }))
    for (const [event, { call, isReturn }] of this.events.entries()) {
      if (isReturn) continue
      const { calls, events } = this.#holders[slots[call]!]!
      calls.push(call)
      events.push(event)
    }
  }

  /** The call that holds a slot at an event. The search stays near one event, so the last answer is near, too. */
  callIn(slot: number, event: number): number {
    const holder = this.#holders[slot]!
    while (holder.at + 1 < holder.events.length && holder.events[holder.at + 1]! <= event) holder.at += 1
    while (holder.events[holder.at]! > event) holder.at -= 1
    return holder.calls[holder.at]!
  }

  /** The first slot of an unreturned call with an equal input. */
  alike(slot: number): number {
    return this.#alike[slot - this.firstUnreturnedSlot]!
  }
}

/** Calls before returns of the same instant: the clock may be coarse, and they may have overlapped. */
function eventsOf(history: readonly HistoryCall<unknown, unknown>[]): readonly TimelineEvent[] {
  const times: { readonly at: number; readonly call: number; readonly isReturn: boolean }[] = []
  for (const [call, { calledAt, returned }] of history.entries()) {
    times.push({ at: calledAt, call, isReturn: false })
    if (returned !== undefined) times.push({ at: returned.at, call, isReturn: true })
  }
  return times.sort((a, b) => a.at - b.at || Number(a.isReturn) - Number(b.isReturn))
}
