import assert from 'node:assert/strict'
import test from 'node:test'
import { openPeers } from '../../src/messaging/index.ts'
import { algorithmRounds, callAll } from '../messaging/peers/call-all.ts'

const device = 'rxe0'
const address = process.env['AETHER_RDMA_ADDRESS'] ?? ''

test('over a real device: every collective, short and long, and messages between peers', async () => {
  const all = [0, 1, 2].map((number) => openPeers({ number, device }))
  const addresses = await Promise.all(all.map((peers) => peers.listen({ address })))
  await Promise.all(all.map((peers) => peers.connectAll(addresses, { timeoutMs: 60_000 })))
  const groups = all.map((peers) => peers.group())
  // The last is beyond 64 KiB, from where on others are chosen.
  for (const count of [0, 1, 700, 9000]) await callAll(groups, count)
  for (const [round, options] of algorithmRounds().entries())
    await callAll(groups, 33, options, (['float32', 'int8', 'uint16', 'int64', 'float64'] as const)[round % 5])
  const long = new Uint8Array(1_000_000).map((_, index) => index)
  const [message] = await Promise.all([all[1]!.get(0)!.receive(), all[0]!.get(1)!.send(long)])
  assert.deepEqual(message, long)
  await Promise.all(all.map((peers) => peers.close()))
  // Each closes at its own time, so a peer that went first is no loss.
  for (const { lastError } of all) assert.equal(lastError, undefined)
})
