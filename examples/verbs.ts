/**
 * RDMA verbs on the software device: a WRITE and a READ between two connected queue pairs. Both ends are in this
 * process to keep the example short. Between two processes, send `pair.endpoint` and `memory.token` over any channel,
 * as in `verbs-write.ts`. Run it after `npm run build`:
 *
 *     node dist/examples/verbs.js
 *
 * It prints the id of the completed WRITE and whether it succeeded, then the text that the READ brought back.
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

// As in C: post a request, then poll for its completion.
const write = near.prepareWrite({ local: source.subarray(0, message.length), remote: target.token, signaled: true })
write.post(7)
const batch = new CompletionBatch(1)
while (queue.poll(batch) === 0) {}
console.log(batch.id[0], batch.status[0] === CompletionStatus.Success) // prints 7 true

// Or in one call, which returns a promise of the completion. Decode a copy of the text, because a peer may write to
// registered memory at any time.
await near.read({ local: source.subarray(2048, 2048 + message.length), remote: target.token })
// prints written without the other processor
console.log(new TextDecoder().decode(source.bytes.slice(2048, 2048 + message.length)))
