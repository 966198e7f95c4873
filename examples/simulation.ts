/**
 * A simulated cluster: two hosts in this process, in virtual time. The way back from the second is cut for a while, so
 * a WRITE is carried out at once, and its sender is told much later. Run it: node dist/examples/simulation.js
 */
import { openSimulatedCluster } from 'aether-dsm/testing'
import { Access, CompletionBatch, openDevice, statusName } from 'aether-dsm/verbs'

using cluster = openSimulatedCluster(7, { faults: [{ kind: 'cut', atNs: 0, from: 1, to: 0, forNs: 500_000 }] })

/** Each opening of the cluster's device is a host of its own. */
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
