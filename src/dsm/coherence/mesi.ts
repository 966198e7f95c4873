/**
 * MESI, ordered by a blocking home.
 *
 *   - *M*odified: one node reads and writes; home's memory is stale.   - *S*hared: several read; home's memory is valid.
 *   - *E*xclusive: one node reads, nobody else has a copy; its first write turns it into M without a message.   - *I*nvalid.
 *
 * Home takes one transaction a page at a time and queues the rest until the requester says `Unblock`; a node therefore never gets a forward
 * or an invalidation for a page whose data is still on its way to it, but for one race: an upgrade (S, wants M) that loses
 * against another writer's. Then the sharer acknowledges and waits for bytes as well (SM + Invalidate -> IM).
 *
 * Source: Primer (2nd ed.) 8.2-8.4 for the states and messages; home's blocking with Unblock as in gem5's MESI_Two_Level (there: `Unblock`,
 * `Exclusive_Unblock`). The holder of the bytes writes them into the requester's frame and then sends the grant on the same queue pair.
 */
import type { CacheAction, CacheEvent, Cell, DirectoryAction, DirectoryEvent, Protocol, StateRow } from './protocol.ts'

type CacheState = 'I' | 'IS' | 'IM' | 'IM_A' | 'S' | 'SM' | 'SM_A' | 'E' | 'M' | 'L'
type DirectoryState = 'U' | 'S' | 'X' | 'S_B' | 'X_B' | 'S_DB' | 'S_D' | 'S_L' | 'L'

const to = <A, S extends string>(next: S, ...actions: A[]): Cell<A, S> => ({ actions, next })
type Row = StateRow<CacheEvent, CacheAction, CacheState>
type HomeRow = StateRow<DirectoryEvent, DirectoryAction, DirectoryState>

/** A request that home refuses, or that the dead home cannot answer. */
const lost: Row['on'] = { Refused: to('L', 'fail'), HomeDied: to('L', 'fail') }

const I: Row = {
  describe: 'No copy here.',
  transient: false,
  on: {
    Load: to('IS', 'requestShared'),
    Store: to('IM', 'requestModified'),
    Abandoned: to('I'),
  },
}

const IS: Row = {
  describe: 'Wants to read; waits for the bytes.',
  transient: true,
  on: {
    Load: to('IS'),
    Store: to('IS'), // the thread faults once more when the page is readable
    DataShared: to('S', 'mapReadOnly', 'unblock'),
    DataExclusive: to('E', 'mapReadOnly', 'unblock'),
    ...lost,
    NoMemory: to('I', 'fail'),
    Abandoned: to('L', 'fail', 'unblockLost'),
  },
}

const IM: Row = {
  describe: 'Wants to write; waits for the bytes and for acknowledgements.',
  transient: true,
  on: {
    Load: to('IM'),
    Store: to('IM'),
    GrantMore: to('IM_A'),
    GrantLast: to('M', 'mapWritable', 'unblock'),
    AckMore: to('IM'),
    ...lost,
    NoMemory: to('I', 'fail'),
    Abandoned: to('L', 'fail', 'unblockLost'),
  },
}

const IM_A: Row = {
  describe: 'Has the bytes and the grant; waits for acknowledgements of other sharers.',
  transient: true,
  on: {
    Load: to('IM_A'),
    Store: to('IM_A'),
    AckMore: to('IM_A'),
    AckLast: to('M', 'mapWritable', 'unblock'),
    HomeDied: to('L', 'fail'), // whether every sharer was told to invalidate, and who still owes, nobody knows any more
  },
}

const S: Row = {
  describe: 'One of several readers.',
  transient: false,
  on: {
    Load: to('S', 'mapReadOnly'), // a second thread, or a window that had not touched it yet
    Store: to('SM', 'requestModified'),
    Invalidate: to('I', 'unmap', 'acknowledge'),
    Abandoned: to('S'),
  },
}

const SM: Row = {
  describe: 'Reads, wants to write; waits for the grant and for acknowledgements.',
  transient: true,
  on: {
    Load: to('SM', 'mapReadOnly'),
    Store: to('SM'),
    Invalidate: to('IM', 'unmap', 'acknowledge'), // another writer was first: our request still stands in home's queue
    GrantMore: to('SM_A'),
    GrantLast: to('M', 'mapWritable', 'unblock'),
    AckMore: to('SM'),
    Refused: to('L', 'unmap', 'fail'),
    HomeDied: to('L', 'unmap', 'fail'),
    Abandoned: to('SM'), // of the transaction that made us a sharer: its answer had come
  },
}

const SM_A: Row = {
  describe: 'Reads, has the grant; waits for acknowledgements of other sharers.',
  transient: true,
  on: {
    Load: to('SM_A', 'mapReadOnly'),
    Store: to('SM_A'),
    AckMore: to('SM_A'),
    AckLast: to('M', 'mapWritable', 'unblock'),
    HomeDied: to('L', 'unmap', 'fail'),
  },
}

