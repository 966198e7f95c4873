import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { ProviderIndirectKey } from '../memory-contract.ts'
import { CompletionStatus } from '../status.ts'
import type { Invalidatable, KeyFields, Keys } from './keys.ts'
import { accessProblem } from './memory-access.ts'
import { Outcome } from './outcome.ts'
import { MAX_PIECES, type Pieces, piecesOf } from './pieces.ts'
import type { Tokens } from './tokens.ts'

/** Where a medium keeps the pieces of one key. */
export interface PieceRoom {
  readonly maxPieces: number
  /** Let the key give access to the pieces. No peer may still be using former ones. */
  publish(fields: KeyFields, pieces: Pieces): void
  release(): void
}

/** A device with its indirect keys. */
interface KeyDevice {
  readonly keys: Keys
  readonly indirectKeys: Tokens<SoftIndirectKey>
  makePieceRoom(maxPieces: number): PieceRoom
  /** As for memory windows. */
  peersOutside(): boolean
  awaitPeersOutside(verb: string): void
}

interface KeyDomain {
  readonly device: KeyDevice
  readonly id: number
  readonly indirectKeys: Set<SoftIndirectKey>
}

/** A key for pieces of other regions. */
export class SoftIndirectKey implements ProviderIndirectKey, Invalidatable {
  readonly token: number
  readonly domain: KeyDomain
  readonly localKey: number
  readonly #room: PieceRoom
  #configured = false
  #open = true

  constructor(domain: KeyDomain, maxPieces: number) {
    if (maxPieces > MAX_PIECES)
      throw new VerbsError('mlx5dv_create_mkey', Errno.EINVAL, `at most ${MAX_PIECES} pieces, not ${maxPieces}`)
    this.domain = domain
    this.localKey = domain.device.keys.reserve('mlx5dv_create_mkey', this)
    this.#room = domain.device.makePieceRoom(maxPieces)
    this.token = domain.device.indirectKeys.add(this)
  }

  get maxPieces(): number {
    return this.#room.maxPieces
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
    this.#configured = true
    const fields = { key: this.localKey, address: 0, length: pieces.totalBytes, access, domainId: this.domain.id }
    this.#room.publish(fields, pieces)
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
    this.#room.release()
    this.domain.indirectKeys.delete(this)
  }
}
