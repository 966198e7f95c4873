import { ClosedError } from '../native/index.ts'
import type { ProviderMemoryRegion, ProviderPending } from '../providers/index.ts'
import { untilAborted } from '../runtime/index.ts'
import { type MemoryDomain, MemoryRegion } from './memory-region.ts'

type Pending = ProviderPending<ProviderMemoryRegion>

/**
 * Memory of one domain that is being registered beside the event loop. It belongs to the caller only once it is a
 * MemoryRegion.
 */
export class PendingMemory {
  readonly #domain: MemoryDomain
  readonly #members = new Set<Pending>()

  constructor(domain: MemoryDomain) {
    this.#domain = domain
  }

  /**
   * Rejects with the signal's reason if that aborts first, and with ClosedError if the domain is closed first; then
   * nothing is left behind.
   */
  async add(pending: Pending, signal: AbortSignal | undefined): Promise<MemoryRegion> {
    this.#members.add(pending)
    try {
      const region = await untilAborted(pending.done, signal, () => pending.abandon())
      signal?.throwIfAborted()
      this.#domain.assertOpen()
      this.#members.delete(pending)
      return this.#domain.memories.add(new MemoryRegion(this.#domain, region))
    } catch (error) {
      // Of one that was aborted the device may hold the domain for a while.
      const forget = (): boolean => this.#members.delete(pending)
      void pending.done.then(forget, forget)
      throw this.#domain.closed ? new ClosedError(this.#domain.label) : error
    }
  }

  /** Cancel all when the domain closes. Returns once all of it is released. */
  cancelAll(): void {
    // First what has not begun: while one is waited for, the others would begin.
    for (const pending of this.#members) pending.abandon()
    for (const pending of this.#members) pending.cancel()
    this.#members.clear()
  }
}
