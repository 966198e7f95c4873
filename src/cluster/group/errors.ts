import { AetherError } from '../../native/index.ts'

/** A member of the group has ended, and the operation cannot complete without it. */
export class MemberEndedError extends AetherError {
  override readonly name = 'MemberEndedError'
  /** The ranks that have ended. */
  readonly ranks: readonly number[]

  constructor(ranks: readonly number[], message: string) {
    super('ERR_AETHER_MEMBER_ENDED', message)
    this.ranks = ranks
  }
}

/** Members did not arrive in time. */
export class MissingMembersError extends AetherError {
  override readonly name = 'MissingMembersError'
  /** The ranks that are missing. */
  readonly ranks: readonly number[]

  constructor(ranks: readonly number[], message: string, options?: ErrorOptions) {
    super('ERR_AETHER_MISSING_MEMBERS', message, options)
    this.ranks = ranks
  }
}

/** This process cannot join the group with these options. */
export class JoinError extends AetherError {
  override readonly name = 'JoinError'

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_AETHER_JOIN', message, options)
  }
}

/** `rank 3`, `ranks 1, 2 and 5`. */
export function ranksInWords(ranks: readonly number[]): string {
  if (ranks.length <= 1) return `rank ${ranks.join('')}`
  return `ranks ${ranks.slice(0, -1).join(', ')} and ${ranks.at(-1)}`
}
