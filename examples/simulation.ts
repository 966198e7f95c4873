/**
 * A simulated cluster: two hosts in this process, in virtual time. For the first 500 µs the link
 * back from the second host is cut. So a WRITE arrives at once, but its completion comes after the cut. Run it after
 * `npm run build`:
 *
 *     node dist/examples/simulation.js
 *
 * It prints that the bytes have arrived within 10 µs, and that the sender knows only after 500 µs. All delays come from
 * the seed, 7, so every run is the same.
 */
import { openSimulatedCluster } from 'aether-dsm/testing'
import { Access, CompletionBatch, openDevice, statusName } from 'aether-dsm/verbs'

using cluster = openSimulatedCluster(7, { faults: [{ kind: 'cut', atNs: 0, from: 1, to: 0, forNs: 500_000 }] })

/** Opening the cluster's device again adds another host. */
function openHost() {
  const device = openDevice(cluster.device)
  const domain = device.createProtectionDomain()
  const memory = domain.allocate(4096, Access.LocalWrite | Access.RemoteWrite)
  const queue = device.createCompletionQueue({ depth: 16 })
  const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  return { memory, queue, pair }
}

const [near, far] = [openHost(), openHost()]
near.pair.connect(far.pair.endpoint)
far.pair.connect(near.pair.endpoint)

near.memory.bytes[0] = 42
const remote = { address: far.memory.address, key: far.memory.remoteKey }
near.pair.prepareWrite({ local: near.memory.subarray(0, 64), remote }).post(1)

const batch = new CompletionBatch(1)
cluster.runUntil(() => far.memory.bytes[0] === 42)
console.log(`there within 10 µs: ${cluster.nowNs < 10_000}; known: ${near.queue.poll(batch) === 1}`)
// prints there within 10 µs: true; known: false
cluster.runUntil(() => near.queue.poll(batch) === 1)
console.log(`known after more than 500 µs: ${cluster.nowNs > 500_000}; ${statusName(batch.status[0] ?? -1)}`)
// prints known after more than 500 µs: true; Success (0)
