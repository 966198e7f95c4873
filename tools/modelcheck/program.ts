import type { Right } from 'aether-dsm/internal/dsm'
import type { Threads } from './model.ts'

/** What a group of threads that wants a page is doing. */
export const Wait = { None: 0, Asleep: 1, Awake: 2 } as const

const rightNumber: Readonly<Record<Right, number>> = { none: 0, read: 1, write: 2 }

/** A node's threads, its mmu and its frames, beside the coherence node: together they are all there is at a node. */
export class Program {
  readonly pages: number
  readonly threads: Threads
  /** By page: 0 none, 1 read, 2 write. */
  readonly rights: Uint8Array
  /** By page: who waits to read, then, after all pages, who waits to write. */
  readonly waits: Uint8Array
  /** Pages granted to a thread that has not run since. */
  held = 0
  /** Pages that are to stay until they are unpinned. */
  pinned = 0
  /** Pages whose eviction has begun, and not ended. */
  evicting = 0
  /** Pages that have a frame here. */
  frames: number
  /** How often a page was mapped. Each time wakes the sleeping threads. Not part of the state. */
  mappings = 0
  /** How often a frame was given back. Not part of the state. */
  evictions = 0

  constructor(pages: number, threads: Threads, frames: number) {
    this.pages = pages
    this.threads = threads
    this.rights = new Uint8Array(pages)
    this.waits = new Uint8Array(2 * pages)
    this.frames = frames
  }

  clone(): Program {
    const copy = new Program(this.pages, this.threads, this.frames)
    copy.rights.set(this.rights)
    copy.waits.set(this.waits)
    copy.held = this.held
    copy.pinned = this.pinned
    copy.evicting = this.evicting
    return copy
  }

  fingerprint(): string {
    return `${this.rights.join('')} ${this.waits.join('')} ${this.held} ${this.pinned} ${this.evicting} ${this.frames}`
  }

  wait(page: number, write: boolean): number {
    return this.waits[write ? this.pages + page : page]!
  }

  setWait(page: number, write: boolean, wait: number): void {
    this.waits[write ? this.pages + page : page] = wait
  }

  may(page: number, write: boolean): boolean {
    return this.rights[page]! >= (write ? 2 : 1)
  }

  isPinned(page: number): boolean {
    return (this.pinned & (1 << page)) !== 0
  }

  /** The page is not to be taken away yet. */
  mustHold(page: number): boolean {
    return ((this.held | this.pinned) & (1 << page)) !== 0
  }

  /** The mmu lets the program have the page: who slept for it is woken, and it stays until one of them has run. */
  map(page: number, right: Right): void {
    this.rights[page] = rightNumber[right]
    this.mappings += 1
    for (const write of [false, true]) {
      if (this.wait(page, write) !== Wait.Asleep) continue
      this.setWait(page, write, Wait.Awake)
      this.held |= 1 << page
    }
  }

  take(page: number, left: Right): void {
    this.rights[page] = rightNumber[left]
  }

  /** Every thread that waits for the page is told that it is lost. */
  fail(page: number): void {
    this.setWait(page, false, Wait.None)
    this.setWait(page, true, Wait.None)
    this.held &= ~(1 << page)
  }

  get isIdle(): boolean {
    return this.waits.every((wait) => wait === Wait.None)
  }

  /** Pages that the program may at least read, as a mask; with `least` 2 those it may write. */
  mayMask(least: number): number {
    return this.rights.reduce((mask, right, page) => (right >= least ? mask | (1 << page) : mask), 0)
  }
}
