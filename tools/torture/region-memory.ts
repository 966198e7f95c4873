import type { CoherenceKind, Region } from 'aether-dsm/internal/dsm'
import type { OpenTortureMemory, TortureMemory } from './torture-memory.ts'

/** A region, by its explicit calls: some that let the program go on and some that block it. */
export const openMemory: OpenTortureMemory = async (group, { coherence, pages, pageSize }) => {
  const options = { size: pages * pageSize, pageSize, coherence: coherence as CoherenceKind }
  return new RegionMemory(await group.openRegion('torture', { ...options, placement: 'cyclic' }))
}

class RegionMemory implements TortureMemory {
  readonly #region: Region
  readonly #words: Uint32Array
  #reads = 0

  constructor(region: Region) {
    this.#region = region
    this.#words = new Uint32Array(region.pageSize / 4)
  }

  async read(page: number): Promise<Uint32Array> {
    const offset = page * this.#region.pageSize
    if (this.#reads++ % 2 === 0) return this.#region.readSync(offset, this.#words)
    return await this.#region.read(offset, this.#words)
  }

  async update(page: number, change: (words: Uint32Array) => void): Promise<void> {
    const { pageSize } = this.#region
    const offset = page * pageSize
    using _pinned = await this.#region.pin(offset, pageSize, { access: 'write' })
    const words = this.#region.readSync(offset, this.#words)
    change(words)
    this.#region.writeSync(offset, words)
  }

  async release(page: number): Promise<void> {
    const { pageSize } = this.#region
    await this.#region.release(page * pageSize, pageSize)
  }

  async close(): Promise<void> {
    await this.#region.close()
  }
}
