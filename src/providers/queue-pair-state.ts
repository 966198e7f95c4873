/**
 * The queue pair state machine as data: which attributes each transition requires and allows (ibv_modify_qp(3), the
 * kernel's qp_state_table). The shm provider enforces it, the nouns explain failures by it, the tests enumerate it.
 */

/** States; the numbers of `enum ibv_qp_state`. */
export const QueuePairState = {
  Reset: 0,
  Init: 1,
  ReadyToReceive: 2,
  ReadyToSend: 3,
  SendQueueDrained: 4,
  SendQueueError: 5,
  Error: 6,
} as const
export type QueuePairState = (typeof QueuePairState)[keyof typeof QueuePairState]

/** RESET, INIT, RTR, … by number, as in the man pages. */
export const stateNames: readonly string[] = ['RESET', 'INIT', 'RTR', 'RTS', 'SQD', 'SQE', 'ERR']

/**
 * Queue pair types; the numbers of `enum ibv_qp_type`. There the two ends of mlx5's dynamically connected transport
 * share one number (IBV_QPT_DRIVER); here the target's has the next bit set.
 */
export const QueuePairType = { rc: 2, uc: 3, ud: 4, 'xrc-send': 9, 'xrc-receive': 10, dci: 0xff, dct: 0x1ff } as const
export type QueuePairType = keyof typeof QueuePairType

/** Attribute mask bits; those of `enum ibv_qp_attr_mask`. */
export const Attribute = {
  state: 0x1,
  currentState: 0x2,
  sqdNotify: 0x4,
  access: 0x8,
  partitionKeyIndex: 0x10,
  port: 0x20,
  queueKey: 0x40,
  addressVector: 0x80,
  pathMtu: 0x100,
  timeout: 0x200,
  retryCount: 0x400,
  rnrRetry: 0x800,
  receivePsn: 0x1000,
  maxReadAtomic: 0x2000,
  alternatePath: 0x4000,
  minRnrTimer: 0x8000,
  sendPsn: 0x10000,
  maxDestinationReadAtomic: 0x20000,
  pathMigrationState: 0x40000,
  destinationQueuePair: 0x100000,
} as const
export type AttributeName = keyof typeof Attribute

/** One legal transition of one type. `state` itself is always required and not listed. */
export interface Transition {
  readonly from: QueuePairState
  readonly to: QueuePairState
  readonly required: number
  readonly optional: number
}

const A = Attribute
const S = QueuePairState
const initConnected = A.partitionKeyIndex | A.port | A.access
const initDatagram = A.partitionKeyIndex | A.port | A.queueKey
const receiveConnected = A.addressVector | A.pathMtu | A.destinationQueuePair | A.receivePsn
const receiveReliable = receiveConnected | A.maxDestinationReadAtomic | A.minRnrTimer
const receiveOptional = A.partitionKeyIndex | A.access | A.alternatePath
const sendReliable = A.sendPsn | A.timeout | A.retryCount | A.rnrRetry | A.maxReadAtomic
const sendOptionalUnreliable = A.currentState | A.access | A.alternatePath | A.pathMigrationState
const sendOptionalReliable = sendOptionalUnreliable | A.minRnrTimer
const drainedReliable =
  A.port |
  A.addressVector |
  A.timeout |
  A.retryCount |
  A.rnrRetry |
  A.maxReadAtomic |
  A.maxDestinationReadAtomic |
  A.alternatePath |
  A.access |
  A.partitionKeyIndex |
  A.minRnrTimer |
  A.pathMigrationState
const drainedUnreliable = A.addressVector | A.alternatePath | A.access | A.partitionKeyIndex | A.pathMigrationState

/** The target of XRC is only a responder: it neither retries nor reads. */
const drainedTarget = drainedReliable & ~(A.retryCount | A.rnrRetry | A.maxReadAtomic)
/** The initiator of XRC is only a requester. */
const drainedInitiator = drainedReliable & ~(A.maxDestinationReadAtomic | A.minRnrTimer)
const initDynamic = A.partitionKeyIndex | A.port

function row(from: QueuePairState, to: QueuePairState, required: number, optional: number): Transition {
  return { from, to, required, optional }
}

/**
 * Rows for each type. `findTransition` adds transitions to RESET and ERR, because nearly every state has them.
 * DCI and DCT are not in the kernel's common table: theirs are mlx5's (modify_dci_qp_is_ok, mlx5_ib_modify_dct).
 */
