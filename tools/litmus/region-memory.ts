import type { Region } from 'aether-dsm/internal/dsm'
import type { LitmusMemory, OpenMemory } from './litmus-memory.ts'
import type { Access } from './plan.ts'

/** With evictions, a process has room for this many pages of other ranks, the minimum that a region allows. */
const CACHED_PAGES = 4
/** Pages of each rank that no round uses. Reads of them evict the pages of rounds. */
const PRESSURE_PAGES = 6
/** One operation in this many is preceded by a read of such a page. */
const PRESS_EVERY = 8

/** Every region is opened once a process. */
const regions = new Map<string, Region>()

/** A region of the axis's coherence; pages are spread over the ranks cyclically. */
export const openMemory: OpenMemory = async (group, { coherence, access, evictions, ranks }, { bytes, pageSize }) => {
  const name = `litmus-${coherence}${evictions ? '-evictions' : ''}`
  const pages = Math.ceil(bytes / pageSize)
  const size = evictions ? (pages + PRESSURE_PAGES * ranks) * pageSize : bytes
  const grain = coherence === 'hardware' ? {} : { pageSize, placement: 'cyclic' as const }
  const bound = evictions ? { cacheSize: CACHED_PAGES * pageSize } : {}
  const region = regions.get(name) ?? (await group.openRegion(name, { size, coherence, ...grain, ...bound }))
  regions.set(name, region)
  const memory = memories[access](region)
  return evictions ? new PressedMemory(memory, pages, PRESSURE_PAGES * ranks, pageSize / 8) : memory
}

/** Looks at other pages between the operations of rounds, so that the pages of the rounds leave and come back. */
class PressedMemory implements LitmusMemory {
  readonly #memory: LitmusMemory
  readonly #first: number
  readonly #pages: number
  readonly #wordsPerPage: number
  #operations = 0
  #next = 0

  constructor(memory: LitmusMemory, first: number, pages: number, wordsPerPage: number) {
    this.#memory = memory
    this.#first = first
    this.#pages = pages
    this.#wordsPerPage = wordsPerPage
  }

  load(word: number): number {
    this.#press()
    return this.#memory.load(word)
  }

  store(word: number, value: number): void {
    this.#press()
    this.#memory.store(word, value)
  }

  settle(): void {
    this.#memory.settle()
  }

  #press(): void {
    if (++this.#operations % PRESS_EVERY !== 0) return
    this.#next = (this.#next + 1) % this.#pages
    this.#memory.load((this.#first + this.#next) * this.#wordsPerPage)
  }
}

const memories: Readonly<Record<Access, (region: Region) => LitmusMemory>> = {
  atomics: (region) => new AtomicsMemory(region),
  plain: (region) => new PlainMemory(region),
  'atomic-calls': (region) => new AtomicCallsMemory(region),
  copies: (region) => new CopiesMemory(region),
}

class AtomicsMemory implements LitmusMemory {
  readonly #view: Int32Array

  constructor(region: Region) {
    this.#view = region.int32
  }

  load(word: number): number {
    return Atomics.load(this.#view, 2 * word)
  }

  store(word: number, value: number): void {
    Atomics.store(this.#view, 2 * word, value)
  }

  settle(): void {}
}

class PlainMemory implements LitmusMemory {
  readonly #view: Int32Array

  constructor(region: Region) {
    this.#view = region.int32
  }

  load(word: number): number {
    return this.#view[2 * word]!
  }

  store(word: number, value: number): void {
    this.#view[2 * word] = value
  }

  settle(): void {}
}

class AtomicCallsMemory implements LitmusMemory {
  readonly #region: Region

  constructor(region: Region) {
    this.#region = region
  }

  load(word: number): number {
    return Number(this.#region.fetchAddSync(8 * word, 0n))
  }

  store(word: number, value: number): void {
    this.#region.swapSync(8 * word, BigInt(value))
  }

  settle(): void {}
}

class CopiesMemory implements LitmusMemory {
  readonly #region: Region
  readonly #scratch = new Float64Array(1)
  readonly #bits = new Int32Array(this.#scratch.buffer)

  constructor(region: Region) {
    this.#region = region
  }

  load(word: number): number {
    this.#region.readSync(8 * word, this.#scratch)
    return this.#bits[0]!
  }

  store(word: number, value: number): void {
    this.#bits[0] = value
    this.#bits[1] = 0
    this.#region.writeSync(8 * word, this.#scratch)
  }

  settle(): void {}
}
