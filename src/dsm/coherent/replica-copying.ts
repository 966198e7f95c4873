import { livingHome } from '../coherence/index.ts'
import { encodeComplete, encodePage } from './replica-channel.ts'
import type { Replica, ReplicaStore } from './replica-store.ts'

/** Pages that are under way at a time: the mesh has other things to carry. */
const WINDOW = 8

export interface ReplicaCopyingOptions {
  readonly region: number
  readonly rank: number
  readonly ranks: number
  /** Ranks that lived when the region was made. */
  readonly founders: readonly number[]
  /** Ranks that live now. */
  readonly members: () => readonly number[]
  readonly store: ReplicaStore
  readonly send: (to: number, bytes: Uint8Array) => void
}

/**
 * A home's part in keeping two copies of everything. After a death the rank that comes next after it gets what only the
 * home keeps now.
 *
 * Pages are told apart by their *first home*, the rank that was their home while every founder lived. Their keepers are
 * the first two live ranks from there on. So a rank that has become a keeper stays one, and it knows only what it was
 * told. Only a rank that knows all about a first home knows that a page of which it has nothing was never fenced.
 */
export class ReplicaCopying {
  readonly #options: ReplicaCopyingOptions
  /** The rank after this one that has been told all, by first home. */
  readonly #told = new Map<number, number>()
  #queue: (readonly [page: number, replica: Replica])[] = []
  readonly #underWay = new Set<number>()
  /** Told when the queue has been sent: first homes. */
  #homes: number[] = []
  #to = -1
  /** Not to be mistaken for those of holders. */
  #nextToken = -1

  constructor(options: ReplicaCopyingOptions) {
    this.#options = options
    const { rank, founders } = options
    if (founders.includes(rank)) this.#told.set(rank, this.#after(rank, founders))
  }

  /** Whether whatever was fenced of the pages with this first home is kept here. */
  hasAllOf(home: number): boolean {
    const { rank, founders, store } = this.#options
    if (home < 0) return false
    return home === rank || this.#after(home, founders) === rank || store.wasTold(home)
  }

  /** The region is in order: tell the next rank what it may not know. */
  begin(): void {
    const { rank, ranks, members, founders, store } = this.#options
    const next = this.#after(rank, members())
    if (next === rank) return
    const homes = founders.filter(
      (home) => livingHome(home, ranks, members()) === rank && this.#told.get(home) !== next,
    )
    if (homes.length === 0) return
    this.#to = next
    this.#homes = homes
    this.#queue = [...store.pages()].filter(([, { home }]) => homes.includes(home))
    this.#advance()
  }

  /** There was another death. */
  stop(): void {
    this.#queue = []
    this.#homes = []
    this.#underWay.clear()
  }

  kept(from: number, token: number): void {
    if (from === this.#to && this.#underWay.delete(token)) this.#advance()
  }

  isQuiescent(): boolean {
    return this.#underWay.size === 0
  }

  #advance(): void {
    const { region, send } = this.#options
    while (this.#underWay.size < WINDOW) {
      const next = this.#queue.pop()
      if (next === undefined) break
      const token = this.#nextToken--
      this.#underWay.add(token)
      const [page, { home, bytes }] = next
      for (const part of encodePage('copy', { region, page, token, home, bytes })) send(this.#to, part)
    }
    if (this.#underWay.size === 0) this.#finish()
  }

  #finish(): void {
    const { region, send } = this.#options
    for (const home of this.#homes) {
      this.#told.set(home, this.#to)
      // What this rank does not know itself it does not claim.
      if (this.hasAllOf(home)) send(this.#to, encodeComplete(region, home))
    }
    this.#homes = []
  }

  #after(home: number, members: readonly number[]): number {
    const { ranks } = this.#options
    return livingHome((home + 1) % ranks, ranks, members)
  }
}
