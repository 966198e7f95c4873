import { Stream } from 'aether-dsm/internal/providers'
import { drawHazard, type Hazard } from '../hazard.ts'
import { drawShape, RUN_NS, type Shape, type ShapeName, shapes } from './shapes.ts'
import type { DiskPlan } from './simulated-disk.ts'
import { type PlannedClient, type ReplicaCall, type SizesOfSimulation, simulatedSettings } from './simulated-replica.ts'
import { drawRestarts, LAG_NS_MAX, SLOW_MAX, type Strike } from './strike.ts'

/** A run of replicas, all of it. Leave hazards and strikes out to shorten one that fails. */
export interface ReplicaPlan {
  readonly seed: number
  /** What the run is about; for people. */
  readonly shape: ShapeName
  readonly replicas: number
  /** Clients at each replica, and how many of them do nothing but read, more often than others call. */
  readonly clients: number
  readonly readers: number
  readonly calls: number
  readonly keys: number
  /** How many of a hundred calls are reads. */
  readonly reads: number
  readonly thinkNs: number
  /** After this time a client that was not answered asks again, and then after twice the time. */
  readonly askAgainNs: number
  readonly sizes: SizesOfSimulation
  /** What goes wrong with the network and with hosts that are known before. */
  readonly hazards: readonly Hazard[]
  /** What happens to a replica that leads, or to one that does not. */
  readonly strikes: readonly Strike[]
  /** When further replicas come. */
  readonly joins: readonly number[]
  /** Undefined where replicas keep everything in memory. */
  readonly disks: DiskPlan | undefined
  /** With `global` a leader reaches its own memory directly. */
  readonly atomics: 'device' | 'global'
  /** How acceptors are written: by compare-and-swap, or by rights; in mixed runs by either. */
  readonly writing: 'swaps' | 'rights' | 'mixed'
  /** One replica founds the log, and all others come to it. Else all are voters from the start. */
  readonly isFoundedByOne: boolean
  /** When each of the first ones meets those that have come: at once, or after a founder was alone for a while. */
  readonly comesNs: readonly number[]
}

/** What an entry takes in a history besides its payload. */
const ENTRY_BYTES = 128
/** An outage that is longer shows nothing else. */
const OUTAGE_NS_MAX = 50_000_000

/** The plan of a seed, of a shape that it draws if none is given. */
export function planReplicas(seed: number, changes: Partial<ReplicaPlan> = {}): ReplicaPlan {
  const stream = new Stream(seed, 'plan', undefined)
  const replicas = stream.chance(0.7) ? 3 : stream.chance(0.7) ? 5 : 2
  const drawn = drawShape(stream)
  const name = changes.shape ?? drawn
  const shape: Shape = shapes[name](stream, replicas)
  const { runNs, strikes, network } = shape
  const hazards: Hazard[] = network === undefined ? [] : [{ text: JSON.stringify(network), network }]
  for (let count = stream.between(0, shape.hazardsMax); count > 0; count -= 1) {
    const hazard = drawHazard(stream, replicas)
    // Strikes crash replicas, and see to it that a majority is left.
    if (hazard.fault?.kind !== 'crash') hazards.push(spread(hazard, stream))
  }
  const isLong = stream.chance(name === 'mixed' ? 0.3 : 0.1)
  const calls = shape.calls ?? (isLong ? stream.between(25, 50) : stream.between(5, 15))
  return withinRights({
    seed,
    shape: name,
    replicas,
    clients: stream.between(1, 2),
    readers: shape.readers ?? 0,
    calls,
    keys: isLong ? stream.between(3, 6) : stream.between(1, 3),
    reads: stream.between(20, 60),
    // Bursts, or calls for as long as something goes wrong.
    thinkNs:
      shape.thinkNs ??
      (stream.chance(0.25) ? stream.between(1000, 50_000) : stream.between(200_000, Math.round(runNs / calls))),
    askAgainNs: stream.chance(0.5) ? 3_000_000 : stream.between(100_000, 1_000_000),
    sizes: {
      window: stream.chance(0.5) ? 16 : 8,
      ahead: stream.chance(0.5) ? 8 : stream.between(1, 4),
      inFlightMax: stream.between(1, 4),
      historyBytes: 1024 * stream.between(2, 8),
      // The fewer, the more often a leader is given up that lives.
      silentTicks: stream.chance(0.3) ? stream.between(3, 6) : 20,
      tickNs: simulatedSettings.tickNs,
      acknowledgeTimeout: simulatedSettings.acknowledgeTimeout,
      journalBytes: simulatedSettings.journalBytes,
      ...shape.sizes,
    },
    hazards,
    strikes,
    joins: Array.from({ length: stream.below(3) }, () => stream.between(0, RUN_NS)),
    disks: undefined,
    atomics: new Stream(seed, 'atomics', undefined).chance(0.5) ? 'global' : 'device',
    writing: drawWriting(new Stream(seed, 'writing', undefined)),
    ...drawFounding(new Stream(seed, 'founding', undefined), replicas),
    ...changes,
  })
}

