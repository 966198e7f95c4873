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
import type { CacheRow, DirectoryRow, Protocol } from '../protocol.ts'
import { to } from './cell.ts'

type CacheState =
  | 'I'
  | 'IS'
  | 'IM'
  | 'IM_A'
  | 'S'
  | 'SM'
  | 'SM_A'
  | 'E'
  | 'M'
  | 'O'
  | 'OM'
  | 'SI_A'
  | 'EI_A'
  | 'MI_A'
  | 'OI_A'
  | 'II_A'
type DirectoryState = 'U' | 'S' | 'X' | 'O' | 'S_B' | 'X_B' | 'XS_B' | 'O_B' | 'X_P' | 'O_P'

type Row = CacheRow<CacheState>
type HomeRow = DirectoryRow<DirectoryState>

const refused = (state: CacheState): Row['on'] => ({ Refused: to(state, 'fail'), NoMemory: to(state, 'fail') })

const I: Row = {
  describe: 'No copy here.',
  transient: false,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IS', 'requestShared'),
    Store: to('IM', 'requestModified'),
    Evict: to('I', 'evicted'), // a copy was here once: its frame is
  },
}

const IS: Row = {
  describe: 'Wants to read; waits for the bytes.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IS'),
    Store: to('IS'), // the thread faults once more when the page is readable
    DataShared: to('S', 'mapReadOnly', 'unblock'),
    DataDirty: to('S', 'mapReadOnly', 'unblockDirty'),
    DataExclusive: to('E', 'mapReadOnly', 'unblock'),
    ...refused('I'),
  },
}

const IM: Row = {
  describe: 'Wants to write; waits for the bytes and for acknowledgements.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: {
    Load: to('IM'),
    Store: to('IM'),
    GrantMore: to('IM_A'),
    GrantLast: to('M', 'mapWritable', 'unblock'),
    AckMore: to('IM'),
    ...refused('I'),
  },
}

const IM_A: Row = {
  describe: 'Has the bytes and the grant; waits for acknowledgements of other sharers.',
  transient: true,
  right: 'none',
  worth: 'dirty',
  on: {
    Load: to('IM_A'),
    Store: to('IM_A'),
    AckMore: to('IM_A'),
    AckLast: to('M', 'mapWritable', 'unblock'),
  },
}

const S: Row = {
  describe: 'One of several readers; home or an owner answers for the page.',
  transient: false,
  right: 'read',
  worth: 'clean',
  on: {
    Load: to('S', 'mapReadOnly'), // a second thread, or a window that had not touched it yet
    Store: to('SM', 'requestModified'),
    Evict: to('SI_A', 'unmap', 'putShared'),
    Invalidate: to('I', 'unmap', 'acknowledge'),
  },
}

const SM: Row = {
  describe: 'Reads, wants to write; waits for the grant and for acknowledgements.',
  transient: true,
  right: 'read',
  worth: 'clean',
  on: {
    Load: to('SM', 'mapReadOnly'),
    Store: to('SM'),
    Invalidate: to('IM', 'unmap', 'acknowledge'), // another writer was first: our request still stands in home's queue
    GrantMore: to('SM_A'),
    GrantLast: to('M', 'mapWritable', 'unblock'),
    AckMore: to('SM'),
    ...refused('S'),
  },
}

const SM_A: Row = {
  describe: 'Reads, has the grant; waits for acknowledgements of other sharers.',
  transient: true,
  right: 'read',
  worth: 'dirty',
  on: {
    Load: to('SM_A', 'mapReadOnly'),
    Store: to('SM_A'),
    AckMore: to('SM_A'),
    AckLast: to('M', 'mapWritable', 'unblock'),
  },
}

const E: Row = {
  describe: 'The only copy, unwritten; mapped read-only so that the first write is seen.',
  transient: false,
  right: 'read',
  worth: 'clean',
  on: {
    Load: to('E', 'mapReadOnly'),
    Store: to('M', 'mapWritable'),
    Evict: to('EI_A', 'unmap', 'putClean'),
    ForwardShared: to('S', 'sendShared'),
    ForwardModified: to('I', 'unmap', 'sendModified'),
  },
}

const M: Row = {
  describe: 'The only copy, written.',
  transient: false,
  right: 'write',
  worth: 'dirty',
  on: {
    Load: to('M', 'mapWritable'),
    Store: to('M', 'mapWritable'),
    Evict: to('MI_A', 'unmap', 'putDirty'),
    // Protect first, read the bytes after: the other order loses a store.
    ForwardShared: to('O', 'protect', 'sendDirty'),
    ForwardModified: to('I', 'unmap', 'sendModified'),
  },
}

