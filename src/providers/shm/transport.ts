import type { QueuePairAttributes } from '../contract.ts'
import type { EncodedRequest } from '../encoded-request.ts'
import { Opcode } from '../opcode.ts'
import type { QueuePairType } from '../queue-pair-state.ts'
import type { Peer } from './peer.ts'

/** How requests of one type of queue pair get to where they go. One object per queue pair; types differ here and in their Receives only. */
export interface Transport {
  /** Whose accesses the queue pair waits for before it takes anything away; connected types only. */
  readonly peer: Peer | undefined
  /** Whether a request names a destination that can be used; asked of the types whose requests do. */
  admits(request: EncodedRequest): boolean
  /** INIT -> RTR. Throws ETIMEDOUT where the gid does not answer. */
  connect(attributes: QueuePairAttributes): void
  /** RTR -> RTS. */
  start(attributes: QueuePairAttributes): void
  /** A CompletionStatus, or an Outcome. */
  execute(request: EncodedRequest): number
  /** Code of the time that the receiver wants to be left alone when it has no request posted. */
  readonly rnrTimer: number
  /** Ask to be woken, or no longer, when the receiver posts a request. */
  setWaiting(on: boolean): void
  /** -> RESET: let go of everything. */
  close(): void
}

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

/** What each type sends: IB specification table 35, operations by transport service. */
const sent: Readonly<Record<QueuePairType, number>> = {
  rc: reliable,
  uc: unreliable,
  ud: datagrams,
  'xrc-send': reliable,
  'xrc-receive': 0,
  dci: reliable,
  dct: 0,
}

export function sends(type: QueuePairType, opcode: number): boolean {
  return (sent[type] & (1 << opcode)) !== 0
}

/** What a type sends that is neither work on keys nor names its destination, one bit an opcode. */
export function plainFor(type: QueuePairType): number {
  const special = bits(Opcode.BindMemoryWindow, Opcode.ConfigureIndirectKey, Opcode.LocalInvalidate)
  return type === 'ud' || type === 'dci' ? 0 : sent[type] & ~special
}

/** Whether any type of this device does it. */
export function isOffered(opcode: number): boolean {
  return (reliable & (1 << opcode)) !== 0
}

/** Types where nobody answers a request. */
export function isUnanswered(type: QueuePairType): boolean {
  return type === 'uc' || type === 'ud'
}
