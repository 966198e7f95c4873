import { Errno, VerbsError } from './errors.ts'
import type { ProviderThreadDomain } from './memory-contract.ts'

/**
 * A thread domain. For providers whose objects belong to one thread already, it promises nothing new; it only knows who
 * uses it.
 */
export class OwnThreadDomain implements ProviderThreadDomain {
  readonly users: Set<object> = new Set<object>()
  readonly #siblings: Set<OwnThreadDomain>

  /** `siblings`: those of the device, which this joins until it is destroyed. */
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