export const transitions: Readonly<Record<QueuePairType, readonly Transition[]>> = {
  rc: [
    row(S.Reset, S.Init, initConnected, 0),
    row(S.Init, S.Init, 0, initConnected),
    row(S.Init, S.ReadyToReceive, receiveReliable, receiveOptional),
    row(S.ReadyToReceive, S.ReadyToSend, sendReliable, sendOptionalReliable),
    row(S.ReadyToSend, S.ReadyToSend, 0, sendOptionalReliable),
    row(S.ReadyToSend, S.SendQueueDrained, 0, A.sqdNotify),
    row(S.SendQueueDrained, S.ReadyToSend, 0, sendOptionalReliable),
    row(S.SendQueueDrained, S.SendQueueDrained, 0, drainedReliable),
  ],
  uc: [
    row(S.Reset, S.Init, initConnected, 0),
    row(S.Init, S.Init, 0, initConnected),
    row(S.Init, S.ReadyToReceive, receiveConnected, receiveOptional),
    row(S.ReadyToReceive, S.ReadyToSend, A.sendPsn, sendOptionalUnreliable),
    row(S.ReadyToSend, S.ReadyToSend, 0, sendOptionalUnreliable),
    row(S.ReadyToSend, S.SendQueueDrained, 0, A.sqdNotify),
    row(S.SendQueueDrained, S.ReadyToSend, 0, sendOptionalUnreliable),
    row(S.SendQueueDrained, S.SendQueueDrained, 0, drainedUnreliable),
    row(S.SendQueueError, S.ReadyToSend, 0, A.currentState | A.access),
  ],
  ud: [
    row(S.Reset, S.Init, initDatagram, 0),
    row(S.Init, S.Init, 0, initDatagram),
    row(S.Init, S.ReadyToReceive, 0, A.partitionKeyIndex | A.queueKey),
    row(S.ReadyToReceive, S.ReadyToSend, A.sendPsn, A.currentState | A.queueKey),
    row(S.ReadyToSend, S.ReadyToSend, 0, A.currentState | A.queueKey),
    row(S.ReadyToSend, S.SendQueueDrained, 0, A.sqdNotify),
    row(S.SendQueueDrained, S.ReadyToSend, 0, A.currentState | A.queueKey),
    row(S.SendQueueDrained, S.SendQueueDrained, 0, A.partitionKeyIndex | A.queueKey),
    row(S.SendQueueError, S.ReadyToSend, 0, A.currentState | A.queueKey),
  ],
  'xrc-send': [
    row(S.Reset, S.Init, initConnected, 0),
    row(S.Init, S.Init, 0, initConnected),
    row(S.Init, S.ReadyToReceive, receiveConnected, receiveOptional),
    row(S.ReadyToReceive, S.ReadyToSend, sendReliable, sendOptionalUnreliable),
    row(S.ReadyToSend, S.ReadyToSend, 0, sendOptionalUnreliable),
    row(S.ReadyToSend, S.SendQueueDrained, 0, A.sqdNotify),
    row(S.SendQueueDrained, S.ReadyToSend, 0, sendOptionalUnreliable),
    row(S.SendQueueDrained, S.SendQueueDrained, 0, drainedInitiator),
  ],
  'xrc-receive': [
    row(S.Reset, S.Init, initConnected, 0),
    row(S.Init, S.Init, 0, initConnected),
    row(S.Init, S.ReadyToReceive, receiveReliable, receiveOptional),
    row(S.ReadyToReceive, S.ReadyToSend, A.sendPsn | A.timeout, sendOptionalReliable),
    row(S.ReadyToSend, S.ReadyToSend, 0, sendOptionalReliable),
    row(S.ReadyToSend, S.SendQueueDrained, 0, A.sqdNotify),
    row(S.SendQueueDrained, S.ReadyToSend, 0, sendOptionalReliable),
    row(S.SendQueueDrained, S.SendQueueDrained, 0, drainedTarget),
  ],
  dci: [
    row(S.Reset, S.Init, initDynamic, 0),
    row(S.Init, S.Init, 0, initDynamic),
    row(S.Init, S.ReadyToReceive, A.pathMtu, A.partitionKeyIndex | A.addressVector),
    row(S.ReadyToReceive, S.ReadyToSend, sendReliable, A.minRnrTimer),
    row(S.ReadyToSend, S.ReadyToSend, 0, A.minRnrTimer),
  ],
  dct: [
    row(S.Reset, S.Init, initConnected, 0),
    row(S.Init, S.ReadyToReceive, A.minRnrTimer | A.addressVector | A.pathMtu, 0),
  ],
}

/** The transition, or undefined if there is none. A queue pair in RESET has nothing that could be in error. */
export function findTransition(type: QueuePairType, from: number, to: number): Transition | undefined {
  if (to === S.Reset || (to === S.Error && from !== S.Reset)) return row(from as QueuePairState, to, 0, 0)
  return transitions[type].find((each) => each.from === from && each.to === to)
}

/** The names in a mask. */
export function attributeNames(mask: number): AttributeName[] {
  return (Object.keys(Attribute) as AttributeName[]).filter((name) => (mask & Attribute[name]) !== 0)
}

/** What is wrong with a wanted transition. */
export interface TransitionVerdict {
  readonly legal: boolean
  readonly missing: readonly AttributeName[]
  readonly extra: readonly AttributeName[]
}

/** Judge a modify by the table. It may be carried out if it is legal, with nothing missing and nothing extra. */
export function judgeTransition(type: QueuePairType, from: number, to: number, mask: number): TransitionVerdict {
  const given = mask & ~Attribute.state
  const transition = findTransition(type, from, to)
  if (transition === undefined) return { legal: false, missing: [], extra: [] }
  const missing = attributeNames(transition.required & ~given)
  const extra = attributeNames(given & ~(transition.required | transition.optional))
  return { legal: true, missing, extra }
}
