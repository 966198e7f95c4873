import { type DeterministicModel, deterministicModel } from './deterministic-model.ts'

/** What is done to a log of positive numbers. */
export type LogInput =
  | { readonly type: 'append'; readonly value: number }
  | { readonly type: 'at'; readonly index: number }
  | { readonly type: 'last' }

/**
 * A log that keeps everything. Outputs: the index of what was appended; the value that was asked for, 0 where there is
 * none.
 */
export const logModel: DeterministicModel<readonly number[], LogInput, number> = deterministicModel<
  readonly number[],
  LogInput,
  number
>({
  initial: [],
  apply(values, input) {
    if (input.type === 'append') return [[...values, input.value], values.length]
    return [values, values.at(input.type === 'at' ? input.index : -1) ?? 0]
  },
  nameOf: (values) => values.join(' '),
  kindOf: ({ type }) => (type === 'append' ? 'other' : 'read'),
})
