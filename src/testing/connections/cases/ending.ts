import { strict as assert } from 'node:assert'
import { CompletionBatch, CompletionStatus, QueuePairState } from '../../../verbs/index.ts'
import { type ConnectionCase, memoryWith, soon } from '../context.ts'

const MAN = 'rdma_disconnect(3)'

/** How connections end. */
export const endingCases: readonly ConnectionCase[] = [
  {
    name: 'a disconnect ends both ends, each with its reason',
    rule: MAN,
    async run(context) {
      const [a, b] = await context.pair()
      await soon(a.disconnect(), 'the disconnect')
      assert.equal(await a.closed, 'local')
      assert.equal(await soon(b.closed, 'the end at the peer'), 'peer')
      assert.deepEqual([a.state, b.state], ['closed', 'closed'])
      await a.disconnect()
    },
  },
  {
    name: 'a disconnect flushes what was posted, here and there',
    rule: `${MAN}: any posted work requests are flushed`,
    async run(context) {
      const [a, b] = await context.pair()
      a.pair.prepareReceive({ local: memoryWith(a, '').subarray(0, 8) }).post(41)
      b.pair.prepareReceive({ local: memoryWith(b, '').subarray(0, 8) }).post(42)
      await a.disconnect()
      await soon(b.closed, 'the end at the peer')
      const batch = new CompletionBatch(4)
      for (const [connection, id] of [
        [a, 41],
        [b, 42],
      ] as const) {
        assert.equal(connection.pair.state, QueuePairState.Error)
        assert.equal(connection.receiveQueue.poll(batch), 1)
        assert.deepEqual([batch.id[0], batch.status[0]], [id, CompletionStatus.WorkRequestFlushed])
      }
    },
  },
  {
    name: 'both may disconnect at once',
    rule: MAN,
    async run(context) {
      const [a, b] = await context.pair()
      await soon(Promise.all([a.disconnect(), b.disconnect()]), 'the disconnect')
      assert.deepEqual([a.state, b.state], ['closed', 'closed'])
    },
  },
  {
    name: 'closing ends it at the peer, too',
    rule: 'rdma_destroy_id(3)',
    async run(context) {
      const [a, b] = await context.pair()
      b.close()
      assert.equal(await b.closed, 'local')
      assert.notEqual(await soon(a.closed, 'the end at the peer'), 'local')
      assert.equal(b.pair.closed, true)
      b.close()
    },
  },
  {
    name: 'closing the listener leaves its connections',
    rule: 'rdma_destroy_id(3)',
    async run(context) {
      const listener = await context.listen()
      const accepted = context.accept(listener)
      const connection = await context.connect(listener)
      const peer = await accepted
      listener.close()
      const arrived = peer.pair.receive({ local: memoryWith(peer, '').subarray(0, 8) })
      await connection.pair.send({ local: memoryWith(connection, 'still').subarray(0, 5) })
      assert.equal((await arrived).byteLength, 5)
    },
  },
  {
    name: 'what connections shared goes with the last of them',
    rule: "this project's contract",
    async run(context) {
      const [a, b] = await context.pair()
      assert.equal(a.domain, b.domain)
      const { device } = a
      a.close()
      assert.equal(device.closed, false)
      b.close()
      assert.equal(device.closed, true)
    },
  },
]
