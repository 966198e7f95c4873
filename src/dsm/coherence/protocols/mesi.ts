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
import type { Protocol } from '../protocol.ts'
import {
  type CopyState,
  copyStates,
  copyTransitions,
  homeStates,
  homeTransitions,
  ownerBecomesReader,
  whileBusy,
} from './one-owner.ts'
import { busy, cacheTable, directoryTable, on, stay } from './table.ts'

const { X_P, ...resting } = homeStates
const states = {
  ...resting,
  S_B: busy('valid', "A new sharer was served from home's memory; waits for it to say so."),
  X_B: busy('stale', 'A new owner was granted or is being served by the old one; waits for it to say so.'),
  S_DB: busy(
    'stale',
    "The owner serves a reader; waits for the owner to say that home's memory is valid, and for the reader.",
  ),
  S_D: busy('stale', "The reader has its page; waits for the old owner to say that home's memory is valid."),
  X_P,
}

type HomeState = keyof typeof states

export const mesi: Protocol = {
  name: 'mesi',
  describe:
    'MESI with a blocking home: ordered at the home, exclusive-clean state, dirty pages written back when they become shared.',
  source:
    "States and messages: A Primer on Memory Consistency and Cache Coherence (2nd ed.) 8.2-8.4. Home's blocking with Unblock: as in gem5's MESI_Two_Level.",
  cache: { initial: 'I', states: cacheTable(copyStates, [...copyTransitions('unblock'), ...ownerBecomesReader]) },
  directory: {
    initial: 'U',
    states: directoryTable(states, [
      ...homeTransitions('S_B', 'X_B'),
      on('X', 'GetShared', 'S_DB', 'forwardShared', 'ownerBecomesSharer', 'addSharer'),
      on('S_B', 'Unblock', 'S'),
      on('X_B', 'Unblock', 'X'),
      on('S_DB', 'Unblock', 'S_D'),
      on('S_DB', 'Downgraded', 'S_B'),
      on('S_D', 'Downgraded', 'S'),
      whileBusy('S_B', 'X_B', 'S_DB', 'S_D', 'X_P'),
      on(['S_B', 'S_DB', 'S_D'], 'PutShared', stay, 'queue'),
      on(['S_B', 'S_D'], 'Upgrade', stay, 'queue'),
    ]),
  },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'U', shared: 'S', owner: 'X' } },
} satisfies Protocol<CopyState, HomeState>
