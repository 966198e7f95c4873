import { addAbortCallback, DeadlineTimer, removeAbortCallback } from '../runtime/index.ts'
import type { ReplicaPort } from './agent/replica-process.ts'
import type { Outcome } from './machine/outcome.ts'
import type { Proposal, Proposals } from './proposals.ts'

/** What a caller proposes, and how it is told. */
interface ProposalCall {
  readonly bytes: Uint8Array
  readonly sentMs: number
  readonly patienceMs: number
  readonly signal: AbortSignal | undefined
  /** It may throw, which rejects. */
  readonly done: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
  /** What it rejects with after `patienceMs`. */
  readonly late: (wasSent: boolean) => Error
}

/** Callers of proposals: each waits for its outcome, its deadline or its signal. */
export class ProposalCalls {
  readonly #session: Proposals
  /** Proposals keep the event loop running by themselves. */
  readonly #deadlines = new DeadlineTimer((nowMs) => this.#session.expire(nowMs), false)

  constructor(session: Proposals) {
    this.#session = session
  }

  add(process: ReplicaPort, { bytes, sentMs, patienceMs, signal, done, reject, late }: ProposalCall): void {
    const proposal: Proposal = {
      bytes,
      sequence: 0,
      deadlineMs: sentMs + patienceMs,
      done: (outcome) => {
        end()
        try {
          done(outcome)
        } catch (error) {
          reject(error)
        }
      },
      late: () => giveUp(late(proposal.sequence > 0)),
      fail: (error) => {
        end()
        reject(error)
      },
    }
    const giveUp = (error: unknown): void => {
      this.#session.forget(proposal)
      proposal.fail(error)
    }
    const onAbort = (): void => giveUp(signal!.reason)
    const end = (): void => {
      if (signal !== undefined) removeAbortCallback(signal, onAbort)
      process.unexpect()
    }
    if (signal !== undefined) addAbortCallback(signal, onAbort)
    process.expect()
    this.#session.add(proposal)
    this.#deadlines.due(proposal.deadlineMs)
  }

  /** None of them gets an outcome. `why` depends on whether it was sent. */
  end(why: (wasSent: boolean) => Error): void {
    this.#deadlines.clear()
    for (const proposal of this.#session.end()) proposal.fail(why(proposal.sequence > 0))
  }
}
