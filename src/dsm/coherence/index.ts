/**
 * Coherence protocols as tables, and the synchronous machine that runs them.
 *
 * A {@link Protocol} is data. A {@link CoherenceNode} is one member's part in it, and reaches the world through a
 * {@link NodePort} only. The agent gives it real frames, an mmu and queue pairs; the model checker gives it a model of
 * them.
 */

export type { TransitionWatch } from './cache-controller.ts'
export { CoherenceNode, type NodeOptions, type NodePort, type SavedNode } from './coherence-node.ts'
export { EpochNode, type EpochPort, livingHome, type Restoration } from './epoch-node.ts'

export { protocols } from './known-protocols.ts'
export {
  type CoherenceMessage,
  carriesBytes,
  type FrameReference,
  isForDirectory,
  isPersistent,
  isRequest,
  MessageKind,
  messageKindName,
  noFrame,
  refusalOf,
} from './message.ts'
export type { Protocol, Right } from './protocol.ts'
export {
  cacheActionWords,
  cacheEvents,
  cacheEventWords,
  directoryActionWords,
  directoryEvents,
  directoryEventWords,
} from './protocol.ts'
export { directory } from './protocols/directory.ts'
export { mesi } from './protocols/mesi.ts'

export { claimCodes, type RecoveryMessage, verdictCodes } from './recovery-message.ts'

export type { EpochMembers } from './region-recovery.ts'

export type { TokenCount } from './token-count.ts'
export { UnopenedRegion } from './unopened-region.ts'
