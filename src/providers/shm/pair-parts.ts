import type { ProviderQueuePairOptions } from '../queue-pair-contract.ts'
import type { QueuePairType } from '../queue-pair-state.ts'
import { receivesItself } from '../soft/queue-pair-options.ts'
import type { AddressingDevice } from './address-handle.ts'
import type { ShmCompletionQueue } from './completion-queue.ts'
import { type ConnectedParts, ReliableTransport, UnreliableTransport } from './connected-transport.ts'
import { DatagramTransport } from './datagram-transport.ts'
import { DynamicTransport } from './dynamic-transport.ts'
import { BlockKind, BlockWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import { ReceiveRing } from './receive-ring.ts'
import { DatagramReceives, NoReceives, type Receives, SharedQueueReceives } from './receives.ts'
import type { ShmSharedReceiveQueue } from './shared-receive-queue.ts'
import { SilentTransport, type Transport } from './transport.ts'
import type { ShmXrcDomain } from './xrc-domain.ts'
import { XrcTransport } from './xrc-transport.ts'

export interface PairParts extends ConnectedParts {
  readonly device: AddressingDevice
  readonly domainId: number
}

/** How the requests of a type reach their destination. */
export function makeTransport(type: QueuePairType, parts: PairParts): Transport {
  const { device, requester, domainId } = parts
  switch (type) {
    case 'uc':
      return new UnreliableTransport(parts)
    case 'ud':
      return new DatagramTransport(device, requester, domainId)
    case 'xrc-send':
      return new XrcTransport(parts)
    case 'dci':
      return new DynamicTransport(device, requester, domainId)
    case 'dct':
      return new SilentTransport()
    case 'rc':
    case 'xrc-receive':
      return new ReliableTransport(parts)
  }
}

/** Where the receive requests of a queue pair are kept. */
export function makeReceives(options: ProviderQueuePairOptions, block: PairBlock, device: AddressingDevice): Receives {
  const { type, maxReceiveRequests, sharedReceiveQueue } = options
  if (sharedReceiveQueue !== undefined) return new SharedQueueReceives(sharedReceiveQueue as ShmSharedReceiveQueue)
  if (!receivesItself(options)) return new NoReceives()
  return type === 'ud'
    ? new DatagramReceives(block, device.visitors, maxReceiveRequests)
    : new ReceiveRing(block, maxReceiveRequests)
}

/**
 * Receive requests that the block has room for. If they come from elsewhere, it is one, since a ring has at least one
 * slot.
 */
export function ownRequests(options: ProviderQueuePairOptions): number {
  return receivesItself(options) ? options.maxReceiveRequests : 1
}

const kinds: Readonly<Partial<Record<QueuePairType, number>>> = {
  ud: BlockKind.Datagram,
  dct: BlockKind.DynamicTarget,
  'xrc-receive': BlockKind.XrcReceive,
}

/** What senders read of a queue pair in any state. */
export function describeBlock(block: PairBlock, domainId: number, options: ProviderQueuePairOptions): void {
  const { words } = block
  const { type, dcAccessKey } = options
  const receiveQueue = options.receiveQueue as ShmCompletionQueue | undefined
  words[BlockWord.Kind] = kinds[type] ?? BlockKind.Connected
  words[BlockWord.Domain] = domainId
  words[BlockWord.ReceiveQueue] = receiveQueue?.index ?? -1
  words[BlockWord.SharedQueue] = (options.sharedReceiveQueue as ShmSharedReceiveQueue | undefined)?.blockNumber ?? 0
  ;(options.xrcDomain as ShmXrcDomain | undefined)?.describe(words)
  if (dcAccessKey === undefined) return
  words[BlockWord.AccessKey] = Number(BigInt.asIntN(32, dcAccessKey))
  words[BlockWord.AccessKey + 1] = Number(BigInt.asIntN(32, dcAccessKey >> 32n))
}
