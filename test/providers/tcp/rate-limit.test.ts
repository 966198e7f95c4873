/** The limit of a queue pair is the kernel's pacing of its socket, which is asked for what it has. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { IwarpPeer } from '../../support/iwarp-peer.ts'
import { ALL_ACCESS } from '../../verbs/loopback.ts'
import { callerAndCalled, VictimDevice } from './victim-device.ts'

const LIMIT = 123_456_789
const SLOW = 50_000
/** Seven seconds. */
const LENGTH = 350_000

test('the socket of a connection has the limit, also if it was set before the peer came', async () => {
  using victim = new VictimDevice()
  const [caller, called] = callerAndCalled(victim)
  // The higher number is called, so it has no socket yet.
  called.connect(caller.endpoint)
  called.setRateLimit(LIMIT)
  caller.connect(called.endpoint)
  const remote = { address: victim.memory.address, key: victim.memory.remoteKey }
  await called.write({ local: victim.memory.subarray(0, 8), remote })
  assert.equal(called.rateLimit, LIMIT)
  assert.equal(caller.rateLimit, Number.POSITIVE_INFINITY)
  caller.setRateLimit(2 * LIMIT)
  assert.equal(caller.rateLimit, 2 * LIMIT)
})

test('a megabyte under a limit is on its way for as long as it takes, and the rest goes at once without one', async () => {
  using victim = new VictimDevice()
  const pair = victim.target()
  using peer = await IwarpPeer.connect(pair.endpoint)
  const memory = victim.domain.allocate(1 << 20, 1)
  // Twenty seconds.
  pair.setRateLimit(SLOW)
  const write = { local: memory.subarray(0, 1 << 20), remote: { address: 4096, key: 1 } }
  pair.prepareWrite(write).post(1)
  await sleep(300)
  const before = peer.socket.bytesRead
  assert.ok(before < 1 << 19, `${before} bytes`)
  pair.setRateLimit(Number.POSITIVE_INFINITY)
  await peer.until(() => peer.socket.bytesRead > 1 << 20, 'all of it arrives')
})

test('what is slow for its limit is not given up, though it takes longer than a silent peer is waited for', async () => {
  using victim = new VictimDevice()
  const [caller, called] = callerAndCalled(victim)
  for (const [one, other] of [
    [caller, called],
    [called, caller],
  ] as const)
    one.connect(other.endpoint, { timeout: 14, retryCount: 0 })
  const memory = victim.domain.allocate(2 * LENGTH, ALL_ACCESS)
  const remote = { address: memory.address + LENGTH, key: memory.remoteKey }
  // The kernel does not pace the first ten packets of a connection.
  for (let packet = 0; packet < 10; packet += 1) await caller.write({ local: memory.subarray(0, 8), remote })
  caller.setRateLimit(SLOW)
  await caller.write({ local: memory.subarray(0, LENGTH), remote })
})

test('a queue pair of datagrams shares its socket with others, and has no limit of its own', () => {
  using victim = new VictimDevice()
  const pair = victim.domain.createQueuePair({ type: 'ud', sendQueue: victim.queue, receiveQueue: victim.queue })
  pair.toInit()
  pair.toReadyToReceive()
  pair.toReadyToSend()
  assert.throws(() => pair.setRateLimit(LIMIT), { name: 'UnsupportedError' })
  assert.equal(pair.rateLimit, Number.POSITIVE_INFINITY)
})
