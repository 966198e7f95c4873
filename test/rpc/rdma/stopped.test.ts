import assert from 'node:assert/strict'
import process from 'node:process'
import test from 'node:test'
import { type Channel, openChannel, type RdmaBuffer, RpcError } from '../../../src/rpc/index.ts'
import { stationMemory } from '../fixtures/contract.ts'
import { type StationProcess, startStation } from '../station-process.ts'
import { rejection, until } from '../support.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
const device = 'shm0'
const address = '127.0.0.1'
const LENGTH_BYTES = 4 << 20
const FENCE_MS = 50
/** A process that does little but copy is stopped in the middle of a copy within so many tries; half of them are. */
const TRIES_MAX = 40

/**
 * The server is stopped while its handler writes, the caller gives up, and the call ends: with what, and what the
 * buffer is worth then.
 */
async function stopAndGiveUp(server: StationProcess, channel: Channel, buffer: RdmaBuffer): Promise<unknown> {
  const client = channel.client(stationMemory)
  const abort = new AbortController()
  buffer.bytes.fill(0)
  const call = rejection(client.overwrite(undefined, { target: buffer, signal: abort.signal }))
  const failed = call.then((error) => {
    throw error
  })
  await Promise.race([until(() => Atomics.load(buffer.bytes, buffer.length - 1) > 0), failed])
  process.kill(server.pid, 'SIGSTOP')
  abort.abort(new Error('enough'))
  const error = await call
  return error === abort.signal.reason ? undefined : error
}

/** The memory stays as it is, from now on. */
async function assertUntouched({ bytes }: RdmaBuffer, marks: number): Promise<void> {
  const expected = new Uint8Array(bytes.length).fill(marks)
  for (let turns = 0; turns < 50; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(Buffer.compare(bytes, expected), 0, 'the server has written into memory that was given back')
  }
}

test(
  'a server that is stopped while it writes: a call ends all the same, and says where the memory is lost',
  options,
  async () => {
    await using server = await startStation(device, address)
    const place = { device, address, port: server.port }
    await using watching = openChannel(place)
    await watching.ready()
    let isLost = false
    for (let tries = 0; tries < TRIES_MAX && !isLost; tries += 1) {
      await using channel = openChannel(place, { fenceMs: FENCE_MS })
      const buffer = await channel.allocate(LENGTH_BYTES)
      try {
        const error = await stopAndGiveUp(server, channel, buffer)
        isLost = buffer.lost
        assert.equal(buffer.uses, 0)
        if (error === undefined) {
          // It was stopped between two copies: the device has taken the key back, and what it does when it goes on
          // reaches nothing.
          assert.equal(isLost, false)
          buffer.bytes.fill(9)
          process.kill(server.pid, 'SIGCONT')
          await assertUntouched(buffer, 9)
        } else {
          // In the middle of one: nobody can keep it from going on.
          assert.ok(error instanceof RpcError, String(error))
          assert.deepEqual([error.code, error.outcome], ['ERR_AETHER_RPC_BUFFER_LOST', 'unknown'])
          assert.equal(isLost, true)
          process.kill(server.pid, 'SIGCONT')
          // The channel connects anew; no call takes that memory any more, others go on.
          await channel.ready()
          const client = channel.client(stationMemory)
          const refused = await rejection(client.overwrite(undefined, { target: buffer }))
          assert.equal((refused as { code: string }).code, 'ERR_AETHER_INVALID_ARGUMENT')
          await using other = await channel.allocate(16)
          await client.invert(undefined, { source: other, target: other })
          assert.deepEqual(other.bytes, new Uint8Array(16).fill(255))
        }
        // Its handler has heard of it, whichever it was.
        const codes = await watching.client(stationMemory).overwriteEnd()
        assert.equal(codes.length, 4)
        for (const code of codes)
          assert.ok(['ERR_AETHER_RPC_CANCELLED', 'ERR_AETHER_RPC_CONNECTION_LOST'].includes(code), code)
      } finally {
        process.kill(server.pid, 'SIGCONT')
        await buffer.release()
      }
    }
    assert.ok(isLost, `the server was never stopped in the middle of a copy, in ${TRIES_MAX} tries`)
  },
)
