import { join } from 'node:path'
import { SAVE_FILE, UnusedDirectory } from '../cluster/index.ts'
import {
  bookDamage,
  bookName,
  filedRegions,
  isHiddenName,
  type Omission,
  open,
  REGION_TABLE_END,
  type RegionEntry,
} from '../dsm/index.ts'
import { messageOfThrown } from '../native/index.ts'
import {
  checkHeap,
  HEAP_IDENTITY_BYTES,
  type HeapReport,
  identifyHeap,
  identifyStore,
  type LostBlock,
  openThose,
  readImage,
} from '../structures/index.ts'
import { Pacer } from './pacer.ts'
import { usedRuns } from './used-runs.ts'

/** Read of a region at a time. */
const CHUNK_BYTES = 2 ** 20

/** Checks BullMQ's queues, of which `bytes` is a private copy: this room does not know their layout. */
export type CheckStore = (
  bytes: Uint8Array,
  lastEpoch: number,
) => {
  readonly structures: number
  readonly entries: number
  readonly damaged: readonly Omit<DirectoryDamage, 'region'>[]
}

/** Something in a directory that cannot be what it should be. */
export interface DirectoryDamage {
  readonly region: string
  /** Undefined: it belongs to no structure. */
  readonly structure?: string
  /** What it is, such as `map`; `memory` and `directory` are what all structures of a region share. */
  readonly kind: string
  readonly reason: string
}

/** Memory of structures that nothing names. A repair gives it back. */
interface LostMemory {
  readonly region: string
  readonly bytes: number
}

/** What was found in the directory of a space. */
export interface DirectoryReport {
  readonly space: string
  /** As in `describeArena`; `missing`: there is no arena. */
  readonly state: 'good' | 'restarted' | 'interrupted' | 'incomplete' | 'unknown' | 'missing'
  readonly endedInOrder: boolean
  readonly regions: number
  readonly structures: number
  /** Entries of all structures. What is one number or word counts as one. */
  readonly records: number
  readonly damaged: readonly DirectoryDamage[]
  readonly lost: readonly LostMemory[]
  /** What was not looked at. */
  readonly omitted: readonly Omission[]
}

/**
 * Look at the directory of a space that no process is in, and change nothing in it. If its memory can be gone on with,
 * every region is read, and every structure is checked.
 * @throws SpaceError if processes are in it.
 */
export async function checkDirectory(path: string, checkStore: CheckStore): Promise<DirectoryReport> {
  return (await look(path, checkStore)).report
}

