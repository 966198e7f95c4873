import { mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { open } from 'aether-dsm'
import { isMemoryDirectory } from 'aether-dsm/internal/cluster'
import { AetherError } from 'aether-dsm/internal/native'
import { Random } from 'aether-dsm/internal/runtime'
import { whyOf } from '../ask-process.ts'
import { type PeerName, peerNames } from '../peers/peer-name.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import type { KeptStoreName, PlaceName, StorePlan } from './kept-store.ts'
import { keyName, keysOf, MeasuredStore, VALUE_BYTES } from './measured-store.ts'
import { openings } from './opening.ts'
import { heldAgainst, openRow, Series, type SpacesRow } from './spaces-row.ts'
import { type Step, TURN_NS, type Turn, TurnTaker } from './turn.ts'
import { WriteBack, writtenBytes } from './write-back.ts'

export interface SpacesBenchOptions {
  /** Keys and values of a store when it is opened again; default 1 GiB. */
  readonly sizeBytes?: number
  /** On the disk; default the directory for temporary files. */
  readonly directory?: string
  /** How long each operation of each store is measured; ten times as long while the disk is written. Default 500. */
  readonly timeMs?: number
  /** Of these lmdb and SQLite are measured; default both. */
  readonly peers?: readonly PeerName[]
  /** Called with what is done next. */
  readonly onProgress?: (text: string) => void
  /** Called with a store or a place that is not here, and why; the rest is measured all the same. */
  readonly onMissing?: (what: string, why: string) => void
}

export const DEFAULT_SPACES_BYTES: number = 2 ** 30
export const DEFAULT_SPACES_TIME_MS = 500
/** The write-back of the disk takes seconds; so does its measurement. */
const WRITE_BACK_TIMES = 10
const ROUNDS_MIN = 5
const WARM_MS_MAX = 300
/** Different keys, in the order of their use: a power of two. */
const SEQUENCE_LENGTH = 2 ** 18
const SHARED_MEMORY = '/dev/shm'

/** What is done: one operation or two in turn, and what rows call them. */
const works: readonly (readonly ('get' | 'set' | 'push' | 'pop' | 'add')[])[] = [
  ['get'],
  ['set'],
  ['push', 'pop'],
  ['add'],
]

/**
 * The same structures in a space in memory, in a directory on tmpfs and in one on a disk, beside lmdb and SQLite there.
 *
 * - Operations: all stores of a place and the space in memory take turns of milliseconds.
 * - `set, write-back`: the same while the kernel writes the changed pages to the disk once a second.
 * - `open`: from the call that opens a large store in a new process to its first value. A space in memory is restored
 *   from its save.
 */
export async function benchSpaces(options: SpacesBenchOptions = {}): Promise<SpacesRow[]> {
  if (process.env['AETHER_DIRECTORY'])
    throw new AetherError('ERR_AETHER_BENCH', 'AETHER_DIRECTORY is set: no space would be in memory; unset it')
  const run = new Run(options)
  const memory = await run.openMemory()
  try {
    for (const place of ['tmpfs', 'disk'] as const) await run.benchPlace(place, memory)
    await run.benchSave(memory)
  } finally {
    await memory.close()
  }
  return run.rows
}

/** What one store did in one turn. */
interface Found {
  readonly turns: readonly Turn[]
  readonly writtenBytes: number
}

let runs = 0

class Run {
  readonly #options: Required<SpacesBenchOptions>
  readonly #names: readonly string[]
  readonly #space: string
  readonly #series = new Map<string, Series>()
  readonly #opened: SpacesRow[] = []

  constructor({
    sizeBytes = DEFAULT_SPACES_BYTES,
    directory = tmpdir(),
    timeMs = DEFAULT_SPACES_TIME_MS,
    peers = peerNames,
    onProgress = () => {},
    onMissing = () => {},
  }: SpacesBenchOptions) {
    runs += 1
    this.#options = { sizeBytes, directory, timeMs, peers, onProgress, onMissing }
    this.#space = `bench-spaces-${process.pid}-${runs}`
    const [random, keys] = [new Random(1), keysOf(sizeBytes)]
    this.#names = Array.from({ length: SEQUENCE_LENGTH }, () => keyName(random.below(keys)))
  }

  get rows(): SpacesRow[] {
    return [...[...this.#series.values()].map(({ row }) => row), ...this.#opened]
  }

  openMemory(): Promise<MeasuredStore> {
    this.#options.onProgress('filling a space in memory')
    return MeasuredStore.open(this.#planOf('aether', 'memory', ''), this.#options.sizeBytes)
  }

  /** Our space and the databases in a directory there, beside `memory`. */
  async benchPlace(place: 'tmpfs' | 'disk', memory: MeasuredStore): Promise<void> {
    await this.#unlessMissing(place, async () => {
      using scratch = this.#scratchOn(place)
      const plans = (['aether', 'lmdb', 'SQLite'] as const)
        .filter((store) => store === 'aether' || this.#options.peers.includes(store))
        .map((store) => this.#planOf(store, place, scratch.path))
      const stores = await this.#fill(plans)
      try {
        for (const work of works) await this.#alternate(work, [memory, ...stores])
        if (place === 'disk') await this.#writingBack(memory, stores)
        for (const store of stores) await this.#grow(store)
      } finally {
        for (const store of stores) await store.close()
      }
      await this.#opening(stores)
    })
  }

  /** Restores a save of all that the space in memory holds, which is closed. */
  async benchSave(memory: MeasuredStore): Promise<void> {
    await this.#unlessMissing('a save', () => this.#restoring(memory))
  }

  async #restoring(memory: MeasuredStore): Promise<void> {
    using scratch = new ScratchDirectory(this.#options.directory)
    const file = join(scratch.path, 'aether.save')
    await this.#grow(memory)
    this.#options.onProgress('saving the space in memory')
    const member = await open(this.#space)
    try {
      await member.save({ file })
    } finally {
      await member.close()
    }
    await memory.close()
    this.#options.onProgress('restoring it')
    this.#opened.push(this.#openRowOf(memory, await openings({ ...memory.plan, save: file }, this.#options.timeMs)))
  }

  /** Ours has to be there; others may be missing. */
  async #fill(plans: readonly StorePlan[]): Promise<MeasuredStore[]> {
    const stores: MeasuredStore[] = []
    try {
      for (const plan of plans) {
        this.#options.onProgress(`filling ${plan.store} on ${plan.place}`)
        const open = (): Promise<MeasuredStore> => MeasuredStore.open(plan, this.#options.sizeBytes)
        const store = await (plan.store === 'aether'
          ? open()
          : this.#unlessMissing(`${plan.store} on ${plan.place}`, open))
        if (store !== undefined) stores.push(store)
      }
      return stores
    } catch (error) {
      for (const store of stores) await store.close()
      throw error
    }
  }

  async #grow(store: MeasuredStore): Promise<void> {
    this.#options.onProgress(`filling ${store.title} on ${store.plan.place} up`)
    await store.grow(this.#options.sizeBytes)
  }

  async #writingBack(memory: MeasuredStore, stores: readonly MeasuredStore[]): Promise<void> {
    await using _writing = await WriteBack.start(stores.map(({ plan }) => plan.directory))
    await this.#alternate(['set'], [memory, ...stores], ', write-back', WRITE_BACK_TIMES)
  }

  /** The first store is what the others are held against, in each round. */
  async #alternate(ops: (typeof works)[number], all: readonly MeasuredStore[], suffix = '', times = 1): Promise<void> {
    const stores = all.filter(({ operations }) => ops.every((op) => operations[op] !== undefined))
    const timeMs = times * this.#options.timeMs
    this.#options.onProgress(`${ops.join(', ')}${suffix}: ${stores.map(({ plan }) => plan.place).at(-1)}`)
    const turns = stores.map(({ operations }) => new TurnTaker(ops.map((op) => this.#stepOf(operations[op]!))))
    for (const each of turns) await each.warmUp(Math.min(WARM_MS_MAX, timeMs))
    const rounds = Math.max(ROUNDS_MIN, Math.ceil((timeMs * 1e6) / TURN_NS))
    for (let round = 0; round < rounds; round += 1) {
      const found: Found[] = []
      for (let at = 0; at < turns.length; at += 1) {
        const which = (round + at) % turns.length
        found[which] = await foundBy(turns[which]!)
      }
      for (const [at, op] of ops.entries())
        for (const [which, store] of stores.entries())
          this.#seriesOf(`${op}${suffix}`, store).add(
            found[which]!.turns[at]!,
            found[0]!.turns[at]!,
            found[which]!.writtenBytes,
          )
    }
  }

  #stepOf(operation: (key: string) => unknown): Step {
    const names = this.#names
    return (index) => operation(names[index & (SEQUENCE_LENGTH - 1)]!)
  }

  #seriesOf(op: string, { title, plan: { place } }: MeasuredStore): Series {
    const key = `${op}, ${title}, ${place}`
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const bytes = op === 'add' ? 8 : VALUE_BYTES
    const series = new Series({ op, store: title, place, bytes }, place === 'memory' ? null : `${op}, aether, memory`)
    this.#series.set(key, series)
    return series
  }

  async #opening(stores: readonly MeasuredStore[]): Promise<void> {
    const [own, ...others] = stores
    const rowsOf = async (store: MeasuredStore): Promise<SpacesRow> => {
      this.#options.onProgress(`opening ${store.title} on ${store.plan.place}`)
      return this.#openRowOf(store, await openings(store.plan, this.#options.timeMs))
    }
    const base = await rowsOf(own!)
    this.#opened.push(base)
    for (const store of others) this.#opened.push(heldAgainst(await rowsOf(store), base))
  }

  #openRowOf({ title, plan: { place } }: MeasuredStore, ns: readonly number[]): SpacesRow {
    return openRow({ op: 'open', store: title, place, bytes: this.#options.sizeBytes }, ns)
  }

  #planOf(store: KeptStoreName, place: PlaceName, directory: string): StorePlan {
    const name = place === 'memory' ? this.#space : `${this.#space}-${place}`
    const own = join(directory, store)
    if (place !== 'memory') mkdirSync(own, { mode: 0o700 })
    return { store, place, space: name, directory: own, regionBytes: regionBytesOf(this.#options.sizeBytes) }
  }

  #scratchOn(place: 'tmpfs' | 'disk'): ScratchDirectory {
    const directory = place === 'tmpfs' ? SHARED_MEMORY : this.#options.directory
    const refuse = (why: string): never => {
      throw new AetherError('ERR_AETHER_BENCH', why)
    }
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
      refuse(`there is no directory ${directory}`)
    const isMemory = isMemoryDirectory(directory)
    if (place === 'tmpfs' && !isMemory) refuse(`${directory} is no tmpfs`)
    if (place === 'disk' && isMemory) refuse(`${directory} is on tmpfs; pass --directory with a directory on a disk`)
    return new ScratchDirectory(directory)
  }

  /** Undefined where it is not here, or fails, which is told. */
  async #unlessMissing<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      // Those of the system and of databases have a code, too; what is wrong here has none.
      if (!(error instanceof Error && 'code' in error)) throw error
      this.#options.onMissing(what, whyOf(error))
      return undefined
    }
  }
}

async function foundBy(turns: TurnTaker): Promise<Found> {
  const before = writtenBytes()
  const found = turns.take()
  const after = writtenBytes()
  // A signal to end is heard between two turns.
  await nextTurn()
  return { turns: found, writtenBytes: after - before }
}

/** Small values and their places in a table take twice their bytes; a table that grows is there twice for a while. */
function regionBytesOf(sizeBytes: number): number {
  return 2 * sizeBytes + 2 ** 26
}
