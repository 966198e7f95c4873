import { Errno, VerbsError } from '../errors.ts'
import type { ProviderThreadDomain } from '../memory-contract.ts'

/**
 * A thread domain for providers whose objects belong to one thread anyway. It promises nothing new, and only knows what
 * uses it.
 */
export class OwnThreadDomain implements ProviderThreadDomain {
  readonly users: Set<object> = new Set<object>()
  readonly #siblings: Set<OwnThreadDomain>

  /** `siblings` are those of the device; this one is among them until it is destroyed. */
  constructor(siblings: Set<OwnThreadDomain>) {
    this.#siblings = siblings
    siblings.add(this)
  }

  destroy(): void {
    if (this.users.size > 0)
      throw new VerbsError('ibv_dealloc_td', Errno.EBUSY, `still in use by ${this.users.size} parent domains`)
    this.#siblings.delete(this)
  }
}
