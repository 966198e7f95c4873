import { isHiddenName, type Omission, open, type RegionEntry, RegionError, type Space } from '../dsm/index.ts'
import { ClosedError, TimeoutError } from '../native/index.ts'
import {
  HEAP_IDENTITY_BYTES,
  identifyHeap,
  identifyStore,
  openThose,
  SavedStructures,
  STORE_GUARDS_REGION,
  type Structures,
} from '../structures/index.ts'
import type { EndBlock, RegionBlock } from './format.ts'
import { Pacer } from './pacer.ts'
import { RawRegion } from './raw-region.ts'
import type { SaveWriter } from './save-writer.ts'
import { copyStore } from './store-copy.ts'
import { usedRuns } from './used-runs.ts'

/** Read of a region at a time. */
const CHUNK_BYTES = 2 ** 20
const NEVER_QUIET =
  'there was no moment at which its structures could be copied, though their operations waited for 5 s; save without consistent, or use smaller structures'

/** What a dump is written to. */
export type DumpTarget = Pick<SaveWriter, 'region' | 'bytes' | 'structures' | 'structure' | 'record'>

/** How a space is dumped. */
export interface DumpOptions {
  readonly signal?: AbortSignal | undefined
  /** All structures as they were at one instant. Other members wait while the last of them is copied. */
  readonly consistent?: boolean | undefined
}

/**
 * Gives all that is in a space to `out`, region by region: at no common instant, unless `consistent` asks for one. It
 * does so as a member of its own: the program may open and close structures meanwhile as it likes. No other member
 * waits for it, but for that instant.
 */
export async function dumpSpace(
  space: Pick<Space, 'name' | 'directory' | 'membership'>,
  out: DumpTarget,
  { signal, consistent = false }: DumpOptions = {},
): Promise<EndBlock> {
  const { name, directory } = space
  const { nonce } = space.membership.arena.identity
  await using own = await open(name, directory === undefined ? {} : { directory })
  // It was closed meanwhile, and its memory is gone: this one is new, and empty.
  if (own.membership.arena.identity.nonce !== nonce) throw new ClosedError(`space '${name}'`)
  const dump = new Dump(own, out, new Pacer(signal))
  if (consistent) await dump.copyStructures()
  for (const entry of own.regionDirectory.all()) await dump.region(entry)
  await dump.stores()
  return dump.summary
}

class Dump {
  readonly #space: Space
  readonly #out: DumpTarget
  readonly #pacer: Pacer
  readonly #omitted: Omission[] = []
  /** Copies of all heaps, by region; undefined: they are read as they are. */
  #copies: ReadonlyMap<string, SavedStructures> | undefined
  /** What comes last: a restore needs the mutexes that guard them. */
  readonly #stores: RegionBlock[] = []
  #regions = 0
  #structures = 0

  constructor(space: Space, out: DumpTarget, pacer: Pacer) {
    this.#space = space
    this.#out = out
    this.#pacer = pacer
  }

