import type { Region } from '../../dsm/index.ts'
import type { LitmusMemory, OpenMemory } from './litmus-memory.ts'
import type { Access } from './plan.ts'

/** Every region is opened once a process. */
const regions = new Map<string, Region>()

/** A region of the axis's coherence; pages are spread over the ranks cyclically. */
export const openMemory: OpenMemory = async (group, { coherence, access }, { bytes, pageSize }) => {
  const options = coherence === 'hardware' ? { coherence } : { coherence, pageSize, placement: 'cyclic' as const }
  const region = regions.get(coherence) ?? (await group.openRegion(`litmus-${coherence}`, { size: bytes, ...options }))
  regions.set(coherence, region)
  return memories[access](region)
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
