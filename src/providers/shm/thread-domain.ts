import { Errno, VerbsError } from '../errors.ts'
import type { ProviderThreadDomain } from '../memory-contract.ts'

/** A thread domain. Objects of this device belong to one thread already, so it promises nothing new; it only knows who uses it. */
export class ShmThreadDomain implements ProviderThreadDomain {
  readonly users: Set<object> = new Set<object>()
  readonly #siblings: Set<ShmThreadDomain>

  /** `siblings`: those of the device, which this joins until it is destroyed. */
  constructor(siblings: Set<ShmThreadDomain>) {
    this.#siblings = siblings
    siblings.add(this)
  }

  destroy(): void {
    if (this.users.size > 0)
      throw new VerbsError('ibv_dealloc_td', Errno.EBUSY, `still in use by ${this.users.size} parent domains`)
    this.#siblings.delete(this)
  }
}
