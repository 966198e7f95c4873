/**
 * Coherence protocols as tables, and the synchronous machine that runs them.
 *
 * A {@link Protocol} is data. A {@link CoherenceNode} is one member's part in it, and reaches the world through a
 * {@link NodePort} only. The agent gives it real frames, an mmu and queue pairs; the model checker gives it a model of
 * them.
 */

export type { TransitionWatch } from './cache-controller.ts'
export { CoherenceNode, type NodeOptions, type NodePort, type SavedNode } from './coherence-node.ts'
export { EpochNode, type EpochNodeOptions, type EpochPort, livingHome, type Restoration } from './epoch-node.ts'
export { ProtocolError } from './errors.ts'
export { protocols } from './known-protocols.ts'
export {
  type CoherenceMessage,
  carriesBytes,
  type FrameReference,
  isForDirectory,
  MessageKind,
  messageKindName,
  noFrame,
  takesAway,
} from './message.ts'
export type { CacheRow, Cell, DirectoryRow, Protocol, Recovery, Right, Worth } from './protocol.ts'
export { type CacheEvent, cacheEvents, type DirectoryEvent, directoryEvents } from './protocol.ts'
export { directory } from './protocols/directory.ts'
export { mesi } from './protocols/mesi.ts'
export { moesi } from './protocols/moesi.ts'
export { token } from './protocols/token.ts'
export { type Claim, claimCodes, type RecoveryMessage, type Verdict, verdictCodes } from './recovery-message.ts'
export { judge, type PageVerdict, type RankClaim, verdictFor } from './recovery-verdict.ts'
export { type EpochMembers, type RecoveryHost, RegionRecovery } from './region-recovery.ts'
export type { Starver } from './starvers.ts'
export type { TokenCount } from './token-count.ts'
export { UnopenedRegion } from './unopened-region.ts'