/** Give back the memory of structures that nothing names. Returns how many bytes that was. @throws SpaceError */
export async function giveBackLost(path: string, checkStore: CheckStore): Promise<number> {
  const { report, lostBlocks, sizes } = await look(path, checkStore)
  await using space = await open(report.space, { directory: path })
  for (const [region, blocks] of lostBlocks) {
    await using structures = await openThose(space, region, sizes.get(region)!)
    structures.reclaim(blocks)
  }
  return report.lost.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The save that belongs to a directory. */
export function saveOf(path: string): string {
  return join(path, SAVE_FILE)
}

interface Looked {
  readonly report: DirectoryReport
  readonly lostBlocks: ReadonlyMap<string, readonly LostBlock[]>
  readonly sizes: ReadonlyMap<string, number>
}

async function look(path: string, checkStore: CheckStore): Promise<Looked> {
  using unused = UnusedDirectory.look(path)
  const check = new Check(unused, checkStore)
  await check.run()
  return check
}

class Check implements Looked {
  readonly lostBlocks = new Map<string, readonly LostBlock[]>()
  readonly sizes = new Map<string, number>()
  readonly #unused: UnusedDirectory
  readonly #pacer = new Pacer(undefined)
  readonly #damaged: DirectoryDamage[] = []
  readonly #lost: LostMemory[] = []
  readonly #omitted: Omission[] = []
  readonly #checkStore: CheckStore
  #regions = 0
  #structures = 0
  #records = 0

  constructor(unused: UnusedDirectory, checkStore: CheckStore) {
    this.#unused = unused
    this.#checkStore = checkStore
  }

  get report(): DirectoryReport {
    const { space, state, endedInOrder } = this.#unused.arena ?? { space: '', state: 'missing', endedInOrder: false }
    const counts = { regions: this.#regions, structures: this.#structures, records: this.#records }
    return { space, state, endedInOrder, ...counts, damaged: this.#damaged, lost: this.#lost, omitted: this.#omitted }
  }

  async run(): Promise<void> {
    if (this.#unused.arena?.state !== 'good') return
    const control = new ArrayBuffer(REGION_TABLE_END)
    this.#unused.read(0, new Uint8Array(control))
    const { regions, damaged } = filedRegions(control, this.#unused.fileBytes)
    for (const { region, reason } of damaged) this.#damaged.push({ region, kind: 'region', reason })
    for (const entry of regions) {
      if (!isHiddenName(entry.name)) this.#regions += 1
      const of = regions.find(({ name }) => bookName(name) === entry.name)
      await this.#region(entry, of)
    }
  }

  /** `of`: the region of which it keeps the allocations, if it does. */
  async #region(entry: RegionEntry, of: RegionEntry | undefined): Promise<void> {
    const { name: region, length, size } = entry
    if (length === 0) return this.#omit(region, 'its pages are with the ranks of a group')
    const first = this.#bytes(entry, 0, Math.min(size, HEAP_IDENTITY_BYTES))
    const identity = identifyHeap(first, size)
    if (identity === 'other version') return this.#omit(region, 'its structures are of another version of Aether')
    const store = identifyStore(region, first)
    if (store === 'other version') this.#omit(region, 'its queues of BullMQ are of another version of Aether')
    try {
      if (identity === 'heap') this.#heap(entry)
      else if (store === 'store') await this.#store(entry)
      else if (of !== undefined) this.#book(entry, of)
      else await this.#readAll(entry)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
      this.#damaged.push({ region, kind: 'region', reason: `the disk does not give it (${messageOfThrown(error)})` })
    }
  }

  #heap({ name: region, size, offset }: RegionEntry): void {
    const source = { read: (at: number, target: Uint8Array) => this.#unused.read(offset + at, target) }
    const { lastEpoch, nowMs } = this.#unused.arena!
    const found = checkHeap(readImage(source, size), { lastEpoch, nowMs })
    this.#structures += found.structures
    this.#records += found.entries
    for (const each of found.damaged) this.#damaged.push({ region, ...each })
    for (const structure of found.partly)
      this.#omitted.push({ region, structure, reason: 'objects that only the values of the program name' })
    this.#note(region, size, found)
  }

  #note(region: string, size: number, { lost = [], lostBytes }: HeapReport): void {
    if (lost.length === 0) return
    this.#lost.push({ region, bytes: lostBytes })
    this.lostBlocks.set(region, lost)
    this.sizes.set(region, size)
  }

  async #store(entry: RegionEntry): Promise<void> {
    // Pages that are all zeros take no memory.
    const bytes = new Uint8Array(entry.size)
    await this.#readAll(entry, (chunk, at) => {
      for (const [begin, end] of usedRuns(chunk)) bytes.set(chunk.subarray(begin, end), at + begin)
    })
    const found = this.#checkStore(bytes, this.#unused.arena!.lastEpoch)
    this.#structures += found.structures
    this.#records += found.entries
    for (const each of found.damaged) this.#damaged.push({ region: entry.name, ...each })
  }

  #book(entry: RegionEntry, { name: region, size }: RegionEntry): void {
    const reason = bookDamage(this.#bytes(entry, 0, entry.size), size)
    if (reason !== undefined) this.#damaged.push({ region, kind: 'allocations', reason })
  }

  /** Where there is nothing to compare it with, that it can be read is all. */
  async #readAll(entry: RegionEntry, visit?: (chunk: Buffer, at: number) => void): Promise<void> {
    for (let at = 0; at < entry.size; at += CHUNK_BYTES) {
      const chunk = this.#bytes(entry, at, Math.min(CHUNK_BYTES, entry.size - at))
      visit?.(chunk, at)
      if (this.#pacer.isDue) await this.#pacer.pause()
    }
  }

  #bytes({ offset }: RegionEntry, at: number, lengthBytes: number): Buffer {
    const bytes = Buffer.alloc(lengthBytes)
    this.#unused.read(offset + at, bytes)
    return bytes
  }

  #omit(region: string, reason: string): void {
    this.#omitted.push({ region, reason })
  }
}
