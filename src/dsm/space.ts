import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  defaultDirectory,
  type EventOptions,
  type LockOptions,
  type Member,
  Membership,
  SAVE_FILE,
  type SpaceEvent,
} from '../cluster/index.ts'
import {
  ArgumentError,
  ClosedError,
  checkBoolean,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkText,
  mustBe,
  type OptionNames,
  UnsupportedError,
} from '../native/index.ts'
import type { Profile, ProfilingArea, WaitReading } from '../profiling/index.ts'
import { type Duration, parseDuration } from './duration.ts'
import { type HardwareRegion, openHardwareRegion } from './hardware-region.ts'
import { ensureKept } from './keeping.ts'
import type { Region } from './region.ts'
import { RegionDirectory } from './region-directory.ts'
import type { RegionHost } from './region-host.ts'
import { openRegionOf } from './region-openers.ts'
import { parseRegionRequest, type RegionOptions } from './region-request.ts'
import type { Restored, SaveOptions, SaveRepetition, SaveResult } from './saves.ts'

/** Where a space is saved, and how often. */
interface SaveSettings {
  /**
   * The file that `space.save()` writes, and that the first member restores if there is no good memory of the space.
   * Default: `aether.save` in the directory of the space.
   */
  readonly file?: string
  /**
   * Save again and again: milliseconds, or text such as `'1min'`. One member of those that pass it does it at a time.
   * Default: only `space.save()` saves.
   */
  readonly every?: Duration
  /** Each of these saves is of one instant: see the option of that name of `space.save()`. Default false. */
  readonly consistent?: boolean
}

/** Options of `open`. */
export interface OpenOptions {
  /** Stop waiting to join. */
  readonly signal?: AbortSignal
  /** How long another process may hold the space's lock before that is an error. Default 10 s. */
  readonly lockTimeoutMs?: number
  /**
   * A directory of this space's own, where its memory is a file. The space then outlives its processes. It outlives a
   * restart of the machine if all of its members had ended in order, and a crash as of its last save. The directory is
   * made if it is not there. Default: `$AETHER_DIRECTORY/NAME` if that variable is set.
   */
  readonly directory?: string
  /** Saves of the space, from which it is restored after a crash of the machine. */
  readonly save?: SaveSettings
  /**
   * Keep the space for this long after its last process has gone, so that a redeploy finds it: milliseconds, or text
   * such as `'10min'`. A process of its own does that, which the first `open` with this option starts. A space in a
   * directory needs none.
   */
  readonly keep?: Duration
}

/** Saves and restores spaces. The room that does it lies above this one, and is loaded when it is needed. */
export interface Saver {
  save(space: Space, file: string, options: Omit<SaveOptions, 'file'>): Promise<SaveResult>
  /** Put everything into the space, which is empty. */
  restore(space: Space, file: string): Promise<Omit<Restored, 'reason'>>
  /** Save again and again, unless another member does, until the returned function is called. */
  saveEvery(space: Space, file: string, repetition: SaveRepetition): () => Promise<void>
}

let loadSaver = async (): Promise<Saver> => {
  throw new UnsupportedError("saves need the package's own entry: import from 'aether-dsm'")
}

/** Say where the saver is. */
export function provideSaver(loader: () => Promise<Saver>): void {
  loadSaver = loader
}

/** Options of `openBacked`. */
export interface BackedOptions extends Pick<RegionOptions, 'size' | 'signal'> {
  readonly headBytes: number | undefined
}

const names: OptionNames<OpenOptions> = { signal: true, lockTimeoutMs: true, directory: true, save: true, keep: true }
const saveNames: OptionNames<SaveSettings> = { file: true, every: true, consistent: true }

const saveOptionNames: OptionNames<SaveOptions> = { file: true, consistent: true, signal: true }

/**
 * Join the space `name`: processes of this user on this machine that share memory. The first process to join makes it.
 * Once its last process has closed it, ended or been killed, all of its memory is gone, unless it has a `directory`. No
 * server, no configuration.
 *
 * Every call is a member of its own, also within one process and in Workers.
 *
 * ```ts
 * await using space = await open('shop')
 * await using region = await space.openRegion('hits', { size: '64MiB' })
 * Atomics.add(region.int32, 0, 1)
 * ```
 *
 * @throws ArgumentError for a bad name; UnsupportedError off Linux; AccessError for another user's directory.
 * @throws SpaceError if it is full or cannot be reached; TimeoutError naming the process that holds the lock.
 */
