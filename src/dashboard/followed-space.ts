import { runningSpaces, SpaceError, SpaceObserver } from '../cluster/index.ts'
import { AetherError } from '../native/index.ts'
import { prometheusText } from '../profiling/index.ts'
import { metricSources } from './metric-sources.ts'
import { type EventsSince, ObservedSpace } from './observed-space.ts'
import type { PageMap } from './page-map.ts'
import type { Frame, LogFrame, PageFrame, StructureDetailFrame } from './wire.ts'

/** How often to look for a space while there is none. */
const SEARCH_MS = 500

/**
 * Follows a space by its name, or any space that is running. When the space ends, it waits for the next one.
 */
export class FollowedSpace {
  readonly #name: string | undefined
  #space: ObservedSpace | undefined
  #taken: { readonly space: ObservedSpace; readonly count: number } | undefined
  /** By `performance.now()`, because the wall clock may be set back. */
  #searchedMs = Number.NEGATIVE_INFINITY
  #said = ''
  /** Why no space can be found at all. */
  #problem: string | undefined

  /** Without a name: the first running space, preferably one with ranks. When that has ended, the next one. */
  constructor(name?: string) {
    this.#name = name
  }

  /**
   * Look for the space once, to find out at the start what would never work.
   * @throws AccessError if the runtime directory is refused; ArgumentError for a name that no space can have.
   */
  check(): void {
    try {
      if (this.#name === undefined) runningSpaces()
      else SpaceObserver.attach(this.#name).close()
    } catch (error) {
      if (!(error instanceof SpaceError)) throw error
    }
  }

  look(): Frame {
    const atMs = Date.now()
    const log: LogFrame[] = []
    if (this.#space === undefined && this.#isTimeToSearch()) this.#search(atMs, log)
    const space = this.#space
    if (space === undefined) return this.#nobody(atMs, log)
    const frame = space.look(atMs)
    if (this.#name === undefined && frame.members.every(({ rank }) => rank === null)) this.#preferGroup(atMs, log)
    if (this.#space !== space) {
      const other = this.look()
      return { ...other, log: [...log, ...frame.log, ...other.log] }
    }
    if (!frame.running) {
      space.close()
      this.#space = undefined
    }
    return { ...frame, log: [...log, ...frame.log] }
  }

  pages(region: string): PageMap | undefined {
    return this.#space?.region(region)?.map
  }

  /** Events of pages since the last call, at most the last `most`. */
  takeEvents(most: number): EventsSince | undefined {
    const space = this.#space
    if (space === undefined) return undefined
    const since = space.eventsSince(this.#taken?.space === space ? this.#taken.count : 0, most)
    this.#taken = { space, count: since.count }
    return since
  }

  /** All that is known of a structure, with its keys or values if `showsContents`; undefined if there is none. */
  structure(region: string, name: string, showsContents: boolean): StructureDetailFrame | undefined {
    return this.#space?.structure(region, name, showsContents)
  }

  page(region: string, page: number): PageFrame | undefined {
    return this.#space?.page(region, page)
  }

  /**
   * Counters of all members in the text format of Prometheus. Each call reads them again, without `look()` and without
   * the members' help. If there is no space, it is a comment that says so.
   */
  metrics(): string {
    const name = this.#current()
    if (name === undefined) return comment('no space of yours is running on this machine')
    try {
      return prometheusText(metricSources(name))
    } catch (error) {
      if (error instanceof SpaceError) return comment(error.message)
      throw error
    }
  }

  close(): void {
    this.#space?.close()
    this.#space = undefined
  }

  /** True once in {@link SEARCH_MS}. */
  #isTimeToSearch(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#searchedMs < SEARCH_MS) return false
    this.#searchedMs = nowMs
    return true
  }

  #search(atMs: number, log: LogFrame[]): void {
    try {
      this.#problem = undefined
      const name = this.#name ?? runningSpaces()[0]
      if (name === undefined) return
      this.#space = ObservedSpace.attach(name)
      this.#said = ''
      log.push({ atMs, kind: 'note', text: `watching '${name}'` })
    } catch (error) {
      if (!(error instanceof AetherError)) throw error
      // There is no such space yet, or what has to be changed first: the runtime directory, or the version of Aether.
      const { message, code } = error
      if (code !== 'ERR_AETHER_SPACE_UNREACHABLE') this.#problem = message
      if (message !== this.#said) log.push({ atMs, kind: 'note', text: message })
      this.#said = message
    }
  }

  /**
   * If several spaces are running and none was named, prefer one with ranks: a program may have its own space besides
   * that of the ranks it has started.
   */
  #preferGroup(atMs: number, log: LogFrame[]): void {
    if (!this.#isTimeToSearch()) return
    try {
      const group = runningSpaces().find((name) => name !== this.#space?.name && hasRanks(name))
      if (group === undefined) return
      const found = ObservedSpace.attach(group)
      this.#space?.close()
      this.#space = found
      log.push({ atMs, kind: 'note', text: `watching '${group}'` })
    } catch {
      // It has ended in the meantime, or the runtime directory is refused, which does not matter to the space shown.
    }
  }

  /** The space that is shown, while it is running; otherwise the one that would be shown next. */
  #current(): string | undefined {
    if (this.#name !== undefined) return this.#name
    const running = runningSpaces()
    return running.find((name) => name === this.#space?.name) ?? running[0]
  }

  #nobody(atMs: number, log: readonly LogFrame[]): Frame {
    const nothing = {
      members: [],
      links: [],
      operations: [],
      regions: [],
      structures: [],
      structureMemory: [],
      machines: [],
      indexes: [],
      arrays: { arrays: [], moved: [] },
    }
    const problem = this.#problem === undefined ? {} : { problem: this.#problem }
    const space = this.#name ?? ''
    return { atMs, space, epoch: 0, running: false, ...problem, ...nothing, histograms: [], log, lostEvents: 0 }
  }
}

function hasRanks(name: string): boolean {
  try {
    const observer = SpaceObserver.attach(name)
    try {
      return observer.members().some(({ group }) => group !== undefined)
    } finally {
      observer.close()
    }
  } catch {
    return false
  }
}

/** If there is nothing to scrape, that is not a failure. */
function comment(text: string): string {
  return `# ${text}\n`
}
