import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkLinearizable,
  type EntryInput,
  entryModel,
  type HistoryCall,
  type ListInput,
  type LogInput,
  logModel,
  queueModel,
  stackModel,
} from '../../../tools/linearizability/index.ts'

function call<I>(input: I, calledAt: number, at?: number, output: number = 1): HistoryCall<I, number> {
  return { input, calledAt, returned: at === undefined ? undefined : { at, output } }
}

const set = (value: number): EntryInput => ({ type: 'set', value })
const get: EntryInput = { type: 'get' }
const push = (value: number): ListInput => ({ type: 'push', value })
const pop: ListInput = { type: 'pop' }
const append = (value: number): LogInput => ({ type: 'append', value })
const at = (index: number): LogInput => ({ type: 'at', index })
const last: LogInput = { type: 'last' }

test('histories that could have happened one after the other are found to be so', () => {
  const overlapping = [call(set(1), 0, 10), call(get, 1, 9, 0), call(get, 2, 8, 1)]
  const { verdict, order } = checkLinearizable(entryModel, overlapping)
  assert.deepEqual({ verdict, order }, { verdict: 'linearizable', order: [1, 0, 2] })
  const queue = [call(push(1), 0, 5), call(push(2), 0, 5), call(pop, 6, 7, 2), call(pop, 8, 9, 1), call(pop, 8, 9, 0)]
  assert.equal(checkLinearizable(queueModel, queue).verdict, 'linearizable')
  const stack = [call(push(1), 0, 1), call(push(2), 2, 3), call(pop, 4, 5, 2), call(pop, 4, 5, 1)]
  assert.equal(checkLinearizable(stackModel, stack).verdict, 'linearizable')
  assert.equal(checkLinearizable(queueModel, []).verdict, 'linearizable')
})

test('histories that could not are found not to be', () => {
  const backInTime = [call(set(1), 0, 1), call(set(2), 2, 3), call(get, 4, 5, 1)]
  const { verdict, order } = checkLinearizable(entryModel, backInTime)
  assert.deepEqual({ verdict, order }, { verdict: 'not linearizable', order: [0, 1] })
  const seenThenNot = [call(set(1), 0, 10), call(get, 1, 2, 1), call(get, 3, 4, 0)]
  assert.equal(checkLinearizable(entryModel, seenThenNot).verdict, 'not linearizable')
  const twice = [call(push(1), 0, 1), call(pop, 2, 5, 1), call(pop, 2, 5, 1)]
  assert.equal(checkLinearizable(queueModel, twice).verdict, 'not linearizable')
  const outOfOrder = [call(push(1), 0, 1), call(push(2), 2, 3), call(pop, 4, 5, 2)]
  assert.equal(checkLinearizable(queueModel, outOfOrder).verdict, 'not linearizable')
  assert.equal(checkLinearizable(stackModel, outOfOrder).verdict, 'linearizable')
  const lost = [call(push(1), 0, 1), call(pop, 2, 3, 0)]
  assert.equal(checkLinearizable(stackModel, lost).verdict, 'not linearizable')
  const bothWon = [
    call({ type: 'setIfAbsent', value: 1 } as EntryInput, 0, 5),
    call({ type: 'setIfAbsent', value: 2 } as EntryInput, 0, 5),
  ]
  assert.equal(checkLinearizable(entryModel, bothWon).verdict, 'not linearizable')
})

test('of logs, too', () => {
  const good = [
    call(append(7), 0, 5, 1),
    call(append(8), 0, 5, 0),
    call(last, 6, 7, 7),
    call(at(0), 6, 7, 8),
    call(at(2), 6, 7, 0),
  ]
  assert.equal(checkLinearizable(logModel, good).verdict, 'linearizable')
  const sameIndex = [call(append(7), 0, 5, 0), call(append(8), 0, 5, 0)]
  assert.equal(checkLinearizable(logModel, sameIndex).verdict, 'not linearizable')
  const outOfOrder = [call(append(7), 0, 1, 1), call(append(8), 2, 3, 0)]
  assert.equal(checkLinearizable(logModel, outOfOrder).verdict, 'not linearizable')
  const seenThenNot = [call(append(7), 0, 9, 0), call(last, 1, 2, 7), call(at(0), 3, 4, 0)]
  assert.equal(checkLinearizable(logModel, seenThenNot).verdict, 'not linearizable')
  assert.equal(checkLinearizable(logModel, [call(append(7), 0), call(at(0), 1, 2, 7)]).verdict, 'linearizable')
})

test('a call that never returned has taken effect some time, or never', () => {
  assert.equal(checkLinearizable(entryModel, [call(set(1), 0), call(get, 5, 6, 1)]).verdict, 'linearizable')
  assert.equal(checkLinearizable(entryModel, [call(set(1), 0), call(get, 5, 6, 0)]).verdict, 'linearizable')
  const later = [call(set(1), 0), call(get, 5, 6, 0), call(get, 7, 8, 1), call(get, 9, 10, 1)]
  assert.equal(checkLinearizable(entryModel, later).verdict, 'linearizable')
  assert.equal(checkLinearizable(entryModel, [...later, call(get, 11, 12, 0)]).verdict, 'not linearizable')
  assert.equal(checkLinearizable(entryModel, [call(get, 5, 6, 1), call(set(1), 7)]).verdict, 'not linearizable')
})
