import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { structured } from '../../../src/codecs/index.ts'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { answerCodec } from '../../../src/index-service/state/answer-codec.ts'
import type { ShardAnswer } from '../../../src/index-service/state/shard-command.ts'
import { Random } from '../../../src/runtime/index.ts'
import { LoneMachine } from '../support/differential.ts'
import { Picker } from '../support/program-parts.ts'
import { drawCommand } from '../support/programs.ts'
import { shown } from '../support/same-reply.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const replies: readonly Reply[] = [
  null,
  0,
  -1,
  2 ** 53 - 1,
  -(2n ** 63n),
  2n ** 63n - 1n,
  'OK',
  '',
  bytes(''),
  bytes('\0\xff'),
  { double: 1.5 },
  { double: -Infinity },
  { fault: 'ERR', message: 'no such key' },
  { pairs: [bytes('a'), { double: 1 }] },
  { byKey: [bytes('a'), [[bytes('1-1'), null]]] },
  [[], [1, [null]]],
  new Map<Reply, Reply>([[bytes('f'), bytes('v')]]),
  new Set<Reply>([bytes('a'), bytes('b')]),
]

const answers: readonly ShardAnswer[] = [
  replies,
  [],
  null,
  { waiting: true },
  { expired: 3, nextMs: Infinity },
  { served: [bytes('list'), bytes('x')] },
  { cancelled: true },
  { cancelled: false },
  { forgotten: 2 },
]

/** An answer as a text. */
function text(answer: ShardAnswer): string {
  if (answer === null || Array.isArray(answer)) return shown(answer as Reply, false)
  if ('served' in answer) return `served ${shown(answer.served, false)}`
  return JSON.stringify(answer, (_, value) => (value === Infinity ? 'Infinity' : value))
}

test('each answer is what it was after it was encoded and decoded, by this codec and by v8', () => {
  for (const answer of answers) {
    const encoded = Uint8Array.from(answerCodec.encode(answer))
    const decoded = answerCodec.decode(encoded)
    encoded.fill(0)
    assert.equal(text(decoded), text(answer))
    assert.equal(text(structured.decode(Uint8Array.from(structured.encode(answer))) as ShardAnswer), text(answer))
  }
})

test('what a random program answers is the same after it was encoded and decoded', () => {
  const lone = new LoneMachine()
  const pick = new Picker(11)
  for (let done = 0; done < 3_000; done += 1) {
    const reply = lone.run(...drawCommand(pick))
    assert.equal(text(answerCodec.decode(answerCodec.encode([reply]))), text([reply]))
  }
})

test('an answer that is cut off at any byte, or has more behind it, is refused', () => {
  for (const answer of answers) {
    const encoded = Uint8Array.from(answerCodec.encode(answer))
    for (let end = 0; end < encoded.length; end += 1)
      assert.throws(() => answerCodec.decode(encoded.subarray(0, end)), { code: 'ERR_AETHER_INDEX_COMMAND' })
    assert.throws(() => answerCodec.decode(Buffer.concat([encoded, Buffer.alloc(1)])), /more follows/)
  }
})

test('damaged bytes are an answer or are refused', () => {
  const random = new Random(7)
  let refused = 0
  for (let round = 0; round < 3_000; round += 1) {
    const encoded = Uint8Array.from(answerCodec.encode(answers[round % answers.length]!))
    encoded[random.below(encoded.length)] = random.below(256)
    try {
      answerCodec.decode(encoded)
    } catch (error) {
      assert.ok(error instanceof RangeError || (error as { code: unknown }).code === 'ERR_AETHER_INDEX_COMMAND')
      refused += 1
    }
  }
  assert.ok(refused > 300, `${refused} were refused`)
})
