/** One call of a history, on a clock that all processes share. */
export interface HistoryCall<Input, Output> {
  readonly input: Input
  /** When it was called, and when it returned: what took effect did so in between. */
  readonly calledAt: number
  /** Undefined where it never did: its process was killed. It took effect at some time after the call, or never. */
  readonly returned: { readonly at: number; readonly output: Output } | undefined
}

/** What a structure does when its calls come one after the other. */
export interface SequentialModel<State, Input, Output> {
  readonly initial: State
  /** The state after `input`; undefined if it does not give `output`. If `output` is undefined, it is not known. */
  step(
    state: State,
    input: Input,
    output: { readonly value: Output } | undefined,
  ): { readonly state: State } | undefined
  /** Equal for equal states. */
  nameOf(state: State): string
}
