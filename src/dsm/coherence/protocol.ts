/**
 * What a coherence protocol is: two tables. One drives the copy of a page at a node (the *cache*), one the *directory*
 * entry at its home. The same tables drive the agent, the model checker, the simulator and the pages of documentation,
 * so they hold names, never functions.
 *
 * Terms follow "A Primer on Memory Consistency and Cache Coherence" (Nagarajan, Sorin, Hill, Wood; 2nd ed., chapters
 * 6-8).
 */

/** What may happen to a page at a node. */
export const cacheEvents = [
  'Load', // a thread here wants to read
  'Store', // a thread here wants to write
  'Evict', // this node wants the memory of its copy for something else
  'EvictOwner', // the same, where the owner token has to go home
  'EvictNothing', // the same, where no token has to go home
  'DataShared', // the bytes are in our frame; we are one of several readers
  'DataDirty', // the same, but home's memory lacks them: another node answers for them
  'DataExclusive', // the bytes are in our frame; there is no other copy, and home's memory is valid
  // the right to write (and the bytes, where we lacked them), but invalidated sharers have yet to acknowledge
  'GrantMore',
  'GrantLast', // the right to write, and every acknowledgement is here
  'AckMore', // a sharer has invalidated its copy; the grant or other acknowledgements are missing
  'AckLast', // the last thing missing was this acknowledgement
  'Invalidate', // home: another node will write
  'ForwardShared', // home: another node wants to read what we own
  'ForwardModified', // home: another node wants to own what we own
  'WriteBack', // home: write what you evict into my frame
  'PutAcknowledged', // home: what we evicted is none of our business any more
  // ---- of token coherence
  'Asked', // home: it has asked the nodes that may hold tokens; each will answer
  'AnswerMore', // one has answered, with tokens or without; others have yet to
  'AnsweredAll', // the last answer: now every token is here
  'AnsweredOwner', // the last answer: the owner token and the bytes are here, but not every token
  'AnsweredShared', // the last answer: a token and the bytes are here
  'AnsweredShort', // the last answer: no bytes are here
  'TokensAll', // tokens that were not an answer: now every token is here
  'TokensOwner', // the same: the owner token and the bytes are here, but not every token
  'TokensShared', // the same: a token and the bytes are here
  'TokensBare', // the same: no bytes are here
  'ForwardSharedLast', // home: another node wants to read, and the owner token is the only one here
  'ForwardMiss', // home: another node wants what is not here
  'StarvingShared', // one that reads persistently comes first; the owner token is here, and others
  'StarvingSharedLast', // the same; the owner token is the only one here
  'StarvingModified', // one that writes persistently comes first; tokens are here
  'TurnCame', // those that starved when we last did have been served: we may ask persistently
  'Refused', // home: the page is lost; nothing has changed
  'NoMemory', // home: there is no memory for the page there; nothing has changed
] as const
export type CacheEvent = (typeof cacheEvents)[number]

/** What may happen to a page at its home. */
export const directoryEvents = [
  'GetShared',
  'GetModified', // from a node without a copy
  'Upgrade', // from a sharer: it has the bytes
  'UpgradeOwner', // from the owner, whose copy others read
  'PutShared', // a sharer evicts its copy; others remain
  'PutSharedLast', // the only sharer evicts its copy
  'PutClean', // the owner evicts its copy, which it has not written
  'PutDirty', // the owner evicts its copy, which it has written
  'PutStale', // one evicts a copy that was taken away from it meanwhile
  'WrittenBack', // the bytes of the evicted copy are in home's frame
  'PutOffer', // one evicts a copy with the owner token: where do its bytes go?
  'PutTokens', // tokens of an evicted copy, without the owner token
  'PutOwner', // tokens of an evicted copy, with the owner token; its bytes are in home's frame
  'ActivateShared', // one starves, and will get the owner token
  'ActivateModified', // one starves, and will get every token
  'Unblock', // the requester has its page: the transaction is over
  'UnblockDirty', // the same; it reads bytes that home's memory lacks
  'Downgraded', // the owner became a sharer; where it had written, home's memory holds the bytes now
] as const
export type DirectoryEvent = (typeof directoryEvents)[number]

