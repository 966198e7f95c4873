import { machineCounters } from '../consensus/index.ts'
import { ratePerSecond } from './observed-member.ts'
import type { SeenMember } from './operation-rates.ts'
import type { MachineFrame } from './wire.ts'

/** Over a shorter time, rates say little. */
const MACHINES_MS = 1000

interface Counted {
  readonly name: string
  readonly number: number
  /** Of the member: the next one with its number counts from 0. */
  readonly key: string
  readonly values: Readonly<Record<string, number>>
}

/** Turns what members count of their replicas into figures of machines. */
export class MachineRates {
  #entries: ReadonlyMap<string, number> = new Map()
  #lastMs = 0
  #looks = 0
  #frames: readonly MachineFrame[] = []

  /** The same list as before until a second has passed. Only the second look comes as soon as it is asked for. */
  next(members: readonly Pick<SeenMember, 'epoch' | 'number' | 'profile'>[], atMs: number): readonly MachineFrame[] {
    const elapsedMs = atMs - this.#lastMs
    if (this.#looks >= 2 && elapsedMs < MACHINES_MS && elapsedMs >= 0) return this.#frames
    const counted = members.flatMap(countedBy)
    const furthest = new Map<string, number>()
    for (const { name, values } of counted) furthest.set(name, Math.max(furthest.get(name) ?? 0, values['applied']!))
    const before = this.#entries
    this.#entries = new Map(counted.map(({ key, values }) => [key, values['entries']!]))
    const rateOf = ({ key, values }: Counted): number => {
      const had = before.get(key)
      return had === undefined ? 0 : ratePerSecond(values['entries']! - had, elapsedMs)
    }
    this.#frames = counted
      .map((each) => frameOf(each, furthest.get(each.name)!, rateOf(each)))
      .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : one.number - other.number))
    this.#looks += 1
    this.#lastMs = atMs
    return this.#frames
  }
}

function countedBy({ epoch, number, profile }: Pick<SeenMember, 'epoch' | 'number' | 'profile'>): readonly Counted[] {
  return profile
    .counters()
    .filter(({ name, rest }) => name === machineCounters.name && !rest)
    .map(({ label, values }) => ({ name: label, number, key: `${epoch} ${label}`, values }))
}

function frameOf({ name, number, values }: Counted, furthest: number, rate: number): MachineFrame {
  const of = (figure: (typeof machineCounters.counters)[number]): number => values[figure] ?? 0
  const decidedNs = of('failOverNs')
  return {
    name,
    number,
    leads: of('leads') === 1,
    term: of('term'),
    applied: of('applied'),
    behind: furthest - of('applied'),
    rate,
    proposing: of('proposing'),
    failOver:
      decidedNs === 0
        ? null
        : {
            campaignNs: of('failOverCampaignNs'),
            promisedNs: of('failOverPromisedNs'),
            caughtUpNs: of('failOverCaughtUpNs'),
            decidedNs,
          },
  }
}
