import type { VerbsToken } from '../../native/index.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import type { MemoryWindowType, ProviderMemoryWindow } from '../memory-contract.ts'
import type { ProviderQueuePair } from '../queue-pair-contract.ts'
import type { IbverbsContext, IbverbsDomain } from './context.ts'
import type { IbverbsQueuePair } from './queue-pair.ts'
import { attempt, check } from './verb.ts'

/** A device with its memory windows by token. */
export interface WindowDevice extends IbverbsContext {
  readonly windows: Map<VerbsToken, IbverbsMemoryWindow>
}

interface WindowDomain extends IbverbsDomain {
  readonly device: WindowDevice
  readonly windows: Set<IbverbsMemoryWindow>
}

/** ibv_alloc_mw(3). */
export class IbverbsMemoryWindow implements ProviderMemoryWindow {
  token: VerbsToken
  readonly type: MemoryWindowType
  remoteKey: number
  /** Type 2 only: the queue pair that it was last bound through. */
  boundThrough: IbverbsQueuePair | undefined
  readonly #domain: WindowDomain
  readonly #fields = new Float64Array(5)

  constructor(domain: WindowDomain, type: MemoryWindowType) {
    const { verbs, handle } = { verbs: domain.device.verbs, handle: domain.handle }
    const made = attempt(() => verbs.allocateWindow(handle, type))
    this.#domain = domain
    this.type = type
    this.token = made.handle
    this.remoteKey = made.remoteKey
  }

  bind(pair: ProviderQueuePair, request: EncodedRequest): number {
    if (this.type !== 1) return Errno.EINVAL
    const { verbs } = this.#domain.device
    const { words } = request
    const slots = [
      RequestSlot.Id,
      RequestSlot.Flags,
      RequestSlot.RemoteAddress,
      RequestSlot.Length,
      RequestSlot.Access,
    ] as const
    slots.forEach((slot, index) => {
      this.#fields[index] = words[slot]!
    })
    const memory = words[RequestSlot.Memory]!
    const errno = verbs.bindWindow((pair as IbverbsQueuePair).handle, this.token, memory, this.#fields)
    if (errno === 0) this.remoteKey = verbs.windowKey(this.token)
    return errno
  }

  /**
   * Replace this window with a new one that is not bound. A queue pair that a window is bound through takes rxe most of
   * a minute to destroy. Nothing else happens during that time, so its windows are replaced first. Prepared binds still
   * name the old window, and are refused.
   */
  replace(): void {
    const { verbs, windows } = this.#domain.device
    if (verbs.destroy(this.token) !== 0) return
    windows.delete(this.token)
    const made = attempt(() => verbs.allocateWindow(this.#domain.handle, this.type))
    this.token = made.handle
    this.remoteKey = made.remoteKey
    windows.set(this.token, this)
  }

  destroy(): void {
    check('ibv_dealloc_mw', this.#domain.device.verbs.destroy(this.token), () => 'the memory window is in use')
    this.#domain.windows.delete(this)
    this.#domain.device.windows.delete(this.token)
  }
}
