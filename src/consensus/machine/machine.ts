/** What `apply` knows besides the command: the same at every replica. */
export interface ApplyContext {
  /** The number of the command: 1, 2, 3 … since the founding. */
  readonly index: number
  /** The time of the log in milliseconds. It never goes back. Use it in place of the clock. */
  readonly timeMs: number
  /** The term of the leader that proposed the entry. */
  readonly term: number
}

/**
 * The state that replicas keep alike. It is synchronous and deterministic: what it does follows from its state, the
 * command and the context alone. So it takes no time, no random number and no file from outside.
 *
 * What `apply` throws is the outcome of the command, as an answer is: every replica has it, and the caller gets it as a
 * rejection. Nothing is undone, so check before you change anything. The message is a part of the outcome: take care
 * that it is the same at every replica.
 */
export interface ReplicatedMachine<Command, Answer> {
  apply(command: Command, context: ApplyContext): Answer
  /** All of the state, as of now. It is consumed and copied at once. */
  snapshot(): Iterable<Uint8Array>
  /** Replace all of the state by that of a snapshot, in the same chunks. Copy what you keep of them. */
  restore(chunks: readonly Uint8Array[]): void
}

/** Any machine. */
export type AnyMachine = ReplicatedMachine<never, unknown>
/** What a machine is told. */
export type CommandOf<Machine extends AnyMachine> = Parameters<Machine['apply']>[0]
/** What a machine answers. */
export type AnswerOf<Machine extends AnyMachine> = ReturnType<Machine['apply']>

/** The state as of one moment, which is given in parts while further commands are applied. */
export interface StateParts {
  /** Further chunks, which may be none for now; undefined after the last. They are the caller's. */
  next(): readonly Uint8Array[] | undefined
  /** What was given is of no use: begin again. */
  readonly isGivenUp: boolean
  /** No more is wanted. */
  end(): void
}
