import { closeSync, existsSync } from 'node:fs'
import { basename } from 'node:path'
import { ArgumentError, native } from '../native/index.ts'
import { type ArenaDescription, describeArena } from './arena.ts'
import { SpaceError } from './errors.ts'
import { sweepFifos } from './member-fifo.ts'
import { openOwnFile } from './own-file.ts'
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
    if (!existsSync(path)) throw new ArgumentError('DIRECTORY', `there is no directory ${path}`)
    const directory = new SpaceDirectory(basename(path), path)
    if (!existsSync(directory.file)) return new UnusedDirectory(directory)
    const descriptor = openOwnFile(directory.file)
    try {
      if (!native.lockFile(descriptor, false) || sweepFifos(directory.path).size > 0)
        throw inUse(directory, describeArena(descriptor).space)
      return new UnusedDirectory(directory, descriptor)
    } catch (error) {
      closeSync(descriptor)
      throw error
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
