/**
 * What a coherence protocol is: two tables. One drives the copy of a page at a node (the *cache*), one the *directory*
 * entry at its home. The same tables drive the agent, the model checker, the simulator and the pages of documentation,
 * so they hold names, never functions. Pages and people read what each name stands for here.
 *
 * Terms follow "A Primer on Memory Consistency and Cache Coherence" (Nagarajan, Sorin, Hill, Wood; 2nd ed., chapters
 * 6-8).
 */

/** What may happen to a page at a node, and what that means. */
export const cacheEventWords = {
  Load: 'a thread here wants to read',
  Store: 'a thread here wants to write',
  Evict: 'this node needs the memory of its copy',
  EvictOwner: 'the same, where the owner token has to go home',
  EvictNothing: 'the same, where no token has to go home',
  DataShared: 'the bytes are in our frame; we are one of several readers',
  DataDirty: "the same, but home's memory lacks them: another node answers for them",
  DataExclusive: "the bytes are in our frame; no other node has a copy, home's memory is valid",
  GrantMore: 'the right to write, with the bytes where we lacked them; sharers have yet to acknowledge',
  GrantLast: 'the right to write, and nothing is missing',
  AckMore: 'a sharer gave its copy up; the grant or other acknowledgements are missing',
  AckLast: 'a sharer gave its copy up; that was the last thing missing',
  Invalidate: 'home: another node will write, give your copy up',
  ForwardShared: 'home: another node wants to read what you own',
  ForwardModified: 'home: another node wants to own what you own',
  WriteBack: 'home: write what you evict into my frame',
  PutAcknowledged: 'home: you no longer answer for what you evict',
  Asked: 'home: the nodes that may hold tokens have been asked; each will answer',
  AnswerMore: 'one has answered; others have yet to',
  AnsweredAll: 'the last answer: every token is here',
  AnsweredOwner: 'the last answer: the owner token and the bytes are here, but not every token',
  AnsweredShared: 'the last answer: a token and the bytes are here',
  AnsweredShort: 'the last answer: no bytes are here',
  TokensAll: 'tokens that were no answer: every token is here',
  TokensOwner: 'tokens that were no answer: the owner token and the bytes are here, but not every token',
  TokensShared: 'tokens that were no answer: a token and the bytes are here',
  TokensBare: 'tokens that were no answer: no bytes are here',
  ForwardSharedLast: 'home: another node wants to read, and the owner token is the only one here',
  ForwardMiss: 'home: another node wants what is not here',
  StarvingShared: 'a node that starves for reading comes first; the owner token is here, and others',
  StarvingSharedLast: 'a node that starves for reading comes first; the owner token is the only one here',
  StarvingModified: 'a node that starves for writing comes first; tokens are here',
  TurnCame: 'those that this node overtook have been served: it may ask persistently',
  Refused: 'home: the page is lost',
  NoMemory: 'home: there is no memory for the page there',
} as const
export type CacheEvent = keyof typeof cacheEventWords
export const cacheEvents: readonly CacheEvent[] = Object.keys(cacheEventWords) as CacheEvent[]

/** What may happen to a page at its home. */
export const directoryEventWords = {
  GetShared: 'a node wants to read',
  GetModified: 'a node without a copy wants to write',
  Upgrade: 'a sharer wants to write; it has the bytes',
  UpgradeOwner: 'the owner, whose copy others read, wants to write',
  PutShared: 'a sharer evicts its copy; others remain',
  PutSharedLast: 'the only sharer evicts its copy',
  PutClean: 'the owner evicts its copy, which it has not written',
  PutDirty: 'the owner evicts its copy, which it has written',
  PutStale: 'a node evicts a copy that was taken away from it meanwhile',
  WrittenBack: "the bytes of the evicted copy are in home's frame",
  PutOffer: 'a node evicts a copy with the owner token: where do its bytes go?',
  PutTokens: 'tokens of an evicted copy, without the owner token',
  PutOwner: "tokens of an evicted copy, with the owner token; its bytes are in home's frame",
  ActivateShared: 'a node starves for reading: it will get the owner token',
  ActivateModified: 'a node starves for writing: it will get every token',
  Unblock: 'the requester has its page: the transaction is over',
  UnblockDirty: "the same; it reads bytes that home's memory lacks",
  Downgraded: "the owner became a sharer; home's memory holds the bytes now",
} as const
export type DirectoryEvent = keyof typeof directoryEventWords
export const directoryEvents: readonly DirectoryEvent[] = Object.keys(directoryEventWords) as DirectoryEvent[]

