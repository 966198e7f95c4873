import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkLinearizable,
  type HistoryCall,
  type RegistersInput,
  registersModel,
} from '../../../tools/linearizability/index.ts'

type Call = HistoryCall<RegistersInput, readonly number[]>

const write = (values: Record<string, number>) => ({ type: 'write', values }) as const
const read = (...registers: string[]) => ({ type: 'read', registers }) as const
const change = (expected: Record<string, number>, values: Record<string, number>) =>
  ({ type: 'compareAndSet', expected, values }) as const

const call = (input: RegistersInput, calledAt: number, at?: number, ...output: number[]): Call => ({
  input,
  calledAt,
  returned: at === undefined ? undefined : { at, output },
})

const verdictOf = (...history: Call[]) => checkLinearizable(registersModel, history).verdict

test('registers that are changed together are never read as half of it', () => {
  const both = call(write({ a: 1, b: 1 }), 0, 10, 1)
  assert.equal(verdictOf(both, call(read('a', 'b'), 1, 9, 0, 0)), 'linearizable')
  assert.equal(verdictOf(both, call(read('b', 'a'), 1, 9, 1, 1)), 'linearizable')
  assert.equal(verdictOf(both, call(read('a', 'b'), 1, 9, 1, 0)), 'not linearizable')
  assert.equal(verdictOf(both, call(read('a'), 1, 3, 1), call(read('b'), 4, 9, 0)), 'not linearizable')
  assert.equal(verdictOf(both, call(write({ a: 0 }), 11, 12, 1), call(read('a', 'b'), 13, 14, 0, 1)), 'linearizable')
})

test('a change that depends on what is there is made if, and only if, it is there', () => {
  const first = call(write({ a: 1, b: 2 }), 0, 1, 1)
  assert.equal(verdictOf(first, call(change({ a: 1 }, { b: 3 }), 2, 3, 1), call(read('b'), 4, 5, 3)), 'linearizable')
  assert.equal(verdictOf(first, call(change({ a: 1 }, { b: 3 }), 2, 3, 0)), 'not linearizable')
  assert.equal(verdictOf(first, call(change({ a: 7 }, { b: 3 }), 2, 3, 1)), 'not linearizable')
  assert.equal(
    verdictOf(first, call(change({ a: 7 }, { b: 3 }), 2, 3, 0), call(read('b'), 4, 5, 3)),
    'not linearizable',
  )
})

test('a call without a return has taken effect, or has not; one that no one saw is still one that may refuse another', () => {
  const lost = call(write({ a: 1 }), 0)
  assert.equal(verdictOf(lost, call(read('a'), 1, 2, 0), call(read('a'), 3, 4, 1)), 'linearizable')
  assert.equal(verdictOf(lost, call(read('a'), 1, 2, 1), call(read('a'), 3, 4, 0)), 'not linearizable')
  assert.equal(verdictOf(lost, call(change({ a: 0 }, { b: 1 }), 1, 2, 0)), 'linearizable')
  assert.equal(verdictOf(call(change({ a: 0 }, { b: 1 }), 1, 2, 0)), 'not linearizable')
})

test('hundreds of writes of unknown outcome that no one has read take no time', () => {
  const lost = Array.from({ length: 300 }, (_, number) => call(write({ [`r${number % 7}`]: number + 1 }), number))
  const reads = Array.from({ length: 100 }, (_, number) => call(read('r0', 'r1'), 400 + number, 401 + number, 0, 0))
  assert.equal(verdictOf(...lost, ...reads), 'linearizable')
})
