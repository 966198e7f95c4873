/**
 * RDMA verbs on the software device: two queue pairs, one connected to the other, a WRITE and a READ.
 * Both ends are in this process to keep it short; between two processes, send `pair.endpoint` and `memory.token` over
 * any channel.
 *
 *     node dist/examples/verbs.js
 */
import { Access, CompletionBatch, CompletionStatus, openDevice } from 'aether-dsm/verbs'

using device = openDevice('shm0')
using domain = device.createProtectionDomain()
using queue = device.createCompletionQueue({ depth: 16 })
using near = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
using far = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
near.connect(far.endpoint)
far.connect(near.endpoint)

using source = domain.allocate(4096, Access.LocalWrite)
using target = domain.allocate(4096, Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite)
const message = new TextEncoder().encode('written without the other processor')
source.bytes.set(message)

// As in C: a request is posted, and its completion is polled for.
const write = near.prepareWrite({ local: source.subarray(0, message.length), remote: target.token, signaled: true })
write.post(7)
const batch = new CompletionBatch(1)
while (queue.poll(batch) === 0) {}
console.log(batch.id[0], batch.status[0] === CompletionStatus.Success) // prints 7 true

// Or in one line: a promise for the completion. The text is decoded from a copy, because peers may write at any time.
await near.read({ local: source.subarray(2048, 2048 + message.length), remote: target.token })
// prints written without the other processor
console.log(new TextDecoder().decode(source.bytes.slice(2048, 2048 + message.length)))
