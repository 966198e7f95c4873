import { checkWhole } from '../../native/index.ts'
import type { OpenDeviceOptions, Provider, ProviderDevice } from '../contract.ts'
import { SimulatedCluster } from './cluster.ts'
import { checkSimulationOptions, type SimulationOptions } from './options.ts'

const clusters = new Map<string, SimulatedCluster>()
let serial = 0

/**
 * A cluster of simulated hosts in this process and in virtual time. Its devices are opened like any other, by the name
 * `cluster.device`. The same seed (an integer) and options give the same course.
 */
export function openSimulatedCluster(seed: number, options: SimulationOptions = {}): SimulatedCluster {
  checkWhole('seed', seed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  checkSimulationOptions(options)
  const name = `sim${serial}`
  serial += 1
  const cluster = new SimulatedCluster(name, seed, options, () => clusters.delete(name))
  clusters.set(name, cluster)
  return cluster
}

/** Devices of the simulated clusters that are open in this thread. */
export const simProvider: Provider = {
  name: 'sim',
  deviceNames: () =>
    [...clusters.values()].flatMap(({ device, hosts }) => [device, ...hosts.map(({ index }) => `${device}/${index}`)]),
  open(name: string, options: OpenDeviceOptions): ProviderDevice | undefined {
    return clusters.get(name.split('/')[0] ?? '')?.open(name, options)
  },
}
