import { checkBoolean, checkOptions, checkWhole, mustBe, type OptionNames } from '../../native/index.ts'
import { checkFactor, checkProbability, checkTime } from './numbers.ts'

/** More than a process can simulate. */
const HOSTS_MAX = 2 ** 20

/**
 * A fault at a time. Hosts are counted from 0 in the order in which they were added. Without `forNs` a fault lasts for
 * ever.
 */
export type SimulatedFault =
  /**
   * The process of a host ends. `keeps` is `nothing` (default: the kernel takes its queue pairs and memory away) or
   * `memory` (another process holds it, so one-sided accesses still succeed). For `lingerNs` the adapter continues with
   * requests that were posted before: late writes of a dead process.
   */
  | CrashFault
  /** The processor stops, but the adapter serves on: SIGSTOP, a long garbage collection, a debugger. */
  | PauseFault
  /** The link is down: nothing in, nothing out, and its devices raise PortError. */
  | HostFault<'link-down'>
  /** Everything that the adapter does takes `factor` times as long. */
  | (HostFault<'slow'> & { readonly factor: number })
  /** Events of completion channels get lost. */
  | HostFault<'lose-wakeups'>
  /** The memory of the host stops answering any access; its processes go on. */
  | HostFault<'memory-stall'>
  /** Nothing gets from one host to the other. The way back is a fault of its own, so that a cut may be asymmetric. */
  | PathFault<'cut'>
  /**
   * Packets from one host to the other are lost with probability `loss` (`lossy`), or take `delayNs` longer (`clog`).
   */
  | (PathFault<'lossy'> & { readonly loss: number })
  | (PathFault<'clog'> & { readonly delayNs: number })

interface Timed {
  readonly atNs: number
  readonly forNs?: number
}

interface CrashFault {
  readonly kind: 'crash'
  readonly atNs: number
  readonly host: number
  readonly keeps?: 'nothing' | 'memory'
  readonly lingerNs?: number
}

interface PauseFault extends HostFault<'pause'> {
  /**
   * The processor does not stop at once, but in the middle of the next WRITE that arrives from it, as on shm, where it
   * writes itself. Half of the bytes land. The others land when it goes on, whatever was revoked in the meantime; until
   * then nothing else arrives from it. The queue pair that this WRITE is for refuses once to be reset, with EBUSY.
   */
  readonly inWrite?: boolean
  /** The adapter does not reach the memory either, so that no access is answered: a machine that is suspended. */
  readonly adapterStops?: boolean
}

interface HostFault<Kind extends string> extends Timed {
  readonly kind: Kind
  readonly host: number
}

interface PathFault<Kind extends string> extends Timed {
  readonly kind: Kind
  readonly from: number
  readonly to: number
}

type Check = (argument: string, value: unknown) => void

/** What each fault needs, beyond its time. */
const needs: Readonly<Record<SimulatedFault['kind'], Readonly<Record<string, Check>>>> = {
  crash: { host: checkHost },
  pause: { host: checkHost },
  'link-down': { host: checkHost },
  slow: { host: checkHost, factor: checkFactor },
  'lose-wakeups': { host: checkHost },
  'memory-stall': { host: checkHost },
  cut: { from: checkHost, to: checkHost },
  lossy: { from: checkHost, to: checkHost, loss: checkProbability },
  clog: { from: checkHost, to: checkHost, delayNs: checkTime },
}

const faultNames: OptionNames<SimulatedFault> = {
  kind: true,
  atNs: true,
  host: true,
  keeps: true,
  lingerNs: true,
  forNs: true,
  inWrite: true,
  adapterStops: true,
  factor: true,
  from: true,
  to: true,
  loss: true,
  delayNs: true,
}

/** @throws ArgumentError unless it is a fault that can happen; the host may be added later. */
export function checkFault(fault: SimulatedFault): void {
  if (fault === undefined) throw mustBe('fault', 'an object such as { kind, atNs, host }', fault)
  checkOptions('inject', fault, faultNames, 'fault')
  if (typeof fault.kind !== 'string' || !Object.hasOwn(needs, fault.kind))
    throw mustBe('fault.kind', `one of ${Object.keys(needs).join(', ')}`, fault.kind)
  checkTime('fault.atNs', fault.atNs)
  const given = fault as unknown as Readonly<Record<string, unknown>>
  for (const [name, check] of Object.entries(needs[fault.kind])) check(`fault.${name}`, given[name])
  for (const name of ['forNs', 'lingerNs']) if (given[name] !== undefined) checkTime(`fault.${name}`, given[name])
  const { keeps } = given
  for (const name of ['inWrite', 'adapterStops'])
    if (given[name] !== undefined) checkBoolean(`fault.${name}`, given[name])
  if (keeps !== undefined && keeps !== 'nothing' && keeps !== 'memory')
    throw mustBe('fault.keeps', "'nothing' or 'memory'", keeps)
}

function checkHost(argument: string, value: unknown): void {
  checkWhole(argument, value, 0, HOSTS_MAX)
}
