import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CheckOptions,
  checkLinearizable,
  checkPartitions,
  type HistoryCall,
  type LinearizabilityResult,
  type ListInput,
  queueModel,
  type RegisterInput,
  registerModel,
} from '../../../tools/linearizability/index.ts'
import { generateHistory } from './generated-history.ts'

const CLIENTS = 20
const CALLS = 1000
const FEW_CALLS = 25
const SEED = 1

type RegisterHistory = HistoryCall<RegisterInput, number>[]

function registerHistory(calls: number): RegisterHistory {
  return generateHistory({
    model: registerModel,
    clients: CLIENTS,
    calls,
    lostOneIn: 100,
    seed: SEED,
    draw: (random, number): RegisterInput =>
      random.below(2) === 0 ? { type: 'read' } : { type: 'write', value: number },
  })
}

/** The index of the first call from the middle on that `isWanted`. */
function fromTheMiddle<Call>(history: readonly Call[], isWanted: (call: Call) => boolean): number {
  return history.findIndex((call, index) => index > history.length / 2 && isWanted(call))
}

const isRead = ({ input, returned }: HistoryCall<RegisterInput, number>): boolean =>
  input.type === 'read' && returned !== undefined

test('a register of 20 clients with 1,000 calls each, some of unknown outcome, is linearizable', () => {
  const history = registerHistory(CALLS)
  const lost = history.filter(({ returned }) => returned === undefined).length
  assert.ok(history.length === CLIENTS * CALLS && lost > 150, String(lost))
  assert.equal(checkLinearizable(registerModel, history).verdict, 'linearizable')
})

test('it is not where a read returns what was overwritten long before', () => {
  const history = registerHistory(CALLS)
  const at = fromTheMiddle(history, isRead)
  const old = history.slice(0, at - 10 * CLIENTS).findLast(isRead)!.returned!.output
  const read = history[at]!
  history[at] = { ...read, returned: { at: read.returned!.at, output: old } }
  assert.equal(checkLinearizable(registerModel, history).verdict, 'not linearizable')
})

test('nor where a write that was read is lost', () => {
  const history = registerHistory(FEW_CALLS)
  const at = fromTheMiddle(history, isRead)
  const { output } = history[at]!.returned!
  const written = history.filter(({ input }) => !(input.type === 'write' && input.value === output))
  assert.equal(written.length, history.length - 1)
  assert.equal(checkLinearizable(registerModel, written).verdict, 'not linearizable')
})

test('nor where a write takes effect a second time', () => {
  const history = registerHistory(FEW_CALLS)
  const at = fromTheMiddle(history, isRead)
  const { output } = history[at]!.returned!
  // One that reads alone, after everything else; the last value was written after that one.
  const end = Math.max(...history.map(({ returned, calledAt }) => returned?.at ?? calledAt))
  history.push({ input: { type: 'read' }, calledAt: end + 1, returned: { at: end + 2, output } })
  assert.equal(checkLinearizable(registerModel, history).verdict, 'not linearizable')
})

test('a history is checked by key, and its orders name calls of the whole', () => {
  const parts = ['a', 'b', 'c'].map((key) =>
    generateHistory({
      model: registerModel,
      clients: 5,
      calls: 50,
      lostOneIn: 20,
      seed: key.charCodeAt(0),
      draw: (random, number): RegisterInput =>
        random.below(2) === 0 ? { type: 'read' } : { type: 'write', value: number },
    }).map((call) => ({ ...call, key })),
  )
  const history = parts.flat().sort((one, other) => one.calledAt - other.calledAt)
  const check = (options?: CheckOptions): ReadonlyMap<string, LinearizabilityResult> =>
    checkPartitions(registerModel, history, ({ key }) => key, options)
  const verdicts = (options?: CheckOptions): readonly string[] =>
    [...check(options)].sort().map(([key, { verdict }]) => `${key}: ${verdict}`)
  assert.deepEqual(verdicts(), ['a: linearizable', 'b: linearizable', 'c: linearizable'])
  for (const [key, { order }] of check()) assert.ok(order.every((call) => history[call]!.key === key))
  const at = history.findLastIndex((call) => isRead(call) && call.key === 'b')
  history[at] = { ...history[at]!, returned: { at: history[at]!.returned!.at, output: -1 } }
  assert.deepEqual(verdicts(), ['a: linearizable', 'b: not linearizable', 'c: linearizable'])
  assert.deepEqual(verdicts({ stepsMax: 10 }), ['a: unknown', 'b: unknown', 'c: unknown'])
})

test('a search that takes too many steps is given up, with a verdict of its own', () => {
  const { verdict, steps } = checkLinearizable(registerModel, registerHistory(FEW_CALLS), { stepsMax: 1000 })
  assert.equal(verdict, 'unknown')
  assert.ok(steps > 1000 && steps < 2000, String(steps))
})

function queueHistory(): HistoryCall<ListInput, number>[] {
  return generateHistory({
    model: queueModel,
    clients: 3,
    calls: 50,
    lostOneIn: 100,
    seed: SEED,
    draw: (random, number): ListInput => (random.below(5) < 2 ? { type: 'push', value: number } : { type: 'pop' }),
  })
}

test('a queue is linearizable, and not where a value is popped twice', () => {
  const history = queueHistory()
  assert.equal(checkLinearizable(queueModel, history).verdict, 'linearizable')
  const popped = history.findIndex(({ input, returned }) => input.type === 'pop' && (returned?.output ?? 0) !== 0)
  const again = fromTheMiddle(history, ({ input, returned }) => input.type === 'pop' && returned?.output === 0)
  history[again] = {
    ...history[again]!,
    returned: { at: history[again]!.returned!.at, output: history[popped]!.returned!.output },
  }
  assert.equal(checkLinearizable(queueModel, history).verdict, 'not linearizable')
})
