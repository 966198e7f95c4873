import type { PageAccess } from './page-access.ts'

/** Asks for the pages of a range some way ahead of the one that is copied, each once. */
export class Lookahead {
  readonly #access: PageAccess
  readonly #end: number
  readonly #right: number
  readonly #ahead: number
  #next = 0

  /** For pages below `end`, `ahead` pages ahead. */
  constructor(access: PageAccess, end: number, right: number, ahead: number) {
    this.#access = access
    this.#ahead = ahead
    this.#end = end
    this.#right = right
  }

  /** `page` is wanted now: have the next ones fetched as well. */
  from(page: number): void {
    const end = Math.min(page + 1 + this.#ahead, this.#end)
    this.#next = Math.max(this.#next, page + 1)
    for (; this.#next < end; this.#next += 1) {
      if (!this.#access.isHere(this.#next, this.#right) && !this.#access.ask(this.#next, this.#right)) return
    }
  }
}
