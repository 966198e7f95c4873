import { type DeterministicModel, deterministicModel } from './deterministic-model.ts'

/** What is done to one key of a map; `value` 0 stands for none. */
export type EntryInput =
  | { readonly type: 'get' | 'delete' }
  | { readonly type: 'set' | 'setIfAbsent'; readonly value: number }
  | { readonly type: 'compareAndSet'; readonly expected: number; readonly value: number }

/** One key of a map. Outputs: the value of a get, 1 where a change was made, 0 where not. */
export const entryModel: DeterministicModel<number, EntryInput, number> = deterministicModel<
  number,
  EntryInput,
  number
>({
  initial: 0,
  apply: entryStep,
  nameOf: String,
  kindOf: ({ type }) => (type === 'get' ? 'read' : type === 'set' ? 'overwrite' : 'other'),
})

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
