/**
 * What nodes say to each other about a page. Kinds only: how they travel is the channel's business (see
 * ../coherent/coherence-channel.ts). Between two nodes messages keep their order, and bytes pushed ahead of a message
 * are there when it is; between different pairs nothing is promised.
 */
export const MessageKind = {
  // requester -> home
  GetShared: 1,
  GetModified: 2,
  Unblock: 3,
  // old owner -> home
  Downgraded: 5,
  // home -> holder
  Invalidate: 6,
  ForwardShared: 7,
  ForwardModified: 8,
  // holder -> requester
  DataShared: 9,
  DataExclusive: 10,
  DataModified: 11,
  Acknowledge: 12,
  // home -> requester
  Refused: 15,
  NoMemory: 16,
  Grant: 17,
  // evicting node -> home
  PutShared: 18,
  PutClean: 19,
  PutDirty: 20,
  WrittenBack: 21,
  // home -> evicting node
  WriteBack: 22,
  PutAcknowledged: 23,
  // owner -> requester
  DataDirty: 24,
  // requester -> home
  UnblockDirty: 25,
  // ---- token coherence: home -> requester
  Asked: 26,
  // holder -> requester: tokens without bytes, if any; with bytes; with bytes and the owner token
  Answer: 27,
  AnswerData: 28,
  AnswerOwner: 29,
  // holder -> who asks persistently, and home to itself: tokens without bytes; with bytes and the owner token
  Tokens: 30,
  TokensOwner: 31,
  // persistent requester -> all, and their answer
  ActivateShared: 32,
  ActivateModified: 33,
  Deactivate: 34,
  Deactivated: 35,
  // evicting node -> home
  PutOffer: 36,
  PutTokens: 37,
  PutOwner: 38,
} as const
export type MessageKind = (typeof MessageKind)[keyof typeof MessageKind]

const names = new Map(Object.entries(MessageKind).map(([name, kind]) => [kind as number, name]))

/** The name of a kind, for traces. */
export const messageKindName = (kind: number): string => names.get(kind) ?? `kind ${kind}`

const forDirectory: ReadonlySet<MessageKind> = new Set([
  MessageKind.GetShared,
  MessageKind.GetModified,
  MessageKind.Unblock,
  MessageKind.UnblockDirty,
  MessageKind.Downgraded,
  MessageKind.PutShared,
  MessageKind.PutClean,
  MessageKind.PutDirty,
  MessageKind.WrittenBack,
  MessageKind.PutOffer,
  MessageKind.PutTokens,
  MessageKind.PutOwner,
])

/** Kinds that the directory side of a node takes; the others go to its cache side. */
export const isForDirectory = (kind: MessageKind): boolean => forDirectory.has(kind)

/** Kinds of persistent requests: every node takes note of them. */
export const isPersistent = (kind: MessageKind): boolean =>
  kind >= MessageKind.ActivateShared && kind <= MessageKind.Deactivate

const takingAway: ReadonlySet<MessageKind> = new Set([
  MessageKind.Invalidate,
  MessageKind.ForwardShared,
  MessageKind.ForwardModified,
])

/** Kinds that may cost a node a right; while it must hold the page, they wait. */
export const takesAway = (kind: MessageKind): boolean => takingAway.has(kind)

const withBytes: ReadonlySet<MessageKind> = new Set([
  MessageKind.DataShared,
  MessageKind.DataDirty,
  MessageKind.DataExclusive,
  MessageKind.DataModified,
  MessageKind.AnswerData,
  MessageKind.AnswerOwner,
  MessageKind.TokensOwner,
])

/** Kinds ahead of which the page's bytes were pushed into the receiver's frame, because it asked for them. */
export const carriesBytes = (kind: MessageKind): boolean => withBytes.has(kind)

/**
 * Kinds that say that a page's bytes are where they are wanted, or that they may be written. Only these are still taken
 * in after a death: what any other message answers or asks may not have been acted on.
 */
export const settles = (kind: MessageKind): boolean =>
  carriesBytes(kind) ||
  kind === MessageKind.Grant ||
  kind === MessageKind.Downgraded ||
  kind === MessageKind.WrittenBack

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
  /** The rank whose request started this transaction. */
  readonly requester: number
  /**
   * Grant, DataModified, ForwardModified: how many sharers will acknowledge to the requester.
   * Asked: how many will answer. Answer…, Tokens…, PutTokens, PutOwner: how many tokens travel with it, the owner token
   * among them. Refused, NoMemory: the rank without which the page cannot be had.
   */
  readonly count: number
  /** Where the requester wants the bytes. */
  readonly requesterFrame: FrameReference
  /** ForwardShared, WriteBack: where home keeps the page. */
  readonly homeFrame: FrameReference
}

/** Kinds that ask the home for a page. */
export const isRequest = (kind: MessageKind): boolean =>
  kind === MessageKind.GetShared || kind === MessageKind.GetModified

/** What tells who asked for a page that rank `by`, its home, has no memory for it. */
export const refusalOf = (request: CoherenceMessage, by: number): CoherenceMessage => ({
  ...request,
  kind: MessageKind.NoMemory,
  from: by,
  count: by,
})
