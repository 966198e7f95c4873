import type { QueuePairType } from './queue-pair-state.ts'

/** What a queue pair can be relied on for. Protocols ask for it, and never guess by the name of a device. */
export interface PairCapabilities {
  /** Requests take effect at the peer in the order of the posts. The bytes within one have no order. */
  readonly ordered: boolean
  /**
   * Once a right was taken back, nothing lands any more, not even of an initiator that was stopped in the middle of a
   * WRITE. The target's side carries out what comes.
   */
  readonly permissions: boolean
  /** The peer carries out atomics. */
  readonly atomics: boolean
  /** Messages and WRITEs carry immediate values. */
  readonly immediate: boolean
  /** A WRITE that has completed is in the memory of the peer. */
  readonly remoteCompletion: boolean
  /** The memory of the peer is in this process's address space, if it was registered with a memory object. */
  readonly loadStore: boolean
}

/** What is left of the capabilities of a device for a queue pair of this type. */
export function capabilitiesOfType(type: QueuePairType, device: PairCapabilities): PairCapabilities {
  if (type !== 'uc' && type !== 'ud') return device
  const unanswered = { ...device, atomics: false, remoteCompletion: false }
  // What it sends goes into receives only, and to anyone.
  return type === 'uc' ? unanswered : { ...unanswered, ordered: false, permissions: false, loadStore: false }
}
