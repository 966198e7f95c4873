import assert from 'node:assert/strict'
import test from 'node:test'
import { Channel, type ChannelOwner } from '../../../src/messaging/peers/channel.ts'
import { FrameKind } from '../../../src/messaging/peers/frame.ts'
import { OutgoingStream } from '../../../src/messaging/peers/streams.ts'
import { memoryLinks } from '../../support/memory-links.ts'

test('of a stream that is given up while a piece of it leaves, no other piece does', async () => {
  const [link, other] = memoryLinks({ ringBytes: 1 << 20 })
  const owner: ChannelOwner = { cameFrame: () => {}, channelEnded: () => {}, doneOf: () => 0 }
  const channel = new Channel(link, owner)
  let pieces = 0
  const commit = link.commit.bind(link)
  const length = 100_000
  // Two ranges, the first of which ends with the first piece: who queued it is told, and gives up.
  const stream = new OutgoingStream(FrameKind.Data, 1, 1, 1, length, length, () => channel.drop(stream))
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
