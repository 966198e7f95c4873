import assert from 'node:assert/strict'
import process from 'node:process'
import test from 'node:test'
import { openPeers } from '../../../src/messaging/index.ts'
import { address, closeAll, connected } from './connected-peers.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'
test('connect, accept, send, receive and disconnect', { skip }, async () => {
  await using server = openPeers({ number: 0, device: 'shm0' })
  await using client = openPeers({ number: 7, device: 'shm0' })
  const where = await server.listen({ address })
  const [accepted, joined] = await Promise.all([server.accept(), client.connect(where)])
  assert.deepEqual([accepted.number, joined.number], [7, 0])
  await joined.send(new TextEncoder().encode('hello'))
  assert.equal(new TextDecoder().decode(await accepted.receive()), 'hello')
  await accepted.disconnect()
  await joined.gone
  assert.equal(joined.connected, false)
  assert.equal(client.get(0), undefined)
  await server.close()
  await assert.rejects(client.connect(where), (error: Error) => client.lastError === error)
})

test('collectives of several megabytes over shared memory', { skip }, async () => {
  const all = await connected(3)
  const groups = all.map((peers) => peers.group())
  const length = 400_001
  const results = await Promise.all(
    groups.map((group, rank) => group.allReduce(new Float64Array(length).fill(rank + 1), 'sum')),
  )
  for (const result of results) assert.ok(result.every((value) => value === 6))
  const inputs = groups.map((_, rank) =>
    Int32Array.from({ length: 3 * 100_000 }, (__, index) => rank * 1_000_000 + index),
  )
  const exchanged = await Promise.all(
    groups.map((group, rank) => group.allToAll(inputs[rank]!, new Int32Array(300_000), { algorithm: 'concurrent' })),
  )
  for (const [rank, output] of exchanged.entries())
    for (let from = 0; from < 3; from += 1)
      assert.deepEqual(
        output.subarray(from * 100_000, (from + 1) * 100_000),
        inputs[from]!.subarray(rank * 100_000, (rank + 1) * 100_000),
      )
  await closeAll(all)
})
