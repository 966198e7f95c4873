/** READs and atomics under way: each end says how many it takes (RFC 6581, 9.1), and the other keeps to it. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { QueuePairState } from '../../../src/verbs/index.ts'
import { until } from '../../cluster/support.ts'
import { ControlKind, Op, Queue, readRequest } from '../../support/iwarp.ts'
import { CALLER, IwarpPeer } from '../../support/iwarp-peer.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import { VictimDevice } from './victim-device.ts'

const REMOTE_INVALID_REQUEST = 9n

test('no more READs and atomics are under way than the peer takes, however many this end may have', async () => {
  using victim = new VictimDevice()
  const pair = victim.target()
  using peer = await IwarpPeer.connect(pair.endpoint, { ird: 3 })
  const remote = { address: 4096, key: 1 }
  const local = victim.memory.subarray(1024, 1032)
  for (let round = 0; round < 4; round += 1) {
    pair.prepareRead({ local, remote }).post(1)
    pair.prepareFetchAdd({ local, remote, add: 1n }).post(2)
  }
  const requests = (): number => peer.segments.filter(({ queue }) => queue === Queue.Request).length
  await peer.until(() => requests() === 3, 'three requests')
  await sleep(20)
  assert.equal(requests(), 3)
  const name = Buffer.from(peer.segments.find(({ op }) => op === Op.ReadRequest)!.payload!).readUInt32BE(0)
  peer.send({ op: Op.ReadResponse, stag: name, payload: Buffer.alloc(8) })
  await peer.until(() => requests() === 4, 'one more')
  await sleep(20)
  assert.equal(requests(), 4)
})

test('a peer that has more READs under way than it was told is refused, and the queue pair ends', async () => {
  using victim = new VictimDevice()
  const pair = victim.target(CALLER, { maxDestinationReadAtomic: 2 })
  using peer = await IwarpPeer.connect(pair.endpoint)
  const memory = victim.domain.allocate(1 << 20, ALL_ACCESS)
  const remote = { address: memory.address, key: memory.remoteKey }
  peer.send(...[1, 2, 3].map((name) => readRequest(name, 1 << 20, remote)))
  await peer.until(() => peer.segments.some(({ op }) => op === Op.Control), 'it is told')
  const payload = Buffer.from(peer.segments.filter(({ op }) => op === Op.Control).at(-1)!.payload!)
  assert.deepEqual(
    [payload.readUInt32BE(0), payload.readUInt32BE(4), payload.readBigUInt64BE(8)],
    [ControlKind.Refuse, 2, REMOTE_INVALID_REQUEST],
  )
  await until(() => pair.state === QueuePairState.Error, 'the queue pair ends')
  victim.checkAlive()
})