const O: Row = {
  describe: "One of several readers, and the node that answers for the page: home's memory lacks these bytes.",
  transient: false,
  right: 'read',
  worth: 'dirty',
  on: {
    Load: to('O', 'mapReadOnly'),
    Store: to('OM', 'requestModified'),
    Evict: to('OI_A', 'unmap', 'putDirty'),
    ForwardShared: to('O', 'sendDirty'),
    ForwardModified: to('I', 'unmap', 'sendModified'),
    Invalidate: to('I', 'unmap', 'acknowledge'), // a sharer upgrades: it has the bytes
  },
}

const OM: Row = {
  describe: 'Reads and answers for the page, wants to write; waits for the grant and for acknowledgements.',
  transient: true,
  right: 'read',
  worth: 'dirty',
  on: {
    Load: to('OM', 'mapReadOnly'),
    Store: to('OM'),
    ForwardShared: to('OM', 'sendDirty'), // home serves others before us
    ForwardModified: to('IM', 'unmap', 'sendModified'),
    Invalidate: to('IM', 'unmap', 'acknowledge'),
    GrantMore: to('SM_A'),
    GrantLast: to('M', 'mapWritable', 'unblock'),
    AckMore: to('OM'),
    ...refused('O'),
  },
}

/** A thread wants the page while it is being evicted: it is asked for when that is over. */
const later = (state: CacheState): Row['on'] => ({
  Load: to(state, 'demandLater'),
  Store: to(state, 'demandLater'),
})

const SI_A: Row = {
  describe: "Evicts a reader's copy; waits for home to acknowledge.",
  transient: true,
  right: 'none',
  worth: 'none', // home may have handed the page on by now
  on: { ...later('SI_A'), Invalidate: to('II_A', 'acknowledge'), PutAcknowledged: to('I', 'evicted') },
}

const EI_A: Row = {
  describe: 'Evicts the only copy, unwritten; waits for home to acknowledge, and answers for the page until then.',
  transient: true,
  right: 'none',
  worth: 'none', // home may have handed the page on by now
  on: {
    ...later('EI_A'),
    ForwardShared: to('SI_A', 'sendShared'),
    ForwardModified: to('II_A', 'sendModified'),
    PutAcknowledged: to('I', 'evicted'),
  },
}

const MI_A: Row = {
  describe:
    'Evicts the only copy, written; waits for home to ask for the bytes, and answers for the page until it does.',
  transient: true,
  right: 'none',
  worth: 'dirty',
  on: {
    ...later('MI_A'),
    ForwardShared: to('OI_A', 'sendDirty'),
    ForwardModified: to('II_A', 'sendModified'),
    WriteBack: to('II_A', 'writeBack', 'sendWrittenBack'),
  },
}

const OI_A: Row = {
  describe:
    "Evicts a copy that others read and home's memory lacks. Answers for the page until home asks for the bytes.",
  transient: true,
  right: 'none',
  worth: 'dirty',
  on: {
    ...later('OI_A'),
    ForwardShared: to('OI_A', 'sendDirty'),
    ForwardModified: to('II_A', 'sendModified'),
    Invalidate: to('II_A', 'acknowledge'),
    WriteBack: to('II_A', 'writeBack', 'sendWrittenBack'),
  },
}

const II_A: Row = {
  describe: 'Evicts a copy that others have by now; waits for home to acknowledge.',
  transient: true,
  right: 'none',
  worth: 'none',
  on: { ...later('II_A'), PutAcknowledged: to('I', 'evicted') },
}

const homeU: HomeRow = {
  describe: "No node holds a copy; home's memory is valid.",
  transient: false,
  memory: 'valid',
  on: {
    GetShared: to('X_B', 'setOwner', 'sendExclusive'),
    GetModified: to('X_B', 'setOwner', 'sendModified'),
    PutStale: to('U', 'acknowledgePut'),
  },
}

const homeS: HomeRow = {
  describe: "Sharers hold copies; home's memory is valid.",
  transient: false,
  memory: 'valid',
  on: {
    GetShared: to('S_B', 'sendShared', 'addSharer'),
    GetModified: to('X_B', 'invalidateSharers', 'sendModified', 'setOwner'),
    Upgrade: to('X_B', 'invalidateSharers', 'grant', 'setOwner'),
    PutShared: to('S', 'removeSharer', 'acknowledgePut'),
    PutSharedLast: to('U', 'removeSharer', 'acknowledgePut'),
    PutStale: to('S', 'acknowledgePut'),
  },
}

