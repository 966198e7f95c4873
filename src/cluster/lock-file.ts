import { closeSync, fstatSync, statSync } from 'node:fs'
import { openOwnFile } from './own-file.ts'

/** A file of this user whose flock(2) is a lock. The kernel releases it when its holder ends. */
export class LockFile {
  readonly path: string
  readonly descriptor: number
  #open = true

  /** Open the file, or create it. @throws AccessError for a link, another type of file, or another user's. */
  constructor(path: string) {
    this.path = path
    this.descriptor = openOwnFile(path)
  }

  get inode(): number {
    return fstatSync(this.descriptor).ino
  }

  /** True if the path still leads here. The file may have been removed while we waited for the lock. */
  isCurrent(): boolean {
    const own = fstatSync(this.descriptor)
    const there = statSync(this.path, { throwIfNoEntry: false })
    return own.nlink > 0 && there?.ino === own.ino && there.dev === own.dev
  }

  /** Idempotent. Releases the lock. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    closeSync(this.descriptor)
  }
}
