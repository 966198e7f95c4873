import { strict as assert } from 'node:assert'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'
import { AetherError, native } from '../../src/native/index.ts'
import { decodeGid, type SegmentLocation } from '../../src/providers/shm/gid.ts'
import { FIXED_BYTES } from '../../src/providers/shm/layout.ts'
import {
  CompletionBatch,
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
  const { processId, descriptor } = decodeGid(device.gid) as SegmentLocation
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
    pair.prepareSend({ local }),
    pair.prepareWrite({ local, remote }),
    pair.prepareRead({ local, remote }),
    pair.prepareFetchAdd({ local: memory.subarray(0, 8), remote, add: 1n }),
    pair.prepareWrite({ local, remote, immediate: 1 }),
    pair.prepareReceive({ local: [memory.subarray(100, 120), memory.subarray(200, 300)] }),
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

function reconnect(first: Side, second: Side): void {
  for (const [own, other] of [
    [first, second],
    [second, first],
  ] as const) {
    attempt(() => {
      if (own.pair.state !== QueuePairState.Reset) own.pair.toReset()
      own.connect(other)
    })
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`a peer that writes nonsense into its segment and into the shared rings crashes nobody (seed ${seed})`, () => {
    const random = seeded(seed)
    const honest = side()
    const broken = side()
    const theirs = mapSegment(broken.device)
    const ours = mapSegment(honest.device)
    /** What the peer may reach of ours beyond its own block: a broken peer does not stop at what it should write. */
    const regions = [theirs.words, ours.words.subarray(FIXED_BYTES / 4)]
    let completions = 0
    for (let round = 0; round < 60; round += 1) {
      reconnect(honest, broken)
      completions += honest.act()
      for (let write = 0; write < 200; write += 1) {
        const words = regions[random(2)] as Int32Array
        const dense = random(2) === 0 ? Math.min(words.length, 64) : words.length
        words[random(dense)] = random(2) === 0 ? (extremes[random(extremes.length)] as number) : random(2 ** 32)
        if (write % 20 === 0) honest.act()
      }
      honest.act()
    }
    assert.ok(completions > 60, `there was traffic to disturb: ${completions} completions`)
    theirs.unmap()
    ours.unmap()
    attempt(() => honest.device.close())
    attempt(() => broken.device.close())
  })
}