export async function open(name: string, options: OpenOptions = {}): Promise<Space> {
  checkOptions('open', options, names)
  const { signal, lockTimeoutMs, directory = defaultDirectory(name) } = options
  checkSignal('options.signal', signal)
  if (lockTimeoutMs !== undefined) checkMilliseconds('options.lockTimeoutMs', lockTimeoutMs)
  if (directory !== undefined) checkText('options.directory', directory)
  const lock: LockOptions = { signal, ...(lockTimeoutMs === undefined ? {} : { timeoutMs: lockTimeoutMs }) }
  const settings = checkSave(options.save, directory)
  const keepMs = options.keep === undefined ? undefined : parseDuration(options.keep, 'options.keep')
  const { file } = settings
  const hasSave = () => file !== undefined && existsSync(file)
  const space = new Space(await Membership.enter(name, { ...lock, hasSave }, directory), file)
  try {
    await space.begin(settings.repetition)
    if (keepMs !== undefined && space.directory === undefined) await ensureKept(space.membership, keepMs)
    return space
  } catch (error) {
    await space.close()
    throw error
  }
}

interface SavePlan {
  readonly file: string | undefined
  readonly repetition: SaveRepetition | undefined
}

/** @throws ArgumentError */
function checkSave(save: SaveSettings | undefined, directory: string | undefined): SavePlan {
  const byDefault = directory === undefined ? undefined : resolve(directory, SAVE_FILE)
  if (save === undefined) return { file: byDefault, repetition: undefined }
  checkOptions('options.save', save, saveNames)
  const { consistent = false } = save
  if (save.file !== undefined) checkPath('options.save.file', save.file)
  checkBoolean('options.save.consistent', consistent)
  const file = save.file === undefined ? byDefault : resolve(save.file)
  if (file === undefined)
    throw new ArgumentError(
      'options.save.file',
      'a space without a directory has no save of its own; pass options.save.file',
    )
  if (save.every === undefined) return { file, repetition: undefined }
  return { file, repetition: { everyMs: parseDuration(save.every, 'options.save.every'), consistent } }
}

/** @throws ArgumentError */
function checkPath(argument: string, path: string): void {
  checkText(argument, path)
  if (path.includes('\0')) throw mustBe(argument, 'a path without null characters', path)
}

/** One member's view of a space. It does not keep the process alive, except while an `events()` iteration waits. */
export class Space implements AsyncDisposable {
  readonly #host: RegionHost
  readonly #saveFile: string | undefined
  #restored: Restored | undefined
  #stopSaving: (() => Promise<void>) | undefined

  /** @internal Made by {@link open}. */
  constructor(membership: Membership, saveFile?: string) {
    this.#saveFile = saveFile
    this.#host = { membership, directory: new RegionDirectory(membership) }
  }

  get name(): string {
    return this.#host.membership.name
  }

  /** This member: its slot, its epoch (its number among all members that the space has had) and its process. */
  get self(): Member {
    return this.#host.membership.self
  }

  /** Where the memory is a file, without links; undefined if it goes with the last process. */
  get directory(): string | undefined {
    return this.#host.membership.arena.directory
  }

  /** What this member has restored from a save, as the first that came after a crash; undefined if it did not. */
  get restored(): Restored | undefined {
    return this.#restored
  }

  get closed(): boolean {
    return this.#host.membership.closed
  }

  /** The membership behind it. @internal for the rooms above. */
  get membership(): Membership {
    return this.#host.membership
  }

  /** The list of regions. @internal for the rooms above. */
  get regionDirectory(): RegionDirectory {
    return this.#host.directory
  }

  /** Restore what is to be restored, then begin to save. @internal */
  async begin(repetition: SaveRepetition | undefined): Promise<void> {
    const { arena } = this.membership
    const file = this.#saveFile
    if (file === undefined) return
    if (arena.toRestore !== undefined) {
      const restored = await (await loadSaver()).restore(this, file)
      arena.endRestore()
      this.#restored = { ...restored, reason: arena.toRestore }
    }
    if (repetition !== undefined) this.#stopSaving = (await loadSaver()).saveEvery(this, file, repetition)
  }

