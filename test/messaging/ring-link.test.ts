import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkError, type MessageLink } from '../../src/messaging/index.ts'
import { Random } from '../../src/runtime/index.ts'
import { memoryLinks } from '../support/memory-links.ts'

/** Send a message of `length` bytes, all of them `fill`. */
async function send(link: MessageLink, length: number, fill: number): Promise<void> {
  let at = link.reserve(length)
  while (at < 0) {
    await link.writable(length)
    at = link.reserve(length)
  }
  link.outgoing.fill(fill & 255, at, at + length)
  link.commit(length, fill)
}

function ended(link: MessageLink): Promise<Error | undefined> {
  return new Promise((resolve) => {
    link.onEnd = resolve
  })
}

for (const seed of [1, 2, 3]) {
  test(`random lengths around a small ring both ways, with delays of seed ${seed}: nothing lost, reordered or torn`, async () => {
    const links = memoryLinks({ ringBytes: 1024, receives: 5, seed, delayTurnsMax: 4 })
    const count = 1500
    const received = [0, 0]
    const wrong: string[] = []
    links.forEach((link, side) => {
      link.onMessage = (bytes, offset, length, immediate) => {
        if (immediate !== received[side]) wrong.push(`message ${immediate} where ${received[side]} was due`)
        for (let at = offset; at < offset + length; at += 1)
          if (bytes[at] !== (immediate & 255)) wrong.push(`byte ${at - offset} of message ${immediate} is ${bytes[at]}`)
        received[side] = received[side]! + 1
      }
    })
    const run = async (link: MessageLink, random: Random): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        await send(link, random.below(link.messageBytesMax + 1), index)
        if (random.below(4) === 0) link.flush()
        if (random.below(50) === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all(links.map((link, side) => run(link, new Random(seed * 10 + side))))
    const [left, right] = links
    const over = ended(right)
    await left.close()
    assert.equal(await over, undefined)
    assert.deepEqual(wrong, [])
    assert.equal(received[1], count)
  })
}

test('a reader that pauses holds the sender back, and loses nothing', async () => {
  const [left, right] = memoryLinks({ ringBytes: 4096 })
  let received = 0
  right.onMessage = () => {
    received += 1
  }
  right.pause()
  let sent = 0
  while (left.reserve(100) >= 0) {
    left.commit(100)
    sent += 1
  }
  assert.ok(sent >= 30 && sent <= 4096 / 112)
  let roomy = false
  const room = left.writable(100).then(() => {
    roomy = true
  })
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(roomy, false)
  assert.equal(received, 0)
  right.resume()
  await room
  assert.ok(received > 0)
  await left.close()
  assert.equal(received, sent)
})

test('the first messages of a long turn leave before its end, so that the peer works meanwhile', async () => {
  const [left, right] = memoryLinks({ delayTurnsMax: 0 })
  let received = 0
  right.onMessage = () => {
    received += 1
  }
  const atEnd = 40
  for (let index = 0; index < atEnd; index += 1) {
    assert.ok(left.reserve(8) >= 0)
    left.commit(8)
  }
  while (right.poll() > 0);
  assert.ok(received > 0 && received < atEnd, `${received} of ${atEnd} came within the turn`)
  await left.close()
  assert.equal(received, atEnd)
})

test('messages wait until somebody is there to take them', async () => {
  const [left, right] = memoryLinks()
  await send(left, 8, 1)
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  const first = new Promise<number>((resolve) => {
    right.onMessage = (_bytes, _offset, _length, immediate) => resolve(immediate)
  })
  assert.equal(await first, 1)
  await left.close()
})

test('a kind and an immediate travel with a message; lengths of 0 and of the longest arrive', async () => {
  const [left, right] = memoryLinks()
  const seen: number[][] = []
  right.onMessage = (_bytes, _offset, length, immediate, kind) => seen.push([length, immediate, kind])
  assert.ok(left.reserve(0) >= 0)
  left.commit(0, 0xffffffff, 14)
  await left.writable(left.messageBytesMax)
  assert.ok(left.reserve(left.messageBytesMax) >= 0)
  left.commit(left.messageBytesMax)
  await left.close()
  assert.deepEqual(seen, [
    [0, 0xffffffff, 14],
    [left.messageBytesMax, 0, 0],
  ])
})

test('a cut wire ends both, and the error says that messages may not have arrived', async () => {
  const [left, right] = memoryLinks()
  right.onMessage = () => {}
  const ends = [ended(left), ended(right)]
  await send(left, 8, 1)
  const waiting = assert.rejects(
    left.writable(left.messageBytesMax).then(() => left.read({ buffer: left.allocate(8) }, { address: 0, key: 1 })),
    LinkError,
  )
  left.cut()
  for (const end of ends) {
    const error = await end
    assert.ok(error instanceof LinkError)
    assert.equal(error.reason, 'lost')
  }
  assert.equal(((await ends[0]) as LinkError).outcome, 'unknown')
  assert.equal(((await ends[1]) as LinkError).outcome, 'none')
  assert.throws(() => left.reserve(8), LinkError)
  await waiting
})

test('what a handler throws ends the link, and the other end learns of it', async () => {
  const [left, right] = memoryLinks()
  right.onMessage = () => {
    throw new Error('no')
  }
  const ends = [ended(left), ended(right)]
  await send(left, 8, 1)
  assert.equal(((await ends[1]) as LinkError).reason, 'handler')
  assert.equal(((await ends[0]) as LinkError).reason, 'lost')
})

test('one end writes into memory that the other gave it, and reads it back', async () => {
  const [left, right] = memoryLinks()
  const there = right.allocate(64)
  const here = left.allocate(16)
  here.bytes.fill(7)
  await left.write({ buffer: here }, { address: there.address + 8, key: there.key })
  assert.deepEqual([...there.bytes.subarray(7, 25)], [0, ...new Array(16).fill(7), 0])
  await left.read({ buffer: here, offset: 8, length: 8 }, there)
  assert.deepEqual([...here.bytes], [...new Array(8).fill(7), ...new Array(8).fill(0)])
  await left.close()
})

test('a waiting sender gives up with its signal', async () => {
  const [left, right] = memoryLinks({ ringBytes: 1024 })
  right.pause()
  while (left.reserve(100) >= 0) left.commit(100)
  const controller = new AbortController()
  const room = left.writable(100, controller.signal)
  controller.abort(new Error('enough'))
  await assert.rejects(room, /enough/)
  left.destroy()
})
