import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isEnding } from '../../native/index.ts'
import { pidNamespace, runtimeDirectory } from '../../runtime/index.ts'
import type { Gid } from '../gid.ts'
import { decodeGid } from './gid.ts'

/**
 * A folder below the runtime directory where devices of this user's processes leave notes for each other. Each note is
 * a file. Its name says what it is about; its content is the gid of the device that left it. A process that was killed
 * leaves its files behind, and the next process that finds one removes it. Those of another pid namespace, where
 * numbers of processes are other ones, have a folder of their own.
 */
export class NoteFolder {
  readonly #directory: string
  #names: readonly string[] = []
  #readAt = -1

  constructor(name: string) {
    this.#directory = join(runtimeDirectory('verbs'), `${name}-${pidNamespace()}`)
  }

  /** Returns false if a live device has already left such a note. */
  put(name: string, gid: Gid): boolean {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    if (this.get(name) !== undefined) return false
    try {
      writeFileSync(join(this.#directory, name), gid.toString(16), { mode: 0o600, flag: 'wx' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }

  /** The gid of the live device that left the note. */
  get(name: string): Gid | undefined {
    try {
      const text = readFileSync(join(this.#directory, name), 'latin1')
      const gid = /^[0-9a-f]{1,32}$/.test(text) ? BigInt(`0x${text}`) : 0n
      const location = decodeGid(gid)
      if (location !== undefined && !isEnding(location.processId)) return gid
      // The file is empty for a moment, after it was created and before it is written.
      if (text !== '') this.remove(name)
      return undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  remove(name: string): void {
    rmSync(join(this.#directory, name), { force: true })
    try {
      rmdirSync(this.#directory)
    } catch {
      // The folder is not empty, or another process was faster.
    }
  }

  /** Names of all notes; the folder is read again if it has changed. */
  names(): readonly string[] {
    const status = statSync(this.#directory, { throwIfNoEntry: false })
    if (status === undefined) return []
    if (status.mtimeMs !== this.#readAt) {
      this.#names = readdirSync(this.#directory)
      // A change within the clock's granularity would go unnoticed: such a reading is not kept.
      this.#readAt = Date.now() - status.mtimeMs > CLOCK_GRAIN_MS ? status.mtimeMs : -1
    }
    return this.#names
  }
}

const CLOCK_GRAIN_MS = 20
