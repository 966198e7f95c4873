import type { Buffer } from 'node:buffer'
import { type FileHandle, mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ClosedError, native } from '../../native/index.ts'
import { ConsensusError } from '../errors.ts'

/**
 * The directory of one replica, locked while it is open: its file `lock` holds a flock(2).
 *
 * A sync that failed is never tried again: the kernel may have dropped the pages and would report success. So after
 * one the directory refuses all further use. A full disk is another matter: a write may be tried again.
 */
export class LogDirectory implements AsyncDisposable {
  readonly path: string
  readonly #lock: FileHandle
  #failure: Error | undefined

  private constructor(path: string, lock: FileHandle) {
    this.path = path
    this.#lock = lock
  }

  /** Open it, and make it if it is not there. @throws ConsensusError */
  static async open(path: string): Promise<LogDirectory> {
    const absolute = resolve(path)
    try {
      await makeDirectory(absolute)
    } catch (cause) {
      throw failure(absolute, cause)
    }
    return new LogDirectory(absolute, await lockOf(absolute))
  }

  /** @throws what has ended its use. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  pathOf(name: string): string {
    return join(this.path, name)
  }

  names(): Promise<string[]> {
    return this.disk(this.path, readdir(this.path))
  }

  /** What a file holds; undefined if there is none. */
  async read(name: string): Promise<Buffer | undefined> {
    const path = this.pathOf(name)
    return await this.disk(
      path,
      readFile(path).catch((cause: NodeJS.ErrnoException) => {
        if (cause.code !== 'ENOENT') throw cause
        return undefined
      }),
    )
  }

  /** Write a new file as a whole, and wait until it is on the disk, and its name too. */
  async write(name: string, parts: readonly Uint8Array[]): Promise<void> {
    await this.#writeFile(this.pathOf(name), parts)
    await this.sync()
  }

  /** Replace a file. The old one stays until the new one is on the disk. */
  async replace(name: string, parts: readonly Uint8Array[]): Promise<void> {
    const path = this.pathOf(name)
    const newPath = `${path}.new`
    this.check()
    await this.#writeFile(newPath, parts).catch(async (error) => {
      await unlink(newPath).catch(() => {})
      throw error
    })
    await this.disk(path, rename(newPath, path))
    await this.sync()
  }

  /** Remove what a crash has left of {@link replace}, which takes room. */
  async removeUnfinished(names: readonly string[]): Promise<void> {
    const there = await this.names()
    for (const name of names) if (there.includes(`${name}.new`)) await this.remove(`${name}.new`)
  }

  /** Remove a file, and wait until that is on the disk. */
  async remove(name: string): Promise<void> {
    const path = this.pathOf(name)
    await this.disk(path, unlink(path))
    await this.sync()
  }

  /** Wait until its names are on the disk. */
  sync(): Promise<void> {
    return this.synced(this.path, syncDirectory(this.path))
  }

  /** @throws ConsensusError if the call failed. */
  async disk<T>(path: string, call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (cause) {
      throw this.#refused(path, cause)
    }
  }

  /** As {@link disk}, of a call that returns when it is done. */
  now<T>(path: string, call: () => T): T {
    try {
      return call()
    } catch (cause) {
      throw this.#refused(path, cause)
    }
  }

  /** After a failed sync nothing is known of what is on the disk, so a full disk is a failure here, too. */
  async synced(path: string, call: Promise<void>): Promise<void> {
    try {
      await call
    } catch (cause) {
      throw this.#failed(path, cause)
    }
  }

  /** As {@link synced}, of a call that returns when it is done. */
  syncedNow(path: string, call: () => void): void {
    try {
      call()
    } catch (cause) {
      throw this.#failed(path, cause)
    }
  }

  async close(): Promise<void> {
    this.#failure ??= new ClosedError(`the log ${this.path}`)
    await this.#lock.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #writeFile(path: string, parts: readonly Uint8Array[]): Promise<void> {
    const file = await this.disk(path, open(path, 'w', 0o600))
    try {
      let at = 0
      for (const part of parts) {
        await this.disk(path, writeAll(file, part, at))
        at += part.length
      }
      await this.synced(path, file.sync())
    } finally {
      await file.close()
    }
  }

  #refused(path: string, cause: unknown): Error {
    return isFull(cause) ? full(path, cause) : this.#failed(path, cause)
  }

  #failed(path: string, cause: unknown): Error {
    this.#failure ??= failure(path, cause)
    return this.#failure
  }
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** The disk has no room for what was written. */
export function isFull(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** `offset`: where the damage begins, if it is that of bytes. */
export function damaged(path: string, offset: number | undefined, how: string): ConsensusError {
  const what = offset === undefined ? `${path} is damaged: ${how}` : `${path} is damaged at byte ${offset}: ${how}`
  const message = `${what}; let a new replica, with a directory of its own, take the place of this one`
  return new ConsensusError('LOG_DAMAGED', message, { file: path, ...(offset === undefined ? {} : { offset }) })
}

export function otherVersion(path: string, version: unknown, known: number): ConsensusError {
  const what = `${path} has format ${version}, and this version of Aether reads format ${known}`
  return new ConsensusError('LOG_VERSION', `${what}; use the version that wrote it`, { file: path })
}

/** Each directory that was made has its name on the disk. */
async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made))
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function lockOf(directory: string): Promise<FileHandle> {
  const path = join(directory, 'lock')
  const file = await open(path, 'a', 0o600).catch((cause) => {
    throw failure(path, cause)
  })
  if (native.lockFile(file.fd, false)) return file
  await file.close()
  const what = `the log ${directory} is open already, here or in another process`
  throw new ConsensusError('LOG_IN_USE', `${what}; close it there, or give each replica a directory of its own`, {
    file: path,
  })
}

function full(path: string, cause: unknown): ConsensusError {
  const what = `${path} could not be written: ${(cause as Error).message}`
  return new ConsensusError('LOG_FULL', `${what}; free some space, then sync again`, { file: path, cause })
}

function failure(path: string, cause: unknown): ConsensusError {
  const what = `the disk failed at ${path}: ${(cause as Error).message}`
  return new ConsensusError('LOG_FAILED', `${what}; check the disk and the directory, then open the log again`, {
    file: path,
    cause,
  })
}
