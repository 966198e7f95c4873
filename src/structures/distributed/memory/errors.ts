import { AetherError } from '../../../native/index.ts'

/**
 * The rank that keeps a structure in its memory is out of the group, or cannot be reached: what it kept is lost. A
 * change that was under way when that happened may or may not have been made.
 */
export class HomeLostError extends AetherError {
  override readonly name = 'HomeLostError'
  /** The structure that was used. */
  readonly structure: string
  /** Its home. */
  readonly rank: number

  constructor(structure: string, rank: number, why: string, options?: ErrorOptions) {
    super('ERR_AETHER_HOME_LOST', `${structure} is kept at rank ${rank}, which is lost: ${why}`, options)
    this.structure = structure
    this.rank = rank
  }
}
