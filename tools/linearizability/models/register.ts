import { type DeterministicModel, deterministicModel } from './deterministic-model.ts'

/** What is done to a register. */
export type RegisterInput =
  | { readonly type: 'read' }
  | { readonly type: 'write'; readonly value: number }
  | { readonly type: 'compareAndSet'; readonly expected: number; readonly value: number }

/** A register that holds 0 at first. Outputs: what was read; 1 where it was written, 0 where not. */
export const registerModel: DeterministicModel<number, RegisterInput, number> = deterministicModel<
  number,
  RegisterInput,
  number
>({
  initial: 0,
  apply(state, input) {
    if (input.type === 'read') return [state, state]
    if (input.type === 'compareAndSet' && state !== input.expected) return [state, 0]
    return [input.value, 1]
  },
  nameOf: String,
  unseenIn(history) {
    // A write may keep a compareAndSet from its change. Without any, only a read of its value can tell.
    if (history.some(({ input }) => input.type === 'compareAndSet')) return () => false
    const read = new Set(history.filter(({ input }) => input.type === 'read').map(({ returned }) => returned?.output))
    return (input) => input.type === 'write' && !read.has(input.value)
  },
  kindOf: ({ type }) => (type === 'read' ? 'read' : type === 'write' ? 'overwrite' : 'other'),
})
