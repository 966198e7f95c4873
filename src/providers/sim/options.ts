import {
  checkBoolean,
  checkFunction,
  checkIterable,
  checkOptions,
  mustBe,
  type OptionNames,
} from '../../native/index.ts'
import type { SimulatedFault } from './fault.ts'
import { checkFactor, checkProbability, checkTime } from './numbers.ts'
import type { Choose } from './stream.ts'

/**
 * What a simulated cluster is like. Probabilities are 0..1, and apply to each packet, request or completion. All times
 * are virtual.
 */
export interface SimulationOptions {
  readonly network?: Partial<NetworkOptions>
  readonly adapter?: Partial<AdapterOptions>
  /** Atomics of a device and of its host's processor exclude each other: `attributes.atomics`. Default: `device`. */
  readonly atomics?: 'device' | 'global'
  /**
   * What happens at given times. To shorten a failing run, leave some out: random decisions elsewhere do not change.
   */
  readonly faults?: readonly SimulatedFault[]
  /**
   * An empty poll from outside the simulation lets the next event happen. Default false: time passes only while the
   * program runs the cluster.
   */
  readonly advanceOnPoll?: boolean
  /** Decides instead of the seed, to walk through every course of a small configuration. */
  readonly choose?: Choose
}

export interface NetworkOptions {
  /** The least time that a packet takes. Default 1000. */
  readonly delayNs: number
  /** Up to this much is added. Default 200. */
  readonly jitterNs: number
  /** The probability that a packet takes `tailNs` longer. Default 0. */
  readonly tail: number
  readonly tailNs: number
  /** The probability that a packet is lost. Default 0. */
  readonly loss: number
  /** The probability that a packet arrives twice. Default 0. */
  readonly duplicate: number
  /**
   * The probability that other packets of the same queue pair may overtake a packet. Default 0; otherwise they keep
   * their order, as on InfiniBand.
   */
  readonly reorder: number
  /** Default 100. */
  readonly gigabitsPerSecond: number
}

export interface AdapterOptions {
  /** The time from the post to the first access to memory. Default 100. */
  readonly startNs: number
  /** The time for each line of 64 bytes of memory. Default 4. */
  readonly lineNs: number
  /**
   * The probability that the lines of a READ or WRITE are accessed in any order, spread over `tearNs`. Default 0: in
   * order of their addresses.
   */
  readonly tear: number
  readonly tearNs: number
  /**
   * The probability that a WRITE is acknowledged before its bytes are visible, which takes up to `visibleNs` longer. A
   * READ behind it waits. Default 0.
   */
  readonly earlyAcknowledge: number
  readonly visibleNs: number
  /**
   * A completion comes up to this much later than what it completes; those of one queue pair keep their order. Default
   * 0.
   */
  readonly completionNs: number
  /** The probability that an event of a completion channel is lost. Default 0. */
  readonly lostWakeups: number
}

export const defaultNetwork: NetworkOptions = {
  delayNs: 1000,
  jitterNs: 200,
  tail: 0,
  tailNs: 100_000,
  loss: 0,
  duplicate: 0,
  reorder: 0,
  gigabitsPerSecond: 100,
}

export const defaultAdapter: AdapterOptions = {
  startNs: 100,
  lineNs: 4,
  tear: 0,
  tearNs: 2000,
  earlyAcknowledge: 0,
  visibleNs: 2000,
  completionNs: 0,
  lostWakeups: 0,
}

const simulationNames: OptionNames<SimulationOptions> = {
  network: true,
  adapter: true,
  atomics: true,
  faults: true,
  advanceOnPoll: true,
  choose: true,
}

type Check = (argument: string, value: unknown) => void

const networkChecks: Readonly<Record<keyof NetworkOptions, Check>> = {
  delayNs: checkTime,
  jitterNs: checkTime,
  tail: checkProbability,
  tailNs: checkTime,
  loss: checkProbability,
  duplicate: checkProbability,
  reorder: checkProbability,
  gigabitsPerSecond: checkFactor,
}

const adapterChecks: Readonly<Record<keyof AdapterOptions, Check>> = {
  startNs: checkTime,
  lineNs: checkTime,
  tear: checkProbability,
  tearNs: checkTime,
  earlyAcknowledge: checkProbability,
  visibleNs: checkTime,
  completionNs: checkTime,
  lostWakeups: checkProbability,
}

/** @throws ArgumentError; faults are checked where they are injected. */
export function checkSimulationOptions(options: SimulationOptions): void {
  checkOptions('openSimulatedCluster', options, simulationNames)
  const { network, adapter, atomics, faults, advanceOnPoll, choose } = options
  checkNumbers('options.network', network, networkChecks)
  checkNumbers('options.adapter', adapter, adapterChecks)
  if (atomics !== undefined && atomics !== 'device' && atomics !== 'global')
    throw mustBe('options.atomics', "'device' or 'global'", atomics)
  if (faults !== undefined) checkIterable('options.faults', faults, 'faults')
  if (advanceOnPoll !== undefined) checkBoolean('options.advanceOnPoll', advanceOnPoll)
  if (choose !== undefined) checkFunction('options.choose', choose, 'which takes a count and a name')
}

function checkNumbers<T extends object>(
  argument: string,
  numbers: Partial<T> | undefined,
  checks: Readonly<Record<keyof T & string, Check>>,
): void {
  if (numbers === undefined) return
  const names = Object.fromEntries(Object.keys(checks).map((name) => [name, true])) as OptionNames<Partial<T>>
  checkOptions('openSimulatedCluster', numbers, names, argument)
  for (const [name, check] of Object.entries<Check>(checks)) {
    const value = (numbers as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined) check(`${argument}.${name}`, value)
  }
}