/** What the cache side can do. The controller gives each its meaning; see cache-controller.ts. */
export type CacheAction =
  | 'requestShared'
  | 'requestModified'
  | 'mapReadOnly'
  | 'mapWritable'
  | 'protect'
  | 'unmap'
  | 'unblock'
  | 'unblockDirty'
  | 'acknowledge'
  | 'sendShared'
  | 'sendDirty'
  | 'sendModified'
  | 'writeBack'
  | 'tellHome'
  | 'putShared'
  | 'putClean'
  | 'putDirty'
  | 'sendWrittenBack'
  | 'answerNothing'
  | 'answerShared'
  | 'answerAll'
  | 'yieldOwner'
  | 'yieldAll'
  | 'activateShared'
  | 'activateModified'
  | 'deactivate'
  | 'offerTokens'
  | 'returnTokens'
  | 'demandLater'
  | 'defer'
  | 'evicted'
  | 'fail'

/** What the directory side can do; see directory-controller.ts. */
export type DirectoryAction =
  | 'sendExclusive'
  | 'sendShared'
  | 'sendModified'
  | 'grant'
  | 'invalidateSharers'
  | 'invalidateOwner'
  | 'forwardShared'
  | 'forwardModified'
  | 'ownerBecomesSharer'
  | 'addSharer'
  | 'removeSharer'
  | 'setOwner'
  | 'clearOwner'
  | 'askHolder'
  | 'askHolders'
  | 'expectOwner'
  | 'expectAlone'
  | 'takeTokens'
  | 'askForWriteBack'
  | 'acknowledgePut'
  | 'queue'

export interface Cell<Action, State extends string> {
  readonly actions: readonly Action[]
  readonly next: State
}

export interface StateRow<Event extends string, Action, State extends string> {
  /** What it means to be in this state, for people. */
  readonly describe: string
  /** A transient state waits for a message; no page may be in one when the system is at rest. */
  readonly transient: boolean
  /** An absent cell is a protocol error. */
  readonly on: { readonly [E in Event]?: Cell<Action, State> }
}

/**
 * The right that a node's program has in a cache state. The mmu never allows more; it may allow less until the page is
 * touched.
 */
export type Right = 'none' | 'read' | 'write'

/**
 * What the bytes in a node's frame are worth when others are lost. All copies that are worth something hold the same
 * bytes.
 * - `none`: nothing
 * - `clean`: they are the bytes written last, and the home or an owner has them too
 * - `dirty`: they are the bytes written last, and this node may be the only one to have them
 */
export type Worth = 'none' | 'clean' | 'dirty'

export interface CacheRow<State extends string> extends StateRow<CacheEvent, CacheAction, State> {
  readonly right: Right
  readonly worth: Worth
}

export interface DirectoryRow<State extends string> extends StateRow<DirectoryEvent, DirectoryAction, State> {
  /** Whether home's frame surely holds the bytes that were written last. */
  readonly memory: 'valid' | 'stale'
}

export interface Table<State extends string, Row> {
  readonly initial: State
  readonly states: { readonly [S in State]: Row }
}

/** The stable states that every protocol has under some name; a recovery brings each page back into these. */
export interface Recovery<CacheState extends string, DirectoryState extends string> {
  /** No copy; one of several readers; the only copy, writable. */
  readonly cache: { readonly none: CacheState; readonly shared: CacheState; readonly owner: CacheState }
  /** No copy exists; several do, and home's memory is valid; one node alone has one. */
  readonly directory: { readonly none: DirectoryState; readonly shared: DirectoryState; readonly owner: DirectoryState }
}

/**
 * What a token protocol has beside its tables: a page has as many tokens as the region has ranks. At first all of them
 * are at its home.
 */
interface TokenStates<CacheState extends string> {
  /** Home's own copy with every token: where it starts. */
  readonly home: CacheState
  /** Home's own copy with the owner token, while others hold tokens too. */
  readonly homeShared: CacheState
}

export interface Protocol<CacheState extends string = string, DirectoryState extends string = string> {
  readonly name: string
  readonly describe: string
  /** Where the table comes from. */
  readonly source: string
  readonly cache: Table<CacheState, CacheRow<CacheState>>
  readonly directory: Table<DirectoryState, DirectoryRow<DirectoryState>>
  readonly recovery: Recovery<CacheState, DirectoryState>
  readonly tokens?: TokenStates<CacheState>
}
