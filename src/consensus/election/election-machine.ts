import { Buffer } from 'node:buffer'
import type { ApplyContext, ReplicatedMachine } from '../machine/machine.ts'

/** Who would lead. */
export interface Candidate {
  /** Each campaign has its own. */
  readonly id: string
  readonly rank: number
  readonly processId: number
  /** How long it leads without renewing. */
  readonly ttlMs: number
}

/** The candidate that leads. */
export interface Tenure extends Candidate {
  /** A fencing token. */
  readonly token: number
  /** How often it has renewed. */
  readonly renewals: number
}

/** Each may be applied again without harm. */
export type ElectionCommand =
  | { readonly type: 'campaign'; readonly candidate: Candidate }
  | { readonly type: 'renew'; readonly id: string }
  /** It leads and waits no more. */
  | { readonly type: 'withdraw'; readonly id: string }
  /** The leader has not renewed since, for as long as it may. */
  | { readonly type: 'expire'; readonly token: number; readonly renewals: number }
  /** By the leader, to a candidate of that rank. */
  | { readonly type: 'transfer'; readonly id: string; readonly rank: number }

interface State {
  readonly token: number
  readonly leader: Tenure | undefined
  readonly waiting: readonly Candidate[]
}

/**
 * The leader, and those who wait to lead: first come, first served. An answer says whether there is what was wanted.
 *
 * It reads no clock. A process that waited long enough for a renewal ends the tenure, and says how many it has seen. If
 * another came in between, nothing happens.
 */
export class ElectionMachine implements ReplicatedMachine<ElectionCommand, boolean> {
  /** Is told of each change. It must not throw. */
  onChange: () => void = () => {}
  #token = 0
  #leader: Tenure | undefined
  #waiting: readonly Candidate[] = []

  get leader(): Tenure | undefined {
    return this.#leader
  }

  get waiting(): readonly Candidate[] {
    return this.#waiting
  }

  /** The leader and all who wait. */
  get candidates(): readonly Candidate[] {
    return this.#leader === undefined ? this.#waiting : [this.#leader, ...this.#waiting]
  }

  has(id: string): boolean {
    return this.candidates.some((candidate) => candidate.id === id)
  }

  apply(command: ElectionCommand, { timeMs }: ApplyContext): boolean {
    const answer = this.#run(command)
    if (this.#leader === undefined) this.#elect(timeMs)
    this.onChange()
    return answer
  }

  snapshot(): Iterable<Uint8Array> {
    const state: State = { token: this.#token, leader: this.#leader, waiting: this.#waiting }
    return [Buffer.from(JSON.stringify(state))]
  }

  restore([chunk]: readonly Uint8Array[]): void {
    const { token, leader, waiting } = JSON.parse(Buffer.from(chunk!).toString()) as State
    this.#token = token
    this.#leader = leader
    this.#waiting = waiting
    this.onChange()
  }

  #run(command: ElectionCommand): boolean {
    const leader = this.#leader
    switch (command.type) {
      case 'campaign':
        if (!this.has(command.candidate.id)) this.#waiting = [...this.#waiting, command.candidate]
        return true
      case 'renew':
        if (leader?.id !== command.id) return false
        this.#leader = { ...leader, renewals: leader.renewals + 1 }
        return true
      case 'withdraw':
        if (leader?.id === command.id) this.#leader = undefined
        else this.#waiting = this.#waiting.filter(({ id }) => id !== command.id)
        return true
      case 'expire':
        if (leader?.token !== command.token || leader.renewals !== command.renewals) return false
        this.#leader = undefined
        return true
      case 'transfer': {
        const heir = this.#waiting.find(({ rank }) => rank === command.rank)
        if (leader?.id !== command.id || heir === undefined) return false
        this.#leader = undefined
        this.#waiting = [heir, ...this.#waiting.filter((candidate) => candidate !== heir)]
        return true
      }
    }
  }

  /** Tokens follow the time of the log, so those of a group that is founded again are greater, too. */
  #elect(timeMs: number): void {
    const [first, ...others] = this.#waiting
    if (first === undefined) return
    this.#token = Math.max(this.#token + 1, Math.floor(timeMs))
    this.#leader = { ...first, token: this.#token, renewals: 0 }
    this.#waiting = others
  }
}
