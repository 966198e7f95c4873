import { looksOf, type PageLook } from './recorded-page.ts'
import type { SessionRecord } from './session-format.ts'

/** How many pages have their histories kept. */
const PAGES_KEPT_MAX = 16

/** Looks of one part at one page, and the length of the part. */
export interface PartHistory {
  readonly looks: readonly PageLook[]
  readonly bytes: number
  /** Some of the part cannot be read, and it is not known where. */
  readonly isDamaged: boolean
}

/**
 * A cache of the histories of pages, by part. While a recording is played, the same page is requested again and again,
 * and only the newest part has to be searched.
 */
export class PageHistories {
  readonly #partsMax: number
  readonly #pages = new Map<string, Map<number, PartHistory>>()

  /** A history goes back at most `partsMax` parts. */
  constructor(partsMax: number) {
    this.#partsMax = partsMax
  }

  /** The history of a page in a part. `read` returns the part, and is called only if it is not in the cache. */
  of(
    region: string,
    page: number,
    part: number,
    read: () => { readonly records: readonly SessionRecord[]; readonly bytes: number; readonly damage?: string },
  ): PartHistory {
    const parts = this.#partsOf(`${page} ${region}`)
    let history = parts.get(part)
    if (history === undefined) {
      const { records, bytes, damage } = read()
      history = { looks: looksOf(records, region, page), bytes, isDamaged: damage !== undefined }
      parts.set(part, history)
      dropOldest(parts, 2 * this.#partsMax)
    }
    return history
  }

  #partsOf(key: string): Map<number, PartHistory> {
    const parts = this.#pages.get(key) ?? new Map<number, PartHistory>()
    this.#pages.delete(key)
    this.#pages.set(key, parts)
    dropOldest(this.#pages, PAGES_KEPT_MAX)
    return parts
  }
}

function dropOldest<K>(map: Map<K, unknown>, most: number): void {
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}
