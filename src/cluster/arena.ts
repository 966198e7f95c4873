import { randomBytes } from 'node:crypto'
import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readlinkSync, readSync } from 'node:fs'
import { native } from '../native/index.ts'
import { SpaceError } from './errors.ts'
import {
  ARENA_MAGIC,
  ARENA_VERSION,
  CONTROL_BYTES,
  EXTENTS_OFFSET,
  HEADER_OFFSET,
  MEMBERS_MAX,
  REGIONS_MAX,
} from './layout.ts'
import { openOwnFile } from './own-file.ts'
import { bootIdentity, type SpaceDirectory, syncDirectory } from './space-directory.ts'
import { forgetWatchers } from './watching.ts'

/** Words of the header. What follows them is of an arena in a directory: texts of up to 255 bytes. */
const Word = {
  Magic: 0,
  Version: 1,
  Nonce: 2,
  LastEpoch: 6,
  Members: 7,
  Regions: 8,
  /** 1: the last member ended in order, and all that it left is on the disk. */
  Ended: 9,
  /** 0, or how far the first member has come that restores the space from a save, from 1 on. */
  Restoring: 10,
  /** The number of the arena whose save was restored into this one; 0: none. */
  RestoredNonce: 20,
} as const
/**
 * Numbers of the header, Float64, by their place in units of 8 bytes. The clock of a space is CLOCK_MONOTONIC plus a
 * shift. It goes on after a restart of the machine, by the time that has passed on the wall clock. The shift is changed
 * only before a first member is there.
 */
const Float = { ClockShiftMs: 6, EndedMs: 7, EndedWallMs: 8 } as const
const NONCE_WORDS = 4
const NAME_OFFSET = 1024
const BOOT_OFFSET = 1536
const TEXT_BYTES_MAX = 255
const PAGE_BYTES = 4096
const MEMORY_PREFIX = '/memfd:aether-'

/** Tells one arena from all others: its memory object, and a random number written into it. */
export interface ArenaIdentity {
  readonly inode: number
  /** 32 hexadecimal digits. */
  readonly nonce: string
}

/**
 * Why a space is restored from a save: the machine was restarted, or crashed, without an orderly end of the space
 * (`restarted`). A restore was cut off (`interrupted`). There is no memory of it at all (`missing`).
 */
export type RestoreReason = 'restarted' | 'interrupted' | 'missing'

/** Why a descriptor of another process is not the wanted arena. */
export type ArenaMismatch = 'other' | 'version'

/** One process's hold on the memory object of a space, with the control part mapped. */
export class Arena {
  /** Opened through `node:fs`, so that a Worker that is terminated does not leak it. */
  readonly descriptor: number
  readonly identity: ArenaIdentity
  /** The first {@link CONTROL_BYTES}. */
  readonly control: ArrayBuffer
  /** Where its file is, if it has one that outlives the members. */
  readonly directory: string | undefined
  /** This process made it, to restore a save into it. */
  readonly toRestore: RestoreReason | undefined
  readonly #header: Int32Array
  readonly #floats: Float64Array
  #open = true

  private constructor(
    descriptor: number,
    identity: ArenaIdentity,
    control: ArrayBuffer,
    {
      directory,
      toRestore,
    }: { readonly directory?: string | undefined; readonly toRestore?: RestoreReason | undefined } = {},
  ) {
    this.directory = directory
    this.toRestore = toRestore
    this.descriptor = descriptor
    this.identity = identity
    this.control = control
    this.#header = new Int32Array(control, HEADER_OFFSET, 64)
    this.#floats = floatsOf(control)
    if (toRestore !== undefined) this.countRestored()
  }

  /** A new, empty arena. `hasSave`: a save is to be restored into it before others join. */
  static create(space: string, hasSave: boolean = false): Arena {
    const made = native.createMemory(`aether-${space}`, EXTENTS_OFFSET, 0)
    const descriptor = reopen(made, constants.O_RDWR)
    const control = mapControl(descriptor)
    return new Arena(descriptor, initialise(descriptor, control), control, hasSave ? { toRestore: 'missing' } : {})
  }

