import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { CompletionFlag, Opcode, RequestFlag } from '../opcode.ts'
import type { QueuePairCapacities } from '../queue-pair-contract.ts'
import { QueuePairState, type QueuePairType } from '../queue-pair-state.ts'
import { MAX_PIECES } from './pieces.ts'

function bits(...opcodes: readonly number[]): number {
  return opcodes.reduce((mask, opcode) => mask | (1 << opcode), 0)
}

const datagrams = bits(Opcode.Send, Opcode.SendWithImmediate)
const unreliable =
  datagrams |
  bits(
    Opcode.Write,
    Opcode.WriteWithImmediate,
    Opcode.SendWithInvalidate,
    Opcode.LocalInvalidate,
    Opcode.BindMemoryWindow,
  )
const reliable =
  unreliable |
  bits(
    Opcode.Read,
    Opcode.CompareSwap,
    Opcode.FetchAdd,
    Opcode.MaskedCompareSwap,
    Opcode.MaskedFetchAdd,
    Opcode.ConfigureIndirectKey,
  )

/** The opcodes that each type sends: IB specification table 35, operations by transport service. */
const sent: Readonly<Record<QueuePairType, number>> = {
  rc: reliable,
  uc: unreliable,
  ud: datagrams,
  'xrc-send': reliable,
  'xrc-receive': 0,
  dci: reliable,
  dct: 0,
}

function sends(type: QueuePairType, opcode: number): boolean {
  return (sent[type] & (1 << opcode)) !== 0
}

/** The opcodes of a type that neither work on keys nor name their destination, as one bit each. */
export function plainFor(type: QueuePairType): number {
  const special = bits(Opcode.BindMemoryWindow, Opcode.ConfigureIndirectKey, Opcode.LocalInvalidate)
  return type === 'ud' || type === 'dci' ? 0 : sent[type] & ~special
}

/** True if any type of the software devices supports the opcode. */
function isOffered(opcode: number): boolean {
  return (reliable & (1 << opcode)) !== 0
}

/** True for types whose requests are not answered. */
export function isUnanswered(type: QueuePairType): boolean {
  return type === 'uc' || type === 'ud'
}

/** States in which what is posted to the send queue is flushed. */
export function isFailed(state: QueuePairState): boolean {
  return state === QueuePairState.Error || state === QueuePairState.SendQueueError
}

export function isAtomic(opcode: number): boolean {
  return (
    opcode === Opcode.CompareSwap ||
    opcode === Opcode.FetchAdd ||
    opcode === Opcode.MaskedCompareSwap ||
    opcode === Opcode.MaskedFetchAdd
  )
}

/** The completion flags of the receive that a SEND of this opcode consumes. */
export function receiveFlags(opcode: number): number {
  if (opcode === Opcode.SendWithImmediate) return CompletionFlag.WithImmediate
  return opcode === Opcode.SendWithInvalidate ? CompletionFlag.WithInvalidate : 0
}

/** Why a request may not be posted to a queue pair of that type, whatever its state. Returns 0 or an errno. */
export function refusal(
  type: QueuePairType,
  capacities: QueuePairCapacities,
  request: EncodedRequest,
  opcode: number,
): number {
  const { words } = request
  if (!isOffered(opcode)) return Errno.EOPNOTSUPP
  if (!sends(type, opcode)) return Errno.EINVAL
  const limit = opcode === Opcode.ConfigureIndirectKey ? MAX_PIECES : capacities.maxSendSegments
  if (words[RequestSlot.SegmentCount]! > limit) return Errno.EINVAL
  const inline = (words[RequestSlot.Flags]! & RequestFlag.Inline) !== 0
  return inline && !inlineFits(request, opcode, capacities.maxInlineBytes) ? Errno.EINVAL : 0
}

function inlineFits(request: EncodedRequest, opcode: number, maxInlineBytes: number): boolean {
  if (opcode >= Opcode.Read && opcode !== Opcode.SendWithInvalidate) return false
  let total = 0
  for (let index = 0; index < request.words[RequestSlot.SegmentCount]!; index += 1)
    total += request.sources[index]?.length ?? 0
  return total <= maxInlineBytes
}