const E: Row = {
  describe: 'The only copy, unwritten; mapped read-only so that the first write is seen.',
  transient: false,
  on: {
    Load: to('E', 'mapReadOnly'),
    Store: to('M', 'mapWritable'),
    ForwardShared: to('S', 'sendShared', 'tellHome'),
    ForwardModified: to('I', 'unmap', 'sendModified'),
    Abandoned: to('E'),
  },
}

const M: Row = {
  describe: 'The only copy, written.',
  transient: false,
  on: {
    Load: to('M', 'mapWritable'),
    Store: to('M', 'mapWritable'),
    // Protect first, read the bytes after: the other order loses a store.
    ForwardShared: to('S', 'protect', 'sendShared', 'writeBack', 'tellHome'),
    ForwardModified: to('I', 'unmap', 'sendModified'),
    Abandoned: to('M'),
  },
}

const L: Row = {
  describe: 'Lost: the only valid copy, or the home, was at a member that died.',
  transient: false,
  on: {
    Load: to('L', 'fail'),
    Store: to('L', 'fail'),
    Abandoned: to('L'),
    Invalidate: to('L', 'acknowledge'),
    // What was on its way when we gave up.
    DataShared: to('L'),
    DataExclusive: to('L'),
    GrantMore: to('L'),
    GrantLast: to('L'),
    AckMore: to('L'),
    AckLast: to('L'),
  },
}

const homeU: HomeRow = {
  describe: "Nobody holds a copy; home's memory is valid.",
  transient: false,
  on: {
    GetShared: to('X_B', 'setOwner', 'sendExclusive'),
    GetModified: to('X_B', 'setOwner', 'sendModified'),
  },
}

const homeS: HomeRow = {
  describe: "Sharers hold copies; home's memory is valid.",
  transient: false,
  on: {
    GetShared: to('S_B', 'sendShared', 'addSharer'),
    GetModified: to('X_B', 'invalidateSharers', 'sendModified', 'setOwner'),
  },
}

const homeX: HomeRow = {
  describe: "One node owns the page (E or M); home's memory may be stale.",
  transient: false,
  on: {
    GetShared: to('S_DB', 'forwardShared', 'ownerBecomesSharer', 'addSharer'),
    GetModified: to('X_B', 'forwardModified', 'setOwner'),
    OwnerDied: to('L', 'clearOwner'),
  },
}

const busy = <S extends DirectoryState>(
  state: S,
): { GetShared: Cell<DirectoryAction, S>; GetModified: Cell<DirectoryAction, S> } => ({
  GetShared: to(state, 'queue'),
  GetModified: to(state, 'queue'),
})

const homeSB: HomeRow = {
  describe: "A new sharer was served from home's memory; waits for it to say so.",
  transient: true,
  // UnblockLost: the old owner had written home's memory back and died; its other message to the reader was overtaken by the news of that.
  on: { ...busy('S_B'), Unblock: to('S'), UnblockLost: to('S') },
}

const homeXB: HomeRow = {
  describe: 'A new owner was granted or is being served by the old one; waits for it to say so.',
  transient: true,
  on: { ...busy('X_B'), Unblock: to('X'), UnblockLost: to('L', 'clearOwner'), OwnerDied: to('L', 'clearOwner') },
}

const homeSDB: HomeRow = {
  describe: "The owner serves a reader; waits for the owner to say that home's memory is valid, and for the reader.",
  transient: true,
  on: { ...busy('S_DB'), Unblock: to('S_D'), Downgraded: to('S_B'), UnblockLost: to('L', 'clearOwner') },
}

const homeSD: HomeRow = {
  describe: "The reader has its page; waits for the old owner to say that home's memory is valid.",
  transient: true,
  on: { ...busy('S_D'), Downgraded: to('S'), OwnerDied: to('S_L') },
}

const homeSL: HomeRow = {
  describe:
    "Sharers hold copies, but the old owner died before home's memory was valid: kept by its readers, lost to all others.",
  transient: false,
  on: { GetShared: to('S_L', 'refuse'), GetModified: to('S_L', 'refuse') },
}

const homeL: HomeRow = {
  describe: 'Lost: the only valid copy was at a member that died.',
  transient: false,
  on: { GetShared: to('L', 'refuse'), GetModified: to('L', 'refuse'), UnblockLost: to('L') },
}

export const mesi: Protocol<CacheState, DirectoryState> = {
  name: 'mesi',
  describe:
    'MESI with a blocking home: ordered at the home, exclusive-clean state, dirty pages written back when they become shared.',
  cache: { initial: 'I', states: { I, IS, IM, IM_A, S, SM, SM_A, E, M, L } },
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
      S_L: homeSL,
      L: homeL,
    },
  },
  rights: {
    I: 'none',
    IS: 'none',
    IM: 'none',
    IM_A: 'none',
    S: 'read',
    SM: 'read',
    SM_A: 'read',
    E: 'read',
    M: 'write',
    L: 'none',
  },
}
