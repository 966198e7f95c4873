import { type Omission, SaveError, type Space } from '../dsm/index.ts'
import { DefectError } from '../native/index.ts'
import { openStructures, type Structures } from '../structures/index.ts'
import { isOfOtherVersion, type RegionBlock, type StartBlock } from './format.ts'
import { Pacer } from './pacer.ts'
import { RawRegion } from './raw-region.ts'
import { RestoredStore } from './restored-store.ts'
import { readSave, type SavePart } from './save-reader.ts'
import { verifySave } from './verify.ts'

/** What was put into a space. */
export interface RestoreResult {
  readonly savedAt: Date
  readonly regions: number
  readonly structures: number
  /** What the save does not have, or only another version can restore. */
  readonly omitted: readonly Omission[]
}

/** How a save is restored. */
export interface RestoreOptions {
  /** Called again and again. */
  readonly progress?: (() => void) | undefined
  /** Leave out what only another version can restore. Default: that is an error. */
  readonly partly?: boolean
}

/**
 * Put all that is in a save into a space. The whole file is checked first, so a damaged one changes nothing. One that
 * was not restored as a whole is not noted as restored, so that repeated saves do not replace it.
 * @throws SaveError; RegionError if a region of the name has another size; HeapFullError, MemoryExhaustedError.
 */
export async function restoreSave(
  space: Space,
  file: string,
  { progress = () => {}, partly = false }: RestoreOptions = {},
): Promise<RestoreResult> {
  const { savedAt, regions, structures, omitted, otherVersion, version } = await verifySave(file, progress)
  const isWhole = otherVersion.length === 0
  if (!isWhole && !partly) throw needsVersion(space, file, version)
  await using restore = new Restore(space, file)
  const pacer = new Pacer()
  const { arena } = space.membership
  for await (const part of readSave(file)) {
    await restore.take(part)
    if (part.type === 'start' && arena.toRestore !== undefined && isWhole) arena.noteRestored(part.start.arena ?? '')
    progress()
    if (pacer.isDue) await pacer.pause()
  }
  return { savedAt, regions, structures, omitted }
}

/** A program that is started unattended must not begin with empty queues. */
function needsVersion({ name, directory }: Space, file: string, version: string): SaveError {
  const what = `the save ${file} has queues of BullMQ as version ${version} of Aether keeps them`
  const target = directory === undefined ? name : `--directory ${directory}`
  const first = directory === undefined ? 'move it away, open the space, and ' : ''
  const advice = `use that version; or, to do without them, ${first}run: npx aether-dsm space import ${file} ${target}`
  return new SaveError('ERR_AETHER_SAVE_VERSION', file, `${what}; ${advice}`)
}

/** What the save at `path` begins with. @throws SaveError */
export async function startOf(path: string): Promise<StartBlock> {
  for await (const part of readSave(path)) if (part.type === 'start') return part.start
  throw new DefectError('a save was read that has no first block')
}

/** @throws SaveError unless the save is of that space. */
export function checkSpaceOf({ space }: StartBlock, name: string, file: string): void {
  if (space === name) return
  const what = `the save ${file} is of space '${space}', not of '${name}'`
  throw new SaveError('ERR_AETHER_SAVE_MISMATCH', file, `${what}; name the file of this space`)
}

/** Takes the parts of a save in order. */
class Restore implements AsyncDisposable {
  readonly #space: Space
  readonly #file: string
  #region: RawRegion | undefined
  /** How far the bytes of the region or store are as in the save: what it leaves out are zeros. */
  #doneBytes = 0
  #store: RestoredStore | undefined
  /** Its bytes are of a region that is left out. */
  #leavesOut = false
  #structures: Structures | undefined
  #record: ((record: Uint8Array) => void) | undefined

  constructor(space: Space, file: string) {
    this.#space = space
    this.#file = file
  }

  async take(part: SavePart): Promise<void> {
    switch (part.type) {
      case 'region':
        return await this.#beginRegion(part.region)
      case 'bytes':
        return await this.#writeBytes(part.offset, part.bytes)
      case 'structures':
        return await this.#beginStructures(part.region)
      case 'structure':
        this.#record = this.#given(this.#structures, 'a structure').saved.restore(part.structure)
        return
      case 'records':
        for (const record of part.records) this.#given(this.#record, 'records')(record)
        return
      default:
        return await this.#finish()
    }
  }

  /** Whatever was begun last is given up, unless it has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store?.[Symbol.asyncDispose]()
    this.#store = undefined
    await this.#end()
  }

  async #beginRegion(block: RegionBlock): Promise<void> {
    await this.#finish()
    const { name, size, reserved, store } = block
    this.#leavesOut = isOfOtherVersion(block)
    if (this.#leavesOut) return
    if (store !== undefined) {
      this.#store = await RestoredStore.begin(this.#space, this.#file, { name, size, reserved, store })
      return
    }
    this.#region = await RawRegion.open(this.#space, name, size, reserved)
  }

  async #writeBytes(offset: number, bytes: Uint8Array): Promise<void> {
    if (this.#leavesOut) return
    const target = this.#given(this.#store ?? this.#region, 'bytes')
    if (!(offset >= 0 && offset + bytes.length <= target.entry.size)) throw this.#misplaced('bytes')
    await this.#clearTo(offset)
    await target.write(offset, bytes)
    this.#doneBytes = offset + bytes.length
  }

  /** A space that is made for it has zeros there. */
  async #clearTo(endBytes: number): Promise<void> {
    const target = this.#store ?? this.#region
    if (this.#space.membership.arena.toRestore === undefined) await target?.clear(this.#doneBytes, endBytes)
  }

  /** All of the region before was written. */
  async #finish(): Promise<void> {
    const target = this.#store ?? this.#region
    if (target !== undefined) await this.#clearTo(target.entry.size)
    await this.#end()
  }

  async #beginStructures({ name, size, reserved }: RegionBlock): Promise<void> {
    await this.#finish()
    this.#structures = await openStructures(this.#space, { region: name, size, reserve: reserved })
  }

  /** The region before is done with. */
  async #end(): Promise<void> {
    const [region, store, structures] = [this.#region, this.#store, this.#structures]
    this.#region = undefined
    this.#store = undefined
    this.#structures = undefined
    this.#record = undefined
    this.#doneBytes = 0
    this.#leavesOut = false
    await store?.end()
    await region?.[Symbol.asyncDispose]()
    await structures?.close()
  }

  #given<T>(value: T | undefined, what: string): T {
    if (value === undefined) throw this.#misplaced(what)
    return value
  }

  #misplaced(what: string): SaveError {
    const why = `the save ${this.#file} is damaged: ${what} at a place where there can be none`
    return new SaveError('ERR_AETHER_SAVE_DAMAGED', this.#file, `${why}; put an older copy of it in its place`)
  }
}
