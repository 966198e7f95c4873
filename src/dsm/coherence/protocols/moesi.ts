/**
 * MOESI: a page that is read after it was written stays dirty at its writer, which answers the readers; home's memory
 * is not written.
 *
 * The states are those of `mesi` and *O*wned: one of several readers, whose bytes home's memory lacks. So a page that
 * goes from a writer to a reader travels once, not twice; it is written home when its owner evicts it. The price: if
 * the owner dies, bytes that its readers do not have are lost.
 *
 * Home blocks as in `mesi`: one transaction a page at a time, until the requester says `Unblock`, or `UnblockDirty` if
 * it was served with bytes that home lacks. So home learns without another message whether the owner had written (M
 * stays the owner: O) or not (E becomes a sharer).
 *
 * A sharer that upgrades has the owner's bytes: home grants, and the owner invalidates like any other sharer. An owner
 * that upgrades may lose against another writer's request, like a sharer (OM + ForwardModified or Invalidate -> IM). It
 * then waits for new bytes and acknowledgements.
 */
import type { Protocol } from '../protocol.ts'
import { copyStates, copyTransitions, homeStates, homeTransitions, whileBusy } from './one-owner.ts'
import {
  busy,
  type CacheTransition,
  cacheTable,
  type DirectoryTransition,
  directoryTable,
  idle,
  on,
  resting,
  stay,
  waiting,
} from './table.ts'

const { SI_A, EI_A, MI_A, II_A, ...others } = copyStates
const cacheStates = {
  ...others,
  S: resting('read', 'clean', 'One of several readers; home or an owner answers for the page.'),
  O: resting(
    'read',
    'dirty',
    "One of several readers, and the node that answers for the page: home's memory lacks these bytes.",
  ),
  OM: waiting(
    'read',
    'dirty',
    'Reads and answers for the page, wants to write; waits for the grant and for acknowledgements.',
  ),
  SI_A,
  EI_A,
  MI_A,
  OI_A: waiting(
    'none',
    'dirty',
    "Evicts a copy that others read and home's memory lacks. Answers for the page until home asks for the bytes.",
  ),
  II_A,
}

type CacheState = keyof typeof cacheStates

const cacheTransitions: readonly CacheTransition<CacheState>[] = [
  ...copyTransitions('unblock'),
  on('IS', 'DataDirty', 'S', 'mapReadOnly', 'unblockDirty'),
  on('E', 'ForwardShared', 'S', 'sendShared'),
  on('EI_A', 'ForwardShared', 'SI_A', 'sendShared'),
  // Protect first, read the bytes after: the other order loses a store.
  on('M', 'ForwardShared', 'O', 'protect', 'sendDirty'),
  on(['MI_A', 'OI_A'], 'ForwardShared', 'OI_A', 'sendDirty'),
  on(['O', 'OM'], 'ForwardShared', stay, 'sendDirty'), // OM: home serves others before us

  on(['O', 'OM'], 'Load', stay, 'mapReadOnly'),
  on('O', 'Store', 'OM', 'requestModified'),
  on('OM', 'Store', stay),
  on('OM', 'GrantMore', 'SM_A'),
  on('OM', 'GrantLast', 'M', 'mapWritable', 'unblock'),
  on('OM', 'AckMore', stay),
  on('OM', ['Refused', 'NoMemory'], 'O', 'fail'),
  on('O', 'ForwardModified', 'I', 'unmap', 'sendModified'),
  on('OM', 'ForwardModified', 'IM', 'unmap', 'sendModified'),
  on('O', 'Invalidate', 'I', 'unmap', 'acknowledge'), // a sharer upgrades: it has the bytes
  on('OM', 'Invalidate', 'IM', 'unmap', 'acknowledge'),

  on('O', 'Evict', 'OI_A', 'unmap', 'putDirty'),
  on('OI_A', ['Load', 'Store'], stay, 'demandLater'),
  on('OI_A', 'ForwardModified', 'II_A', 'sendModified'),
  on('OI_A', 'Invalidate', 'II_A', 'acknowledge'),
  on('OI_A', 'WriteBack', 'II_A', 'writeBack', 'sendWrittenBack'),
]

const states = {
  U: homeStates.U,
  S: homeStates.S,
  X: idle('stale', "One node alone holds the page (E, M, or O whose readers have gone); home's memory may be stale."),
  O: idle('stale', "One node answers for the page, others read it too; home's memory is stale."),
  S_B: busy('valid', "A new sharer was served from home's memory; waits for it to say so."),
  X_B: busy('stale', 'A new owner was granted or is being served by the old one; waits for it to say so.'),
  XS_B: busy(
    'stale',
    'The owner serves its first reader; waits for the reader to say whether the page had been written.',
  ),
  O_B: busy('stale', 'The owner serves another reader; waits for the reader.'),
  X_P: busy('stale', "The only holder evicts what it has written; waits for it to say that home's memory is valid."),
  O_P: busy('stale', "The owner evicts what others go on reading; waits for it to say that home's memory is valid."),
}

type HomeState = keyof typeof states

const directoryTransitions: readonly DirectoryTransition<HomeState>[] = [
  ...homeTransitions('S_B', 'X_B'),
  on('X', 'GetShared', 'XS_B', 'forwardShared', 'addSharer'),
  on('X', 'UpgradeOwner', 'X_B', 'grant', 'setOwner'),
  on('O', 'GetShared', 'O_B', 'forwardShared', 'addSharer'),
  on('O', 'GetModified', 'X_B', 'invalidateSharers', 'forwardModified', 'setOwner'),
  on('O', 'Upgrade', 'X_B', 'invalidateSharers', 'invalidateOwner', 'grant', 'setOwner'),
  on('O', 'UpgradeOwner', 'X_B', 'invalidateSharers', 'grant', 'setOwner'),

  on('S_B', 'Unblock', 'S'),
  on('X_B', 'Unblock', 'X'),
  on('XS_B', 'Unblock', 'S', 'ownerBecomesSharer'),
  on(['XS_B', 'O_B'], 'UnblockDirty', 'O'),
  whileBusy('S_B', 'X_B', 'XS_B', 'O_B', 'X_P', 'O_P'),
  on(['S_B', 'O_B', 'O_P'], ['Upgrade', 'PutShared'], stay, 'queue'),
  on(['XS_B', 'O_B'], ['UpgradeOwner', 'PutDirty'], stay, 'queue'),
  on('XS_B', 'PutClean', stay, 'queue'),
  on('O_P', 'PutSharedLast', stay, 'queue'),

  on('O', 'PutShared', stay, 'removeSharer', 'acknowledgePut'),
  on('O', 'PutSharedLast', 'X', 'removeSharer', 'acknowledgePut'),
  on('O', 'PutDirty', 'O_P', 'askForWriteBack'),
  on('O', 'PutStale', stay, 'acknowledgePut'),
  on('O_P', 'WrittenBack', 'S', 'clearOwner', 'acknowledgePut'),
]

export const moesi: Protocol = {
  name: 'moesi',
  describe:
    'MOESI with a blocking home: a written page that others read stays with its owner, who serves them; home is written at eviction only.',
  source:
    "A Primer on Memory Consistency and Cache Coherence (2nd ed.) 8.4 (owned state); races of the owned state as in gem5's MOESI_CMP_directory-L1cache.sm. Home's blocking as in `mesi`.",
  cache: { initial: 'I', states: cacheTable(cacheStates, cacheTransitions) },
  directory: { initial: 'U', states: directoryTable(states, directoryTransitions) },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'U', shared: 'S', owner: 'X' } },
} satisfies Protocol<CacheState, HomeState>
