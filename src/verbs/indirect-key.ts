import { ArgumentError, mustBe } from '../native/index.ts'
import { Opcode, type ProviderIndirectKey, RequestSlot, SEGMENT_SLOTS, segmentSlot } from '../providers/index.ts'
import { checkRights, exact } from './field-checks.ts'
import { type Children, Closable } from './lifetime.ts'
import type { MemoryDomain, Segment } from './memory-region.ts'
import { PreparedRequest, type SendTarget } from './prepared-request.ts'

/** `length` bytes to use, followed by `skip` bytes to leave out, repeatedly. */
export interface InterleavedPiece extends Segment {
  readonly skip: number
}

/** What an indirect key stands for. */
export type KeyLayout = {
  /** Rights of the indirect key; the pieces' own keys are used as local ones. */
  readonly access: number
  readonly signaled?: boolean
  readonly fence?: boolean
} & (
  | {
      /** One after the other, as mlx5dv_wr_mr_list(3). */
      readonly pieces: readonly Segment[]
    }
  | {
      /** One of each in turn, `repeat` times, as mlx5dv_wr_mr_interleaved(3). */
      readonly interleaved: readonly InterleavedPiece[]
      readonly repeat: number
    }
)

/** A protection domain, as its indirect keys know it. */
export interface KeyDomain extends MemoryDomain {
  /** @internal */
  readonly indirectKeys: Children<IndirectKey>
  createIndirectKey(options: { readonly maxPieces: number }): IndirectKey
}

/**
 * A key for pieces of other regions. Requests address them as if they lay one after the other from address 0. mlx5
 * calls it an indirect mkey (UMR). A work request configures it ({@link QueuePair.prepareConfigureKey}); {@link
 * QueuePair.prepareLocalInvalidate} revokes it.
 */
export class IndirectKey extends Closable {
  readonly label = 'indirect key'
  readonly domain: KeyDomain
  readonly localKey: number
  readonly remoteKey: number
  readonly maxPieces: number
  /** @internal */
  readonly provider: ProviderIndirectKey

  /** @internal Made by {@link ProtectionDomain.createIndirectKey}. */
  constructor(domain: KeyDomain, provider: ProviderIndirectKey) {
    super()
    this.domain = domain
    this.provider = provider
    this.localKey = provider.localKey
    this.remoteKey = provider.remoteKey
    this.maxPieces = provider.maxPieces
  }

  /** Return `length` bytes from `offset` as a segment of a request. */
  segment(offset: number, length: number): Segment {
    return { address: exact('offset', offset), length: exact('length', length), key: this.localKey }
  }

  protected release(): void {
    this.provider.destroy()
    this.domain.indirectKeys.remove(this)
  }
}

/** The work request that gives an indirect key its layout. */
export class PreparedKeyLayout extends PreparedRequest {
  readonly indirectKey: IndirectKey

  /** @internal Made by {@link QueuePair.prepareConfigureKey}. */
  constructor(pair: SendTarget, indirectKey: IndirectKey, layout: KeyLayout) {
    indirectKey.assertOpen()
    checkRights('layout.access', layout.access ?? Number.NaN)
    const { access, signaled = true, fence = false } = layout
    const pieces = 'pieces' in layout ? layout.pieces : layout.interleaved
    if (!Array.isArray(pieces)) throw mustBe('layout.pieces', 'an array of segments', pieces)
    checkPieces(pieces, indirectKey.maxPieces)
    const capacity = pieces.length + Math.ceil(pieces.length / SEGMENT_SLOTS)
    super(pair, Opcode.ConfigureIndirectKey, { local: pieces, signaled, fence }, capacity)
    this.indirectKey = indirectKey
    const { words } = this.encoded
    words[RequestSlot.IndirectKey] = indirectKey.provider.token
    words[RequestSlot.Access] = access
    words[RequestSlot.RepeatCount] = 0
    if ('pieces' in layout) return
    words[RequestSlot.RepeatCount] = positive('repeat', layout.repeat)
    layout.interleaved.forEach(({ skip }, index) => {
      words[segmentSlot(pieces.length) + index] = exact('skip', skip)
    })
  }
}

function checkPieces(pieces: readonly Segment[], most: number): void {
  if (pieces.length < 1 || pieces.length > most)
    throw new ArgumentError(
      'pieces',
      `pieces of this key must be 1 to ${most}, not ${pieces.length}; create it with a larger maxPieces`,
    )
  for (const piece of pieces) positive('length', piece?.length)
}

function positive(name: string, value: number): number {
  if (exact(name, value) === 0) throw new ArgumentError(name, `${name} must be at least 1`)
  return value
}
