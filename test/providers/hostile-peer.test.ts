import { strict as assert } from 'node:assert'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { AetherError, native } from '../../src/native/index.ts'
import type { ShmCompletionQueue } from '../../src/providers/shm/completion-queue.ts'
import { decodeGid } from '../../src/providers/shm/gid.ts'
import {
  BlockWord,
  FIXED_BYTES,
  PAGE_BYTES,
  QUEUE_WORDS,
  QUEUES_OFFSET,
  QueueWord,
} from '../../src/providers/shm/layout.ts'
import {
  CompletionBatch,
  type CompletionQueue,
  type Device,
  openDevice,
  type QueuePair,
  QueuePairState,
  type RegionToken,
} from '../../src/verbs/index.ts'
import { ALL_ACCESS } from '../verbs/loopback.ts'

/** A generator that a failing run can be repeated with: the seed is in the name of the test. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** The segment of a device as another process would map it: everything in it can be overwritten. */
function mapSegment(device: Device): { readonly words: Int32Array; unmap(): void } {
  const { processId, descriptor } = decodeGid(device.gid)!
  const opened = openSync(`/proc/${processId}/fd/${descriptor}`, 'r+')
  const { lengthBytes } = native.describeMemory(opened)
  const buffer = native.mapMemory(opened, 0, lengthBytes, 0)
  closeSync(opened)
  return { words: new Int32Array(buffer), unmap: () => native.unmapMemory(buffer) }
}

interface Side {
  readonly device: Device
  readonly pair: QueuePair
  readonly token: RegionToken
  connect(other: Side): void
  /** Post one of everything and poll; how many completions came. */
  act(): number
}

const extremes = [0, 1, -1, 2, 0x7fffffff, -0x80000000, 0x7ff00000, 0x7ff80000, 0x43400000, 65_536]

function side(): Side {
  const device = openDevice('shm0')
  const domain = device.createProtectionDomain()
  const memory = domain.allocate(8192, ALL_ACCESS)
  const channel = device.createCompletionChannel()
  const queue = device.createCompletionQueue({ depth: 64, channel })
  const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue, maxReceiveSegments: 2 })
  const batch = new CompletionBatch(16)
  let remote = memory.token
  const local = memory.subarray(0, 64)
  const requests = (): readonly { post(id: number): void }[] => [
    pair.prepareReceive({ local: [memory.subarray(100, 120), memory.subarray(200, 300)] }),
    pair.prepareSend({ local }),
    pair.prepareWrite({ local, remote }),
    pair.prepareRead({ local, remote }),
    pair.prepareFetchAdd({ local: memory.subarray(0, 8), remote, add: 1n }),
    pair.prepareWrite({ local, remote, immediate: 1 }),
  ]
  return {
    device,
    pair,
    token: memory.token,
    connect(other) {
      pair.connect(other.pair.endpoint, { timeout: 1, retryCount: 0, rnrRetry: 1 })
      remote = other.token
    },
    act() {
      let completions = 0
      for (const request of requests()) {
        // A full queue is no failure here.
        attempt(() => request.post(1))
        queue.arm()
        completions += queue.poll(batch)
        channel.drain()
      }
      return completions
    },
  }
}

/** Anything but a crash, a hang or an untyped error will do. */
function attempt(action: () => void): void {
  try {
    action()
  } catch (error) {
    assert.ok(error instanceof AetherError, String(error))
  }
}

/**
 * A fresh pair of devices, traffic, and ever more nonsense while it goes on. How many completions the honest side saw
 * before it began.
 */
function disturb(random: (below: number) => number): number {
  const honest = side()
  const broken = side()
  honest.connect(broken)
  broken.connect(honest)
  const theirs = mapSegment(broken.device)
  const ours = mapSegment(honest.device)
  // A broken peer does not stop at what it should write: our own rings, too, are within its reach.
  const regions = [theirs.words, theirs.words.subarray(FIXED_BYTES / 4), ours.words.subarray(FIXED_BYTES / 4)]
  broken.act()
  const completions = honest.act() + honest.act()
  for (let write = 0; write < 400; write += 1) {
    const words = regions[random(regions.length)]!
    const dense = random(2) === 0 ? Math.min(words.length, 64) : words.length
    words[random(dense)] = random(2) === 0 ? extremes[random(extremes.length)]! : random(2 ** 32)
    if (write % 8 === 0) honest.act()
  }
  theirs.unmap()
  ours.unmap()
  // The first may be refused: the peer seems to be in the middle of an access. The second goes through.
  for (const each of [honest, broken, honest, broken]) attempt(() => each.device.close())
  assert.ok(honest.device.closed)
  return completions
}

for (const seed of [1, 2, 3]) {
  test(`a peer that writes nonsense into its segment and into the shared rings crashes nobody (seed ${seed})`, () => {
    const random = seeded(seed)
    for (let round = 0; round < 4; round += 1) assert.ok(disturb(random) > 0, 'there was traffic to disturb')
  })
}

