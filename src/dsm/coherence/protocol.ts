/**
 * What a coherence protocol is: two tables. One drives the copy of a page at a node (the *cache*), one the *directory* entry at its home.
 * The same tables drive the agent, the explorer of the tests and the pages of documentation, so they hold names, never functions.
 *
 * Terms follow "A Primer on Memory Consistency and Cache Coherence" (Nagarajan, Sorin, Hill, Wood; 2nd ed., chapters 6-8).
 */

/** What may happen to a page at a node. */
export const cacheEvents = [
  'Load', // a thread here wants to read
  'Store', // a thread here wants to write
  'DataShared', // the bytes are in our frame; we are one of several readers
  'DataExclusive', // the bytes are in our frame; nobody else has a copy, home's memory is valid
  'GrantMore', // the right to write, but invalidated sharers have yet to acknowledge
  'GrantLast', // the right to write, and every acknowledgement is here
  'AckMore', // a sharer has invalidated its copy; the grant or other acknowledgements are missing
  'AckLast', // the last thing missing was this acknowledgement
  'Invalidate', // home: another node will write
  'ForwardShared', // home: another node wants to read what we own
  'ForwardModified', // home: another node wants to own what we own
  'Abandoned', // home: the node that was to answer us has died; it may have answered before
  'Refused', // home: the page is lost, or the home had died when we asked
  'NoMemory', // home: there is no memory for the page there; nothing has changed
  'HomeDied', // the home has died while we waited
] as const
export type CacheEvent = (typeof cacheEvents)[number]

/** What may happen to a page at its home. */
export const directoryEvents = [
  'GetShared',
  'GetModified',
  'Unblock', // the requester has its page: the transaction is over
  'Downgraded', // the owner became a sharer; where it had written, home's memory holds the bytes now
  'UnblockLost', // the requester got nothing: the owner died first
  'OwnerDied', // no transaction under way, and the owner is gone
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
  | 'unblockLost'
  | 'acknowledge'
  | 'sendShared'
  | 'sendModified'
  | 'writeBack'
  | 'tellHome'
  | 'fail'

/** What the directory side can do; see directory-controller.ts. */
export type DirectoryAction =
  | 'sendExclusive'
  | 'sendShared'
  | 'sendModified'
  | 'invalidateSharers'
  | 'forwardShared'
  | 'forwardModified'
  | 'ownerBecomesSharer'
  | 'addSharer'
  | 'setOwner'
  | 'clearOwner'
  | 'queue'
  | 'refuse'

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

export interface Table<Event extends string, Action, State extends string> {
  readonly initial: State
  readonly states: { readonly [S in State]: StateRow<Event, Action, State> }
}

/** The right that a node's program has in a cache state. */
export type Right = 'none' | 'read' | 'write'

export interface Protocol<CacheState extends string = string, DirectoryState extends string = string> {
  readonly name: string
  readonly describe: string
  readonly cache: Table<CacheEvent, CacheAction, CacheState>
  readonly directory: Table<DirectoryEvent, DirectoryAction, DirectoryState>
  /** What the program may do in each cache state: the mmu must agree with it at all times. */
  readonly rights: { readonly [S in CacheState]: Right }
}