  /**
   * Write all regions and structures to a file, from which `open` restores them after a crash of the machine. The file
   * is replaced as a whole or not at all. Others go on meanwhile: each entry is saved as a whole, but not all at one
   * moment unless `consistent` asks for it.
   *
   * @throws SaveError if it cannot be written, as on a full disk: the file stays what it was. ArgumentError if there is
   *   no `file`. TimeoutError if another process is saving to it and makes no progress, or a consistent save finds no
   *   moment.
   */
  async save(options: SaveOptions = {}): Promise<SaveResult> {
    checkOptions('save', options, saveOptionNames)
    if (options.file !== undefined) checkPath('options.file', options.file)
    if (options.consistent !== undefined) checkBoolean('options.consistent', options.consistent)
    checkSignal('options.signal', options.signal)
    options.signal?.throwIfAborted()
    const file = options.file === undefined ? this.#saveFile : resolve(options.file)
    if (file === undefined)
      throw new ArgumentError('options.file', 'the space has neither a directory nor a save.file; pass options.file')
    if (this.closed) throw new ClosedError(`space '${this.name}'`)
    return await (await loadSaver()).save(this, file, options)
  }

  /** This member's counters, which all members can read. */
  get profiling(): ProfilingArea {
    return this.#host.membership.profiling
  }

  /** All members of the space now, this one included, by slot. */
  members(): readonly Member[] {
    return this.#host.membership.members()
  }

  /**
   * Joins, departures and deaths from this call on, in order; a death lists the regions that the member had open. While
   * an event is awaited the process stays alive. Leaving the `for await` unsubscribes. `signal` makes it reject with
   * the signal's reason. The iteration ends with the space.
   */
  events(options?: EventOptions): AsyncIterableIterator<SpaceEvent, undefined> {
    return this.#host.membership.events(options)
  }

  /**
   * Make the region `name`, or open it if it exists; without `size` it must exist. It lives as long as the space:
   * closing it keeps its bytes, `region.delete()` gives them up.
   * @throws RegionError if it exists with other parameters (the message shows both), or does not exist;
   *   MemoryExhaustedError; ArgumentError.
   */
  async openRegion(name: string, options: RegionOptions = {}): Promise<Region> {
    return await openRegionOf(this.#host, parseRegionRequest(name, options, 'hardware'))
  }

  /**
   * The same, of one memory for all. With `headBytes`, only these are taken at first: the opener takes the rest from
   * the `backing` before it touches it.
   * @internal for the rooms above.
   */
  async openBacked(name: string, { headBytes, ...options }: BackedOptions): Promise<HardwareRegion> {
    const request = parseRegionRequest(name, options, 'hardware')
    return await openHardwareRegion(this.#host, headBytes === undefined ? request : { ...request, headBytes })
  }

  /** Names and sizes, in bytes, of the regions of the space. */
  regions(): readonly { readonly name: string; readonly size: number }[] {
    this.members()
    return this.#host.directory.list().map(({ name, size }) => ({ name, size }))
  }

  /** Publish up to 4 KiB about this member, replacing as a whole what it published before. */
  publish(bytes: Uint8Array): void {
    this.#host.membership.publish(bytes)
  }

  /** A copy of what `member` published; undefined if there is nothing, or the member is gone. */
  card(member: Member): Uint8Array | undefined {
    return this.#host.membership.card(member)
  }

  /**
   * Counters of `member` (by default this one), read from shared memory without disturbing it. Undefined once another
   * member has taken its slot. They cover this thread and, in a group, its agent.
   */
  profile(): Profile
  profile(member: Member): Profile | undefined
  profile(member: Member = this.self): Profile | undefined {
    return this.#host.membership.profile(member)
  }

  /** Counters of all present members, by epoch; `Profile.merge(space.profiles().values())` is the sum. */
  profiles(): ReadonlyMap<number, Profile> {
    const profiles = this.members().map((member) => [member.epoch, this.profile(member)] as const)
    return new Map(profiles.filter((entry): entry is [number, Profile] => entry[1] !== undefined))
  }

  /**
   * What `member`'s threads have waited for, for at least half of `AETHER_WATCHDOG_MS`, the longest wait first.
   * Undefined once another member has taken its slot. Read from shared memory, so blocked threads are included.
   */
  waits(member: Member): readonly WaitReading[] | undefined {
    return this.#host.membership.waits(member)
  }

  /** Leave: close the regions, then the slot. Idempotent. Views that are still in use then show private memory. */
  close(): Promise<void> {
    const closed = this.#host.membership.close()
    if (this.#stopSaving === undefined) return closed
    return Promise.all([closed, this.#stopSaving()]).then(() => {})
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
