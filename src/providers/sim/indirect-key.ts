import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { ProviderIndirectKey } from '../memory-contract.ts'
import { accessProblem } from '../soft/memory-access.ts'
import { MAX_PIECES, piecesOf } from '../soft/pieces.ts'
import type { Tokens } from '../soft/tokens.ts'
import { CompletionStatus } from '../status.ts'
import type { SimContext, SimDomain } from './context.ts'
import type { Invalidatable } from './key-table.ts'

/** A device with its indirect keys. */
interface KeyDevice extends SimContext {
  readonly indirectKeys: Tokens<SimIndirectKey>
}

interface KeyDomain extends SimDomain {
  readonly device: KeyDevice
  readonly indirectKeys: Set<SimIndirectKey>
}

/** A key for pieces of other regions. */
export class SimIndirectKey implements ProviderIndirectKey, Invalidatable {
  readonly token: number
  readonly domain: KeyDomain
  readonly maxPieces: number
  readonly localKey: number

  constructor(domain: KeyDomain, maxPieces: number) {
    if (maxPieces > MAX_PIECES)
      throw new VerbsError('mlx5dv_create_mkey', Errno.EINVAL, `at most ${MAX_PIECES} pieces, not ${maxPieces}`)
    this.domain = domain
    this.maxPieces = maxPieces
    this.localKey = domain.device.keys.reserve('mlx5dv_create_mkey', this)
    this.token = domain.device.indirectKeys.add(this)
  }

  get remoteKey(): number {
    return this.localKey
  }

  /** Returns a CompletionStatus. */
  configure(request: EncodedRequest): number {
    const access = request.words[RequestSlot.Access]!
    const pieces = piecesOf(request, this.maxPieces)
    if (pieces === undefined || accessProblem(access) !== undefined)
      return CompletionStatus.LocalQueuePairOperationError
    this.domain.device.keys.publish(this.localKey, {
      kind: 'pieces',
      address: 0,
      length: pieces.totalBytes,
      access,
      domainId: this.domain.id,
      pieces,
    })
    return CompletionStatus.Success
  }

  invalidate(key: number, _pairNumber: number, domainId: number): number {
    const { keys } = this.domain.device
    if (key !== this.localKey || domainId !== this.domain.id || !keys.isPublished(key))
      return CompletionStatus.LocalQueuePairOperationError
    keys.withdraw(key)
    return CompletionStatus.Success
  }

  destroy(): void {
    const { device } = this.domain
    device.keys.release(this.localKey)
    device.indirectKeys.remove(this.token)
    this.domain.indirectKeys.delete(this)
  }
}
