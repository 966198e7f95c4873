import type { SimulatedFault } from './fault.ts'
import type { Host } from './host.ts'
import type { Kernel } from './kernel.ts'
import type { Network } from './network.ts'

/** What faults happen to. */
interface FaultyCluster {
  readonly kernel: Kernel
  readonly network: Network
  readonly hosts: readonly Host[]
}

/** What a fault does, and what undoes it. */
interface Effect {
  begin(): void
  end(): void
}

/** Schedule a fault, and its end if it has one. */
export function inject(cluster: FaultyCluster, fault: SimulatedFault): void {
  const { kernel } = cluster
  kernel.at(fault.atNs, () => {
    const effect = effectOf(cluster, fault)
    effect?.begin()
    if (effect !== undefined && 'forNs' in fault && fault.forNs !== undefined)
      kernel.after(fault.forNs, () => effect.end())
  })
}

/** Undefined if there is no such host. */
function effectOf(cluster: FaultyCluster, fault: SimulatedFault): Effect | undefined {
  if (fault.kind === 'cut' || fault.kind === 'lossy' || fault.kind === 'clog') return pathEffect(cluster, fault)
  const host = cluster.hosts[fault.host]
  return host === undefined ? undefined : hostEffect(host, fault)
}

function pathEffect(cluster: FaultyCluster, fault: Extract<SimulatedFault, { readonly from: number }>): Effect {
  const path = cluster.network.path(fault.from, fault.to)
  const change = (sign: 1 | -1): void => {
    if (fault.kind === 'cut') path.cuts += sign
    else if (fault.kind === 'lossy') path.loss += sign * fault.loss
    else path.delayNs += sign * fault.delayNs
  }
  return { begin: () => change(1), end: () => change(-1) }
}

function hostEffect(host: Host, fault: Extract<SimulatedFault, { readonly host: number }>): Effect {
  switch (fault.kind) {
    case 'crash':
      return { begin: () => host.crash(fault.keeps === 'memory', fault.lingerNs ?? 0), end: nothing }
    case 'pause':
      return {
        begin: () => {
          host.pause(fault.inWrite)
          if (fault.adapterStops === true) host.memoryAnswers = false
        },
        end: () => {
          if (fault.adapterStops === true) host.memoryAnswers = true
          host.resume()
        },
      }
    case 'link-down':
      return { begin: () => host.setLink(false), end: () => host.setLink(true) }
    case 'slow':
      return {
        begin: () => {
          host.slowness *= fault.factor
        },
        end: () => {
          host.slowness /= fault.factor
        },
      }
    case 'lose-wakeups':
      return {
        begin: () => {
          host.losesWakeups = true
        },
        end: () => {
          host.losesWakeups = false
        },
      }
    case 'memory-stall':
      return {
        begin: () => {
          host.memoryAnswers = false
        },
        end: () => {
          host.memoryAnswers = true
        },
      }
  }
}

function nothing(): void {
  return
}
