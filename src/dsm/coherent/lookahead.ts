import type { PageAccess } from './page-access.ts'

/** Pages that are under way at a time: enough to cover the round trips of one with the copies of the others. */
const AHEAD = 16

/** Asks for the pages of a range some way ahead of the one that is copied, each once. */
export class Lookahead {
  readonly #access: PageAccess
  readonly #end: number
  readonly #right: number
  readonly #ahead: number
  #next = 0

  /** For pages below `end`; no more than half of what the cache holds. */
  constructor(access: PageAccess, end: number, right: number, cachePages: number) {
    this.#access = access
    this.#ahead = Math.min(AHEAD, Math.floor(cachePages / 2))
    this.#end = end
    this.#right = right
  }

  /** `page` is wanted now: have the next ones fetched as well. */
  from(page: number): void {
    const end = Math.min(page + 1 + this.#ahead, this.#end)
    this.#next = Math.max(this.#next, page + 1)
    for (; this.#next < end; this.#next++) {
      if (!this.#access.isHere(this.#next, this.#right) && !this.#access.ask(this.#next, this.#right)) return
    }
  }
}
