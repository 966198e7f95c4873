import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { type CallsRequest, exchangeCodec } from '../../../src/index-service/state/exchange-codec.ts'
import { LoneMachine } from '../support/differential.ts'
import { Picker } from '../support/program-parts.ts'
import { drawCommand } from '../support/programs.ts'
import { shown } from '../support/same-reply.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'))
const call = { name: 'SET', args: [bytes('key'), bytes('\0\xff')] }

const requests: readonly CallsRequest[] = [
  { shard: 0, calls: [call], watched: undefined, apart: false },
  { shard: 255, calls: [call, call], watched: undefined, apart: true },
  { shard: 3, calls: [], watched: [{ key: bytes('key'), version: 7 }], apart: false },
  { shard: 1, calls: [{ ...call, db: 3, origin: 9 }], watched: [{ key: bytes('k'), version: 0, db: 2 }], apart: true },
]

/** What comes out of a copy of the bytes, which are gone afterwards: what is decoded keeps none of them. */
function crossed(exchange: Parameters<typeof exchangeCodec.encode>[0]): ReturnType<typeof exchangeCodec.decode> {
  const encoded = Uint8Array.from(exchangeCodec.encode(exchange))
  const decoded = exchangeCodec.decode(encoded)
  encoded.fill(0)
  return decoded
}

test('a request is what it was after it has crossed', () => {
  for (const request of requests) {
    const { shard, calls, watched, apart } = crossed(request) as CallsRequest
    const own = (argument: Uint8Array): Uint8Array => Uint8Array.from(argument)
    const ownCalls = calls.map((each) => ({ ...each, args: each.args.map(own) }))
    const ownWatched = watched?.map((each) => ({ ...each, key: own(each.key) }))
    assert.deepEqual({ shard, calls: ownCalls, watched: ownWatched, apart }, request)
  }
})

test('what a random program answers is the same after it has crossed, short or long', () => {
  const lone = new LoneMachine()
  const pick = new Picker(12)
  const all: Reply[] = []
  for (let done = 0; done < 2_000; done += 1) {
    const reply = lone.run(...drawCommand(pick))
    all.push(reply)
    assert.equal(shown(crossed([reply]) as Reply, false), shown([reply], false))
  }
  assert.equal(shown(crossed(all) as Reply, false), shown(all, false))
  assert.equal(crossed(null), null)
  assert.deepEqual(crossed([]), [])
})

test('a value that is kept does not keep the memory of a long answer', () => {
  const many = Array.from({ length: 100 }, (_, at) => Buffer.alloc(1000, at))
  const values = crossed(many) as readonly Buffer[]
  assert.deepEqual(values, many)
  for (const { buffer } of values) assert.ok(buffer.byteLength <= 2 * Buffer.poolSize)
})

test('what is cut off at any byte, has more behind it, or is something else, is refused', () => {
  for (const exchange of [...requests, [bytes('value'), ['OK', 1, null]] as const, null]) {
    const encoded = Uint8Array.from(exchangeCodec.encode(exchange))
    for (let end = 0; end < encoded.length; end += 1)
      assert.throws(() => exchangeCodec.decode(encoded.subarray(0, end)), { code: 'ERR_AETHER_INDEX_COMMAND' })
    assert.throws(() => exchangeCodec.decode(Buffer.concat([encoded, Buffer.alloc(1)])), /more follows/)
    for (const kind of [0, 1, 127, 131, 255])
      assert.throws(() => exchangeCodec.decode(Uint8Array.from([kind, ...encoded.subarray(1)])), /is unknown/)
  }
  // A command of the log that no client may send.
  assert.throws(() => exchangeCodec.decode(Uint8Array.of(128, 0, 2)), /it has no calls/)
})
