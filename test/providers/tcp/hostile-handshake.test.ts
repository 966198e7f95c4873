/** Strangers at the port of a device, before they have proved anything. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { CompletionStatus, type QueuePair, QueuePairState } from '../../../src/verbs/index.ts'
import { until } from '../../cluster/support.ts'
import { ControlKind, control, fetchAdd, Op, Queue, readRequest, type Segment } from '../../support/iwarp.ts'
import { IwarpPeer } from '../../support/iwarp-peer.ts'
import { callerAndCalled, VictimDevice } from './victim-device.ts'

/** What a caller may say in place of the request, and is hung up for. */
const requests: Readonly<Record<string, (right: Buffer) => Buffer>> = {
  garbage: (right) => Buffer.alloc(right.length, 0xa5),
  'a reply': (right) => changed(right, (bytes) => bytes.write('MPA ID Rep Frame', 'latin1')),
  'markers asked for': (right) => changed(right, (bytes) => (bytes[16]! |= 0x80)),
  'a rejection': (right) => changed(right, (bytes) => (bytes[16]! |= 0x20)),
  'no enhanced set-up': (right) => changed(right, (bytes) => (bytes[16]! &= ~0x10)),
  'another revision': (right) => changed(right, (bytes) => (bytes[17] = 1)),
  'a wrong length of the private data': (right) => changed(right, (bytes) => bytes.writeUInt16BE(512, 18)),
  'private data of another program': (right) => changed(right, (bytes) => bytes.writeUInt32BE(0, 24)),
  'a queue pair that is not there': (right) => changed(right, (bytes) => bytes.writeUInt32BE(0xff_ff_ff, 32)),
  'a peer of another number': (right) => changed(right, (bytes) => bytes.writeUInt32BE(9, 28)),
  'a peer of another address': (right) => changed(right, (bytes) => bytes.writeUInt8(bytes[55]! ^ 1, 55)),
}

function changed(right: Buffer, change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(right)
  change(bytes)
  return bytes
}

for (const [what, change] of Object.entries(requests)) {
  test(`a caller that says ${what} is hung up on, and the right one is heard after it`, async () => {
    using victim = new VictimDevice()
    const pair = victim.target()
    using stranger = await IwarpPeer.open(pair.endpoint)
    stranger.write(change(stranger.request()))
    await stranger.ended()
    victim.checkAlive()
    using right = await IwarpPeer.connect(pair.endpoint)
    right.send({ op: Op.Send, payload: Buffer.from('hello') })
    await until(() => victim.statuses().includes(CompletionStatus.Success), 'the message arrives')
  })
}

test('those that say nothing, or half of it, are hung up on after a while, and hinder nobody meanwhile', async () => {
  using victim = new VictimDevice()
  const pair = victim.target()
  const silent = await Promise.all(Array.from({ length: 200 }, () => IwarpPeer.open(pair.endpoint)))
  for (const [index, peer] of silent.entries())
    if (index % 2 === 0) peer.write(peer.request().subarray(0, 1 + (index % 75)))
  victim.checkAlive()
  using right = await IwarpPeer.connect(pair.endpoint)
  right.send({ op: Op.Send, payload: Buffer.from('hello') })
  await until(() => victim.statuses().includes(CompletionStatus.Success), 'the message arrives')
  await Promise.all(silent.map((peer) => peer.ended()))
  victim.checkAlive()
})

test('a caller that is early is answered when its queue pair is ready', async () => {
  using victim = new VictimDevice()
  const pair = victim.pair()
  pair.toInit()
  using early = await IwarpPeer.open(pair.endpoint)
  const greeting = early.greet()
  victim.checkAlive()
  pair.toReadyToReceive({ remote: { gid: victim.device.gid, queuePairNumber: 7, psn: 0 } })
  await greeting
})

/** What one that knows all numbers, but not the key, may send in place of its proof. */
function insteadOfProof(victim: VictimDevice): Readonly<Record<string, readonly Segment[]>> {
  const remote = { address: victim.memory.address, key: victim.memory.remoteKey }
  const payload = Buffer.alloc(33, 0x77)
  return {
    'a WRITE': [{ op: Op.Write, stag: remote.key, offset: remote.address, payload }],
    'a READ': [readRequest(1, 64, remote)],
    'an atomic': [fetchAdd(1, remote, 1n)],
    'a SEND': [{ op: Op.Send, payload }],
    'an immediate': [{ op: Op.Immediate, payload: Buffer.alloc(8) }],
    'another message of the control queue': [control(ControlKind.Taken, 0)],
    'a proof that is none': [control(ControlKind.Proof, 0, 1n)],
    'a proof that is too short': [{ ...control(ControlKind.Proof, 0), payload: Buffer.alloc(8) }],
    'a segment that is too short': [{ op: Op.Send, length: 3 }],
    'another version': [{ op: Op.Control, queue: Queue.Control, rdmapVersion: 2, payload: Buffer.alloc(16) }],
  }
}

async function reach(caller: QueuePair, called: QueuePair, victim: VictimDevice): Promise<void> {
  caller.connect(called.endpoint)
  const remote = { address: victim.memory.address + 1024, key: victim.memory.remoteKey }
  await caller.write({ local: victim.memory.subarray(0, 8), remote })
}

test('no key is honoured before the proof, and the right caller is served after the wrong one', async () => {
  using victim = new VictimDevice()
  for (const [what, segments] of Object.entries(insteadOfProof(victim))) {
    const [caller, called] = callerAndCalled(victim)
    called.connect(caller.endpoint)
    using stranger = await IwarpPeer.open(called.endpoint, { number: caller.number })
    stranger.write(stranger.request())
    stranger.send(...segments)
    await stranger.ended()
    assert.equal(victim.memory.bytes[0], 0, what)
    assert.equal(called.state, QueuePairState.ReadyToSend, what)
    await reach(caller, called, victim).catch((error: Error) => assert.fail(`after ${what}: ${error.message}`))
    for (const pair of [caller, called]) pair.close()
  }
  victim.checkAlive()
})

test('one that knows all numbers and proves nothing does not keep the right caller out', async () => {
  using victim = new VictimDevice()
  const [caller, called] = callerAndCalled(victim)
  called.connect(caller.endpoint)
  using stranger = await IwarpPeer.open(called.endpoint, { number: caller.number })
  stranger.write(stranger.request())
  await until(() => stranger.socket.bytesRead > 0, 'it is answered')
  caller.connect(called.endpoint, { timeout: 0 })
  const remote = { address: victim.memory.address + 1024, key: victim.memory.remoteKey }
  await caller.write({ local: victim.memory.subarray(0, 8), remote }, { signal: AbortSignal.timeout(20_000) })
  assert.equal(stranger.closed, true)
})
