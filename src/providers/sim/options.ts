import type { SimulatedFault } from './fault.ts'
import type { Choose } from './stream.ts'

/**
 * What a simulated cluster is like. Probabilities are 0..1 and asked for each packet, request or completion; all times
 * are virtual.
 */
export interface SimulationOptions {
  readonly network?: Partial<NetworkOptions>
  readonly adapter?: Partial<AdapterOptions>
  /** What happens at given times. A failing run is shortened by leaving some out: chance elsewhere does not change. */
  readonly faults?: readonly SimulatedFault[]
  /**
   * An empty poll from outside of the simulation lets the next event happen. Default false: time passes only where
   * somebody runs the cluster.
   */
  readonly advanceOnPoll?: boolean
  /** Decides instead of the seed, for walking through every course of a small configuration. */
  readonly choose?: Choose
}

export interface NetworkOptions {
  /** Every packet needs at least so long. Default 1000. */
  readonly delayNs: number
  /** And up to so much more. Default 200. */
  readonly jitterNs: number
  /** A packet out of many that takes `tailNs` longer. Default 0. */
  readonly tail: number
  readonly tailNs: number
  /** Packets that are lost. Default 0. */
  readonly loss: number
  /** Packets that arrive twice. Default 0. */
  readonly duplicate: number
  /**
   * Packets that others of the same queue pair may overtake. Default 0; otherwise they keep their order, as on
   * InfiniBand.
   */
  readonly reorder: number
  /** Default 100. */
  readonly gigabitsPerSecond: number
}

export interface AdapterOptions {
  /** From the post to the first access to memory. Default 100. */
  readonly startNs: number
  /** For each line of 64 bytes of memory. Default 4. */
  readonly lineNs: number
  /**
   * READs and WRITEs whose lines are taken in any order, spread over `tearNs`. Default 0: in order of their addresses.
   */
  readonly tear: number
  readonly tearNs: number
  /**
   * WRITEs that are acknowledged before the bytes can be seen, which takes up to `visibleNs` longer. A READ behind them
   * waits. Default 0.
   */
  readonly earlyAcknowledge: number
  readonly visibleNs: number
  /**
   * Completions come up to so much later than what they complete; those of one queue pair keep their order. Default 0.
   */
  readonly completionNs: number
  /** Events of completion channels that get lost. Default 0. */
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
