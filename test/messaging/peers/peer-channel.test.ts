import assert from 'node:assert/strict'
import test from 'node:test'
import { FRAME_BYTES, FrameKind, FrameView } from '../../../src/messaging/peers/frame.ts'
import { type ChannelOwner, PeerChannel } from '../../../src/messaging/peers/peer-channel.ts'
import { OutgoingStream } from '../../../src/messaging/peers/streams.ts'
import { until } from '../../cluster/support.ts'
import { memoryLinks } from '../../support/memory-links.ts'

test('of a stream that is given up while a piece of it leaves, no other piece does', async () => {
  const [link, other] = memoryLinks({ ringBytes: 1 << 20 })
  const owner: ChannelOwner = { cameFrame: () => {}, channelEnded: () => {}, doneOf: () => 0 }
  const channel = new PeerChannel(link, owner)
  let pieces = 0
  const commit = link.commit.bind(link)
  const length = 100_000
  // Two ranges, the first of which ends with the first piece: who queued it is told, and gives up.
  const stream: OutgoingStream = new OutgoingStream({
    kind: FrameKind.Data,
    sequence: 1,
    signature: 1,
    group: 1,
    total: length,
    limit: length,
    sent: () => channel.drop(stream),
  })
  link.commit = (...args) => {
    pieces += 1
    commit(...args)
  }
  stream.queue(new Uint8Array(100))
  stream.queue(new Uint8Array(length - 100))
  channel.push(stream)
  await new Promise(setImmediate)
  assert.equal(pieces, 1)
  assert.equal(stream.ready, 0)
  link.destroy()
  other.destroy()
})

test('of how far a group is, asked for again and again by a peer that reads nothing, one answer waits: the last', async () => {
  const [link, other] = memoryLinks({ ringBytes: 4096 })
  let done = 0
  const owner: ChannelOwner = { cameFrame: () => {}, channelEnded: () => {}, doneOf: () => done }
  const channel = new PeerChannel(link, owner)
  const say = (group: number): void => {
    done += 1
    channel.control(FrameKind.Progress, 0, 0, group, 0)
  }
  while (link.reserve(FRAME_BYTES) >= 0) say(1)
  const left = done
  for (let times = 0; times < 1000; times += 1) say(times % 2)
  const came: number[] = []
  other.onMessage = (_bytes, _at, _length, immediate) => {
    came.push(immediate)
  }
  await until(() => came.length >= left + 2, 'all that waits comes')
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  assert.deepEqual(came.slice(left), [left + 999, left + 1000])
  link.destroy()
  other.destroy()
})

test('of what a group announces to a peer that reads nothing, the last waits', async () => {
  const [link, other] = memoryLinks({ ringBytes: 4096 })
  const owner: ChannelOwner = { cameFrame: () => {}, channelEnded: () => {}, doneOf: () => 0 }
  const channel = new PeerChannel(link, owner)
  const announce = (sequence: number, group: number): void =>
    channel.control(FrameKind.Announce, sequence, sequence, group, 8 * sequence)
  let left = 0
  for (; link.reserve(FRAME_BYTES) >= 0; left += 1) announce(1, 1)
  for (let sequence = 0; sequence < 1000; sequence += 1) {
    announce(sequence, sequence % 2)
    // Of another kind, which takes nobody's place.
    if (sequence === 500) channel.control(FrameKind.Grant, 7, 7, 1, 7)
  }
  const came: (readonly number[])[] = []
  other.onMessage = (bytes, at, _length, immediate, kind) => {
    const { group, sequence, signature, amount } = new FrameView(bytes).read(at, kind, immediate)
    came.push([kind, group, sequence, signature, amount])
  }
  await until(() => came.length >= left + 3, 'all that waits comes')
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  assert.deepEqual(came.slice(left), [
    [FrameKind.Announce, 0, 998, 998, 8 * 998],
    [FrameKind.Announce, 1, 999, 999, 8 * 999],
    [FrameKind.Grant, 1, 7, 7, 7],
  ])
  link.destroy()
  other.destroy()
})
