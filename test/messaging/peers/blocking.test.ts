import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import test from 'node:test'
import { openPeers, type PeerAddress } from '../../../src/messaging/index.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'
const timeoutMs = 60_000

const bytesOf = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => index * 7 + seed + (index >> 8))

test('messages between two processes that both spin arrive with what was in them, in order, also longer than window and ring', {
  skip,
}, async (t) => {
  const script = new URL('fixtures/echoer-main.js', import.meta.url)
  const child = fork(script, ['shm0', '127.0.0.1'])
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const [where] = (await once(child, 'message')) as [PeerAddress]
  await using peers = openPeers({ number: 0, device: 'shm0' })
  const peer = await peers.connect({ ...where, timeoutMs })
  for (const [seed, length] of [1, 5, 1000, 16_385, 70_001, 700_003].entries()) {
    const message = bytesOf(length, seed)
    peer.sendSync(message, { timeoutMs })
    assert.deepEqual(
      peer.receiveSync({ timeoutMs }),
      message.map((byte) => byte + 1),
    )
  }
  // Several under way, and what has come before anybody asks for it.
  const lengths = [3, 200, 1, 4000, 9]
  for (const [seed, length] of lengths.entries()) peer.sendSync(bytesOf(length, seed), { timeoutMs })
  for (const [seed, length] of lengths.entries())
    assert.deepEqual(
      peer.receiveSync({ timeoutMs }),
      bytesOf(length, seed).map((byte) => byte + 1),
    )
  // Nothing is left to come.
  assert.throws(() => peer.receiveSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
  peer.sendSync(new Uint8Array(0), { timeoutMs })
  assert.deepEqual(peer.receiveSync({ timeoutMs }), new Uint8Array(0))
  await peer.disconnect()
  assert.deepEqual(await exited, [0, null])
})
