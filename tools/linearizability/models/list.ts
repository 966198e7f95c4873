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
  return listModel(capacity, (values) => [values.slice(1), values[0]])
}

export function boundedStackModel(capacity: number): ListModel {
  return listModel(capacity, (values) => [values.slice(0, -1), values.at(-1)])
}

function listModel(
  capacity: number,
  pop: (values: readonly number[]) => readonly [values: readonly number[], popped: number | undefined],
): ListModel {
  return deterministicModel<readonly number[], ListInput, number>({
    initial: [],
    apply(values, input) {
      if (input.type === 'push') return values.length < capacity ? [[...values, input.value], 1] : [values, 0]
      const [left, popped] = pop(values)
      return popped === undefined ? [values, 0] : [left, popped]
    },
    nameOf: (values) => values.join(' '),
  })
}
