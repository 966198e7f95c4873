import { hashText } from '../codecs/index.ts'
import { type CollectiveMeter, collectiveMeter } from './collective-meter.ts'
import type { ElementKind } from './element-kind.ts'
import type { Schedule } from './schedule.ts'

/** A schedule with what must be known before it is executed. */
export interface Plan {
  readonly schedule: Schedule
  readonly kind: ElementKind
  /** The call in words, equal for two ranks that made the same call. */
  readonly call: string
  /** 32 bits that stand for `call`. */
  readonly signature: number
  /** Bytes that go to each rank of the group in all, and come from each. */
  readonly sends: ReadonlyMap<number, number>
  readonly receives: ReadonlyMap<number, number>
  /** Undefined if profiling is off. */
  readonly meter: CollectiveMeter | undefined
}

/** `collective` is the name for counting: kind and algorithm. */
export function planOf(call: string, kind: ElementKind, schedule: Schedule, collective: string = call): Plan {
  const sends = new Map<number, number>()
  const receives = new Map<number, number>()
  for (const round of schedule.rounds) {
    for (const exchange of round.exchanges) {
      const totals = exchange.kind === 'send' ? sends : receives
      totals.set(exchange.peer, (totals.get(exchange.peer) ?? 0) + exchange.range.count * kind.bytes)
    }
  }
  return { schedule, kind, call, signature: hashText(call), sends, receives, meter: collectiveMeter(collective) }
}

/** How many plans a group keeps: programs that compute call the same few again and again. */
const PLANS_MAX = 32

/** The plans of a group's last calls. */
export class PlanCache {
  readonly #plans = new Map<string, Plan>()

  get(call: string, draw: () => Plan): Plan {
    let plan = this.#plans.get(call)
    if (plan !== undefined) return plan
    plan = draw()
    if (this.#plans.size >= PLANS_MAX) this.#plans.delete(this.#plans.keys().next().value!)
    this.#plans.set(call, plan)
    return plan
  }
}
