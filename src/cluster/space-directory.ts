import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { AccessError } from '../native/index.ts'
import { SpaceError } from './errors.ts'
import { READ_ONLY_ADVICE } from './own-file.ts'

/**
 * A space with `directory`: its arena is a file, and stays when the last member ends. Processes meet in the directory:
 *
 * ```
 *  <directory>/aether.arena                       the arena; flock on it is the lock of the space
 *  <directory>/aether.member-<inode>-<epoch>      FIFO of a member of the arena with that inode (member-fifo.ts)
 *  <runtime directory>/directories/<name>-<pid namespace>   a link to the directory
 * ```
 *
 * - Joining: under the lock a new process removes the FIFOs that no one reads, and records the deaths of members
 *   without one. Then it makes its own and takes a slot. A FIFO that is read, but belongs to another inode, shows that
 *   the file was removed while processes have it: the newcomer is refused.
 * - If a member's own FIFO is missing, the directory was removed under it. Then a missing FIFO says nothing about
 *   others; only the FIFOs that are already open do.
 * - To ring a member, others write a byte into its FIFO. Descriptors close on exec, so children do not keep a dead
 *   member alive.
 * - A slot holds the pid namespace of its process. The numbers of others are marked `foreign`, and nothing looks them
 *   up.
 * - The link is a hint for those who know only the name: `open` without a directory, and observers.
 * - The header names the space and the boot of the machine. The last member writes a mark into it, after fsync(2) of
 *   everything else. The next first member removes the mark before it changes anything. After another boot, an arena
 *   without the mark is not used: its pages reached the disk in any order.
 * - Times in structures are of CLOCK_MONOTONIC plus a shift in the header. After a restart the first member sets the
 *   shift. The clock of the space then goes on by the time that has passed on the wall clock.
 * - The file has no holes that a program touches. What a memfd gives back by punching is cleared instead, and regions
 *   are always reserved. Otherwise a store on a full disk would be SIGBUS.
 * - Structures with `reserve: false` have holes, in memory too. They know them and take the memory before they touch it
 *   (`src/structures/heap/growth.ts`, `shrinking.ts`). Files are mapped without read-ahead: a store into a large folio
 *   that reaches over a hole would take blocks for all of it.
 */

/** The file with the arena, in the directory of a space. */
export const ARENA_FILE = 'aether.arena'
/** The arena of a machine that crashed, after the space was restored from a save. */
export const TORN_FILE = 'aether.arena.torn'
/** The save of a space in a directory, unless another file is named. */
export const SAVE_FILE = 'aether.save'

const TMPFS = 0x01021994
/**
 * By their numbers in statfs(2): those that keep space that fallocate(2) has taken. Where a page is copied before it is
 * written (btrfs, overlayfs, ZFS), a store into a full disk ends the process. Network file systems lock and map on each
 * machine alone.
 */
const fileSystems: ReadonlyMap<number, string> = new Map([
  [TMPFS, 'tmpfs'],
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0xf2f52010, 'f2fs'],
])

/** The variable that names the directory of the directories of all spaces. */
const DIRECTORY_VARIABLE = 'AETHER_DIRECTORY'

/** The directory of the directories of all spaces, if there is one. */
export function directoryOfAll(): string | undefined {
  const all = process.env[DIRECTORY_VARIABLE]
  return all === '' ? undefined : all
}

/** Where a space is kept that is opened without naming a directory. */
export function defaultDirectory(space: string): string | undefined {
  const all = directoryOfAll()
  return all === undefined ? undefined : join(all, space)
}

/** Whether what is in a directory is memory. */
export function isMemoryDirectory(path: string): boolean {
  return statfsSync(path).type === TMPFS
}

/** Where a space keeps its arena, so that it outlives its members. */
export class SpaceDirectory {
  readonly space: string
  /** Without links. */
  readonly path: string
  /** Make the directory, if it is not there. @throws AccessError, SpaceError */
  constructor(space: string, path: string) {
    this.space = space
    this.path = path
    this.#checkFileSystem()
    this.path = makeDirectory(path)
  }

  /** Before anything is made there. */
  #checkFileSystem(): void {
    const { type } = statfsSync(existingPart(this.path))
    if (fileSystems.has(type)) return
    const known = [...fileSystems.values()].join(', ')
    throw this.error(
      `its file system is none of ${known} (type 0x${type.toString(16)} of statfs(2)); use a directory on one of these, such as /dev/shm/${this.space}`,
    )
  }

  /** The file with the arena. It is also the lock of the space. */
  get file(): string {
    return join(this.path, ARENA_FILE)
  }

  /** Keep the file under another name, which replaces an older one. */
  setAside(): void {
    renameSync(this.file, this.#tornFile)
    syncDirectory(this.path)
  }

  /** Whether a file was set aside. */
  get hasTorn(): boolean {
    return existsSync(this.#tornFile)
  }

  get #tornFile(): string {
    return join(this.path, TORN_FILE)
  }

  error(why: string, cause?: unknown): SpaceError {
    return new SpaceError(
      'ERR_AETHER_SPACE_DIRECTORY',
      this.space,
      `space '${this.space}' cannot be opened in ${this.path}: ${why}`,
      cause === undefined ? undefined : { cause },
    )
  }
}

/** Have the names of a directory reach the disk. */
export function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Have the name of a directory reach the disk, and those of directories above it, up to one that was there. */
function syncParents(path: string, upTo: string): void {
  for (let at = dirname(path); ; at = dirname(at)) {
    syncDirectory(at)
    if (at === upTo || at === dirname(at)) return
  }
}

/** Names the time since the machine was started: boot_id of random(4). */
export function bootIdentity(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}

/** The path itself, or the nearest directory above it that is there. */
function existingPart(path: string): string {
  const absolute = resolve(path)
  return existsSync(absolute) ? absolute : existingPart(dirname(absolute))
}

function makeDirectory(path: string): string {
  try {
    const made = mkdirSync(path, { recursive: true, mode: 0o700 })
    if (made !== undefined) syncParents(resolve(path), dirname(made))
    const real = realpathSync(path)
    const { uid, mode } = statSync(real)
    if (uid !== process.geteuid?.())
      throw new AccessError(real, `${real} belongs to another user; pass a directory of your own`)
    if ((mode & 0o022) !== 0) throw new AccessError(real, `others may write to ${real}; run: chmod go-w '${real}'`)
    return real
  } catch (cause) {
    if (cause instanceof AccessError) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EROFS' ? READ_ONLY_ADVICE : message
    throw new AccessError(path, `cannot use the directory ${path}: ${why}`, { cause })
  }
}
