import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ControlMessage, decodeControl } from '../../../src/cluster/group/control-message.ts'

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

test('what agents say comes through', () => {
  const messages: readonly ControlMessage[] = [
    { op: 'leave', passed: 3 },
    { op: 'open', token: 1, name: 'a', parameters: null },
    { op: 'open', token: 1, name: 'a', parameters: '{}' },
    { op: 'lookUp', token: 2, name: 'a' },
    { op: 'opened', token: 2, answer: { kind: 'opened', id: 1, parameters: '{}', ended: [2] } },
    { op: 'opened', token: 2, answer: { kind: 'absent' } },
    { op: 'opened', token: 2, answer: { kind: 'gone', rank: 0 } },
    { op: 'close', token: 3, name: 'a' },
    { op: 'free', id: 4 },
    { op: 'ask', token: 5, question: { region: 1, page: 2 } },
    { op: 'answer', token: 5, answer: null },
    { op: 'tell', topic: 'structures', value: [1, null] },
  ]
  for (const message of messages) assert.deepEqual(decodeControl(bytesOf(message)), message)
})

test('what no agent says does not', () => {
  for (const wrong of [
    null,
    [],
    {},
    { op: 'leave' },
    { op: 'leave', passed: '3' },
    { op: 'open', token: -1, name: 'a', parameters: null },
    { op: 'open', token: 1, name: 7, parameters: null },
    { op: 'open', token: 1, name: 'a' },
    { op: 'opened', token: 1, answer: { kind: 'opened', id: 1 } },
    { op: 'opened', token: 1, answer: { kind: 'opened', id: 1, parameters: '{}', ended: [-1] } },
    { op: 'opened', token: 1, answer: { kind: 'other' } },
    { op: 'free', id: 1.5 },
    { op: 'tell', value: 1 },
    { op: 'sing', token: 1 },
  ])
    assert.equal(decodeControl(bytesOf(wrong)), undefined, JSON.stringify(wrong))
  fc.assert(fc.property(fc.uint8Array(), (bytes) => decodeControl(bytes) === undefined || bytes.length > 10))
})
