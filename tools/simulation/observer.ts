import { PageRight } from 'aether-dsm/internal/dsm'
import { PageVersions } from './page-versions.ts'

/** Something that must never be. */
export class ViolationError extends Error {
  override readonly name = 'ViolationError'
}

/** Sees everything at once, as no member does, and compares: who may do what, and what each byte of the region is. */
export class Observer {
  readonly pageBytes: number
  /** The region as it would be in one memory. */
  readonly #truth: Uint8Array
  /** Of a region with replicas: what each page was since it was last kept for good. */
  readonly #versions: PageVersions[] | undefined
  readonly #rights: Uint8Array[]
  readonly #pages: number
  /** Ranks that the others go on without. Their actions no longer count. */
  readonly #out = new Set<number>()
  /** Pages that were said to be lost. */
  readonly #lost = new Set<number>()
  /** Pages that a member of the present epoch had when it started. These must not be lost in this epoch. */
  #had: ReadonlySet<number> = new Set()

  /** How often a page went back to an older version. */
  restored = 0

  constructor(nodes: number, pages: number, pageBytes: number, replicas: 0 | 1) {
    this.pageBytes = pageBytes
    this.#pages = pages
    if (replicas > 0) this.#versions = Array.from({ length: pages }, () => new PageVersions(new Uint8Array(pageBytes)))
    this.#truth = new Uint8Array(pages * pageBytes)
    this.#rights = Array.from({ length: nodes }, () => new Uint8Array(pages))
  }

  right(rank: number, page: number): number {
    return this.#rights[rank]![page]!
  }

  /**
   * A node's mmu has changed the rights of its program. There must be one writer or many readers, and a program that
   * may read must see what was stored last.
   */
  rightChanged(rank: number, page: number, right: number, frame: Uint8Array): void {
    if (this.#out.has(rank)) return
    this.#rights[rank]![page] = right
    if (right === PageRight.None) {
      // It does not leave before it is kept elsewhere.
      this.#versionsOf(page)?.keepLatest()
      return
    }
    if (this.#lost.has(page))
      throw new ViolationError(`lost: rank ${rank} may ${nameOf(right)} page ${page}, which was said to be lost`)
    this.#rights.forEach((rights, other) => {
      const theirs = rights[page]!
      if (other !== rank && theirs !== PageRight.None && (right === PageRight.Write || theirs === PageRight.Write))
        throw new ViolationError(
          `single writer or many readers: rank ${rank} may ${nameOf(right)} page ${page} while rank ${other} may ${nameOf(theirs)} it`,
        )
    })
    this.#restore(rank, page, frame)
    this.compare(rank, page, frame, 'was granted')
    // Nor is it shown to others.
    if (this.#versionsOf(page)?.author !== rank) this.#versionsOf(page)?.keepLatest()
  }

  #versionsOf(page: number): PageVersions | undefined {
    return this.#versions?.[page]
  }

  /** A rank calls for a fence: what is to be called once that has ended. */
  fenceBegins(rank: number): () => void {
    const written = this.#versions?.map((versions) => versions.latestOf(rank)) ?? []
    return () => {
      if (this.#out.has(rank)) return
      for (const [page, version] of written.entries()) this.#versionsOf(page)?.keep(version)
    }
  }

  /** A page that no rank has any more may go back to anything that it was since it was last kept. */
  #restore(rank: number, page: number, frame: Uint8Array): void {
    const versions = this.#versionsOf(page)
    const isLost = versions !== undefined && this.#out.size > 0 && this.holders(page).every((holder) => holder === rank)
    if (!isLost || !versions.goBackTo(frame)) return
    this.restored += 1
    this.#truth.set(frame, page * this.pageBytes)
  }

  /** An access was made at this moment. */
  accessed(
    rank: number,
    page: number,
    offset: number,
    seen: number,
    left: number | undefined,
    frame: Uint8Array,
  ): void {
    if (this.#out.has(rank)) return
    const at = page * this.pageBytes + offset
    const truth = new DataView(this.#truth.buffer, at, 4)
    if (seen !== truth.getInt32(0, true))
      throw new ViolationError(
        `data value: rank ${rank} saw ${seen} at byte ${offset} of page ${page}, where ${truth.getInt32(0, true)} was stored last`,
      )
    if (left !== undefined) {
      truth.setInt32(0, left, true)
      this.#versionsOf(page)?.add(rank, this.#truth.slice(page * this.pageBytes, (page + 1) * this.pageBytes))
    }
    this.compare(rank, page, frame, 'accessed')
  }

  /** The members of an epoch go on without `rank`: all of them know, and none has anything from it any more. */
  goOnWithout(rank: number): void {
    this.#out.add(rank)
    this.#rights[rank]!.fill(PageRight.None)
  }

  /** An epoch has come into force for all its members. */
  epochBegan(): void {
    this.#had = new Set(
      Array.from({ length: this.#pages }, (_, page) => page).filter((page) => this.holders(page).length > 0),
    )
  }

  isOut(rank: number): boolean {
    return this.#out.has(rank)
  }

  get lostPages(): number {
    return this.#lost.size
  }

  /** `rank` was told that no node has the page any more. */
  lost(rank: number, page: number): void {
    if (this.#out.has(rank)) return
    const holders = this.holders(page)
    if (holders.length > 0)
      throw new ViolationError(`lost: rank ${rank} is told that page ${page} is lost, and rank ${holders[0]} has it`)
    if (this.#out.size === 0)
      throw new ViolationError(`lost: page ${page} is lost to rank ${rank}, although no rank has died`)
    if (this.#versions !== undefined && this.#out.size === 1)
      throw new ViolationError(
        `lost: page ${page} is lost to rank ${rank}, although it has a replica and one rank has died`,
      )
    if (this.#had.has(page) && !this.#lost.has(page))
      throw new ViolationError(
        `lost: page ${page} is lost to rank ${rank}, although a live rank had it at the last death`,
      )
    this.#lost.add(page)
  }

  compare(rank: number, page: number, frame: Uint8Array, what: string): void {
    const begin = page * this.pageBytes
    for (let offset = 0; offset < this.pageBytes; offset += 1) {
      if (frame[offset] === this.#truth[begin + offset]) continue
      throw new ViolationError(
        `data value: byte ${offset} of page ${page}, which rank ${rank} ${what}, is ${frame[offset]} and should be ${this.#truth[begin + offset]}`,
      )
    }
  }

  /** Ranks that may look at a page. */
  holders(page: number): number[] {
    return this.#rights.flatMap((rights, rank) => (rights[page] === PageRight.None ? [] : [rank]))
  }

  get pages(): number {
    return this.#pages
  }
}

function nameOf(right: number): string {
  return right === PageRight.Write ? 'write' : 'read'
}
