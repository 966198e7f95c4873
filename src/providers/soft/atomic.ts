import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Opcode } from '../opcode.ts'

const ALL = 2n ** 64n - 1n

/** Carry out one 64-bit atomic on `words[index]`. Returns the old value. */
export function changeAtomically(words: BigInt64Array, index: number, request: EncodedRequest, opcode: number): bigint {
  const { bits } = request
  const operand = bits[RequestSlot.CompareAdd]!
  switch (opcode) {
    case Opcode.FetchAdd:
      return Atomics.add(words, index, operand)
    case Opcode.CompareSwap:
      return Atomics.compareExchange(words, index, operand, bits[RequestSlot.Swap]!)
    default:
      return changeMasked(words, index, request, opcode)
  }
}

/** A function of its own: otherwise the other opcodes would also allocate what its closures capture. */
function changeMasked(words: BigInt64Array, index: number, request: EncodedRequest, opcode: number): bigint {
  const { bits } = request
  const operand = bits[RequestSlot.CompareAdd]!
  if (opcode === Opcode.MaskedFetchAdd)
    return replace(words, index, (old) => addFields(old, operand, bits[RequestSlot.BoundaryMask]!))
  return replace(words, index, (old) => swapFields(old, operand, request))
}

/** If the bits under the compare mask are equal, replace those under the swap mask; otherwise undefined. */
function swapFields(old: bigint, compare: bigint, request: EncodedRequest): bigint | undefined {
  const { bits } = request
  if (((old ^ compare) & bits[RequestSlot.CompareMask]!) !== 0n) return undefined
  const mask = bits[RequestSlot.SwapMask]!
  return (old & (ALL ^ mask)) | (bits[RequestSlot.Swap]! & mask)
}

/**
 * Add without a carry out of any bit of `boundaries`, the highest of each field. Those bits are added last, by
 * themselves, so there is nothing left to carry. Bit 63 ends the last field in any case.
 */
function addFields(old: bigint, add: bigint, boundaries: bigint): bigint {
  const inner = ALL ^ boundaries
  return (((old & inner) + (add & inner)) & ALL) ^ ((old ^ add) & boundaries)
}

/** Replace the word by `change` of it, and retry if the word changed in the meantime. Returns the old value. */
function replace(words: BigInt64Array, index: number, change: (old: bigint) => bigint | undefined): bigint {
  for (let seen = Atomics.load(words, index); ; ) {
    const next = change(BigInt.asUintN(64, seen))
    if (next === undefined) return seen
    const found = Atomics.compareExchange(words, index, seen, next)
    if (found === seen) return seen
    seen = found
  }
}
