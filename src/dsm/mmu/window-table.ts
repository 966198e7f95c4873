/**
 * Which views of a region this process has mapped, told by the user's thread to the agent before any page of them can
 * be touched.
 *
 *   Float64:  [0] count   [4 + 3 i ...] address, offset in the region, length; all in bytes
 *
 * The count is written last, so that the agent never reads half an entry.
 */
const ENTRIES = 4
const ENTRY = 3
const WINDOWS_MAX = 1024

export interface WindowPlace {
  readonly address: number
  readonly offsetBytes: number
  readonly lengthBytes: number
}

export class WindowTable {
  readonly buffer: SharedArrayBuffer
  readonly #numbers: Float64Array
  readonly #count: Int32Array
  readonly #known: WindowPlace[] = []
  readonly #cleared: WindowPlace[] = []

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8 * (ENTRIES + ENTRY * WINDOWS_MAX))) {
    this.buffer = buffer
    this.#numbers = new Float64Array(buffer)
    this.#count = new Int32Array(buffer, 0, 1)
  }

  /** For native code. */
  get array(): Float64Array {
    return this.#numbers
  }

  /** False where the table is full. */
  tryAdd(window: WindowPlace): boolean {
    const count = Atomics.load(this.#count, 0)
    if (count === WINDOWS_MAX) return false
    this.#numbers.set([window.address, window.offsetBytes, window.lengthBytes], ENTRIES + ENTRY * count)
    Atomics.store(this.#count, 0, count + 1)
    return true
  }

  /** The agent forgets them all; then the main thread may unmap them. */
  clear(): void {
    this.#cleared.push(...this.windows())
    Atomics.store(this.#count, 0, 0)
    this.#known.length = 0
  }

  /** Windows that were forgotten: a fault there is answered by the main thread, which unmaps them and wakes. */
  cleared(): readonly WindowPlace[] {
    return this.#cleared
  }

  /** Every window there is now. */
  windows(): readonly WindowPlace[] {
    const count = Atomics.load(this.#count, 0)
    while (this.#known.length < count) {
      const at = ENTRIES + ENTRY * this.#known.length
      const [address, offsetBytes, lengthBytes] = this.#numbers.subarray(at, at + ENTRY) as unknown as [
        number,
        number,
        number,
      ]
      this.#known.push({ address, offsetBytes, lengthBytes })
    }
    return this.#known
  }
}
