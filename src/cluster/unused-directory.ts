import { closeSync, existsSync, fstatSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { ArgumentError, native } from '../native/index.ts'
import { type ArenaDescription, describeArena } from './arena.ts'
import { SpaceError } from './errors.ts'
import { hasMembers, sweepFifos } from './member-fifo.ts'
import { openOwnFile, openOwnFileToRead } from './own-file.ts'
import { SpaceDirectory } from './space-directory.ts'

/**
 * The directory of a space that no process is in. None can enter as long as this is held: the file is locked as a first
 * member locks it.
 */
export class UnusedDirectory implements Disposable {
  readonly directory: SpaceDirectory
  /** Undefined if there is no arena in it. */
  readonly arena: ArenaDescription | undefined
  readonly #descriptor: number | undefined

  private constructor(directory: SpaceDirectory, descriptor?: number) {
    this.directory = directory
    this.#descriptor = descriptor
    this.arena = descriptor === undefined ? undefined : describeArena(descriptor)
  }

  /** @throws SpaceError if processes are in the space; ArgumentError if there is no such directory; AccessError. */
  static hold(path: string): UnusedDirectory {
    return UnusedDirectory.#hold(path, openOwnFile, (directory) => sweepFifos(directory).size > 0)
  }

  /** The same for one who only reads: nothing is changed, not even what killed members have left. */
  static look(path: string): UnusedDirectory {
    return UnusedDirectory.#hold(path, openOwnFileToRead, hasMembers)
  }

  static #hold(path: string, open: (file: string) => number, isUsed: (directory: string) => boolean): UnusedDirectory {
    if (!existsSync(path)) throw new ArgumentError('DIRECTORY', `there is no directory ${path}`)
    const directory = new SpaceDirectory(basename(path), path)
    if (!existsSync(directory.file)) return new UnusedDirectory(directory)
    const descriptor = open(directory.file)
    try {
      if (!native.lockFile(descriptor, false) || isUsed(directory.path))
        throw inUse(directory, describeArena(descriptor).space)
      return new UnusedDirectory(directory, descriptor)
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  }

  /** Bytes of the arena's file; 0 if there is none. */
  get fileBytes(): number {
    return this.#descriptor === undefined ? 0 : fstatSync(this.#descriptor).size
  }

  /** Copy bytes of the arena's file from `offsetBytes` on. What is beyond its end stays as it is. */
  read(offsetBytes: number, target: Uint8Array): void {
    for (let done = 0; this.#descriptor !== undefined && done < target.length; ) {
      const count = readSync(this.#descriptor, target, done, target.length - done, offsetBytes + done)
      if (count === 0) return
      done += count
    }
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}

/** The name of the space in a directory; undefined if there is none. @throws AccessError */
export function spaceIn(path: string): string | undefined {
  const { file } = new SpaceDirectory(basename(path), path)
  if (!existsSync(file)) return undefined
  const descriptor = openOwnFile(file)
  try {
    return describeArena(descriptor).space || undefined
  } finally {
    closeSync(descriptor)
  }
}

function inUse({ path }: SpaceDirectory, space: string): SpaceError {
  return new SpaceError(
    'ERR_AETHER_SPACE_DIRECTORY',
    space,
    `processes are in space '${space}' in ${path}; end them first`,
  )
}
