/**
 * Coherence protocols as tables, and the synchronous machine that runs them.
 *
 * A {@link Protocol} is data; a {@link CoherenceNode} is one member's part in it, and reaches the world through a {@link NodePort} only:
 * the agent gives it real frames, an mmu and queue pairs, the explorer gives it a model of them.
 */
export { CoherenceNode, type NodeOptions, type NodePort } from './coherence-node.ts'
export { ProtocolError } from './errors.ts'
export { protocols } from './known-protocols.ts'
export { mesi } from './mesi.ts'
export {
  type CoherenceMessage,
  type FrameReference,
  isForDirectory,
  MessageKind,
  messageKindName,
  noFrame,
} from './message.ts'
export type { Protocol, Right } from './protocol.ts'
