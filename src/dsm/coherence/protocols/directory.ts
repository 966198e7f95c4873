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
import { busy, cacheTable, directoryTable, idle, on, stay } from './table.ts'

const { X_P, ...resting } = homeStates
const states = {
  ...resting,
  X: idle(
    'stale',
    "One node owns the page, or will when the owners before it have handed it on; home's memory may be stale.",
  ),
  S_D: busy('stale', "The owner serves a reader and becomes one; waits for it to say that home's memory is valid."),
  X_P,
}

type HomeState = keyof typeof states

export const directory: Protocol = {
  name: 'directory',
  describe:
    'A full-map directory with three hops and forwarded requests. Home does not wait for nodes that it has served; nodes keep forwards that arrive before their bytes.',
  source:
    'A Primer on Memory Consistency and Cache Coherence (2nd ed.) 8.2 (MSI), 8.3 (exclusive state), 8.7.2 (non-stalling); there the data of an evicted page travel with the Put, here home asks for them.',
  cache: {
    initial: 'I',
    states: cacheTable(copyStates, [
      ...copyTransitions(),
      ...ownerBecomesReader,
      // Home has made us the owner, but we are not yet able to answer for the page.
      on(['IM', 'IM_A', 'SM_A'], ['ForwardShared', 'ForwardModified'], stay, 'defer'),
      // It overtook bytes that another node sends. They will come, and are the last ones written until we acknowledge.
      on('IS', 'Invalidate', stay, 'defer'),
    ]),
  },
  directory: {
    initial: 'U',
    states: directoryTable(states, [
      ...homeTransitions('S', 'X'),
      on('X', 'GetShared', 'S_D', 'forwardShared', 'ownerBecomesSharer', 'addSharer'),
      on('S_D', 'Downgraded', 'S'),
      whileBusy('S_D', 'X_P'),
      on('S_D', ['Upgrade', 'PutShared'], stay, 'queue'),
    ]),
  },
  recovery: { cache: { none: 'I', shared: 'S', owner: 'M' }, directory: { none: 'U', shared: 'S', owner: 'X' } },
} satisfies Protocol<CopyState, HomeState>
