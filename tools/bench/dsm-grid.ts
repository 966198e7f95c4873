import type { CoherenceKind, Region, RegionGroup } from 'aether-dsm/internal/dsm'
import { native } from 'aether-dsm/internal/native'
import { type DsmRow, nameOf, rowFrom } from './dsm-row.ts'
import { type Traffic, trafficOf } from './dsm-traffic.ts'

/**
 * Percent of accesses that go to pages which all ranks use, and percent that are stores: the grid of MIND (SOSP 2021).
 */
const shares = [0, 50, 100] as const
/** Pages that all ranks use, and pages that one rank uses alone; their homes are that rank. */
const SHARED_PAGES = 64
const PRIVATE_PAGES = 64
/** A cell is this many windows; what a window gives is one sample. */
const WINDOWS = 20
/** Accesses between two looks at the clock: many where they hit, few where they wait for pages. */
const CHUNK_MIN = 4
const CHUNK_MAX = 256
const CHUNK_NS = 100_000
/** Before a cell is measured, it is played so long: what comes then has compiled code and warm pages. */
const WARM_SHARE = 0.5
/** Where the board has how many accesses each rank did in each window: behind the baton. */
const COUNTS = 64
/** Int32 words that the board must have. */
export const gridBoardWords = (ranks: number): number => COUNTS + WINDOWS * ranks

/** Where accesses of one rank go: word numbers. */
interface Places {
  readonly shared: Int32Array
  readonly own: Int32Array
}

/**
 * All ranks load and store single words at random, at the same time: how long one access takes, how often it hits, what
 * it sends.
 */
export class Grid {
  readonly #group: RegionGroup
  readonly #board: Int32Array
  readonly #cellMs: number
  readonly #report: (row: DsmRow) => void
  #state: number
  /** What was loaded goes here, so that the engine cannot leave out the loads. */
  #sink = 0

  /** `board` is shared by all ranks; `cellMs`: how long each cell is measured. */
  constructor(group: RegionGroup, board: Int32Array, cellMs: number, report: (row: DsmRow) => void) {
    this.#group = group
    this.#board = board
    this.#cellMs = cellMs
    this.#report = report
    this.#state = 0x9e3779b9 ^ (group.rank + 1)
  }

  async run(coherence: CoherenceKind, pageBytes: number): Promise<void> {
    const { size } = this.#group
    const first = Math.ceil(SHARED_PAGES / size) * size
    const bytes = (first + PRIVATE_PAGES * size) * pageBytes
    const options = coherence === 'hardware' ? {} : { pageSize: pageBytes, placement: 'cyclic' as const }
    await using region = await this.#group.openRegion(`grid-${coherence}`, { size: bytes, coherence, ...options })
    const places = this.#places(first, pageBytes)
    for (const sharing of shares) for (const writes of shares) this.#cell(region, pageBytes, places, sharing, writes)
    await this.#group.barrier()
  }

  #places(first: number, pageBytes: number): Places {
    const { size, rank } = this.#group
    const wordsPerPage = pageBytes / 4
    const shared = Int32Array.from({ length: SHARED_PAGES }, (_, page) => page * wordsPerPage)
    const own = Int32Array.from({ length: PRIVATE_PAGES }, (_, page) => (first + page * size + rank) * wordsPerPage)
    return { shared, own }
  }

  #cell(region: Region, pageBytes: number, places: Places, sharing: number, writes: number): void {
    const group = this.#group
    const words = region.int32
    const play = (count: number): void => this.#play(count, words, pageBytes / 4, places, sharing, writes)
    group.barrierSync()
    this.#during(WARM_SHARE * this.#cellMs, play)
    group.barrierSync()
    const before = trafficOf(group)
    group.barrierSync()
    const counts = this.#during(this.#cellMs, play)
    for (const [window, count] of counts.entries())
      Atomics.store(this.#board, COUNTS + WINDOWS * group.rank + window, count)
    group.barrierSync()
    if (group.rank === 0) {
      const head = { op: `${sharing} % shared, ${writes} % stores`, coherence: region.coherence }
      const baseline = nameOf({ ...head, coherence: 'hardware' })
      const size = { ranks: group.size, pageBytes }
      const row = { ...head, ...size, ...(region.coherence !== 'hardware' && { baseline }) }
      this.#report(rowFrom(row, this.#samples(), this.#counted(before, trafficOf(group))))
    }
    group.barrierSync()
  }

  #accessesIn(window: number): number {
    let accesses = 0
    for (let rank = 0; rank < this.#group.size; rank += 1)
      accesses += Atomics.load(this.#board, COUNTS + WINDOWS * rank + window)
    return accesses
  }

  /** How long one access of one rank took, by window. A window without an access is added to the next one. */
  #samples(): Float64Array {
    const windowNs = (this.#cellMs * 1e6 * this.#group.size) / WINDOWS
    const samples: number[] = []
    let waitedNs = 0
    for (let window = 0; window < WINDOWS; window += 1) {
      waitedNs += windowNs
      const accesses = this.#accessesIn(window)
      if (accesses === 0) continue
      samples.push(waitedNs / accesses)
      waitedNs = 0
    }
    return Float64Array.from(samples.length > 0 ? samples : [waitedNs])
  }

  #counted(before: Traffic, after: Traffic): Pick<DsmRow, 'messages' | 'bytes' | 'hitRate'> {
    let accesses = 0
    for (let window = 0; window < WINDOWS; window += 1) accesses += this.#accessesIn(window)
    const round = (value: number): number => Math.round((1e4 * value) / Math.max(1, accesses)) / 1e4
    return {
      messages: round(after.messages - before.messages),
      bytes: round(after.bytes - before.bytes),
      // A fault may be taken twice for one access, where its page was lost in between.
      hitRate: round(Math.max(0, accesses - (after.faults - before.faults))),
    }
  }

  /** How many accesses were done in each window of `ms` in all. */
  #during(ms: number, play: (count: number) => void): Int32Array {
    const counts = new Int32Array(WINDOWS)
    const began = native.monotonicNs()
    let chunk = CHUNK_MIN
    for (let before = began; ; ) {
      play(chunk)
      const now = native.monotonicNs()
      const window = Math.floor(((now - began) * WINDOWS) / (ms * 1e6))
      if (window >= WINDOWS) return counts
      counts[window]! += chunk
      chunk = now - before > CHUNK_NS ? CHUNK_MIN : Math.min(2 * chunk, CHUNK_MAX)
      before = now
    }
  }

  #play(count: number, words: Int32Array, wordsPerPage: number, places: Places, sharing: number, writes: number): void {
    let state = this.#state
    let sink = 0
    for (let access = 0; access < count; access += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
      const pages = (state >>> 8) % 100 < sharing ? places.shared : places.own
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
      const isStore = (state >>> 8) % 100 < writes
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
      const at = pages[(state >>> 26) & (SHARED_PAGES - 1)]! + ((state >>> 8) & (wordsPerPage - 1))
      if (isStore) words[at] = state
      else sink ^= words[at]!
    }
    this.#state = state
    this.#sink ^= sink
  }
}
