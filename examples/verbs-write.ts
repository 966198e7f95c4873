/**
 * RDMA verbs between two processes, on the software device: the child writes into the parent's memory, and the parent
 * runs no code for it. Run it after `npm run build`:
 *
 *     node dist/examples/verbs-write.js
 *
 * The parent waits until the child has ended, and prints the text that it finds in its own memory.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Access, openDevice, type RemoteEndpoint } from 'aether-dsm/verbs'

/** What each end sends to the other over any channel, here the IPC channel of `fork()`. */
interface Introduction {
  readonly endpoint: RemoteEndpoint
  readonly address: number
  readonly key: number
}

using device = openDevice('shm0')
using domain = device.createProtectionDomain()
using memory = domain.allocate(4096, Access.LocalWrite | Access.RemoteWrite)
using queue = device.createCompletionQueue({ depth: 16 })
using pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
const introduction: Introduction = { endpoint: pair.endpoint, address: memory.address, key: memory.remoteKey }

if (process.send) {
  process.send(introduction)
  const [parent] = (await once(process, 'message')) as [Introduction]
  pair.connect(parent.endpoint)
  memory.bytes.set(Buffer.from('written by the child'))
  await pair.write({ local: memory.subarray(0, 20), remote: { address: parent.address, key: parent.key } })
  process.disconnect()
} else {
  const child = fork(fileURLToPath(import.meta.url), { serialization: 'advanced' })
  const [other] = (await once(child, 'message')) as [Introduction]
  pair.connect(other.endpoint)
  child.send(introduction)
  await once(child, 'exit')
  console.log(Buffer.from(memory.bytes.subarray(0, 20)).toString()) // prints written by the child
}