test('a peer that stays in the middle of an access is waited for once, not once for each registration', () => {
  const honest = side()
  const stopped = side()
  honest.connect(stopped)
  stopped.connect(honest)
  stopped.act()
  honest.act()
  const ours = mapSegment(honest.device)
  const block = blockOf(ours.words, honest.pair.number, stopped.pair.number)
  ours.words[block + BlockWord.Inside]! |= 1
  const domain = honest.device.createProtectionDomain()
  const memories = [1, 2, 3].map(() => domain.allocate(4096, ALL_ACCESS))
  // A clock that goes on by 10 ms whenever somebody looks.
  let looks = 0
  performance.now = () => 10 * ++looks
  try {
    const waits = memories.map((memory) => {
      looks = 0
      assert.throws(() => memory.close(), { errnoName: 'EBUSY' })
      memory.close()
      return looks
    })
    assert.ok(waits[0]! > 50, `${waits}`)
    for (const wait of waits.slice(1)) assert.ok(wait < 10, `${waits}`)
  } finally {
    Reflect.deleteProperty(performance, 'now')
  }
  ours.words[block + BlockWord.Inside]! += 1
  ours.unmap()
  for (const { device } of [honest, stopped]) device.close()
})

/**
 * Takes one announcement of the queue's back, as of a sender that was killed between publishing a completion and
 * counting it.
 */
function uncount(words: Int32Array, queue: CompletionQueue): void {
  const { index } = queue.provider as ShmCompletionQueue
  Atomics.sub(words, QUEUES_OFFSET / 4 + index * QUEUE_WORDS + QueueWord.Arrivals, 1)
}

/** Polls that always find something, until `done`; how many. */
function pollBusily(queue: CompletionQueue, done: () => boolean, work: () => void): number {
  const batch = new CompletionBatch(1)
  for (let polls = 1; polls <= 4096; polls += 1) {
    work()
    assert.equal(queue.poll(batch), 1)
    if (done()) return polls
  }
  return assert.fail('what a peer has left was not noticed')
}

test('a fault that the count of announcements hides is noticed, also by who always finds something to poll', () => {
  const owner = openDevice('shm0')
  const sender = openDevice('shm0')
  const domain = owner.createProtectionDomain()
  const theirs = sender.createProtectionDomain()
  const memory = theirs.allocate(4096, ALL_ACCESS)
  const queue = owner.createCompletionQueue({ depth: 64 })
  const sharedReceiveQueue = domain.createSharedReceiveQueue({ maxRequests: 64 })
  const sent = sender.createCompletionQueue({ depth: 64 })
  const connected = [1, 2].map(() => {
    const receiver = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue, sharedReceiveQueue })
    const pair = theirs.createQueuePair({ type: 'rc', sendQueue: sent, receiveQueue: sent })
    receiver.connect(pair.endpoint)
    pair.connect(receiver.endpoint)
    return { receiver, pair }
  })
  const [good, bad] = connected as [(typeof connected)[0], (typeof connected)[0]]
  const receive = sharedReceiveQueue.prepareReceive({ local: [] })
  const send = good.pair.prepareSend({ local: [], signaled: true })
  const work = (): void => {
    receive.post(1)
    send.post(1)
    assert.equal(sent.poll(new CompletionBatch(1)), 1)
  }
  pollBusily(queue, () => true, work)
  const { words, unmap } = mapSegment(owner)
  receive.post(1)
  send.post(1)
  uncount(words, queue)
  // A key that reaches nothing: both ends of that connection fail, and the receiver's is told by a notice.
  bad.pair.prepareWrite({ local: memory.subarray(0, 8), remote: { address: 0, key: 1 } }).post(2)
  sent.poll(new CompletionBatch(8))
  pollBusily(queue, () => bad.receiver.state === QueuePairState.Error, work)
  assert.equal(good.receiver.state, QueuePairState.ReadyToSend)
  unmap()
  owner.close()
  sender.close()
})

test('a fault is noticed by who polls the ring of one queue pair and always finds something', () => {
  const device = openDevice('shm0')
  const domain = device.createProtectionDomain()
  const memory = domain.allocate(4096, ALL_ACCESS)
  const queue = device.createCompletionQueue({ depth: 64 })
  const elsewhere = device.createCompletionQueue({ depth: 64 })
  const busy = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: elsewhere })
  const target = domain.createQueuePair({ type: 'rc', sendQueue: elsewhere, receiveQueue: elsewhere })
  const receiver = domain.createQueuePair({ type: 'rc', sendQueue: elsewhere, receiveQueue: queue })
  const faulty = domain.createQueuePair({ type: 'rc', sendQueue: elsewhere, receiveQueue: elsewhere })
  for (const [one, other] of [
    [busy, target],
    [receiver, faulty],
  ] as const) {
    one.connect(other.endpoint)
    other.connect(one.endpoint)
  }
  const write = busy.prepareWrite({ local: memory.subarray(0, 8), remote: memory.token })
  faulty.prepareWrite({ local: memory.subarray(0, 8), remote: { address: 0, key: 1 } }).post(1)
  pollBusily(
    queue,
    () => receiver.state === QueuePairState.Error,
    () => write.post(1),
  )
  device.close()
})

/** Where the block of the queue pair `number` begins in its segment. */
function blockOf(words: Int32Array, number: number, peer: number): number {
  for (let at = FIXED_BYTES / 4; at < words.length; at += PAGE_BYTES / 4)
    if (words[at + BlockWord.Number] === number && words[at + BlockWord.DestinationNumber] === peer) return at
  return assert.fail('there is no such block')
}
