import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../../src/runtime/index.ts'
import {
  boundedQueueModel,
  checkLinearizable,
  type DeterministicModel,
  type EntryInput,
  entryModel,
  type HistoryCall,
  type ListInput,
  type LogInput,
  logModel,
  queueModel,
  type RegisterInput,
  registerModel,
  type SequentialModel,
  stackModel,
} from '../../../tools/linearizability/index.ts'

/** Of each subject; AETHER_TEST_HISTORIES=100000 makes a soak of it. */
const HISTORIES = Number(process.env['AETHER_TEST_HISTORIES'] ?? 3000)

/** Whether an order of all calls that returned, and of some that did not, explains them: each order is tried. */
function hasOrder<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  calls: readonly HistoryCall<Input, Output>[],
  state: State = model.initial,
): boolean {
  if (calls.every(({ returned }) => returned === undefined)) return true
  return calls.some((call, index) => {
    const isLate = calls.some((other) => other.returned !== undefined && other.returned.at < call.calledAt)
    if (isLate) return false
    const { input, returned } = call
    const after = model.step(state, input, returned && { value: returned.output })
    return after !== undefined && hasOrder(model, calls.toSpliced(index, 1), after.state)
  })
}

/** Whether an order is one that {@link hasOrder} would have found. */
function explains<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  calls: readonly HistoryCall<Input, Output>[],
  order: readonly number[],
): boolean {
  let state = model.initial
  for (const [place, index] of order.entries()) {
    const { input, returned, calledAt } = calls[index]!
    const after = model.step(state, input, returned && { value: returned.output })
    if (after === undefined) return false
    if (order.slice(place + 1).some((later) => (calls[later]!.returned?.at ?? Infinity) < calledAt)) return false
    state = after.state
  }
  return calls.every(({ returned }, index) => returned === undefined || order.includes(index))
}

const small = (random: Random): number => 1 + random.below(3)

const subjects: Readonly<Record<string, Subject<never, never>>> = {
  register: subject(registerModel, (random): RegisterInput => {
    const kind = random.below(5)
    if (kind < 2) return { type: 'read' }
    if (kind < 4) return { type: 'write', value: small(random) }
    return { type: 'compareAndSet', expected: random.below(4), value: small(random) }
  }),
  'register without compareAndSet': subject(
    registerModel,
    (random): RegisterInput => (random.below(2) === 0 ? { type: 'read' } : { type: 'write', value: small(random) }),
  ),
  entry: subject(entryModel, (random): EntryInput => {
    const types = ['get', 'get', 'set', 'setIfAbsent', 'delete', 'compareAndSet'] as const
    return { type: types[random.below(types.length)]!, value: small(random), expected: random.below(4) }
  }),
  queue: subject(
    queueModel,
    (random): ListInput => (random.below(2) === 0 ? { type: 'pop' } : { type: 'push', value: small(random) }),
  ),
  'bounded queue': subject(
    boundedQueueModel(2),
    (random): ListInput => (random.below(3) === 0 ? { type: 'pop' } : { type: 'push', value: small(random) }),
  ),
  stack: subject(
    stackModel,
    (random): ListInput => (random.below(2) === 0 ? { type: 'pop' } : { type: 'push', value: small(random) }),
  ),
  log: subject(logModel, (random): LogInput => {
    const kind = random.below(3)
    if (kind === 0) return { type: 'append', value: small(random) }
    return kind === 1 ? { type: 'last' } : { type: 'at', index: random.below(3) }
  }),
}

interface Subject<State, Input> {
  readonly model: DeterministicModel<State, Input, number>
  draw(random: Random): Input
}

function subject<State, Input>(
  model: DeterministicModel<State, Input, number>,
  draw: (random: Random) => Input,
): Subject<never, never> {
  return { model, draw } as unknown as Subject<never, never>
}

/** At most six calls. Outputs are of an order of them; some are then changed, or swapped. */
function drawHistory<State, Input>(
  { model, draw }: Subject<State, Input>,
  random: Random,
): HistoryCall<Input, number>[] {
  const calls: HistoryCall<Input, number>[] = []
  let state = model.initial
  const length = 2 + random.below(5)
  for (let index = 0; index < length; index += 1) {
    const input = draw(random)
    const [after, output] = model.apply(state, input)
    if (random.below(8) > 0) state = after
    const calledAt = 10 * index - random.below(25)
    const at = 10 * index + random.below(25)
    const isWrong = random.below(8) === 0
    const returned = random.below(5) === 0 ? undefined : { at, output: isWrong ? random.below(4) : output }
    calls.push({ input, calledAt, returned })
  }
  return calls
}

for (const [name, some] of Object.entries(subjects)) {
  test(`${name}: short histories are judged as by trying every order`, () => {
    const found = { linearizable: 0, 'not linearizable': 0, unknown: 0 }
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const calls = drawHistory(some, new Random(seed))
      const { verdict, order } = checkLinearizable(some.model, calls)
      const expected = hasOrder(some.model, calls) ? 'linearizable' : 'not linearizable'
      assert.equal(verdict, expected, `seed ${seed}: ${JSON.stringify(calls)}`)
      if (verdict === 'linearizable')
        assert.ok(explains(some.model, calls, order), `seed ${seed}: ${order.join(' ')} of ${JSON.stringify(calls)}`)
      found[verdict] += 1
    }
    assert.ok(found.linearizable > HISTORIES / 10, JSON.stringify(found))
    assert.ok(found['not linearizable'] > HISTORIES / 10, JSON.stringify(found))
  })
}
