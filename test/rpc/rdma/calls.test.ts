import assert from 'node:assert/strict'
import test from 'node:test'
import { defineService, RdmaBuffer, RpcError, rdmaCall } from '../../../src/rpc/index.ts'
import { rejection, serverPair } from '../support.ts'
import { callCases } from './call-cases.ts'
import { grounds } from './pairs.ts'

for (const ground of grounds)
  test(`calls with buffers: ${ground.name}`, { skip: ground.skip }, (t) => callCases(t, ground))

const store = defineService({ name: 'store', methods: { take: rdmaCall({ buffers: 'source' }) } })

test('links without a device lend no memory, and say so', async () => {
  await using pair = serverPair((server) => void server.serve(store, { take: () => undefined }))
  const error = await rejection(pair.channel.allocate(10))
  assert.equal((error as { code: string }).code, 'ERR_AETHER_UNSUPPORTED')
  const buffer = new RdmaBuffer({ bytes: new Uint8Array(8), close: () => undefined } as never)
  const refused = await rejection(pair.channel.client(store).take(undefined, { source: buffer }))
  assert.equal((refused as { code: string }).code, 'ERR_AETHER_UNSUPPORTED')
  assert.ok(!(refused instanceof RpcError))
})
