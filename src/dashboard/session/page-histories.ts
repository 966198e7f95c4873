import { looksOf, type PageLook } from './recorded-page.ts'
import type { SessionRecord } from './session-format.ts'

/** Pages whose histories are kept. */
const PAGES_KEPT_MAX = 16

/** What one part tells of one page, and how long the part is. */
export interface PartHistory {
  readonly looks: readonly PageLook[]
  readonly bytes: number
  /** Something of it cannot be read, and nobody knows where in it that is. */
  readonly isDamaged: boolean
}

/**
 * What parts tell of pages that were asked for: while a recording is played the same page is asked for again and again,
 * and only the part that is new is gone through for it.
 */
export class PageHistories {
  readonly #partsMax: number
  readonly #pages = new Map<string, Map<number, PartHistory>>()

  /** `partsMax`: so many parts a history goes back. */
  constructor(partsMax: number) {
    this.#partsMax = partsMax
  }

  /** `read` gives the part, and is called only where it is not known what it tells. */
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
