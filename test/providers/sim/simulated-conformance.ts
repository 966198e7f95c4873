import { TimeoutError } from '../../../src/native/index.ts'
import { openSimulatedCluster, type SimulatedCluster, type SimulationOptions } from '../../../src/providers/index.ts'
import { type ConformanceReport, runProviderConformance, type Until } from '../../../src/testing/index.ts'

/** How far time goes on between two looks: longer than a message and its answer take. */
const QUANTUM_NS = 100_000

/** Let the cluster's time pass until a case has what it waits for. */
function untilInSimulation(cluster: SimulatedCluster): Until {
  return async (predicate, deadlineMs) => {
    const deadlineNs = cluster.nowNs + deadlineMs * 1e6
    while (!(await predicate())) {
      if (cluster.nowNs > deadlineNs || cluster.kernel.nextNs === Number.POSITIVE_INFINITY)
        throw new TimeoutError(`what the case waits for did not happen within ${deadlineMs} simulated ms`)
      cluster.kernel.runTo(Math.max(cluster.nowNs, cluster.kernel.nextNs) + QUANTUM_NS)
    }
  }
}

/** The conformance suite in a simulated cluster. */
export async function conform(seed: number, options: SimulationOptions, only?: string): Promise<ConformanceReport> {
  using cluster = openSimulatedCluster(seed, options)
  const until = untilInSimulation(cluster)
  return await runProviderConformance({
    provider: 'sim',
    device: cluster.device,
    placement: 'one-process',
    until,
    ...(only === undefined ? {} : { only }),
  })
}
