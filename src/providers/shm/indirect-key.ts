import { native } from '../../native/index.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { ProviderIndirectKey } from '../memory-contract.ts'
import { accessProblem } from '../soft/memory-access.ts'
import { MAX_PIECES, PIECE_DOUBLES, piecesOf } from '../soft/pieces.ts'
import { CompletionStatus } from '../status.ts'
import { Outcome } from './initiator.ts'
import { PAGE_BYTES } from './layout.ts'
import type { ShmProtectionDomain } from './protection-domain.ts'
import type { Invalidatable } from './shared-key-table.ts'

/**
 * A key for pieces of other regions. Its pieces are stored in pages of the segment, where peers read them when they use
 * the key.
 */
export class ShmIndirectKey implements ProviderIndirectKey, Invalidatable {
  readonly token: number
  readonly domain: ShmProtectionDomain
  readonly maxPieces: number
  readonly localKey: number
  readonly #firstPage: number
  readonly #pages: number
  readonly #mapping: ArrayBuffer
  readonly #doubles: Float64Array
  #configured = false
  #open = true

  constructor(domain: ShmProtectionDomain, maxPieces: number) {
    if (maxPieces > MAX_PIECES)
      throw new VerbsError('mlx5dv_create_mkey', Errno.EINVAL, `at most ${MAX_PIECES} pieces, not ${maxPieces}`)
    const { keys, segment } = domain.device
    this.domain = domain
    this.#pages = Math.ceil((maxPieces * PIECE_DOUBLES * 8) / PAGE_BYTES)
    this.maxPieces = (this.#pages * PAGE_BYTES) / (PIECE_DOUBLES * 8)
    this.localKey = keys.reserve('mlx5dv_create_mkey', this)
    this.#firstPage = segment.allocatePages(this.#pages)
    this.#mapping = segment.mapPages(this.#firstPage, this.#pages)
    this.#doubles = new Float64Array(this.#mapping)
    this.token = domain.device.indirectKeys.add(this)
  }

  get remoteKey(): number {
    return this.localKey
  }

  /** Returns a CompletionStatus, or Outcome.PeerInside while the former layout may still be in use. */
  configure(request: EncodedRequest): number {
    const { keys } = this.domain.device
    const access = request.words[RequestSlot.Access]!
    const pieces = piecesOf(request, this.maxPieces)
    if (pieces === undefined || accessProblem(access) !== undefined)
      return CompletionStatus.LocalQueuePairOperationError
    keys.withdraw(this.localKey)
    if (!this.domain.device.peersOutside()) return Outcome.PeerInside
    this.#doubles.set(pieces.doubles)
    this.#configured = true
    keys.publishPieces({
      key: this.localKey,
      address: 0,
      length: pieces.totalBytes,
      access,
      domainId: this.domain.id,
      pieces,
      firstPage: this.#firstPage,
    })
    return CompletionStatus.Success
  }

  invalidate(key: number, _pairNumber: number, domainId: number): number {
    if (!this.#configured || key !== this.localKey || domainId !== this.domain.id)
      return CompletionStatus.LocalQueuePairOperationError
    this.domain.device.keys.withdraw(key)
    if (!this.domain.device.peersOutside()) return Outcome.PeerInside
    this.#configured = false
    return CompletionStatus.Success
  }

  destroy(): void {
    const { device } = this.domain
    device.keys.withdraw(this.localKey)
    // A second attempt goes ahead, as with a region.
    const first = this.#open
    this.#open = false
    if (first) device.awaitPeersOutside('mlx5dv_destroy_mkey')
    device.keys.release(this.localKey)
    device.indirectKeys.remove(this.token)
    native.unmapMemory(this.#mapping)
    device.segment.releasePages(this.#firstPage, this.#pages)
    this.domain.indirectKeys.delete(this)
  }
}
