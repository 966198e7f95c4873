import assert from 'node:assert/strict'
import test from 'node:test'
import { FrameKind } from '../../src/rpc/frame.ts'
import type { FrameTaker } from '../../src/rpc/frame-taker.ts'
import type { OutgoingFrame } from '../../src/rpc/outgoing-frame.ts'
import { Session } from '../../src/rpc/session.ts'
import { memoryLinks } from '../support/memory-links.ts'
import { until } from './support.ts'

const BODY_BYTES = 200
const limits = { bodyBytesMax: 1 << 20, assemblyBytesMax: 4 << 20 }

/**
 * Two sessions over a small ring; `came` are the calls of the frames that the right one got, with the lengths of their
 * bodies.
 */
function sessions() {
  const [mine, theirs] = memoryLinks({ ringBytes: 1024 })
  const came: [number, number][] = []
  const taker: FrameTaker = {
    frame: ({ call, length }) => void came.push([call, length]),
    wants: () => undefined,
    tooLong: () => undefined,
    dropped: () => undefined,
    ended: () => undefined,
  }
  const left = new Session(mine, taker, limits)
  const right = new Session(theirs, taker, limits)
  left.start()
  right.start()
  const send = (call: number, bytes = BODY_BYTES): OutgoingFrame | undefined => {
    const frame = left.frame(FrameKind.Request, call)
    frame.setBody(new Uint8Array(bytes), false)
    return left.send(frame)
  }
  return { left, right, theirs, came, send, close: () => Promise.all([left.close(), right.close()]) }
}

test('a frame that nobody wants any more leaves the queue, and its body at once', async () => {
  const { left, theirs, came, send, close } = sessions()
  theirs.pause()
  let call = 0
  while (left.waiting === 0) send(++call)
  const first = call
  const kept: number[] = [call]
  for (let round = 0; round < 1000; round += 1) {
    const frame = send(++call)!
    if (round % 100 === 0) {
      kept.push(call)
      continue
    }
    left.unwanted(call, frame)
    assert.equal(frame.body.length, 0)
  }
  assert.equal(left.waiting, kept.length)
  theirs.resume()
  await left.emptied()
  await until(() => came.length === first - 1 + kept.length)
  assert.deepEqual(
    came.slice(first - 1),
    kept.map((each) => [each, BODY_BYTES]),
  )
  await close()
})

test('where the last that waits is given up nothing waits, and what comes next is sent', async () => {
  const { left, theirs, came, send, close } = sessions()
  theirs.pause()
  let call = 0
  let frame: OutgoingFrame | undefined
  while (frame === undefined) frame = send(++call)
  const emptied = left.emptied()
  left.unwanted(call, frame)
  await emptied
  assert.equal(left.waiting, 0)
  const next = send(++call)
  assert.equal(left.waiting, next === undefined ? 0 : 1)
  theirs.resume()
  await until(() => came.some(([each]) => each === call))
  assert.ok(!came.some(([each]) => each === call - 1))
  await close()
})

test('what has left lets go of its body, though others wait on and on', async () => {
  const { left, came, send, close } = sessions()
  const frames: OutgoingFrame[] = []
  let call = 0
  let isOver = false
  // The queue is never empty: one more is put for each that has come.
  const more = (async () => {
    while (!isOver) {
      while (left.waiting < 8) {
        const frame = send(++call)
        if (frame !== undefined) frames.push(frame)
      }
      await new Promise(setImmediate)
    }
  })()
  await until(() => came.length >= 200)
  isOver = true
  await more
  const holding = frames.filter(({ body }) => body.length > 0)
  assert.equal(holding.length, left.waiting)
  await left.emptied()
  await until(() => came.length === call)
  assert.deepEqual(
    came.map(([each]) => each),
    Array.from({ length: call }, (_, index) => index + 1),
  )
  await close()
})

test('a body of which a part has left goes on, also where nobody wants it', async () => {
  const { left, theirs, came, send, close } = sessions()
  theirs.pause()
  const long = send(1, 4000)!
  assert.equal(long.started, true)
  left.unwanted(1, long)
  send(2)
  theirs.resume()
  await until(() => came.length === 2)
  assert.deepEqual(came, [
    [1, 4000],
    [2, BODY_BYTES],
  ])
  assert.equal(long.body.length, 0)
  await close()
})
