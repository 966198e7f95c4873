/**
 * MESI, ordered by a blocking home.
 *
 * - *M*odified: one node reads and writes; home's memory is stale.
 * - *E*xclusive: one node reads, and there is no other copy; its first write turns it into M without a message.
 * - *S*hared: several read; home's memory is valid.
 * - *I*nvalid.
 *
 * Home takes one transaction a page at a time and queues the rest until the requester says `Unblock`. So a node never
 * gets a forward or an invalidation for a page whose data is still on its way to it. Two races are left:
 *
 * - An upgrade (S, wants M) loses against another writer's: the sharer acknowledges and waits for bytes as well (SM +
 *   Invalidate -> IM).
 * - An eviction meets an invalidation or a forward. The evicting node answers from the frame, which it keeps until home
 *   acknowledges. It goes on as what it has become (MI_A + ForwardShared -> SI_A; + ForwardModified -> II_A).
 *
 * The holder of the bytes writes them into the requester's frame and then sends the grant on the same queue pair. An
 * evicted dirty page is written into home's frame only when home asks for it (`WriteBack`). If its bytes were pushed
 * ahead of the `PutDirty`, they could arrive after a new owner has taken the page and written it back, and would then
 * undo its stores.
 */
import type { CacheRow, DirectoryRow, Protocol } from '../protocol.ts'
import { to } from './cell.ts'

type CacheState = 'I' | 'IS' | 'IM' | 'IM_A' | 'S' | 'SM' | 'SM_A' | 'E' | 'M' | 'SI_A' | 'EI_A' | 'MI_A' | 'II_A'
type DirectoryState = 'U' | 'S' | 'X' | 'S_B' | 'X_B' | 'S_DB' | 'S_D' | 'X_P'

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
  describe: 'One of several readers.',
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
    ForwardShared: to('S', 'sendShared', 'tellHome'),
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
    ForwardShared: to('S', 'protect', 'sendShared', 'writeBack', 'tellHome'),
    ForwardModified: to('I', 'unmap', 'sendModified'),
  },
}

/** A thread wants the page while it is being evicted: it is asked for when that is over. */
const later = <S extends CacheState>(state: S): Row['on'] => ({
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
    ForwardShared: to('SI_A', 'sendShared', 'tellHome'),
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
    ForwardShared: to('SI_A', 'sendShared', 'writeBack', 'tellHome'),
    ForwardModified: to('II_A', 'sendModified'),
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
  describe: "One node owns the page (E or M); home's memory may be stale.",
  transient: false,
  memory: 'stale',
  on: {
    GetShared: to('S_DB', 'forwardShared', 'ownerBecomesSharer', 'addSharer'),
    GetModified: to('X_B', 'forwardModified', 'setOwner'),
    PutClean: to('U', 'clearOwner', 'acknowledgePut'),
    PutDirty: to('X_P', 'askForWriteBack'),
    PutStale: to('X', 'acknowledgePut'),
  },
}

/** Home is in the middle of a transaction: all others wait for their turn. */
const busy = (state: DirectoryState): HomeRow['on'] => ({
  GetShared: to(state, 'queue'),
  GetModified: to(state, 'queue'),
  PutStale: to(state, 'queue'),
})

/** While there are sharers. */
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

const homeSDB: HomeRow = {
  describe: "The owner serves a reader; waits for the owner to say that home's memory is valid, and for the reader.",
  transient: true,
  memory: 'stale',
  on: {
    ...busy('S_DB'),
    PutShared: to('S_DB', 'queue'),
    Unblock: to('S_D'),
    Downgraded: to('S_B'),
  },
}

const homeSD: HomeRow = {
  describe: "The reader has its page; waits for the old owner to say that home's memory is valid.",
  transient: true,
  memory: 'stale',
  on: { ...busyShared('S_D'), Downgraded: to('S') },
}

const homeXP: HomeRow = {
  describe: "The owner evicts what it has written; waits for it to say that home's memory is valid.",
  transient: true,
  memory: 'stale',
  on: { ...busy('X_P'), WrittenBack: to('U', 'clearOwner', 'acknowledgePut') },
}

export const mesi: Protocol<CacheState, DirectoryState> = {
  name: 'mesi',
  describe:
    'MESI with a blocking home: ordered at the home, exclusive-clean state, dirty pages written back when they become shared.',
  source:
    "States and messages: A Primer on Memory Consistency and Cache Coherence (2nd ed.) 8.2-8.4. Home's blocking with Unblock: as in gem5's MESI_Two_Level.",
  cache: { initial: 'I', states: { I, IS, IM, IM_A, S, SM, SM_A, E, M, SI_A, EI_A, MI_A, II_A } },
  directory: {
    initial: 'U',
    states: {
      U: homeU,
      S: homeS,
      X: homeX,
      S_B: homeSB,
      X_B: homeXB,
      S_DB: homeSDB,
      S_D: homeSD,
      X_P: homeXP,
    },
  },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'U', shared: 'S', owner: 'X' } },
}
