import type { SequentialModel } from '../history.ts'

/** A structure whose output follows from its state and the input. */
export interface DeterministicModel<State, Input, Output> extends SequentialModel<State, Input, Output> {
  apply(state: State, input: Input): readonly [state: State, output: Output]
}

export function deterministicModel<State, Input, Output>(
  parts: Omit<DeterministicModel<State, Input, Output>, 'step'>,
): DeterministicModel<State, Input, Output> {
  return {
    ...parts,
    step(state, input, output) {
      const [after, gives] = parts.apply(state, input)
      return output === undefined || output.value === gives ? { state: after } : undefined
    },
  }
}
