import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { connectLink, type VerbsLink } from '../../../src/messaging/index.ts'
import { type Client, openChannel, type RdmaBuffer, RpcError } from '../../../src/rpc/index.ts'
import { stationMemory } from '../fixtures/contract.ts'
import { startStation } from '../station-process.ts'
import { rejection, until } from '../support.ts'

/** A machine that is slow. */
const LONG_MS = 120_000
const ROUNDS = 3

/**
 * Has the station write into the buffer, ends the call by `end` in the middle of that, and gives what it ended with.
 * The memory is the caller's again then, and all 0.
 */
async function overwritten(
  client: Client<typeof stationMemory>,
  buffer: RdmaBuffer,
  signal: AbortSignal,
  end: () => void,
): Promise<unknown> {
  buffer.bytes.fill(0)
  const call = rejection(client.overwrite(undefined, { target: buffer, signal }))
  const failed = call.then((error) => {
    throw error
  })
  await Promise.race([until(() => Atomics.load(buffer.bytes, buffer.length - 1) > 0), failed])
  end()
  const error = await call
  buffer.bytes.fill(0)
  return error
}

function assertUntouched({ bytes }: RdmaBuffer): void {
  assert.ok(
    bytes.every((byte) => byte === 0),
    'the server has written into memory that was given back',
  )
}

/** Calls with buffers to a server in a process of its own, which goes on while this one looks. */
export async function stationCases(t: TestContext, device: string, address: string): Promise<void> {
  await using server = await startStation(device, address)
  const place = { device, address, port: server.port, connectTimeoutMs: LONG_MS }
  await using channel = openChannel(place, { timeoutMs: LONG_MS, helloMsMax: LONG_MS, fenceMs: LONG_MS })
  const client = channel.client(stationMemory)

  await t.test('the other process reads and writes memory of this one, and nothing beside it', async () => {
    await using buffer = await channel.allocate(1_300_000)
    for (let at = 0; at < buffer.length; at += 1) buffer.bytes[at] = at * 13
    const part = { buffer, offset: 4097, length: 1_200_001 }
    await client.invert(undefined, { source: part, target: part })
    const isPart = (at: number): boolean => at >= part.offset && at < part.offset + part.length
    assert.ok(buffer.bytes.every((byte, at) => byte === (isPart(at) ? 255 - ((at * 13) & 255) : (at * 13) & 255)))
  })

  await t.test('cancelled while the other process writes: nothing of it comes once the call has ended', async () => {
    await using buffer = await channel.allocate(300_000)
    for (let round = 0; round < ROUNDS; round += 1) {
      const abort = new AbortController()
      const error = await overwritten(client, buffer, abort.signal, () => abort.abort(new Error('enough')))
      assert.equal(error, abort.signal.reason)
      const codes = await client.overwriteEnd()
      assert.deepEqual(codes, Array(4).fill('ERR_AETHER_RPC_CANCELLED'))
      assertUntouched(buffer)
    }
  })

  await t.test('the connection given up while the other process writes: the same', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const link: VerbsLink = await connectLink(place)
      await using other = openChannel(link, { timeoutMs: LONG_MS, helloMsMax: LONG_MS })
      await using buffer = await other.allocate(300_000)
      const { signal } = new AbortController()
      const error = await overwritten(other.client(stationMemory), buffer, signal, () => link.destroy())
      assert.ok(error instanceof RpcError, String(error))
      assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_CONNECTION_LOST', 'unknown'])
      const codes = await client.overwriteEnd()
      assert.deepEqual(codes, Array(4).fill('ERR_AETHER_RPC_CONNECTION_LOST'))
      assertUntouched(buffer)
    }
  })
}
