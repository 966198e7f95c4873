/** The peer is killed, stopped or closes, while requests are under way. */
import { strict as assert } from 'node:assert'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CompletionStatus, type PreparedRequest, QueuePairState } from '../../../src/verbs/index.ts'
import { ControlKind, control, Op, type Segment } from '../../support/iwarp.ts'
import { IwarpPeer } from '../../support/iwarp-peer.ts'
import { failureOf, Survivor } from './survivor.ts'
import { VictimDevice } from './victim-device.ts'

const MEGABYTE = 1 << 20
const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 6)
const { RetryExceeded } = CompletionStatus

test(`a peer that is killed while WRITEs, READs and SENDs are under way is known at once (${KILLS} times)`, async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    using survivor = new Survivor(MEGABYTE)
    const [other, remote] = await survivor.meet(MEGABYTE, { timeout: 0, rnrRetry: 7 })
    const { pair, memory } = survivor
    await other.call('postReceives', 8)
    const local = memory.subarray()
    await pair.write({ local, remote })
    const kinds: readonly PreparedRequest[] = [
      pair.prepareWrite({ local, remote }),
      pair.prepareRead({ local, remote }),
      pair.prepareSend({ local: memory.subarray(0, 64) }),
      pair.prepareFetchAdd({ local: memory.subarray(0, 8), remote, add: 1n }),
    ]
    for (let id = 0; id < 48; id += 1) kinds[id % (kill % 2 === 0 ? 4 : 2)]!.post(id)
    await sleep(kill % 4)
    await other.kill()
    assert.equal(failureOf(await survivor.statuses(48)), RetryExceeded)
    assert.equal(pair.state, QueuePairState.Error)
    kinds[0]!.post(100)
    assert.deepEqual(await survivor.statuses(1), [CompletionStatus.WorkRequestFlushed])
  }
})

test('a peer that is stopped fails what waits for it; when it goes on, what it asks for fails, too', async () => {
  using survivor = new Survivor(4096)
  const [other, remote] = await survivor.meet(4096, { timeout: 20, retryCount: 0 })
  // The timeout is long, since the other has to answer this one, on a busy machine, too.
  await survivor.pair.write({ local: survivor.memory.subarray(0, 8), remote })
  await other.stop()
  // One that is asked again and again is no less silent.
  const write = survivor.pair.prepareWrite({ local: survivor.memory.subarray(0, 8), remote })
  const statuses: number[] = []
  let posted = 0
  while (statuses.length === 0) {
    assert.ok(posted < 60, 'it is given up though it is asked again')
    write.post(++posted)
    await sleep(200)
    statuses.push(...survivor.poll())
  }
  assert.equal(failureOf(statuses), RetryExceeded)
  other.child.kill('SIGCONT')
  assert.equal(await other.call('writeUntilFailure', survivor.memory.token), RetryExceeded)
})

test('a READ whose answer takes long is not given up while it comes', async () => {
  using victim = new VictimDevice()
  const pair = victim.target()
  using peer = await IwarpPeer.connect(pair.endpoint)
  pair.prepareRead({ local: victim.memory.subarray(0, 64), remote: { address: 0, key: 1 } }).post(1)
  await peer.until(() => peer.segments.some(({ op }) => op === Op.ReadRequest), 'the READ arrives')
  peer.send(control(ControlKind.Taken, 1))
  for (let piece = 0; piece < 8; piece += 1) {
    const part: Segment = { op: Op.ReadResponse, stag: 0, offset: 8 * piece, payload: Buffer.alloc(8, piece) }
    peer.send({ ...part, last: piece === 7 })
    await sleep(800)
  }
  assert.deepEqual(victim.statuses(), [CompletionStatus.Success])
})
