import { type DeterministicModel, deterministicModel } from './deterministic-model.ts'

/** What is done to a queue or a stack of positive numbers. */
export type ListInput = { readonly type: 'push'; readonly value: number } | { readonly type: 'pop' }

type ListModel = DeterministicModel<readonly number[], ListInput, number>

/** First in, first out. Outputs: 1 where a value was pushed; what was popped, 0 for nothing. */
export const queueModel: ListModel = boundedQueueModel(Infinity)

/** Last in, first out. Outputs as of {@link queueModel}. */
export const stackModel: ListModel = boundedStackModel(Infinity)

/** A queue of at most `capacity` values: a push gives 0 where it is full. */
export function boundedQueueModel(capacity: number): ListModel {
  return listModel({
    capacity,
    pop: (values) => [values.slice(1), values[0]],
    aheadOf: (values, value) => values.slice(0, values.indexOf(value)),
  })
}

export function boundedStackModel(capacity: number): ListModel {
  return listModel({
    capacity,
    pop: (values) => [values.slice(0, -1), values.at(-1)],
    aheadOf: (values, value) => values.slice(values.lastIndexOf(value) + 1),
  })
}

interface ListKind {
  readonly capacity: number
  pop(values: readonly number[]): readonly [values: readonly number[], popped: number | undefined]
  /** What is popped before `value`. */
  aheadOf(values: readonly number[], value: number): readonly number[]
}

function listModel({ capacity, pop, aheadOf }: ListKind): ListModel {
  return deterministicModel<readonly number[], ListInput, number>({
    initial: [],
    apply(values, input) {
      if (input.type === 'push') return values.length < capacity ? [[...values, input.value], 1] : [values, 0]
      const [left, popped] = pop(values)
      return popped === undefined ? [values, 0] : [left, popped]
    },
    canFollow(values, { input, returned }, others) {
      if (input.type !== 'pop') return true
      const value = returned!.output
      // It may be pushed later, even if it is there already.
      if (others.some(({ input: other }) => other.type === 'push' && other.value === value)) return true
      if (value !== 0 && !values.includes(value)) return false
      // Each value that comes before it has to be popped before.
      const ahead = value === 0 ? values : aheadOf(values, value)
      const pops = others.filter(
        (other) =>
          other.input.type === 'pop' && (other.returned === undefined || ahead.includes(other.returned.output)),
      )
      return pops.length >= ahead.length
    },
    nameOf: (values) => values.join(' '),
  })
}
