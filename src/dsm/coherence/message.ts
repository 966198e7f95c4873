/**
 * What nodes say to each other about a page. Kinds only: how they travel is the channel's business (see ../coherence-channel.ts).
 * Between two nodes messages keep their order; between different pairs nothing is promised.
 */
export const MessageKind = {
  // requester -> home
  GetShared: 1,
  GetModified: 2,
  Unblock: 3,
  UnblockLost: 4,
  // old owner -> home
  Downgraded: 5,
  // home -> holder
  Invalidate: 6,
  ForwardShared: 7,
  ForwardModified: 8,
  // holder -> requester
  DataShared: 9,
  DataExclusive: 10,
  Grant: 11,
  Acknowledge: 12,
  // home -> requester
  Abandoned: 13,
  AcknowledgeForDead: 14,
  Refused: 15,
  NoMemory: 16,
} as const
export type MessageKind = (typeof MessageKind)[keyof typeof MessageKind]

const names = new Map(Object.entries(MessageKind).map(([name, kind]) => [kind as number, name]))

/** The name of a kind, for traces. */
export const messageKindName = (kind: number): string => names.get(kind) ?? `kind ${kind}`

/** Kinds that the directory side of a node takes; the others go to its cache side. */
export const isForDirectory = (kind: MessageKind): boolean => kind <= MessageKind.Downgraded

/** Where a page's bytes lie at a node: what a peer needs to write into it. */
export interface FrameReference {
  readonly address: number
  readonly key: number
}

export const noFrame: FrameReference = { address: 0, key: 0 }

export interface CoherenceMessage {
  readonly kind: MessageKind
  readonly page: number
  /** The rank that sent it. */
  readonly from: number
  /** The rank whose request started this transaction. AcknowledgeForDead: the dead sharer. */
  readonly requester: number
  /** Grant: how many sharers will acknowledge to the requester. Abandoned, Refused, NoMemory: the rank without which the page cannot be had. */
  readonly acks: number
  /** Where the requester wants the bytes. */
  readonly requesterFrame: FrameReference
  /** ForwardShared: where home keeps the page. */
  readonly homeFrame: FrameReference
}
