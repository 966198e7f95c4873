/**
 * A full-map directory that does not wait: three hops, and home goes on to the next request at once wherever it can.
 *
 * The states are those of MESI. What differs from `mesi` is the order of things: home decides who owns the page next
 * and forgets the transaction; there is no `Unblock`. A node may therefore hear of the next transaction before the
 * bytes of its own have come, for they come from another node:
 *   - A forward reaches one that waits for its bytes or for acknowledgements: it keeps the forward until it has used
 *     the page once. So owners form a chain, each waiting for the one before it, and the page goes along it without
 *     home.
 *   - An invalidation reaches one that waits to read: kept likewise. But one that waits to *write* what it can read
 *     acknowledges at once, for the writer before it waits for just that.
 * Home waits only where its own memory is being written: for an owner that becomes a sharer (S_D), and for an evicted
 * dirty page (X_P).
 *
 * No bytes reach a frame late: each request is answered by exactly one `Data…`, sent behind its bytes on the same queue
 * pair, and a node neither asks again nor evicts before it has come. Bytes for home's own frame are waited for by home.
 */
import type { CacheRow, DirectoryRow, Protocol } from '../protocol.ts'
import { to } from './cell.ts'

type CacheState = 'I' | 'IS' | 'IM' | 'IM_A' | 'S' | 'SM' | 'SM_A' | 'E' | 'M' | 'SI_A' | 'EI_A' | 'MI_A' | 'II_A'
type DirectoryState = 'U' | 'S' | 'X' | 'S_D' | 'X_P'

type Row = CacheRow<CacheState>
type HomeRow = DirectoryRow<DirectoryState>

const refused = (state: CacheState): Row['on'] => ({ Refused: to(state, 'fail'), NoMemory: to(state, 'fail') })

/** Home has made us the owner, but we are not yet able to answer for the page. */
const notYet = (state: CacheState): Row['on'] => ({
  ForwardShared: to(state, 'defer'),
  ForwardModified: to(state, 'defer'),
})

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
    DataShared: to('S', 'mapReadOnly'),
    DataExclusive: to('E', 'mapReadOnly'),
    // it overtook bytes that another node sends: they will come, and are the last ones written until we acknowledge
    Invalidate: to('IS', 'defer'),
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
    GrantLast: to('M', 'mapWritable'),
    AckMore: to('IM'),
    ...notYet('IM'),
    ...refused('I'),
  },
}

const IM_A: Row = {
  describe: 'Has the bytes; waits for acknowledgements of other sharers.',
  transient: true,
  right: 'none',
  worth: 'dirty',
  on: {
    Load: to('IM_A'),
    Store: to('IM_A'),
    AckMore: to('IM_A'),
    AckLast: to('M', 'mapWritable'),
    ...notYet('IM_A'),
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
    Invalidate: to('IM', 'unmap', 'acknowledge'), // another writer was first; home will see that we need the bytes
    GrantMore: to('SM_A'),
    GrantLast: to('M', 'mapWritable'),
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
    AckLast: to('M', 'mapWritable'),
    ...notYet('SM_A'),
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
    GetShared: to('X', 'setOwner', 'sendExclusive'),
    GetModified: to('X', 'setOwner', 'sendModified'),
    PutStale: to('U', 'acknowledgePut'),
  },
}

const homeS: HomeRow = {
  describe: "Sharers hold copies; home's memory is valid.",
  transient: false,
  memory: 'valid',
  on: {
    GetShared: to('S', 'sendShared', 'addSharer'),
    GetModified: to('X', 'invalidateSharers', 'sendModified', 'setOwner'),
    Upgrade: to('X', 'invalidateSharers', 'grant', 'setOwner'),
    PutShared: to('S', 'removeSharer', 'acknowledgePut'),
    PutSharedLast: to('U', 'removeSharer', 'acknowledgePut'),
    PutStale: to('S', 'acknowledgePut'),
  },
}

const homeX: HomeRow = {
  describe: "One node owns the page, or will when the owners before it have handed it on; home's memory may be stale.",
  transient: false,
  memory: 'stale',
  on: {
    GetShared: to('S_D', 'forwardShared', 'ownerBecomesSharer', 'addSharer'),
    GetModified: to('X', 'forwardModified', 'setOwner'),
    PutClean: to('U', 'clearOwner', 'acknowledgePut'),
    PutDirty: to('X_P', 'askForWriteBack'),
    PutStale: to('X', 'acknowledgePut'),
  },
}

/** Home's memory is being written: requests wait for their turn. */
const busy = (state: DirectoryState): HomeRow['on'] => ({
  GetShared: to(state, 'queue'),
  GetModified: to(state, 'queue'),
  PutStale: to(state, 'queue'),
})

const homeSD: HomeRow = {
  describe: "The owner serves a reader and becomes one; waits for it to say that home's memory is valid.",
  transient: true,
  memory: 'stale',
  on: {
    ...busy('S_D'),
    Upgrade: to('S_D', 'queue'),
    PutShared: to('S_D', 'queue'),
    Downgraded: to('S'),
  },
}

const homeXP: HomeRow = {
  describe: "The owner evicts what it has written; waits for it to say that home's memory is valid.",
  transient: true,
  memory: 'stale',
  on: { ...busy('X_P'), WrittenBack: to('U', 'clearOwner', 'acknowledgePut') },
}

export const directory: Protocol<CacheState, DirectoryState> = {
  name: 'directory',
  describe:
    'A full-map directory: three hops, forwarded requests, a home that does not wait for those it has served; nodes keep forwards that come before their bytes.',
  source:
    'A Primer on Memory Consistency and Cache Coherence (2nd ed.) 8.2 (MSI), 8.3 (exclusive state), 8.7.2 (non-stalling); there the data of an evicted page travel with the Put, here home asks for them.',
  cache: { initial: 'I', states: { I, IS, IM, IM_A, S, SM, SM_A, E, M, SI_A, EI_A, MI_A, II_A } },
  directory: { initial: 'U', states: { U: homeU, S: homeS, X: homeX, S_D: homeSD, X_P: homeXP } },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'U', shared: 'S', owner: 'X' } },
}
