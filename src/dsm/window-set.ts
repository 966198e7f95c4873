import { type RegionWindow, WINDOW_BYTES_MAX } from './region-window.ts'

const SYSTEM_PAGE_BYTES = 4096
/** Large regions get a window every 2 GiB, each of 4 GiB: any range of up to 2 GiB lies within one. */
const WINDOW_STRIDE_BYTES = WINDOW_BYTES_MAX / 2

/**
 * The windows through which one process sees one region, mapped as they are needed. There is one window per place, so
 * that all views of a process share page tables.
 */
export class WindowSet {
  readonly #open: (offsetBytes: number, lengthBytes: number) => RegionWindow
  readonly #sizeBytes: number
  readonly #pageBytes: number
  /** A window of huge pages may have to be moved within its memory by less than one of them. */
  readonly #windowBytesMax: number
  #windows: RegionWindow[] = []
  /** The window that was used last: nearly always the next one too. */
  #last: RegionWindow | undefined

  /**
   * `open` maps one window; `sizeBytes` is the region's length rounded up to whole pages, of which the system's are of
   * `pageBytes`.
   */
  constructor(
    sizeBytes: number,
    open: (offsetBytes: number, lengthBytes: number) => RegionWindow,
    pageBytes: number = SYSTEM_PAGE_BYTES,
  ) {
    this.#sizeBytes = sizeBytes
    this.#pageBytes = pageBytes
    this.#windowBytesMax = pageBytes === SYSTEM_PAGE_BYTES ? WINDOW_BYTES_MAX : WINDOW_BYTES_MAX - pageBytes
    this.#open = open
  }

  /** The window that holds this range of at most 4 GiB, which the caller has checked against the region. */
  at(offsetBytes: number, lengthBytes: number): RegionWindow {
    if (this.#last?.holds(offsetBytes, lengthBytes) === true) return this.#last
    const known = this.#windows.find((window) => window.holds(offsetBytes, lengthBytes))
    this.#last = known ?? this.#map(offsetBytes, lengthBytes)
    return this.#last
  }

  /** Windows that are mapped. */
  places(): { readonly address: number; readonly lengthBytes: number }[] {
    return this.#windows.map(({ address, lengthBytes }) => ({ address, lengthBytes }))
  }

  /** Unmap them all. */
  close(): void {
    for (const window of this.#windows) window.close()
    this.#windows = []
    this.#last = undefined
  }

  #map(offsetBytes: number, lengthBytes: number): RegionWindow {
    const begin = this.#beginOf(offsetBytes, lengthBytes)
    const window = this.#open(begin, Math.min(this.#windowBytesMax, this.#sizeBytes - begin))
    this.#windows.push(window)
    return window
  }

  /** A regular place where the range fits in one; for the odd range above 2 GiB a window that begins at its page. */
  #beginOf(offsetBytes: number, lengthBytes: number): number {
    const regular = Math.floor(offsetBytes / WINDOW_STRIDE_BYTES) * WINDOW_STRIDE_BYTES
    if (offsetBytes + lengthBytes <= regular + this.#windowBytesMax) return regular
    return Math.floor(offsetBytes / this.#pageBytes) * this.#pageBytes
  }
}
