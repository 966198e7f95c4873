import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeFrame, FrameReader, FrameTooLongError } from '../../../src/cluster/hosts/frames.ts'
import { CallerHandshake, type HandshakeStep, ListenerHandshake } from '../../../src/cluster/hosts/handshake.ts'
import { Seal } from '../../../src/cluster/hosts/seal.ts'

const secret = Buffer.from('a secret of more than thirty-two bytes')
const other = Buffer.from('another one of more than thirty-two bytes')

function replyOf(step: HandshakeStep): Buffer {
  assert.ok(step.reply !== undefined, step.kind)
  return step.reply
}

/** Both ends, up to the listener's answer. */
function meet(ofCaller: Buffer, ofListener: Buffer) {
  const caller = new CallerHandshake(ofCaller)
  const listener = new ListenerHandshake(ofListener)
  const called = replyOf(caller.step(listener.opening))
  const answered = listener.step(called)
  return { caller, listener, called, answered, judged: caller.step(replyOf(answered)) }
}

test('ends with one secret let each other in and have the same two keys', () => {
  const { answered, judged } = meet(secret, secret)
  assert.ok(answered.kind === 'done' && judged.kind === 'done')
  assert.deepEqual(answered.keys, judged.keys)
  assert.notDeepEqual(answered.keys.fromCaller, answered.keys.fromListener)
  const again = meet(secret, secret).judged
  assert.ok(again.kind === 'done')
  assert.notDeepEqual(again.keys, judged.keys)
})

test('a caller with another secret is refused, and told no more than that', () => {
  const { answered, judged } = meet(other, secret)
  assert.ok(answered.kind === 'failed' && judged.kind === 'failed')
  assert.deepEqual([answered.failure, judged.failure], ['secret', 'refused'])
  assert.equal(answered.reply?.length, 2)
})

test('a listener that does not know the secret is found out, also where it claims that all is well', () => {
  const caller = new CallerHandshake(secret)
  const { opening } = new ListenerHandshake(other)
  caller.step(opening)
  const step = caller.step(Buffer.concat([Buffer.of(1), randomBytes(32)]))
  assert.ok(step.kind === 'failed' && step.failure === 'secret')
})

test('what a caller once said opens no other connection', () => {
  const { called } = meet(secret, secret)
  const step = new ListenerHandshake(secret).step(called)
  assert.ok(step.kind === 'failed' && step.failure === 'secret')
})

test('what a listener once answered convinces no other caller', () => {
  const { answered } = meet(secret, secret)
  const caller = new CallerHandshake(secret)
  caller.step(new ListenerHandshake(other).opening)
  const step = caller.step(replyOf(answered))
  assert.ok(step.kind === 'failed' && step.failure === 'secret')
})

test('a proof that is sent back to who made it proves nothing', () => {
  // One without the secret calls a listener with the nonce that the listener gave, and hands a caller's proof back to
  // the caller.
  const caller = new CallerHandshake(secret)
  const called = replyOf(caller.step(new ListenerHandshake(other).opening))
  const back = caller.step(Buffer.concat([Buffer.of(1), called.subarray(-32)]))
  assert.ok(back.kind === 'failed' && back.failure === 'secret')
  const listener = new ListenerHandshake(secret)
  const echoed = listener.step(Buffer.concat([listener.opening, randomBytes(32)]))
  assert.ok(echoed.kind === 'failed')
})

test('garbage is no handshake', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const listened = new ListenerHandshake(secret).step(Buffer.from(bytes))
      const called = new CallerHandshake(secret).step(Buffer.from(bytes))
      return listened.kind === 'failed' && called.kind === 'failed'
    }),
  )
})

test('sealed messages open in their order, and nothing else opens', () => {
  const key = randomBytes(32)
  const [closing, opening] = [new Seal(key), new Seal(key)]
  const frames = ['one', 'two', 'two'].map((text) => closing.close(Buffer.from(text)))
  assert.equal(opening.open(frames[0]!)?.toString(), 'one')
  assert.equal(opening.open(frames[2]!), undefined, 'one left out')
  for (let byte = 0; byte < frames[1]!.length; byte += 1) {
    const changed = Buffer.from(frames[1]!)
    changed[byte]! ^= 1
    const fresh = new Seal(key)
    fresh.open(frames[0]!)
    assert.equal(fresh.open(changed), undefined, `byte ${byte}`)
  }
  const repeated = new Seal(key)
  repeated.open(frames[0]!)
  assert.equal(repeated.open(frames[0]!), undefined, 'repeated')
  assert.equal(new Seal(randomBytes(32)).open(frames[0]!), undefined, 'another key')
  assert.equal(opening.open(Buffer.alloc(3)), undefined)
})

test('frames come out whole, however the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), fc.integer({ min: 1, max: 50 }), (messages, cut) => {
      const reader = new FrameReader(300)
      const stream = Buffer.concat(messages.map((message) => encodeFrame(Buffer.from(message))))
      const out: number[][] = []
      for (let at = 0; at < stream.length; at += cut) {
        reader.push(stream.subarray(at, at + cut))
        for (let frame = reader.next(); frame !== undefined; frame = reader.next()) out.push([...frame])
      }
      assert.deepEqual(
        out,
        messages.map((message) => [...message]),
      )
    }),
  )
})

test('a frame that is too long is refused by its head', () => {
  const reader = new FrameReader(10)
  reader.push(encodeFrame(Buffer.alloc(11)).subarray(0, 4))
  assert.throws(() => reader.next(), FrameTooLongError)
})