  /**
   * The arena in a directory: that of members before, or a new one. Under the space's lock. `isInUse`: members of it
   * live. `hasSave`: whether there is a save, from which what cannot be gone on with is restored. Undefined if the file
   * was set aside for that: it is the lock, so begin again with the new one.
   * @throws AccessError, SpaceError.
   */
  static inDirectory(
    directory: SpaceDirectory,
    { isInUse, hasSave }: { readonly isInUse: boolean; readonly hasSave: () => boolean },
  ): Arena | undefined {
    const descriptor = openOwnFile(directory.file)
    let control: ArrayBuffer | undefined
    try {
      control = mapFormer(descriptor)
      if (control !== undefined && isInUse && !isOfThisBoot(control))
        throw directory.error('its processes count another start of this machine; end them first')
      const found = control === undefined ? whatIsMissing(directory) : checkFormer(control, directory)
      if (control !== undefined && (isInUse || found === 'good')) {
        if (!isInUse) goOn(descriptor, control)
        return new Arena(descriptor, identityOf(descriptor, control), control, { directory: directory.path })
      }
      const reason = found === 'good' || !hasSave() ? undefined : found
      if (control !== undefined) {
        if (reason === undefined) throw restartedError(directory, found === 'interrupted' ? found : 'restarted')
        native.unmapMemory(control)
        control = undefined
        // Only a save that was restored as a whole replaces it. Until then it is kept, under another name.
        if (reason === 'restarted') {
          directory.setAside()
          closeSync(descriptor)
          return undefined
        }
      }
      control = makeIn(directory, descriptor, reason !== undefined)
      const arena = { directory: directory.path, toRestore: reason }
      return new Arena(descriptor, identityOf(descriptor, control), control, arena)
    } catch (error) {
      if (control !== undefined) native.unmapMemory(control)
      closeSync(descriptor)
      throw error
    }
  }

