import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CREDIT_BYTES, CreditWords } from '../../src/messaging/credit-words.ts'
import type { RingCarrier } from '../../src/messaging/ring-carrier.ts'
import { RingProtocol } from '../../src/messaging/ring-protocol.ts'
import { UNIT_BYTES } from '../../src/messaging/ring-record.ts'
import { Signal, signalImmediate } from '../../src/messaging/signal.ts'

const RING_BYTES = 1024
/** Of a message of 8 bytes, with its header. */
const RECORD_BYTES = 16

/** One end: its protocol, and what it has sent and the other end has not been told of. */
class End implements RingCarrier {
  readonly events = 0
  readonly ring: RingProtocol
  readonly immediates: number[] = []
  readonly #incoming = new Uint8Array(RING_BYTES)
  readonly #counts = new Uint32Array(CREDIT_BYTES / 4)
  peer!: End

  constructor(receives: number) {
    const credit = new CreditWords(new Uint8Array(this.#counts.buffer), 0)
    const rings = { outgoing: new Uint8Array(RING_BYTES), incoming: this.#incoming }
    this.ring = new RingProtocol({ ...rings, credit, peerReceives: receives, receives }, this)
  }

  transmit(offset: number, first: number, rest: number): boolean {
    const { bytes } = this.ring.outgoing
    this.peer.#incoming.set(bytes.subarray(offset, offset + first), offset)
    this.peer.#incoming.set(bytes.subarray(0, rest), 0)
    this.immediates.push((first + rest) / UNIT_BYTES)
    return true
  }

  transmitCredit(bytes: number, receives: number, wake: boolean): boolean {
    const counts = this.peer.#counts
    counts[0] = counts[0]! + bytes / UNIT_BYTES
    counts[1] = counts[1]! + receives
    if (wake) this.immediates.push(signalImmediate(Signal.Wake))
    return true
  }

  transmitSignal(signal: Signal, argument: number): boolean {
    this.immediates.push(signalImmediate(signal, argument))
    return true
  }

  drained(): boolean {
    return this.immediates.length === 0
  }

  collect(): void {
    for (const immediate of this.peer.immediates.splice(0)) this.ring.came(immediate)
  }

  wakeSoon(): void {
    assert.fail('the protocol wakes no link')
  }

  release(): void {
    assert.fail('the protocol does not end its link')
  }

  put(): void {
    assert.ok(this.ring.outgoing.reserve(8) >= 0)
    this.ring.outgoing.commit(8, 0, 0)
  }
}

function ends(receives = 8): [End, End] {
  const [left, right] = [new End(receives), new End(receives)]
  left.peer = right
  right.peer = left
  return [left, right]
}

test('a sender without receives gathers its messages, asks once, and is woken', () => {
  const [left, right] = ends(2)
  for (let index = 0; index < 2; index += 1) {
    left.put()
    assert.equal(left.ring.flush(RING_BYTES), RECORD_BYTES)
  }
  for (let index = 0; index < 3; index += 1) {
    left.put()
    assert.equal(left.ring.flush(RING_BYTES), -1)
  }
  assert.deepEqual(left.immediates, [2, 2, signalImmediate(Signal.Want, 1)])
  let came = 0
  right.ring.onMessage = () => {
    came += 1
  }
  right.collect()
  assert.equal(right.ring.deliver(), 2)
  assert.deepEqual(right.immediates, [signalImmediate(Signal.Wake)])
  left.collect()
  assert.equal(left.ring.flush(RING_BYTES), 3 * RECORD_BYTES)
  right.collect()
  assert.equal(right.ring.deliver(), 3)
  assert.equal(came, 5)
})

test('whole messages leave up to a number of bytes, each once', () => {
  const [left] = ends()
  for (let index = 0; index < 3; index += 1) left.put()
  assert.deepEqual(
    [RECORD_BYTES - 1, RECORD_BYTES, RING_BYTES, RING_BYTES].map((bytesMax) => left.ring.flush(bytesMax)),
    [0, RECORD_BYTES, 2 * RECORD_BYTES, 0],
  )
})

test('a reader that is paused returns receives, and no room', () => {
  const [left, right] = ends(1)
  left.put()
  left.ring.flush(RING_BYTES)
  right.collect()
  right.ring.onMessage = () => assert.fail('it was paused')
  right.ring.paused = true
  assert.equal(right.ring.deliver(), 0)
  left.ring.readCredit()
  assert.equal(left.ring.outgoing.outstanding, RECORD_BYTES)
  left.put()
  assert.equal(left.ring.flush(RING_BYTES), RECORD_BYTES)
})

test('once a handler has ended it, nothing more is delivered or returned', () => {
  const [left, right] = ends(1)
  left.put()
  left.put()
  left.ring.flush(RING_BYTES)
  right.collect()
  right.ring.onMessage = () => right.ring.end()
  assert.equal(right.ring.deliver(), 1)
  left.put()
  assert.equal(left.ring.flush(RING_BYTES), -1)
})

test('each end says `close` behind its messages, and is done when both have', () => {
  const [left, right] = ends()
  left.put()
  assert.equal(left.ring.closeStep(true, false), false)
  assert.deepEqual(left.immediates, [])
  left.ring.flush(RING_BYTES)
  assert.equal(left.ring.closeStep(true, false), false)
  assert.deepEqual(left.immediates, [2, signalImmediate(Signal.Close)])
  assert.equal(left.ring.hasSaidAll, false)
  right.collect()
  assert.equal(left.ring.hasSaidAll, true)
  assert.equal(right.ring.closeStep(false, false), false)
  left.collect()
  assert.equal(left.ring.closeStep(true, false), true)
  assert.equal(right.ring.closeStep(false, false), false, 'a message is still to be delivered')
  right.ring.onMessage = () => {}
  right.ring.deliver()
  assert.equal(right.ring.closeStep(false, false), true)
})

const violations: readonly { readonly what: string; readonly came: readonly number[]; readonly error: RegExp }[] = [
  { what: 'no bytes', came: [0], error: /zero bytes/ },
  { what: 'more bytes than the ring has', came: [RING_BYTES / UNIT_BYTES, 1], error: /more than the ring has room/ },
  {
    what: 'more WRITEs than there are receives',
    came: new Array(9).fill(2),
    error: /more receives than it was granted/,
  },
  { what: 'a wake that was not asked for', came: [signalImmediate(Signal.Wake)], error: /without being asked/ },
  { what: 'receives that were not asked for', came: [signalImmediate(Signal.Return)], error: /without being asked/ },
  { what: 'two wants', came: [signalImmediate(Signal.Want), signalImmediate(Signal.Want)], error: /twice at a time/ },
  {
    what: 'two recalls',
    came: [signalImmediate(Signal.Recall), signalImmediate(Signal.Recall)],
    error: /asked for receives twice/,
  },
  { what: 'a signal of another version', came: [0x86000000], error: /sent the immediate 2248146944/ },
]

for (const { what, came, error } of violations)
  test(`a peer that sends ${what} breaks the protocol`, () => {
    const [{ ring }] = ends()
    assert.throws(() => {
      for (const immediate of came) ring.came(immediate)
    }, error)
  })
