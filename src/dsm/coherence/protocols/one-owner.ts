/**
 * What `mesi`, `moesi` and `directory` have in common: a page has one owner or several sharers, and home knows which.
 * Each of them adds how home goes on after a request, and who serves a reader.
 *
 * States of a copy: *M*odified, *E*xclusive (read, no other copy; its first write turns it into M without a message),
 * *S*hared, *I*nvalid. IS, IM, SM want the second and have the first; _A waits for acknowledgements. States of home:
 * *U*ncached, *S*hared, e*X*clusive.
 */
import type { CacheAction } from '../protocol.ts'
import {
  busy,
  type CacheTransition,
  type CopyFacts,
  type DirectoryTransition,
  type HomeFacts,
  idle,
  on,
  resting,
  stay,
  waiting,
} from './table.ts'

export type CopyState = 'I' | 'IS' | 'IM' | 'IM_A' | 'S' | 'SM' | 'SM_A' | 'E' | 'M' | 'SI_A' | 'EI_A' | 'MI_A' | 'II_A'

export const copyStates: Readonly<Record<CopyState, CopyFacts>> = {
  I: resting('none', 'none', 'No copy here.'),
  IS: waiting('none', 'none', 'Wants to read; waits for the bytes.'),
  IM: waiting('none', 'none', 'Wants to write; waits for the bytes and for acknowledgements.'),
  IM_A: waiting('none', 'dirty', 'Has the bytes and the grant; waits for acknowledgements of other sharers.'),
  S: resting('read', 'clean', 'One of several readers.'),
  SM: waiting('read', 'clean', 'Reads, wants to write; waits for the grant and for acknowledgements.'),
  SM_A: waiting('read', 'dirty', 'Reads, has the grant; waits for acknowledgements of other sharers.'),
  E: resting('read', 'clean', 'The only copy, unwritten; mapped read-only so that the first write is seen.'),
  M: resting('write', 'dirty', 'The only copy, written.'),
  // Home may have handed the page on by now: what these two have is worth nothing.
  SI_A: waiting('none', 'none', "Evicts a reader's copy; waits for home to acknowledge."),
  EI_A: waiting(
    'none',
    'none',
    'Evicts the only copy, unwritten; waits for home to acknowledge, and answers for the page until then.',
  ),
  MI_A: waiting(
    'none',
    'dirty',
    'Evicts the only copy, written; waits for home to ask for the bytes, and answers for the page until it does.',
  ),
  II_A: waiting('none', 'none', 'Evicts a copy that others have by now; waits for home to acknowledge.'),
}

/** `served`: what a node does when it has what it asked for. */
export const copyTransitions = (...served: readonly CacheAction[]): readonly CacheTransition<CopyState>[] => [
  on('I', 'Load', 'IS', 'requestShared'),
  on('I', 'Store', 'IM', 'requestModified'),
  on('S', 'Store', 'SM', 'requestModified'),
  on('E', 'Store', 'M', 'mapWritable'),
  on('M', ['Load', 'Store'], stay, 'mapWritable'),
  // A second thread, or a window that had not touched it yet.
  on(['S', 'SM', 'SM_A', 'E'], 'Load', stay, 'mapReadOnly'),
  // It is asked for. A thread that wants to write what will be readable faults once more.
  on(['IS', 'IM', 'IM_A'], ['Load', 'Store'], stay),
  on(['SM', 'SM_A'], 'Store', stay),

  on('IS', 'DataShared', 'S', 'mapReadOnly', ...served),
  on('IS', 'DataExclusive', 'E', 'mapReadOnly', ...served),
  on('IM', 'GrantMore', 'IM_A'),
  on('SM', 'GrantMore', 'SM_A'),
  on(['IM', 'SM'], 'GrantLast', 'M', 'mapWritable', ...served),
  on(['IM_A', 'SM_A'], 'AckLast', 'M', 'mapWritable', ...served),
  on(['IM', 'IM_A', 'SM', 'SM_A'], 'AckMore', stay),
  on(['IS', 'IM'], ['Refused', 'NoMemory'], 'I', 'fail'),
  on('SM', ['Refused', 'NoMemory'], 'S', 'fail'),

  on('S', 'Invalidate', 'I', 'unmap', 'acknowledge'),
  on('SM', 'Invalidate', 'IM', 'unmap', 'acknowledge'), // another writer was first: we need its bytes now
  on(['E', 'M'], 'ForwardModified', 'I', 'unmap', 'sendModified'),

  on('I', 'Evict', stay, 'evicted'), // a copy was here once: its frame is
  on('S', 'Evict', 'SI_A', 'unmap', 'putShared'),
  on('E', 'Evict', 'EI_A', 'unmap', 'putClean'),
  on('M', 'Evict', 'MI_A', 'unmap', 'putDirty'),
  on('SI_A', 'Invalidate', 'II_A', 'acknowledge'),
  on(['EI_A', 'MI_A'], 'ForwardModified', 'II_A', 'sendModified'),
  on('MI_A', 'WriteBack', 'II_A', 'writeBack', 'sendWrittenBack'),
  on(['SI_A', 'EI_A', 'II_A'], 'PutAcknowledged', 'I', 'evicted'),
  on(['SI_A', 'EI_A', 'MI_A', 'II_A'], ['Load', 'Store'], stay, 'demandLater'),
]

