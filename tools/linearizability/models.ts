import type { SequentialModel } from './history.ts'

/** What is done to one key of a map; `value` 0 stands for none. */
export type EntryInput =
  | { readonly type: 'get' | 'delete' }
  | { readonly type: 'set' | 'setIfAbsent'; readonly value: number }
  | { readonly type: 'compareAndSet'; readonly expected: number; readonly value: number }

/** One key of a map. Outputs: the value of a get, 1 where a change was made, 0 where not. */
export const entryModel: SequentialModel<number, EntryInput, number> = {
  initial: 0,
  step(state, input, output) {
    const [after, gives] = entryStep(state, input)
    return output === undefined || output.value === gives ? { state: after } : undefined
  },
  nameOf: String,
}

/** What a key does: its value afterwards, and the output. */
export function entryStep(state: number, input: EntryInput): readonly [state: number, output: number] {
  switch (input.type) {
    case 'get':
      return [state, state]
    case 'set':
      return [input.value, 1]
    case 'delete':
      return [0, state === 0 ? 0 : 1]
    case 'setIfAbsent':
      return state === 0 ? [input.value, 1] : [state, 0]
    case 'compareAndSet':
      return state === input.expected ? [input.value, 1] : [state, 0]
  }
}

/** What is done to a queue or a stack of positive numbers. */
export type ListInput = { readonly type: 'push'; readonly value: number } | { readonly type: 'pop' }

/** First in, first out. Outputs: 1 where a value was pushed; what was popped, 0 for nothing. */
export const queueModel: SequentialModel<readonly number[], ListInput, number> = boundedQueueModel(Infinity)

/** Last in, first out. Outputs as of {@link queueModel}. */
export const stackModel: SequentialModel<readonly number[], ListInput, number> = boundedStackModel(Infinity)

/** A queue of at most `capacity` values: a push gives 0 where it is full. */
export function boundedQueueModel(capacity: number): SequentialModel<readonly number[], ListInput, number> {
  return listModel((values) => values[0], capacity)
}

export function boundedStackModel(capacity: number): SequentialModel<readonly number[], ListInput, number> {
  return listModel((values) => values.at(-1), capacity)
}

function listModel(
  pick: (values: readonly number[]) => number | undefined,
  capacity: number,
): SequentialModel<readonly number[], ListInput, number> {
  return {
    initial: [],
    step(values, input, output) {
      if (input.type === 'push') {
        const isFull = values.length >= capacity
        if (output !== undefined && (output.value === 0) !== isFull) return undefined
        return { state: isFull ? values : [...values, input.value] }
      }
      const value = pick(values) ?? 0
      if (output !== undefined && output.value !== value) return undefined
      return { state: values.filter((other) => other !== value) }
    },
    nameOf: (values) => values.join(' '),
  }
}

/** What is done to a log of positive numbers. */
export type LogInput =
  | { readonly type: 'append'; readonly value: number }
  | { readonly type: 'at'; readonly index: number }
  | { readonly type: 'last' }

/**
 * A log that keeps everything. Outputs: the index of what was appended; the value that was asked for, 0 where there is
 * none.
 */
export const logModel: SequentialModel<readonly number[], LogInput, number> = {
  initial: [],
  step(values, input, output) {
    const gives = input.type === 'append' ? values.length : (values.at(input.type === 'at' ? input.index : -1) ?? 0)
    if (output !== undefined && output.value !== gives) return undefined
    return { state: input.type === 'append' ? [...values, input.value] : values }
  },
  nameOf: (values) => values.join(' '),
}
