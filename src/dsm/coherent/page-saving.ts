import type { Mesh } from '../../cluster/index.ts'
import { livingHome, type Restoration } from '../coherence/index.ts'
import type { FrameChunk, Frames } from './frames.ts'
import type { PageRights } from './page-rights.ts'
import type { PageRange } from './readahead.ts'
import { ReplicaCopying } from './replica-copying.ts'
import type { ReplicaStore } from './replica-store.ts'
import { Replication } from './replication.ts'

export interface PageSavingOptions {
  readonly region: number
  readonly mesh: Mesh
  readonly pageBytes: number
  readonly founders: readonly number[]
  readonly store: ReplicaStore
  readonly frames: Frames
  readonly rights: PageRights
  /** The home of a page while every founder lived. */
  readonly placedAt: (page: number) => number
  /** Its home now, as far as it is known here. */
  readonly homeOf: (page: number) => number
  /** The living ranks. */
  readonly members: () => readonly number[]
  /** Its keepers have what was written in the page: others may have it. */
  readonly onSaved: (page: number) => void
  /** A thread here still wants the page. */
  readonly ask: (page: number, write: boolean) => void
}

/**
 * Saves pages in a region with replicas. What is written in a page goes to its keepers before it goes anywhere else,
 * and comes back from them after a death.
 */
export class PageSaving {
  readonly #options: PageSavingOptions
  readonly #replication: Replication
  readonly #copying: ReplicaCopying
  /** Wanted by threads here while what was written in them is on its way to those who keep it: whether for writing. */
  readonly #wanted = new Map<number, boolean>()

  constructor(options: PageSavingOptions) {
    const { mesh, store, region, founders, members } = options
    this.#options = options
    const send = (to: number, bytes: Uint8Array): void => mesh.send(to, bytes)
    this.#replication = new Replication({
      region,
      rank: mesh.rank,
      keepersOf: (page) => this.#keepersOf(page),
      homeOf: options.placedAt,
      read: (page) => {
        const { chunk, at } = this.#place(page)
        return chunk.bytes.slice(at, at + options.pageBytes)
      },
      keepHere: (page, bytes) => store.keep(page, options.placedAt(page), bytes),
      send,
      onSafe: (page) => this.#saved(page),
    })
    this.#copying = new ReplicaCopying({ region, rank: mesh.rank, ranks: mesh.size, founders, members, store, send })
  }

  /** The region is served: what this rank keeps for a home goes to the next one, too, where that has changed. */
  begin(): void {
    this.#copying.begin()
  }

  /** The group is about to be another. */
  stop(): void {
    this.#copying.stop()
  }

  /** The group is another. */
  membersChanged(): void {
    this.#replication.membersChanged()
  }

  /** Rank `from` keeps what it was sent with this token. */
  kept(from: number, token: number): void {
    this.#replication.kept(from, token)
    this.#copying.kept(from, token)
  }

  /** The program may write the page from now on. */
  written(page: number): void {
    this.#replication.written(page)
  }

  /** The page is not here any more. */
  forget(page: number): void {
    this.#replication.forget(page)
  }

  /**
   * What was written here until now, in the range where there is one, is to be kept by others; `done` is called when it
   * is.
   */
  fence(done: () => void, range?: PageRange): void {
    for (const page of this.#replication.unsaved())
      if (range === undefined || (page >= range.from && page < range.to)) this.#save(page)
    this.#replication.whenSaved(done)
  }

  /** Whether the page is on its way to its keepers; then it is asked for as soon as they have it. */
  defers(page: number, write: boolean): boolean {
    if (!this.#replication.isSaving(page)) return false
    this.#wanted.set(page, write || this.#wanted.get(page) === true)
    return true
  }

  /** No thread pins the page. If its keepers lack what was written, it is sent to them, and `onSaved` follows. */
  isSaved(page: number): boolean {
    if (this.#replication.isUnsaved(page)) {
      this.#options.rights.protectViews(page)
      this.#replication.save(page, true)
    }
    return !this.#replication.isSaving(page)
  }

  /** Set the bytes of a lost page to those that were fenced last. */
  restore(page: number): Restoration {
    const { store, placedAt, pageBytes } = this.#options
    const replica = store.get(page)
    if (replica === undefined && !this.#copying.hasAllOf(placedAt(page))) return 'unknown'
    const { chunk, at } = this.#place(page)
    if (replica === undefined) chunk.bytes.fill(0, at, at + pageBytes)
    else chunk.bytes.set(replica.bytes, at)
    // The other keeper may have something newer that was never fenced, where its writer died between them: it is to
    // have this.
    this.#replication.save(page, true)
    return this.#replication.isSaving(page) ? 'later' : 'done'
  }

  isQuiescent(): boolean {
    return this.#replication.isQuiescent() && this.#copying.isQuiescent()
  }

  #save(page: number): void {
    // A thread that writes under a pin goes on: then the page stays unsaved, and the next fence sends it once more.
    this.#replication.save(page, this.#options.rights.tryStill(page))
  }

  /** Other ranks that wait for the page come first, then threads here. */
  #saved(page: number): void {
    this.#options.onSaved(page)
    const write = this.#wanted.get(page)
    if (write === undefined) return
    this.#wanted.delete(page)
    this.#options.ask(page, write)
  }

  /**
   * The home and the next live rank after it, which is the next home. They may be unknown here if only other ranks have
   * used the page.
   */
  #keepersOf(page: number): readonly number[] {
    const { homeOf, members, mesh } = this.#options
    const home = homeOf(page)
    return home < 0 ? [] : [...new Set([home, livingHome((home + 1) % mesh.size, mesh.size, members())])]
  }

  #place(page: number): { chunk: FrameChunk; at: number } {
    const { frames, pageBytes } = this.#options
    const chunk = frames.chunkAt(page * pageBytes)
    return { chunk, at: page * pageBytes - chunk.offsetBytes }
  }
}