/** An owner that serves a reader becomes one, and home's memory valid. */
export const ownerBecomesReader: readonly CacheTransition<CopyState>[] = [
  on('E', 'ForwardShared', 'S', 'sendShared', 'tellHome'),
  // Protect first, read the bytes after: the other order loses a store.
  on('M', 'ForwardShared', 'S', 'protect', 'sendShared', 'writeBack', 'tellHome'),
  on('EI_A', 'ForwardShared', 'SI_A', 'sendShared', 'tellHome'),
  on('MI_A', 'ForwardShared', 'SI_A', 'sendShared', 'writeBack', 'tellHome'),
]

type HomeState = 'U' | 'S' | 'X' | 'X_P'

export const homeStates: Readonly<Record<HomeState, HomeFacts>> = {
  U: idle('valid', "No node holds a copy; home's memory is valid."),
  S: idle('valid', "Sharers hold copies; home's memory is valid."),
  X: idle('stale', "One node owns the page (E or M); home's memory may be stale."),
  X_P: busy('stale', "The owner evicts what it has written; waits for it to say that home's memory is valid."),
}

/** `sharing` and `owning`: where home is when it has answered a new sharer, or a new owner. */
export const homeTransitions = <Sharing extends string, Owning extends string>(
  sharing: Sharing,
  owning: Owning,
): readonly DirectoryTransition<HomeState | Sharing | Owning>[] => [
  on('U', 'GetShared', owning, 'setOwner', 'sendExclusive'),
  on('U', 'GetModified', owning, 'setOwner', 'sendModified'),
  on('S', 'GetShared', sharing, 'sendShared', 'addSharer'),
  on('S', 'GetModified', owning, 'invalidateSharers', 'sendModified', 'setOwner'),
  on('S', 'Upgrade', owning, 'invalidateSharers', 'grant', 'setOwner'),
  on('X', 'GetModified', owning, 'forwardModified', 'setOwner'),

  on('S', 'PutShared', stay, 'removeSharer', 'acknowledgePut'),
  on('S', 'PutSharedLast', 'U', 'removeSharer', 'acknowledgePut'),
  on('X', 'PutClean', 'U', 'clearOwner', 'acknowledgePut'),
  on('X', 'PutDirty', 'X_P', 'askForWriteBack'),
  on('X_P', 'WrittenBack', 'U', 'clearOwner', 'acknowledgePut'),
  on(['U', 'S', 'X'], 'PutStale', stay, 'acknowledgePut'),
]

/** Home is in the middle of a transaction: all others wait for their turn. */
export const whileBusy = <State extends string>(...states: State[]): DirectoryTransition<State> =>
  on(states, ['GetShared', 'GetModified', 'PutStale'], stay, 'queue')
