import type { AgreedPlacement } from './placement.ts'

/** Memory of pages that stay is registered in chunks of this size, and so is all memory if the cache is unbounded. */
const CHUNK_BYTES = 4 * 2 ** 20
/** A bound is made of this many units: each leaves as a whole. */
const UNITS_PER_BOUND = 16
/**
 * If homes are scattered over a region, no more registrations than this at a time: a device and a process have a
 * limited number.
 */
const REGISTRATIONS_MAX = 4096
/** If that is not possible, there are this many units at most. */
const MIXED_UNITS_MAX = 1024

/** A stretch of the frames that is taken, registered and given back at once. */
export interface FrameUnit {
  readonly index: number
  readonly offsetBytes: number
  readonly lengthBytes: number
}

export interface FrameUnitsOptions {
  readonly pages: number
  readonly pageBytes: number
  /** The bound on the cache; undefined where there is none. */
  readonly limitBytes: number | undefined
  readonly placement: AgreedPlacement
  readonly isHome: (page: number) => boolean
}

/**
 * How the frames of a region are divided:
 * 1. A chunk of which this rank is the home for every page is one unit, and stays.
 * 2. Elsewhere units are so small that several make up the bound of the cache.
 * 3. If possible, such a unit holds pages of one home only: a unit with a page of this rank's own is never given back.
 */
export class FrameUnits {
  /** Of units that may be given back. */
  readonly unitBytes: number
  readonly #chunkBytes: number
  readonly #options: FrameUnitsOptions
  /** Chunks of which it has been found out whether they are all ours. */
  readonly #own = new Map<number, boolean>()

  constructor(options: FrameUnitsOptions) {
    this.#options = options
    this.unitBytes = options.pageBytes * unitPages(options)
    this.#chunkBytes = Math.max(1, Math.floor(CHUNK_BYTES / this.unitBytes)) * this.unitBytes
  }

  unitAt(page: number): FrameUnit {
    const offsetBytes = page * this.#options.pageBytes
    const chunk = Math.floor(offsetBytes / this.#chunkBytes)
    // Those of our own chunks have numbers apart from the others.
    if (this.#isOwn(chunk))
      return { index: -1 - chunk, offsetBytes: chunk * this.#chunkBytes, lengthBytes: this.#chunkBytes }
    return this.unit(Math.floor(offsetBytes / this.unitBytes))
  }

  /** One that may be given back. */
  unit(index: number): FrameUnit {
    return { index, offsetBytes: index * this.unitBytes, lengthBytes: this.unitBytes }
  }

  /** Whether this rank is the home of a page of it. */
  holdsHomePages(unit: number): boolean {
    return this.#some(unit * this.unitBytes, this.unitBytes, this.#options.isHome)
  }

  #isOwn(chunk: number): boolean {
    if (this.unitBytes === this.#chunkBytes || this.#options.placement === 'first-touch') return false
    const known = this.#own.get(chunk)
    if (known !== undefined) return known
    const own = !this.#some(chunk * this.#chunkBytes, this.#chunkBytes, (page) => !this.#options.isHome(page))
    this.#own.set(chunk, own)
    return own
  }

  #some(offsetBytes: number, lengthBytes: number, test: (page: number) => boolean): boolean {
    const { pageBytes, pages } = this.#options
    const end = Math.min(pages, (offsetBytes + lengthBytes) / pageBytes)
    for (let page = offsetBytes / pageBytes; page < end; page += 1) if (test(page)) return true
    return false
  }
}

function unitPages(options: FrameUnitsOptions): number {
  const { pages, pageBytes, limitBytes, placement } = options
  const chunk = Math.ceil(CHUNK_BYTES / pageBytes)
  if (limitBytes === undefined) return chunk
  const wanted = Math.min(chunk, Math.max(1, Math.floor(limitBytes / UNITS_PER_BOUND / pageBytes)))
  const run = runPages(placement)
  if (run === Number.POSITIVE_INFINITY) return wanted
  const most = registeredPages(options, limitBytes)
  for (let divisor = Math.min(run, wanted); divisor >= Math.ceil(most / REGISTRATIONS_MAX); divisor -= 1)
    if (run % divisor === 0) return divisor
  return Math.max(wanted, Math.ceil(pages / MIXED_UNITS_MAX))
}

/** The most pages that are registered at a time where units hold pages of one home: our own, and those in the cache. */
function registeredPages({ pages, pageBytes, placement, isHome }: FrameUnitsOptions, limitBytes: number): number {
  // If no home is known yet, this rank may become the home of all.
  if (placement === 'first-touch') return pages
  let own = 0
  for (let page = 0; page < pages; page += 1) if (isHome(page)) own += 1
  return Math.min(pages, own + Math.ceil(limitBytes / pageBytes))
}

/** How many pages in a row have one home. */
function runPages(placement: AgreedPlacement): number {
  if (placement === 'block') return Number.POSITIVE_INFINITY
  return typeof placement === 'object' && 'blockCyclic' in placement ? placement.blockCyclic : 1
}