const homeX: HomeRow = {
  describe: "One node alone holds the page (E, M, or O whose readers have gone); home's memory may be stale.",
  transient: false,
  memory: 'stale',
  on: {
    GetShared: to('XS_B', 'forwardShared', 'addSharer'),
    GetModified: to('X_B', 'forwardModified', 'setOwner'),
    UpgradeOwner: to('X_B', 'grant', 'setOwner'),
    PutClean: to('U', 'clearOwner', 'acknowledgePut'),
    PutDirty: to('X_P', 'askForWriteBack'),
    PutStale: to('X', 'acknowledgePut'),
  },
}

const homeO: HomeRow = {
  describe: "One node answers for the page, others read it too; home's memory is stale.",
  transient: false,
  memory: 'stale',
  on: {
    GetShared: to('O_B', 'forwardShared', 'addSharer'),
    GetModified: to('X_B', 'invalidateSharers', 'forwardModified', 'setOwner'),
    Upgrade: to('X_B', 'invalidateSharers', 'invalidateOwner', 'grant', 'setOwner'),
    UpgradeOwner: to('X_B', 'invalidateSharers', 'grant', 'setOwner'),
    PutShared: to('O', 'removeSharer', 'acknowledgePut'),
    PutSharedLast: to('X', 'removeSharer', 'acknowledgePut'),
    PutDirty: to('O_P', 'askForWriteBack'),
    PutStale: to('O', 'acknowledgePut'),
  },
}

/** Home is in the middle of a transaction: all others wait for their turn. */
const busy = (state: DirectoryState): HomeRow['on'] => ({
  GetShared: to(state, 'queue'),
  GetModified: to(state, 'queue'),
  PutStale: to(state, 'queue'),
})

/** While there are sharers beside the requester. */
const busyShared = (state: DirectoryState): HomeRow['on'] => ({
  ...busy(state),
  Upgrade: to(state, 'queue'),
  PutShared: to(state, 'queue'),
})

const homeSB: HomeRow = {
  describe: "A new sharer was served from home's memory; waits for it to say so.",
  transient: true,
  memory: 'valid',
  on: { ...busyShared('S_B'), Unblock: to('S') },
}

const homeXB: HomeRow = {
  describe: 'A new owner was granted or is being served by the old one; waits for it to say so.',
  transient: true,
  memory: 'stale',
  on: { ...busy('X_B'), Unblock: to('X') },
}

const homeXSB: HomeRow = {
  describe: 'The owner serves its first reader; waits for the reader, who says whether the owner had written the page.',
  transient: true,
  memory: 'stale',
  on: {
    ...busy('XS_B'),
    UpgradeOwner: to('XS_B', 'queue'),
    PutClean: to('XS_B', 'queue'),
    PutDirty: to('XS_B', 'queue'),
    Unblock: to('S', 'ownerBecomesSharer'),
    UnblockDirty: to('O'),
  },
}

const homeOB: HomeRow = {
  describe: 'The owner serves another reader; waits for the reader.',
  transient: true,
  memory: 'stale',
  on: {
    ...busyShared('O_B'),
    UpgradeOwner: to('O_B', 'queue'),
    PutDirty: to('O_B', 'queue'),
    UnblockDirty: to('O'),
  },
}

const homeXP: HomeRow = {
  describe: "The only holder evicts what it has written; waits for it to say that home's memory is valid.",
  transient: true,
  memory: 'stale',
  on: { ...busy('X_P'), WrittenBack: to('U', 'clearOwner', 'acknowledgePut') },
}

const homeOP: HomeRow = {
  describe: "The owner evicts what others go on reading; waits for it to say that home's memory is valid.",
  transient: true,
  memory: 'stale',
  on: {
    ...busyShared('O_P'),
    PutSharedLast: to('O_P', 'queue'),
    WrittenBack: to('S', 'clearOwner', 'acknowledgePut'),
  },
}

export const moesi: Protocol<CacheState, DirectoryState> = {
  name: 'moesi',
  describe:
    'MOESI with a blocking home: a written page that others read stays with its owner, who serves them; home is written at eviction only.',
  source:
    "A Primer on Memory Consistency and Cache Coherence (2nd ed.) 8.4 (owned state); races of the owned state as in gem5's MOESI_CMP_directory-L1cache.sm. Home's blocking as in `mesi`.",
  cache: {
    initial: 'I',
    states: { I, IS, IM, IM_A, S, SM, SM_A, E, M, O, OM, SI_A, EI_A, MI_A, OI_A, II_A },
  },
  directory: {
    initial: 'U',
    states: {
      U: homeU,
      S: homeS,
      X: homeX,
      O: homeO,
      S_B: homeSB,
      X_B: homeXB,
      XS_B: homeXSB,
      O_B: homeOB,
      X_P: homeXP,
      O_P: homeOP,
    },
  },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'U', shared: 'S', owner: 'X' } },
}
