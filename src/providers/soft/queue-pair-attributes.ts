import { Errno, TransitionError, VerbsError } from '../errors.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import {
  Attribute,
  type AttributeName,
  judgeTransition,
  type QueuePairState,
  type QueuePairType,
  stateNames,
} from '../queue-pair-state.ts'
import { MAX_READ_ATOMIC } from './limits.ts'

/** The attribute mask of the properties present. EINVAL for a name that is not an attribute. */
export function attributeMask(attributes: QueuePairAttributes): number {
  let mask = 0
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue
    const bit = Attribute[name as AttributeName] as number | undefined
    if (bit === undefined) throw new VerbsError('ibv_modify_qp', Errno.EINVAL, `there is no attribute ${name}`)
    mask |= bit
  }
  return mask
}

const PATH_MTUS = [256, 512, 1024, 2048, 4096]
const within =
  (low: number, high: number) =>
  (value: number): boolean =>
    Number.isInteger(value) && value >= low && value <= high

/** The values that each attribute takes on a software device, and their description. */
const ranges: Readonly<Partial<Record<AttributeName, readonly [(value: number) => boolean, string]>>> = {
  state: [within(0, 6), 'a QueuePairState'],
  access: [within(0, 0xffffffff), 'Access bits'],
  partitionKeyIndex: [within(0, 0), '0'],
  port: [within(1, 1), '1'],
  pathMtu: [(value) => PATH_MTUS.includes(value), PATH_MTUS.join(', ')],
  timeout: [within(0, 31), '0..31'],
  retryCount: [within(0, 7), '0..7'],
  rnrRetry: [within(0, 7), '0..7'],
  receivePsn: [within(0, 0xffffff), '24 bits'],
  sendPsn: [within(0, 0xffffff), '24 bits'],
  maxReadAtomic: [within(0, MAX_READ_ATOMIC), `0..${MAX_READ_ATOMIC}`],
  maxDestinationReadAtomic: [within(0, MAX_READ_ATOMIC), `0..${MAX_READ_ATOMIC}`],
  minRnrTimer: [within(0, 31), '0..31'],
  destinationQueuePair: [within(0, 0xffffff), '24 bits'],
}

/** EINVAL, naming the attribute, if a value is out of range. */
function checkAttributeValues(attributes: QueuePairAttributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    const range = ranges[name as AttributeName]
    if (value === undefined || range === undefined || range[0](value as number)) continue
    throw new VerbsError('ibv_modify_qp', Errno.EINVAL, `${name} must be ${range[1]}, not ${String(value)}`)
  }
}

/**
 * Check what a modify may do. Returns the wanted state. If it throws VerbsError or TransitionError, nothing may change.
 */
export function checkModify(
  type: QueuePairType,
  state: QueuePairState,
  attributes: QueuePairAttributes,
): QueuePairState {
  const mask = attributeMask(attributes)
  const wanted = attributes.state ?? state
  const { currentState } = attributes
  if (currentState !== undefined && currentState !== state) {
    const what = `the state is ${stateNames[state]}, not ${stateNames[currentState]} as currentState says`
    throw new VerbsError('ibv_modify_qp', Errno.EINVAL, what)
  }
  checkAttributeValues(attributes)
  const { legal, missing, extra } = judgeTransition(type, state, wanted, mask)
  if (legal && missing.length + extra.length === 0) return wanted
  throw new TransitionError(stateNames[state]!, stateNames[wanted]!, missing, extra, legal)
}
