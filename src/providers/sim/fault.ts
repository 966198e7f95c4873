/**
 * A fault at a time. Hosts are counted from 0 in the order in which they were added. `forNs` left out means for ever.
 */
export type SimulatedFault =
  /**
   * The process of a host ends. `keeps`: `nothing` (default: the kernel takes its queue pairs and memory away), or
   * `memory` (somebody else holds it, so one-sided accesses go on succeeding). `lingerNs`: the adapter goes on with
   * requests posted before for so long: late writes of the dead.
   */
  | CrashFault
  /** The processor stops, the adapter serves on: SIGSTOP, a long collection of garbage, a debugger. */
  | HostFault<'pause'>
  /** The link is down: nothing in, nothing out, and its devices raise PortError. */
  | HostFault<'link-down'>
  /** Everything that the adapter does takes `factor` times as long. */
  | (HostFault<'slow'> & { readonly factor: number })
  /** Events of completion channels get lost. */
  | HostFault<'lose-wakeups'>
  /** The memory of the host stops answering everybody; its processes go on. */
  | HostFault<'memory-stall'>
  /** Nothing gets from one host to the other; the way back is a fault of its own, so that a cut may be asymmetric. */
  | PathFault<'cut'>
  /** Packets from one host to the other are lost with that probability, or need so much longer. */
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

interface HostFault<Kind extends string> extends Timed {
  readonly kind: Kind
  readonly host: number
}

interface PathFault<Kind extends string> extends Timed {
  readonly kind: Kind
  readonly from: number
  readonly to: number
}
