import type { ProviderQueuePairOptions } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { QueuePairType } from '../queue-pair-state.ts'
import type { Block } from './block.ts'
import { type ConnectedParts, ReliableTransport, UnreliableTransport } from './connected-transport.ts'
import { DatagramTransport } from './datagram-transport.ts'
import type { ShmDevice } from './device.ts'
import { DynamicTransport } from './dynamic-transport.ts'
import { ReceiveQueue } from './receive-queue.ts'
import { DatagramReceives, NoReceives, type Receives, SharedReceives } from './receives.ts'
import type { ShmSharedReceiveQueue } from './shared-receive-queue.ts'
import { SilentTransport } from './silent-transport.ts'
import type { Transport } from './transport.ts'
import { XrcTransport } from './xrc-transport.ts'

export interface PairParts extends ConnectedParts {
  readonly domainId: number
}

/** How the requests of a type get to where they go. */
export function makeTransport(type: QueuePairType, parts: PairParts): Transport {
  const { device, initiator, domainId } = parts
  switch (type) {
    case 'uc':
      return new UnreliableTransport(parts)
    case 'ud':
      return new DatagramTransport(device, initiator, domainId)
    case 'xrc-send':
      return new XrcTransport(parts)
    case 'dci':
      return new DynamicTransport(device, initiator, domainId)
    case 'dct':
      return new SilentTransport()
    case 'rc':
    case 'xrc-receive':
      return new ReliableTransport(parts)
  }
}

/** Types with a receive queue of their own, unless a shared one stands in for it. */
const receiving: readonly QueuePairType[] = ['rc', 'uc', 'ud']

export function receivesItself(options: ProviderQueuePairOptions): boolean {
  return receiving.includes(options.type) && options.sharedReceiveQueue === undefined
}

/** Where the receive requests of a queue pair are kept. */
export function makeReceives(options: ProviderQueuePairOptions, block: Block, device: ShmDevice): Receives {
  const { type, maxReceiveRequests, sharedReceiveQueue } = options
  if (sharedReceiveQueue !== undefined) return new SharedReceives(sharedReceiveQueue as ShmSharedReceiveQueue)
  if (!receivesItself(options)) return new NoReceives()
  return type === 'ud'
    ? new DatagramReceives(block, device.visitors, maxReceiveRequests)
    : new ReceiveQueue(block, maxReceiveRequests)
}

/** EINVAL where a type lacks what it needs, or is given what it cannot have. */
export function checkParts(options: ProviderQueuePairOptions): void {
  const { type, sharedReceiveQueue, xrcDomain, dcAccessKey } = options
  const shared = sharedReceiveQueue as ShmSharedReceiveQueue | undefined
  const takesShared = receiving.includes(type) || type === 'dct'
  refuseIf(!takesShared && shared !== undefined, `queue pairs of type ${type} have no shared receive queue`)
  refuseIf(
    shared?.xrcDomain !== undefined,
    'a shared receive queue of an XRC domain serves xrc-receive only, by its number',
  )
  refuseIf(type === 'dct' && shared === undefined, 'a dct needs a sharedReceiveQueue')
  refuseIf(type === 'dct' && dcAccessKey === undefined, 'a dct needs a dcAccessKey')
  refuseIf((type === 'xrc-receive') !== (xrcDomain !== undefined), 'an xrcDomain is for xrc-receive, which needs one')
}

function refuseIf(wrong: boolean, why: string): void {
  if (wrong) throw new VerbsError('ibv_create_qp', Errno.EINVAL, why)
}
