import { constants } from 'node:fs'
import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises'

/** The calls by which a save reaches the disk. Tests put others in their place, which fail at each step. */
export interface Disk {
  /** Open a file for reading and writing, or create it with mode 0600; not through a link. */
  create(path: string): Promise<FileHandle>
  write(file: FileHandle, bytes: Uint8Array, position: number): Promise<void>
  truncate(file: FileHandle, lengthBytes: number): Promise<void>
  sync(file: FileHandle): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Have the names of a directory reach the disk. */
  syncDirectory(path: string): Promise<void>
  /** The number of the file at a path; undefined if there is none. */
  inodeAt(path: string): Promise<number | undefined>
}

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK

export const realDisk: Disk = {
  create: (path) => open(path, FLAGS, 0o600),

  async write(file, bytes, position) {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
      done += bytesWritten
    }
  },

  truncate: (file, lengthBytes) => file.truncate(lengthBytes),
  sync: (file) => file.sync(),
  rename,
  remove: unlink,

  async syncDirectory(path) {
    const directory = await open(path, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  },

  async inodeAt(path) {
    try {
      return (await stat(path)).ino
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  },
}
