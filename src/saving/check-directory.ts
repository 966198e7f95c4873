import { join } from 'node:path'
import { SAVE_FILE, UnusedDirectory } from '../cluster/index.ts'
import { filedRegions, isHiddenName, type Omission, open, REGION_TABLE_END, type RegionEntry } from '../dsm/index.ts'
import { messageOfThrown } from '../native/index.ts'
import {
  checkHeap,
  HEAP_IDENTITY_BYTES,
  type HeapReport,
  identifyHeap,
  type LostBlock,
  openThose,
  readImage,
  STORE_MAGIC,
} from '../structures/index.ts'
import { Pacer } from './pacer.ts'

/** Read of a region at a time. */
const CHUNK_BYTES = 2 ** 20

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
export async function checkDirectory(path: string): Promise<DirectoryReport> {
  return (await look(path)).report
}

/** Give back the memory of structures that nothing names. Returns how many bytes that was. @throws SpaceError */
export async function giveBackLost(path: string): Promise<number> {
  const { report, lostBlocks, sizes } = await look(path)
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

async function look(path: string): Promise<Looked> {
  using unused = UnusedDirectory.look(path)
  const check = new Check(unused)
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
  #regions = 0
  #structures = 0
  #records = 0

  constructor(unused: UnusedDirectory) {
    this.#unused = unused
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
      await this.#region(entry)
      if (!isHiddenName(entry.name)) this.#regions += 1
    }
  }

  async #region(entry: RegionEntry): Promise<void> {
    const { name: region, length, size } = entry
    if (length === 0) return this.#omit(region, 'its pages are with the ranks of a group')
    const first = this.#bytes(entry, 0, Math.min(size, HEAP_IDENTITY_BYTES))
    const identity = identifyHeap(first, size)
    if (identity === 'other version') return this.#omit(region, 'its structures are of another version of Aether')
    try {
      if (identity === 'heap') this.#heap(entry)
      else await this.#readAll(entry)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
      this.#damaged.push({ region, kind: 'region', reason: `the disk does not give it (${messageOfThrown(error)})` })
    }
    if (isStore(first)) this.#omit(region, 'the queues of BullMQ are read, but not checked')
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

  /** There is nothing to compare it with: that it can be read is all. */
  async #readAll(entry: RegionEntry): Promise<void> {
    for (let at = 0; at < entry.size; at += CHUNK_BYTES) {
      this.#bytes(entry, at, Math.min(CHUNK_BYTES, entry.size - at))
      if (this.#pacer.isDue) await this.#pacer.pause()
    }
  }

  #bytes({ offset }: RegionEntry, at: number, lengthBytes: number): Uint8Array {
    const bytes = new Uint8Array(lengthBytes)
    this.#unused.read(offset + at, bytes)
    return bytes
  }

  #omit(region: string, reason: string): void {
    this.#omitted.push({ region, reason })
  }
}

function isStore(first: Uint8Array): boolean {
  return first.length >= 4 && new DataView(first.buffer).getInt32(0, true) === STORE_MAGIC
}
