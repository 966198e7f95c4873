import { Opcode, RequestSlot } from '../providers/index.ts'
import { word64 } from './field-checks.ts'
import { PreparedRequest, type RemoteTarget, type SendRequestFields, type SendTarget } from './prepared-request.ts'

/** 64 ones. */
const ALL = 2n ** 64n - 1n

export interface MaskedCompareSwapFields {
  readonly remote: RemoteTarget
  readonly compare: bigint
  /** Bits to compare. Default: all. */
  readonly compareMask?: bigint
  readonly swap: bigint
  /** Bits to replace if the compared ones are equal. Default: all. */
  readonly swapMask?: bigint
}

export interface MaskedFetchAddFields {
  readonly remote: RemoteTarget
  readonly add: bigint
  /** The highest bit of each field, which no carry leaves. Default 0: one field of 64 bits. */
  readonly boundaries?: bigint
}

/** `local` and the flags of an atomic request, without its operands. */
export type AtomicRequestFields = Pick<SendRequestFields, 'local' | 'signaled' | 'fence'>

/** A masked compare-and-swap. Masks and operands can be patched between posts. */
export class PreparedMaskedCompareSwap extends PreparedRequest {
  /** @internal Made by {@link QueuePair.prepareMaskedCompareSwap}. */
  constructor(pair: SendTarget, fields: AtomicRequestFields & MaskedCompareSwapFields) {
    super(pair, Opcode.MaskedCompareSwap, fields)
    this.compareMask = fields.compareMask ?? ALL
    this.swapMask = fields.swapMask ?? ALL
  }

  set compareMask(value: bigint) {
    this.encoded.bits[RequestSlot.CompareMask] = word64('compareMask', value)
  }

  set swapMask(value: bigint) {
    this.encoded.bits[RequestSlot.SwapMask] = word64('swapMask', value)
  }
}

/** A fetch-and-add on several fields of one word. */
export class PreparedMaskedFetchAdd extends PreparedRequest {
  /** @internal Made by {@link QueuePair.prepareMaskedFetchAdd}. */
  constructor(pair: SendTarget, fields: AtomicRequestFields & MaskedFetchAddFields) {
    super(pair, Opcode.MaskedFetchAdd, fields)
    this.boundaries = fields.boundaries ?? 0n
  }

  set boundaries(value: bigint) {
    this.encoded.bits[RequestSlot.BoundaryMask] = word64('boundaries', value)
  }
}
