import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SaveError } from '../dsm/index.ts'
import { messageOfThrown, native, TimeoutError } from '../native/index.ts'
import { type Disk, realDisk } from './disk.ts'

/** Bytes that are gathered for one write. */
const WRITE_BYTES = 2 ** 18
const PAUSE_MS = 20
/** How long another process may hold the file without writing to it. */
const TIMEOUT_MS = 10_000

/** Where a file is written before it takes its name. */
function newPathOf(file: string): string {
  return `${file}.new`
}

/**
 * A file that replaces another as a whole. It is written under a name of its own, and takes the other's when all of it
 * is on the disk.
 *
 * The new file is locked (flock(2)) as long as it is written, so one process at a time does that. What a killed process
 * has left is written over by the next one.
 */
export class NewFile {
  readonly path: string
  readonly #disk: Disk
  readonly #file: FileHandle
  readonly #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  #lengthBytes = 0

  private constructor(path: string, file: FileHandle, disk: Disk) {
    this.path = path
    this.#file = file
    this.#disk = disk
  }

  /**
   * Begin to write what will be at `path`. Waits as long as another process that does so makes progress.
   * @throws SaveError, TimeoutError; the reason of the signal.
   */
  static async begin(path: string, signal?: AbortSignal, disk: Disk = realDisk): Promise<NewFile> {
    let seen = ''
    let deadlineNs = 0
    for (;;) {
      signal?.throwIfAborted()
      const found = await NewFile.tryBegin(path, disk)
      if (found instanceof NewFile) return found
      if (found.progress !== seen) deadlineNs = native.monotonicNs() + TIMEOUT_MS * 1e6
      seen = found.progress
      if (native.monotonicNs() > deadlineNs)
        throw new TimeoutError(
          `another process has been writing ${newPathOf(path)} for ${TIMEOUT_MS} ms without progress; continue or end it`,
        )
      await sleep(PAUSE_MS)
    }
  }

  /** The same; what another process has written, if one does it now. @throws SaveError */
  static async tryBegin(path: string, disk: Disk = realDisk): Promise<NewFile | { readonly progress: string }> {
    try {
      for (;;) {
        const file = await disk.create(newPathOf(path))
        const begun = await take(path, file, disk).catch(async (error) => {
          await file.close()
          throw error
        })
        if (begun === 'ours') return new NewFile(path, file, disk)
        await file.close()
        if (begun !== 'renamed') return begun
      }
    } catch (cause) {
      throw saveFailed(path, cause)
    }
  }

  /** Bytes written so far, those gathered included. */
  get lengthBytes(): number {
    return this.#lengthBytes + this.#gatheredBytes
  }

  /** Append `parts`, which do not change any more. @throws SaveError */
  async write(...parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      this.#gathered.push(part)
      this.#gatheredBytes += part.length
    }
    if (this.#gatheredBytes >= WRITE_BYTES) await this.#flush()
  }

  /** All is written: take the name. The file is closed. @throws SaveError: the other file stays, if that is said. */
  async commit(): Promise<void> {
    await this.#flush()
    let isNamed = false
    try {
      await this.#disk.sync(this.#file)
      await this.#disk.rename(newPathOf(this.path), this.path)
      isNamed = true
      await this.#disk.syncDirectory(dirname(this.path))
    } catch (cause) {
      throw isNamed ? nameUnsure(this.path, cause) : saveFailed(this.path, cause)
    }
    await this.#file.close()
  }

  /** What went wrong while it was written, as the caller is told it. */
  failed(cause: unknown): unknown {
    return saveFailed(this.path, cause)
  }

  /** Give up: the other file stays. */
  async abandon(): Promise<void> {
    // If it has its name already, the new one is another's.
    const { ino } = await this.#file.stat()
    const isOurs = (await this.#disk.inodeAt(newPathOf(this.path)).catch(() => undefined)) === ino
    if (isOurs) await this.#disk.remove(newPathOf(this.path)).catch(() => {})
    await this.#file.close()
  }

  async #flush(): Promise<void> {
    if (this.#gatheredBytes === 0) return
    const bytes = Buffer.concat(this.#gathered.splice(0), this.#gatheredBytes)
    this.#gatheredBytes = 0
    try {
      await this.#disk.write(this.#file, bytes, this.#lengthBytes)
    } catch (cause) {
      throw saveFailed(this.path, cause)
    }
    this.#lengthBytes += bytes.length
  }
}

/** Lock the new file and empty it. It may have got its name, or have been removed, before we had the lock. */
async function take(
  path: string,
  file: FileHandle,
  disk: Disk,
): Promise<'ours' | 'renamed' | { readonly progress: string }> {
  const { ino, size } = await file.stat()
  if (!native.lockFile(file.fd, false)) return { progress: `${ino} ${size}` }
  if ((await disk.inodeAt(newPathOf(path))) !== ino) return 'renamed'
  await disk.truncate(file, 0)
  return 'ours'
}

const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space, or save to another disk',
  EDQUOT: 'raise the quota, or save to another disk',
  EFBIG: 'raise the limit of file sizes (ulimit -f)',
  EROFS: 'save to a file system that can be written to',
  EACCES: 'save to a directory of your own',
  EPERM: 'save to a directory of your own',
  ENOENT: 'make its directory first',
  EISDIR: 'name a file, not a directory',
  ENOTDIR: 'name a file in a directory',
  ELOOP: 'remove the symbolic link',
}

/** What went wrong with the disk as an error that says what to do. Other errors stay as they are. */
function saveFailed(path: string, cause: unknown): unknown {
  const { code, message } = cause as NodeJS.ErrnoException
  if (!(cause instanceof Error) || typeof code !== 'string' || code.startsWith('ERR_')) return cause
  const what = `the save ${path} could not be written: ${message}; ${advice[code] ?? 'save to another disk'}`
  return new SaveError('ERR_AETHER_SAVE_FAILED', path, `${what}. An older save stays as it was`, { cause })
}

function nameUnsure(path: string, cause: unknown): SaveError {
  const why = `a crash of the machine may bring the older one back: ${messageOfThrown(cause)}`
  return new SaveError('ERR_AETHER_SAVE_FAILED', path, `the save ${path} is in its place, but ${why}; save again`, {
    cause,
  })
}
