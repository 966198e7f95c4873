import { randomBytes } from 'node:crypto'
import { closeSync, constants, ftruncateSync, openSync, readlinkSync, readSync } from 'node:fs'
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
import { bootIdentity, type SpaceDirectory } from './space-directory.ts'

/** Words of the header. What follows them is of an arena in a directory: texts of up to 255 bytes. */
const Word = { Magic: 0, Version: 1, Nonce: 2, LastEpoch: 6, Members: 7, Regions: 8 } as const
const NONCE_WORDS = 4
const NAME_OFFSET = 1024
const BOOT_OFFSET = 1536
const TEXT_BYTES_MAX = 255
const MEMORY_PREFIX = '/memfd:aether-'

/** Tells one arena from all others: its memory object, and a random number written into it. */
export interface ArenaIdentity {
  readonly inode: number
  /** 32 hexadecimal digits. */
  readonly nonce: string
}

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
  readonly #header: Int32Array
  #open = true

  private constructor(descriptor: number, identity: ArenaIdentity, control: ArrayBuffer, directory?: string) {
    this.directory = directory
    this.descriptor = descriptor
    this.identity = identity
    this.control = control
    this.#header = new Int32Array(control, HEADER_OFFSET, 64)
  }

  /** A new, empty arena. */
  static create(space: string): Arena {
    const made = native.createMemory(`aether-${space}`, EXTENTS_OFFSET, 0)
    const descriptor = reopen(made, constants.O_RDWR)
    const control = mapControl(descriptor)
    return new Arena(descriptor, initialise(descriptor, control), control)
  }

  /**
   * The arena in a directory: that of members before, or a new one. Under the space's lock. `isInUse`: members of it
   * live.
   * @throws AccessError, SpaceError.
   */
  static inDirectory(directory: SpaceDirectory, isInUse: boolean): Arena {
    const descriptor = openOwnFile(directory.file)
    let control: ArrayBuffer | undefined
    try {
      if (native.describeMemory(descriptor).lengthBytes >= EXTENTS_OFFSET)
        control = native.mapMemory(descriptor, 0, CONTROL_BYTES, 0)
      // The magic number comes last. Without it, the process that made the file was killed.
      if (control !== undefined && Atomics.load(headerOf(control), Word.Magic) === 0) {
        native.unmapMemory(control)
        control = undefined
      }
      if (control === undefined) {
        control = layOut(descriptor, directory)
        writeText(control, NAME_OFFSET, directory.space)
        writeText(control, BOOT_OFFSET, bootIdentity())
        initialise(descriptor, control)
      } else {
        if (isInUse && readText(control, BOOT_OFFSET) !== bootIdentity())
          throw directory.error('its processes count another start of this machine; end them first')
        checkFormer(control, directory)
      }
      return new Arena(descriptor, identityOf(descriptor, control), control, directory.path)
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
      return new Arena(descriptor, identityOf(descriptor, control), control, directory.path)
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

/** @throws SpaceError if what members before have left cannot be gone on with. */
function checkFormer(control: ArrayBuffer, directory: SpaceDirectory): void {
  const { space, file } = directory
  const words = headerOf(control)
  if (words[Word.Magic] !== ARENA_MAGIC) throw directory.error(`${file} is not the memory of a space; remove it`)
  if (words[Word.Version] !== ARENA_VERSION) throw otherVersion(directory)
  const name = readText(control, NAME_OFFSET)
  if (name !== space) throw directory.error(`it is the directory of space '${name}'; give each space one of its own`)
  if (readText(control, BOOT_OFFSET) === bootIdentity()) return
  const message = `the machine has restarted since space '${space}' in ${directory.path} was in use, and a space does not outlive that; remove ${file}`
  throw new SpaceError('ERR_AETHER_SPACE_RESTARTED', space, message)
}

function otherVersion({ space, path, file }: SpaceDirectory): SpaceError {
  const message = `space '${space}' in ${path} was made by another version of Aether; use that version, or remove ${file}`
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
  const nonce = Buffer.from(control, HEADER_OFFSET + Word.Nonce * 4, NONCE_WORDS * 4).toString('hex')
  return { inode: native.describeMemory(descriptor).inode, nonce }
}
