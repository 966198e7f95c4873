/** Keys are drawn; here all are drawn alike, so that an entry of the table that is used again gets the key it had. */
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { Access, openDevice } from '../../src/verbs/index.ts'

const rights = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite

function drawAlike(): Disposable {
  const { randomInt } = crypto
  crypto.randomInt = ((first: number, second?: number) => (second === undefined ? 0 : first)) as typeof randomInt
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]: () => {
      crypto.randomInt = randomInt
      syncBuiltinESMExports()
    },
  }
}

for (const where of ['another device', 'the own device']) {
  test(`memory of ${where} that was registered anew under a key that was used before is found, and no other`, async () => {
    using device = openDevice('shm0')
    using other = where === 'the own device' ? undefined : openDevice('shm0')
    const owner = other ?? device
    using domain = device.createProtectionDomain()
    using theirs = other === undefined ? undefined : other.createProtectionDomain()
    using queue = device.createCompletionQueue({ depth: 16 })
    using theirQueue = owner.createCompletionQueue({ depth: 16 })
    using pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    using peer = theirs?.createQueuePair({ type: 'rc', sendQueue: theirQueue, receiveQueue: theirQueue })
    pair.connect((peer ?? pair).endpoint)
    peer?.connect(pair.endpoint)
    using source = domain.allocate(64, rights)
    using alike = drawAlike()
    assert.ok(alike)
    const home = theirs ?? domain
    const keys = new Set<number>()
    for (let turn = 1; turn <= 4; turn += 1) {
      using target = home.allocate(64 * turn, rights)
      keys.add(target.remoteKey)
      source.bytes.fill(turn)
      const remote = { address: target.address + 64 * (turn - 1), key: target.remoteKey }
      await pair.write({ local: source.subarray(0, 64), remote })
      assert.deepEqual(target.bytes.subarray(64 * (turn - 1)), new Uint8Array(64).fill(turn))
      await pair.read({ local: source.subarray(0, 8), remote: { address: target.address, key: target.remoteKey } })
    }
    assert.equal(keys.size, 1)
  })
}
