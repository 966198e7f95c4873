import * as door from '../../../src/public/testing.ts'
import { openDevice } from '../../../src/public/verbs.ts'
import { inLists, type Recipe, type Recipes } from '../recipe.ts'

const NEVER = 'a right call takes minutes, and tests of its own make it'

/** A simulated cluster; the suites are given a device that is missing, which they look at last. */
export async function testingRecipes(): Promise<Recipes> {
  const cluster = door.openSimulatedCluster(1)
  const host = cluster.addHost()
  const device = openDevice(`${cluster.device}/${host.index}`)
  const channel = device.createCompletionChannel()
  const suite = (setup: object): Recipe => ({ args: () => [{ ...setup, device: 'missing' }], neverRight: NEVER })
  const run = { provider: 'shm', placement: 'one-process' }
  const results = [{ name: 'a case', rule: 'a rule', outcome: 'passed', reason: '' }]
  return {
    module: door,
    objects: inLists({ SimulatedCluster: cluster, Host: host, Process: host.spawn(() => {}) }),
    values: {
      report: () => ({ ...run, device: 'shm0', results, passed: 1, failed: 0, unsupported: 0, different: 0 }),
      seed: () => 1,
      atNs: () => 0,
      step: () => () => {},
      up: () => true,
      ns: () => 1000,
      predicate: () => () => true,
      timeoutMs: () => 1,
    },
    data: ['report'],
    calls: {
      'Host.whenReadable': { args: () => [channel.descriptor, () => {}] },
      'Host.crash': { self: () => cluster.addHost(), args: () => [false, 0] },
      'SimulatedCluster.inject': [
        { args: () => [{ kind: 'pause', atNs: 0, host: 0, forNs: 10 }] },
        { args: () => [{ kind: 'lossy', atNs: 0, from: 0, to: 1, loss: 0.5 }] },
      ],
      runProviderConformance: suite(run),
      runConnectionConformance: suite({ address: '127.0.0.1' }),
    },
    async close() {
      device.close()
      cluster.close()
    },
  }
}