/** Where rights hold, no one is stopped in the middle of a WRITE: the device of the target carries it out. */
function withinRights(plan: ReplicaPlan): ReplicaPlan {
  if (plan.writing === 'swaps') return plan
  const whole = <T extends object>(fault: T): T => ('inWrite' in fault ? { ...fault, inWrite: false } : fault)
  return {
    ...plan,
    hazards: plan.hazards.map((hazard) => (hazard.fault ? { ...hazard, fault: whole(hazard.fault) } : hazard)),
    strikes: plan.strikes.map((strike) => ({ ...strike, blow: whole(strike.blow) })),
  }
}

function drawWriting(stream: Stream): ReplicaPlan['writing'] {
  if (stream.chance(0.5)) return 'swaps'
  return stream.chance(0.7) ? 'rights' : 'mixed'
}

/** Whether the replica with that id is by rights. */
export function isByRights({ writing }: ReplicaPlan, id: number): boolean {
  return writing === 'rights' || (writing === 'mixed' && id % 2 === 0)
}

function drawFounding(stream: Stream, replicas: number): Pick<ReplicaPlan, 'isFoundedByOne' | 'comesNs'> {
  const isFoundedByOne = stream.chance(0.15)
  const comesNs = Array.from({ length: replicas }, (_, position) =>
    isFoundedByOne && position > 0 ? stream.between(0, RUN_NS / 2) : 0,
  )
  return { isFoundedByOne, comesNs }
}

/** The plan of a seed whose replicas have journals: that of the same seed without, and what comes on top. */
export function planWithDisks(seed: number, changes: Partial<ReplicaPlan> = {}): ReplicaPlan {
  const stream = new Stream(seed, 'plan of disks', undefined)
  const isAbsence = new Stream(seed, 'absence', undefined).chance(0.1)
  const usual = stream.chance(0.4) ? {} : { shape: stream.chance(0.5) ? ('restarts' as const) : ('blackout' as const) }
  const drawn = isAbsence ? { shape: 'absence' as const } : usual
  const plan = planReplicas(seed, { ...drawn, ...changes })
  const { window, silentTicks, tickNs } = plan.sizes
  // Entries that are not on the disk yet are kept: at most as many as a ring holds, twice.
  const kept = 2 * window * (simulatedSettings.cellBytes + ENTRY_BYTES)
  return withinRights({
    ...plan,
    strikes: [...plan.strikes, ...drawRestarts(stream, RUN_NS, stream.below(3))],
    sizes: {
      ...plan.sizes,
      historyBytes: kept + 1024 * stream.below(8),
      journalBytes: stream.chance(0.7) ? 1024 * stream.between(1, 10) : simulatedSettings.journalBytes,
    },
    disks: {
      usualNs: stream.chance(0.3) ? stream.between(100_000, 500_000) : stream.between(5000, 100_000),
      slow: stream.below(50),
      slowNs: stream.chance(0.3) ? LAG_NS_MAX : 3 * silentTicks * tickNs,
    },
    isFoundedByOne: stream.chance(0.3),
    comesNs: [],
    ...changes,
  })
}

/** Hazards begin within the run, which is longer than that of a coherent region. */
function spread(hazard: Hazard, stream: Stream): Hazard {
  const { fault } = hazard
  if (fault === undefined) return hazard
  const slower = fault.kind === 'slow' ? { factor: Math.min(fault.factor, SLOW_MAX) } : {}
  const moved = { ...fault, ...slower, atNs: stream.between(0, RUN_NS) }
  if (!('forNs' in moved) || moved.forNs === undefined) return { ...hazard, fault: moved }
  return { ...hazard, fault: { ...moved, forNs: Math.min(moved.forNs, OUTAGE_NS_MAX) } }
}

/** Calls of a reader for each of another client. */
const READER_CALLS = 8

/** What one client does: values of its own. */
function drawCalls({ calls, keys, reads }: ReplicaPlan, stream: Stream, client: number): ReplicaCall[] {
  return Array.from({ length: calls }, (_, call) => {
    const key = stream.below(keys)
    const value = (client + 1) * 1000 + call + 1
    if (stream.below(100) < reads) return { key, input: { type: 'get' } as const }
    const expected = stream.below(4) === 0 ? 0 : (stream.below(client + 1) + 1) * 1000 + stream.below(calls) + 1
    if (stream.chance(0.3)) return { key, input: { type: 'compareAndSet', expected, value } as const }
    return { key, input: { type: 'set', value } as const }
  })
}

/** The clients of the replica that came as the one of `position`. */
export function clientsOf(plan: ReplicaPlan, position: number): PlannedClient[] {
  const { seed, clients, readers, calls, thinkNs } = plan
  const each = clients + readers
  return Array.from({ length: each }, (_, index) => {
    const number = position * each + index
    const stream = new Stream(seed, `client ${number}`, undefined)
    if (index < clients) return { number, calls: drawCalls(plan, stream, number), thinkNs }
    const reading = { ...plan, calls: calls * READER_CALLS, reads: 100 }
    return { number, calls: drawCalls(reading, stream, number), thinkNs: Math.ceil(thinkNs / READER_CALLS) }
  })
}
