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
  | HostFault<'pause'>
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

interface HostFault<Kind extends string> extends Timed {
  readonly kind: Kind
  readonly host: number
}

interface PathFault<Kind extends string> extends Timed {
  readonly kind: Kind
  readonly from: number
  readonly to: number
}
