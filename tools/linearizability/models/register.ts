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
  canFollow(state, { input, returned }, others) {
    const needed = neededBy(input, returned?.output)
    return (
      needed === undefined ||
      needed === state ||
      others.some((other) => other.input.type !== 'read' && other.input.value === needed)
    )
  },
  unseenIn(history) {
    // A write may keep a compareAndSet from its change.
    if (history.some(({ input }) => input.type === 'compareAndSet')) return () => false
    const needed = new Set(history.map(({ input, returned }) => neededBy(input, returned?.output)))
    return (input) => input.type !== 'read' && !needed.has(input.value)
  },
  kindOf: ({ type }) => (type === 'read' ? 'read' : type === 'write' ? 'overwrite' : 'other'),
})

/** The value in which a call gives its output, if there is only one. */
function neededBy(input: RegisterInput, output: number | undefined): number | undefined {
  if (input.type === 'read') return output
  return input.type === 'compareAndSet' && output === 1 ? input.expected : undefined
}