/** What the cache side can do. The controller carries it out; see cache-controller.ts. */
export const cacheActionWords = {
  requestShared: 'ask home for the page, to read',
  requestModified: 'ask home for the page, to write',
  mapReadOnly: 'let the program read, and wake waiting threads',
  mapWritable: 'let the program read and write, and wake waiting threads',
  protect: 'take the right to write; no store can reach the frame after it',
  unmap: 'take every right; no access can reach the frame after it',
  unblock: 'tell home that the transaction is over',
  unblockDirty: 'tell home that the transaction is over, and that its memory lacks the bytes',
  acknowledge: 'tell the requester that our copy is gone',
  sendShared: "write our frame into the requester's, then tell it that it may read",
  sendDirty: "the same; home's memory lacks the bytes, we answer for them",
  sendModified: "write our frame into the requester's, then tell it that it owns the page",
  writeBack: "write our frame into home's",
  tellHome: 'tell home that we are a sharer now, and its memory is valid',
  putShared: 'tell home that we give up a copy that others have too',
  putClean: 'tell home that we give up the only copy, unwritten',
  putDirty: 'tell home that we give up a copy whose bytes its memory lacks',
  sendWrittenBack: 'tell home that the bytes are in its frame',
  answerNothing: 'answer the requester without tokens',
  answerShared: "write our frame into the requester's, then answer with one token",
  answerAll: 'answer the requester with every token here, and with the bytes where the owner token is among them',
  yieldOwner: 'give the starving node the bytes and all tokens but one',
  yieldAll: 'give the starving node every token here, and the bytes where the owner token is among them',
  activateShared: 'ask every node persistently, to read; or wait until those that were overtaken have been served',
  activateModified: 'ask every node persistently, to write; or wait until those that were overtaken have been served',
  deactivate: 'tell every node that we no longer starve; each acknowledges',
  offerTokens: 'ask home where the bytes go',
  returnTokens: "send home every token here, and write our frame into home's where the owner token is among them",
  demandLater: 'remember what the thread wants until the page is at rest',
  defer: 'postpone the message until the page is at rest',
  evicted: 'the copy is gone: its frame may be given back',
  fail: 'fail the waiting threads: the page is not available',
} as const
export type CacheAction = keyof typeof cacheActionWords

/** What the directory side can do; see directory-controller.ts. */
export const directoryActionWords = {
  sendExclusive: "write home's frame into the requester's, then tell it that it alone has the page",
  sendShared: "write home's frame into the requester's, then tell it that it may read",
  sendModified:
    "write home's frame into the requester's, then tell it that it owns the page once all have acknowledged",
  grant: 'tell the requester, which has the bytes, that it owns the page once all have acknowledged',
  invalidateSharers: 'tell every sharer but the requester to give its copy up, and to acknowledge to the requester',
  invalidateOwner: 'the same for the owner',
  forwardShared: 'have the owner serve the requester, and go on reading',
  forwardModified: 'have the owner hand the page over to the requester',
  ownerBecomesSharer: 'the owner counts among the sharers from now on',
  addSharer: 'the requester is a sharer',
  removeSharer: 'the requester is no longer a sharer',
  setOwner: 'the requester is the owner',
  clearOwner: 'there is no longer an owner',
  askHolder: 'have one node that should have the bytes answer the requester, and tell it so',
  askHolders: 'have every node that may hold tokens answer the requester, and tell it how many',
  expectOwner: 'the requester should have the owner token from now on',
  expectAlone: 'the requester should have every token from now on',
  takeTokens: "put the tokens to those of home's own copy",
  askForWriteBack: "have the owner write what it evicts into home's frame",
  acknowledgePut: 'tell the evicting node that it no longer answers for the page',
  queue: 'serve the request after the present transaction',
} as const
export type DirectoryAction = keyof typeof directoryActionWords

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
