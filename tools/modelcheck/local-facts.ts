import type { CoherenceNode, TokenCount } from 'aether-dsm/internal/dsm'
import { type Program, Wait } from './program.ts'

/**
 * What the invariants of the whole need to know of a node, worked out once for each state of it. Masks are of pages
 * unless said otherwise.
 */
export interface LocalFacts {
  readonly mayRead: number
  readonly mayWrite: number
  readonly frames: number
  /** Pages whose bytes here are worth something when others are lost: recovery goes by them. */
  readonly worthy: number
  /** Pages whose home is here and says that its memory holds what was last stored. */
  readonly valid: number
  /** Pages of which an invalidation or a forward is put off. */
  readonly deferred: number
  /**
   * Pages of which nothing is here but perhaps an unused frame: no copy, no token, no waiting thread. Never at the
   * page's home.
   */
  readonly remnants: number
  /** With tokens: pages whose bytes here count for nothing, as no token says that they are the last. */
  readonly unproven: number
  /** Groups of threads that want a page, asleep or awake: bit 2 * page, and the next for those that want to write. */
  readonly waiting: number
  readonly awake: number
  readonly quiescent: boolean
  /** By page: the nodes that the directory takes for holders, as a mask; undefined at who is not its home. */
  readonly covers: readonly (number | undefined)[]
  /** By page: how many requests wait at its home; 0 at who is not. */
  readonly queued: readonly number[]
  /** By page: the owner that the directory names, -1 for home's memory; undefined at who is not its home. */
  readonly owners: readonly (number | undefined)[]
  /** By page: the tokens here; undefined in protocols that have none. */
  readonly tokens: readonly TokenCount[] | undefined
}

export function factsOf(
  { rank, node, program }: { rank: number; node: CoherenceNode; program: Program },
  homes: readonly number[],
  initial: string,
): LocalFacts {
  const pages = homes.map((_, page) => page)
  const mask = (test: (page: number) => boolean): number =>
    pages.reduce((bits, page) => (test(page) ? bits | (1 << page) : bits), 0)
  const groups = (wanted: (wait: number) => boolean): number =>
    pages.reduce((bits, page) => {
      const reader = wanted(program.wait(page, false)) ? 1 : 0
      const writer = wanted(program.wait(page, true)) ? 2 : 0
      return bits | ((reader | writer) << (2 * page))
    }, 0)
  return {
    mayRead: mask((page) => program.may(page, false)),
    mayWrite: mask((page) => program.may(page, true)),
    frames: program.frames,
    worthy: mask((page) => node.worth(page) !== 'none'),
    valid: mask((page) => homes[page] === rank && node.memory(page) === 'valid'),
    deferred: mask((page) => node.isDeferred(page)),
    unproven: mask((page) => node.countsTokens && !node.tokens(page).valid),
    remnants: mask(
      (page) =>
        homes[page] !== rank &&
        node.copyState(page) === initial &&
        node.worth(page) === 'none' &&
        (!node.countsTokens || node.tokens(page).tokens === 0) &&
        !node.isDeferred(page) &&
        !program.mustHold(page) &&
        (program.evicting & (1 << page)) === 0 &&
        program.wait(page, false) === Wait.None &&
        program.wait(page, true) === Wait.None,
    ),
    waiting: groups((wait) => wait !== Wait.None),
    awake: groups((wait) => wait === Wait.Awake),
    quiescent: node.isQuiescent(),
    covers: homes.map((home, page) => (home === rank && !node.countsTokens ? coveredBy(node, page) : undefined)),
    queued: homes.map((home, page) => (home === rank ? node.directory(page).waiting : 0)),
    tokens: node.countsTokens ? pages.map((page) => node.tokens(page)) : undefined,
    owners: homes.map((home, page) => (home === rank && !node.countsTokens ? node.directory(page).owner : undefined)),
  }
}

function coveredBy(node: CoherenceNode, page: number): number {
  const { owner, sharers } = node.directory(page)
  const mask = sharers.reduce((bits, rank) => bits | (1 << rank), 0)
  return owner < 0 ? mask : mask | (1 << owner)
}