  /**
   * Before the lock is asked for: processes of another version may hold it as long as they run.
   * @throws SpaceError if another version made the arena.
   */
  static checkVersion(directory: SpaceDirectory): void {
    const words = new Int32Array(2)
    try {
      const descriptor = openSync(directory.file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
      try {
        // Not through a mapping: the file has no pages while the holder of the lock lays it out.
        readSync(descriptor, words, 0, words.byteLength, HEADER_OFFSET)
      } finally {
        closeSync(descriptor)
      }
    } catch {
      // It is not there, or cannot be read: the next to hold the lock finds out why.
    }
    if (words[Word.Magic] === ARENA_MAGIC && words[Word.Version] !== ARENA_VERSION) throw otherVersion(directory)
  }

  /** The arena in a directory whose members live, to be looked at. @throws SystemError, the error of open(2) */
  static observe(directory: Pick<SpaceDirectory, 'file' | 'path'>): Arena | ArenaMismatch {
    const descriptor = openSync(directory.file, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    const control = mapIfArena(descriptor)
    if (typeof control !== 'string')
      return new Arena(descriptor, identityOf(descriptor, control), control, { directory: directory.path })
    closeSync(descriptor)
    return control
  }

  /**
   * The arena behind a descriptor of another process, if it is the wanted one.
   * @throws the error of open(2) if the descriptor cannot be reached.
   */
  static adopt(processId: number, remoteDescriptor: number, wanted: ArenaIdentity): Arena | ArenaMismatch {
    const path = `/proc/${processId}/fd/${remoteDescriptor}`
    if (!readlinkSync(path).startsWith(MEMORY_PREFIX)) return 'other'
    const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    const control = mapWanted(descriptor, wanted)
    if (typeof control === 'string') {
      closeSync(descriptor)
      return control
    }
    return new Arena(descriptor, identityOf(descriptor, control), control)
  }

  /** Epoch of the member that joined last; 0 before the first. */
  get lastEpoch(): number {
    return Atomics.load(this.#header, Word.LastEpoch)
  }

  /** Make `epoch` known, once it is in a slot: a process that reads it here then finds it there. Under the lock. */
  announceEpoch(epoch: number): void {
    Atomics.store(this.#header, Word.LastEpoch, epoch)
  }

  /** Milliseconds to be added to CLOCK_MONOTONIC for times that are kept in the space. */
  get clockShiftMs(): number {
    return this.#floats[Float.ClockShiftMs]!
  }

  /** How far the restore has come that others wait for; 0 if none is under way. */
  get restoring(): number {
    return Atomics.load(this.#header, Word.Restoring)
  }

  /** A restore has made some progress: those who wait for it see that it goes on. */
  countRestored(): void {
    Atomics.store(this.#header, Word.Restoring, (this.restoring & 0x3fffffff) + 1)
  }

  /** The number of the arena whose save was restored into this one: 32 hexadecimal digits, zeros if none was. */
  get restoredNonce(): string {
    return readNonce(this.control, Word.RestoredNonce)
  }

  /** Before the end of a restore: what it is restored from. */
  noteRestored(nonce: string): void {
    new Uint8Array(this.control, HEADER_OFFSET + Word.RestoredNonce * 4, NONCE_WORDS * 4).set(Buffer.from(nonce, 'hex'))
  }

  /** The space is restored as a whole: others may join. */
  endRestore(): void {
    Atomics.store(this.#header, Word.Restoring, 0)
  }

  /**
   * The last member ends, in order. The mark reaches the disk after everything else has. Without it, as when the disk
   * fails, a restart of the machine is taken for a crash. Under the space's lock.
   */
  markEnded(): void {
    if (this.directory === undefined || this.restoring !== 0) return
    try {
      fsyncSync(this.descriptor)
      this.#floats[Float.EndedMs] = native.monotonicNs() / 1e6 + this.clockShiftMs
      this.#floats[Float.EndedWallMs] = Date.now()
      Atomics.store(this.#header, Word.Ended, 1)
      fsyncSync(this.descriptor)
    } catch {
      Atomics.store(this.#header, Word.Ended, 0)
    }
  }

  /**
   * Clear a part of the control memory. A file keeps its pages: to touch one that it lacks would end the process where
   * the disk is full.
   */
  clear(offsetBytes: number, lengthBytes: number): void {
    if (this.directory === undefined) native.releaseMemory(this.descriptor, offsetBytes, lengthBytes)
    else new Uint8Array(this.control, offsetBytes, lengthBytes).fill(0)
  }

  /** Unmap and close. Idempotent. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    native.unmapMemory(this.control)
    closeSync(this.descriptor)
  }
}

/** What the header of an arena in a file says, by read(2). */
export interface ArenaDescription {
  readonly space: string
  /** `incomplete`: it was never finished, so nothing is in it. `unknown`: it is not an arena, or of another version. */
  readonly state: 'good' | 'restarted' | 'interrupted' | 'incomplete' | 'unknown'
  /** The last member ended in order. False also while one is there, and after all were killed. */
  readonly endedInOrder: boolean
  /** Of the member that joined last. */
  readonly lastEpoch: number
  /** The clock of the space, by which times are kept in it. */
  readonly nowMs: number
}

/** Read the header of an arena in a file. */
export function describeArena(descriptor: number): ArenaDescription {
  const header = new Uint8Array(PAGE_BYTES)
  readSync(descriptor, header, 0, PAGE_BYTES, HEADER_OFFSET)
  const words = headerOf(header.buffer)
  const seen = {
    endedInOrder: words[Word.Ended] === 1,
    lastEpoch: words[Word.LastEpoch]!,
    nowMs: native.monotonicNs() / 1e6 + clockShiftAfter(header.buffer),
  }
  const space = readText(header.buffer, NAME_OFFSET)
  const isWhole = native.describeMemory(descriptor).lengthBytes >= EXTENTS_OFFSET
  if (!isWhole || words[Word.Magic] === 0) return { space: '', state: 'incomplete', ...seen }
  if (words[Word.Magic] !== ARENA_MAGIC || words[Word.Version] !== ARENA_VERSION)
    return { space: '', state: 'unknown', ...seen }
  return { space, state: stateOf(header.buffer), ...seen }
}

/** Open the same file through a descriptor that `node:fs` knows. Closes the given one. */
export function reopen(descriptor: number, flags: number): number {
  try {
    return openSync(`/proc/self/fd/${descriptor}`, flags)
  } finally {
    native.closeDescriptor(descriptor)
  }
}

function headerOf(control: ArrayBuffer): Int32Array {
  return new Int32Array(control, HEADER_OFFSET, 64)
}

function floatsOf(control: ArrayBuffer): Float64Array {
  return new Float64Array(control, HEADER_OFFSET, 32)
}

/** The magic number comes last. */
function initialise(descriptor: number, control: ArrayBuffer): ArenaIdentity {
  const nonce = randomBytes(NONCE_WORDS * 4)
  const words = headerOf(control)
  new Uint8Array(control, HEADER_OFFSET + Word.Nonce * 4, nonce.length).set(nonce)
  words[Word.Version] = ARENA_VERSION
  words[Word.Members] = MEMBERS_MAX
  words[Word.Regions] = REGIONS_MAX
  Atomics.store(words, Word.Magic, ARENA_MAGIC)
  return identityOf(descriptor, control)
}

/** An empty file of the right length, with the disk's space for the control part taken. @throws SpaceError */
function layOut(descriptor: number, directory: SpaceDirectory): ArrayBuffer {
  ftruncateSync(descriptor, 0)
  try {
    ftruncateSync(descriptor, EXTENTS_OFFSET)
    native.reserveMemory(descriptor, 0, CONTROL_BYTES)
  } catch (cause) {
    ftruncateSync(descriptor, 0)
    const room = `${CONTROL_BYTES / 2 ** 20} MiB for it are not to be had (${(cause as Error).message.split(';')[0]})`
    throw directory.error(`${room}; free some space, or raise the quota or the limit of file sizes`, cause)
  }
  return native.mapMemory(descriptor, 0, CONTROL_BYTES, 0)
}

/** The control part of what members before have left; undefined if they have left none. */
function mapFormer(descriptor: number): ArrayBuffer | undefined {
  if (native.describeMemory(descriptor).lengthBytes < EXTENTS_OFFSET) return undefined
  const control = native.mapMemory(descriptor, 0, CONTROL_BYTES, 0)
  // The magic number comes last. Without it, the process that made the file was killed.
  if (Atomics.load(headerOf(control), Word.Magic) !== 0) return control
  native.unmapMemory(control)
  return undefined
}

/** Where there is no arena. One that was set aside was to be restored. */
function whatIsMissing({ hasTorn }: SpaceDirectory): RestoreReason {
  return hasTorn ? 'restarted' : 'missing'
}

/**
 * A new arena in a file. Its header is on the disk before anything else is, so that a crash is known as one. The magic
 * number comes last there, too: the sectors of a page reach the disk in any order.
 */
function makeIn(directory: SpaceDirectory, descriptor: number, restoring: boolean): ArrayBuffer {
  const control = layOut(descriptor, directory)
  writeText(control, NAME_OFFSET, directory.space)
  writeText(control, BOOT_OFFSET, bootIdentity())
  if (restoring) headerOf(control)[Word.Restoring] = 1
  fsyncSync(descriptor)
  initialise(descriptor, control)
  fsyncSync(descriptor)
  syncDirectory(directory.path)
  return control
}

/**
 * Whether what members before have left can be gone on with. @throws SpaceError if it is none of this space, or of
 * another version.
 */
function checkFormer(control: ArrayBuffer, directory: SpaceDirectory): 'good' | RestoreReason {
  const { space, file } = directory
  const words = headerOf(control)
  if (words[Word.Magic] !== ARENA_MAGIC) throw directory.error(`${file} is not the memory of a space; remove it`)
  if (words[Word.Version] !== ARENA_VERSION) throw otherVersion(directory)
  const name = readText(control, NAME_OFFSET)
  if (name !== space) throw directory.error(`it is the directory of space '${name}'; give each space one of its own`)
  return stateOf(control)
}

function stateOf(control: ArrayBuffer): 'good' | 'restarted' | 'interrupted' {
  const words = headerOf(control)
  if (words[Word.Restoring] !== 0) return 'interrupted'
  return isOfThisBoot(control) || words[Word.Ended] === 1 ? 'good' : 'restarted'
}

function isOfThisBoot(control: ArrayBuffer): boolean {
  return readText(control, BOOT_OFFSET) === bootIdentity()
}

/**
 * Take up what members before have left. Each step may be the last: the mark goes last, and reaches the disk before
 * anything else changes. Until then the same is done again, with the same result.
 */
function goOn(descriptor: number, control: ArrayBuffer): void {
  const words = headerOf(control)
  if (!isOfThisBoot(control)) {
    floatsOf(control)[Float.ClockShiftMs] = clockShiftAfter(control)
    forgetWatchers(control)
    writeText(control, BOOT_OFFSET, bootIdentity())
  }
  if (Atomics.exchange(words, Word.Ended, 0) === 1) fsyncSync(descriptor)
}

/** By how much the clock of the space is ahead of CLOCK_MONOTONIC when it is gone on with. */
function clockShiftAfter(control: ArrayBuffer): number {
  const floats = floatsOf(control)
  if (isOfThisBoot(control)) return floats[Float.ClockShiftMs]!
  const passedMs = Math.max(0, Date.now() - floats[Float.EndedWallMs]!)
  return floats[Float.EndedMs]! + passedMs - native.monotonicNs() / 1e6
}

function restartedError({ space, path, file }: SpaceDirectory, reason: 'restarted' | 'interrupted'): SpaceError {
  const where = `space '${space}' in ${path}`
  const why =
    reason === 'restarted'
      ? `the machine has restarted while ${where} was in use, so its memory may be damaged`
      : `${where} was being restored when its process was killed`
  const message = `${why}, and there is no save to restore it from; remove ${file} to begin with an empty space`
  return new SpaceError('ERR_AETHER_SPACE_RESTARTED', space, message)
}

function otherVersion({ space, path, file }: SpaceDirectory): SpaceError {
  const repair = `to restore its save, run: npx aether-dsm space repair ${path}`
  const message = `space '${space}' in ${path} was made by another version of Aether; use that version, or remove ${file}; ${repair}`
  return new SpaceError('ERR_AETHER_SPACE_VERSION', space, message)
}

function writeText(control: ArrayBuffer, offset: number, text: string): void {
  const bytes = Buffer.from(text).subarray(0, TEXT_BYTES_MAX)
  const target = new Uint8Array(control, offset, 1 + TEXT_BYTES_MAX)
  target[0] = bytes.length
  target.set(bytes, 1)
}

function readText(control: ArrayBuffer, offset: number): string {
  const bytes = new Uint8Array(control, offset, 1 + TEXT_BYTES_MAX)
  return Buffer.from(bytes.slice(1, 1 + bytes[0]!)).toString()
}

function mapControl(descriptor: number): ArrayBuffer {
  try {
    return native.mapMemory(descriptor, 0, CONTROL_BYTES, 0)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function mapWanted(descriptor: number, wanted: ArenaIdentity): ArrayBuffer | ArenaMismatch {
  return native.describeMemory(descriptor).inode === wanted.inode ? mapIfArena(descriptor, wanted.nonce) : 'other'
}

function mapIfArena(descriptor: number, nonce?: string): ArrayBuffer | ArenaMismatch {
  if (native.describeMemory(descriptor).lengthBytes < EXTENTS_OFFSET) return 'other'
  const control = mapControl(descriptor)
  const words = headerOf(control)
  const isWanted = nonce === undefined || identityOf(descriptor, control).nonce === nonce
  const known = Atomics.load(words, Word.Magic) === ARENA_MAGIC && isWanted
  const mismatch = known ? 'version' : 'other'
  if (known && words[Word.Version] === ARENA_VERSION) return control
  native.unmapMemory(control)
  return mismatch
}

function identityOf(descriptor: number, control: ArrayBuffer): ArenaIdentity {
  return { inode: native.describeMemory(descriptor).inode, nonce: readNonce(control, Word.Nonce) }
}

function readNonce(control: ArrayBuffer, word: number): string {
  return Buffer.from(control, HEADER_OFFSET + word * 4, NONCE_WORDS * 4).toString('hex')
}