  get summary(): EndBlock {
    return { regions: this.#regions, structures: this.#structures, omitted: this.#omitted }
  }

  /** Have all structures dumped as they are at one instant from now. @throws TimeoutError */
  async copyStructures(): Promise<void> {
    const opened: Structures[] = []
    const names: string[] = []
    try {
      // By name, so that two who do this at once do not wait for each other.
      for (const { name } of [...this.#space.regionDirectory.all()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const structures = await this.#structuresIf(name)
        if (structures === undefined) continue
        opened.push(structures)
        names.push(name)
      }
      const copies = await SavedStructures.atOneInstant(
        opened.map(({ saved }) => saved),
        this.#pacer.step,
      )
      if (copies === undefined) throw new TimeoutError(`${NEVER_QUIET}: space '${this.#space.name}'`)
      this.#copies = new Map(names.map((name, at) => [name, copies[at]!]))
    } finally {
      for (const structures of opened) await structures.close()
    }
  }

  async region({ name, length }: RegionEntry): Promise<void> {
    if (length === 0) {
      this.#omitted.push({ region: name, reason: 'its pages are with the ranks of a group' })
      return
    }
    await using region = await openIfThere(this.#space, name)
    if (region === undefined) return
    const { size, reserved } = region.entry
    const first = await region.read(0, Math.min(size, HEAP_IDENTITY_BYTES))
    const identity = identifyHeap(first, size)
    if (identity === 'other version') {
      this.#omitted.push({ region: name, reason: 'its structures are of another version of Aether' })
      return
    }
    const store = identifyStore(name, first)
    if (store === 'other version') {
      this.#omitted.push({ region: name, reason: 'its queues of BullMQ are of another version of Aether' })
      return
    }
    if (store === 'store') {
      this.#stores.push({ name, size, reserved })
      return
    }
    try {
      if (identity === 'heap') await this.#heap({ name, size, reserved })
      else await this.#raw(region, { name, size, reserved })
    } catch (error) {
      if (!isGone(error)) throw error
      return
    }
    if (!isHiddenName(name)) this.#regions += 1
  }

  /** Each store as it was at an instant of its own. */
  async stores(): Promise<void> {
    for (const block of this.#stores) {
      await using region = await openIfThere(this.#space, block.name)
      if (region === undefined) continue
      await using guards = await this.#structuresIf(STORE_GUARDS_REGION)
      const { store, pages } = await copyStore(this.#space, region, guards, this.#pacer.signal)
      await this.#out.region({ ...block, store })
      for (const { offset, bytes } of pages) await this.#out.bytes(offset, bytes)
      this.#regions += 1
    }
  }

  async #raw(region: RawRegion, block: RegionBlock): Promise<void> {
    await this.#out.region(block)
    if (isHiddenName(block.name)) {
      // The books of a region are changed under the space's lock, and make sense only as a whole.
      const book = await this.#space.membership.locked(() => region.readSync(0, Buffer.alloc(block.size)))
      await this.#pages(0, book)
      return
    }
    for (let offset = 0; offset < block.size; offset += CHUNK_BYTES) {
      await this.#pages(offset, await region.read(offset, Math.min(CHUNK_BYTES, block.size - offset)))
      if (this.#pacer.isDue) await this.#pacer.pause()
    }
  }

  async #pages(offset: number, bytes: Buffer): Promise<void> {
    for (const [begin, end] of usedRuns(bytes)) await this.#out.bytes(offset + begin, bytes.subarray(begin, end))
  }

  async #heap(block: RegionBlock): Promise<void> {
    if (this.#copies === undefined) {
      // Not by `openStructures`, which would make the region again if it was deleted meanwhile.
      await using structures = await openThose(this.#space, block.name, block.size)
      await this.#structuresOf(block, structures.saved)
      return
    }
    const copy = this.#copies.get(block.name)
    // It is younger than the copies.
    if (copy === undefined) return
    await this.#structuresOf(block, copy)
  }

  async #structuresOf(block: RegionBlock, saved: SavedStructures): Promise<void> {
    await this.#out.structures(block)
    for (const { name, kind, parameters, records } of saved.list()) {
      if (typeof records === 'string') {
        this.#omitted.push({ region: block.name, structure: name, reason: records })
        continue
      }
      this.#structures += 1
      await this.#out.structure({ name, kind, parameters })
      await this.#records(records)
    }
  }

  /** The structures in a region; undefined if it is gone, or has none. */
  async #structuresIf(name: string): Promise<Structures | undefined> {
    try {
      await using region = await RawRegion.open(this.#space, name)
      const { size, length } = region.entry
      if (length === 0 || identifyHeap(await region.read(0, HEAP_IDENTITY_BYTES), size) !== 'heap') return undefined
      return await openThose(this.#space, name, size)
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }

  async #records(records: Iterable<Uint8Array | undefined>): Promise<void> {
    for (const record of records) {
      const written = record === undefined ? undefined : this.#out.record(record)
      if (written !== undefined) await written
      if (this.#pacer.isDue) await this.#pacer.pause()
    }
  }
}

/** Undefined if it was deleted meanwhile. */
async function openIfThere(space: Space, name: string): Promise<RawRegion | undefined> {
  try {
    return await RawRegion.open(space, name)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function isGone(error: unknown): boolean {
  return error instanceof RegionError && error.code === 'ERR_AETHER_REGION_NOT_FOUND'
}
