import type { Acts, AgreementEvent } from '../model/process.ts'

/** A value, and the ballot in which it was accepted. */
export interface Accepted {
  readonly ballot: number
  readonly value: string
}

/** What an agent answers in the phase that it is in. */
export type AgentReply =
  /** It promises, with what it had accepted; or it accepts. */
  | { readonly ok: true; readonly accepted: Accepted | null }
  /** It knows of a higher ballot, or has lost its permission to one that it does not know. */
  | { readonly ok: false; readonly ballot: number }

/**
 * What remembers for a proposer: a memory, or a process. A proposer needs a majority of its agents in each of the two
 * phases, whatever they are.
 */
export interface Agent {
  prepare(ballot: number, acts: Acts): AgentReply | undefined
  accept(ballot: number, value: string, acts: Acts): AgentReply | undefined
  /** What an event says about the phase that was begun last; undefined while that is not over. */
  hear(event: AgreementEvent, acts: Acts): AgentReply | undefined
}
