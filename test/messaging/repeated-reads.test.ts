import assert from 'node:assert/strict'
import test from 'node:test'
import { simulatedFabric } from './endpoint-fabrics.ts'

for (const seed of [1, 2, 3])
  test(`the memory of a long message may go when it was sent, whatever the network repeats: seed ${seed}`, async () => {
    const { client, server, close } = await simulatedFabric(seed).join()
    const received: number[] = []
    server.handlers = { receive: (data) => received.push(data[0]!) }
    for (let round = 0; round < 10; round += 1) {
      const buffer = client.allocate(200_000)
      buffer.bytes.fill(round)
      await client.send({ buffer })
      buffer.close()
    }
    assert.deepEqual(received, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    await close()
    assert.equal(await client.ended, undefined)
  })

test('memory that was read may go after a fence of the READs', async () => {
  const { client, server, close } = await simulatedFabric(4).join()
  for (let round = 0; round < 10; round += 1) {
    const [remote, buffer] = [server.allocate(200_000), client.allocate(200_000)]
    remote.bytes.fill(round)
    await client.read({ buffer }, remote)
    assert.ok(buffer.bytes.every((byte) => byte === round))
    await client.link.fenceReads()
    remote.close()
    buffer.close()
  }
  await client.send(Uint8Array.of(1))
  assert.ok(server.open)
  await close()
})
