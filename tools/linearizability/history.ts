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
  /**
   * The state after `input`; undefined if it does not give `output`. If `output` is undefined, it is not known. Return
   * `state` itself where nothing changes: this makes the search shorter.
   */
  step(
    state: State,
    input: Input,
    output: { readonly value: Output } | undefined,
  ): { readonly state: State } | undefined
  /** Equal for equal states. */
  nameOf(state: State): string
  /**
   * What is true of a call in every state; it makes the search shorter. A `read` never changes the state. An
   * `overwrite` leads to the same state, with the same output, from every state.
   */
  kindOf?(input: Input): 'read' | 'overwrite' | 'other'
  /**
   * Whether no other call of the history can tell that this one took effect. Wherever it is taken out of an order, the
   * others may stay as they are. So it is left out if it need not take effect.
   */
  unseenIn?(history: readonly HistoryCall<Input, Output>[]): (input: Input) => boolean
}
