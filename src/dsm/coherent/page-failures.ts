import type { AgentContext } from '../../runtime/index.ts'
import type { PageFailure } from './region-plan.ts'

/** Ends the process: a page that a view needs cannot be had, and a load or store cannot be given an error. */
const LOST_PAGE_EXIT_CODE = 71

/** Why pages of a region cannot be had. */
export class PageFailures {
  readonly #failures = new Map<number, PageFailure>()

  /** The first reason stays: what comes later only says that it is so. */
  add(page: number, failure: PageFailure): void {
    if (!this.#failures.has(page)) this.#failures.set(page, failure)
  }

  /** Undefined where nothing is known against the page. */
  get(page: number): PageFailure | undefined {
    return this.#failures.get(page)
  }

  delete(page: number): void {
    this.#failures.delete(page)
  }

  /** A thread waits in a load or store for a page that cannot be had. `process` is ended. */
  end(process: Pick<AgentContext, 'exit'>, ownRank: number, region: string, page: number): never {
    const { kind, rank } = this.#failures.get(page)!
    const why =
      kind === 'memoryExhausted'
        ? `rank ${rank} has no memory left for it`
        : `its only copy or its home was at rank ${rank}, which has died`
    process.exit(
      LOST_PAGE_EXIT_CODE,
      `aether: rank ${ownRank}: page ${page} of region '${region}' is lost: ${why}. A view was read or written there, and a view cannot throw, so the process ends.`,
    )
  }
}
