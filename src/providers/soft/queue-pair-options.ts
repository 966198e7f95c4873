import { shown } from '../../native/index.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { ProviderQueuePairOptions, QueuePairCapacities } from '../queue-pair-contract.ts'
import type { QueuePairType } from '../queue-pair-state.ts'
import { MAX_INLINE_BYTES, MAX_REQUESTS, MAX_SEGMENTS } from './limits.ts'

/** Types with a receive queue of their own, unless a shared one takes its place. */
const receiving: readonly QueuePairType[] = ['rc', 'uc', 'ud']

/** True if the queue pair keeps receive requests of its own. */
export function receivesItself(options: ProviderQueuePairOptions): boolean {
  return receiving.includes(options.type) && options.sharedReceiveQueue === undefined
}

/**
 * EINVAL if the options do not fit the device or the type. `sharedIsXrc`: the shared receive queue belongs to an XRC
 * domain.
 */
export function checkQueuePairOptions(options: ProviderQueuePairOptions, sharedIsXrc: boolean): void {
  checkParts(options, sharedIsXrc)
  const ranges: readonly [string, number, number][] = [
    ['maxSendRequests', options.maxSendRequests, MAX_REQUESTS],
    ['maxReceiveRequests', options.maxReceiveRequests, MAX_REQUESTS],
    ['maxSendSegments', options.maxSendSegments, MAX_SEGMENTS],
    ['maxReceiveSegments', options.maxReceiveSegments, MAX_SEGMENTS],
    ['maxInlineBytes', options.maxInlineBytes, MAX_INLINE_BYTES],
  ]
  for (const [name, value, limit] of ranges) {
    if (Number.isInteger(value) && value >= 0 && value <= limit) continue
    throw new VerbsError('ibv_create_qp', Errno.EINVAL, `${name} must be between 0 and ${limit}, not ${shown(value)}`)
  }
}

/** EINVAL if a type lacks what it needs, or is given what it cannot have. */
function checkParts(options: ProviderQueuePairOptions, sharedIsXrc: boolean): void {
  const { type, sharedReceiveQueue: shared, xrcDomain, dcAccessKey } = options
  const takesShared = receiving.includes(type) || type === 'dct'
  refuseIf(!takesShared && shared !== undefined, `queue pairs of type ${type} have no shared receive queue`)
  refuseIf(sharedIsXrc, 'a shared receive queue of an XRC domain serves xrc-receive only, by its number')
  refuseIf(type === 'dct' && shared === undefined, 'a dct needs a sharedReceiveQueue')
  refuseIf(type === 'dct' && dcAccessKey === undefined, 'a dct needs a dcAccessKey')
  refuseIf(
    (type === 'xrc-receive') !== (xrcDomain !== undefined),
    'xrc-receive needs an xrcDomain, and other types take none',
  )
}

function refuseIf(wrong: boolean, why: string): void {
  if (wrong) throw new VerbsError('ibv_create_qp', Errno.EINVAL, why)
}

export function capacitiesOf(options: ProviderQueuePairOptions): QueuePairCapacities {
  const { maxSendRequests, maxReceiveRequests, maxSendSegments, maxReceiveSegments, maxInlineBytes } = options
  return { maxSendRequests, maxReceiveRequests, maxSendSegments, maxReceiveSegments, maxInlineBytes }
}
