import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import process from 'node:process'
import { AccessError, systemFailure } from '../native/index.ts'

/** What to do about EROFS. */
export const READ_ONLY_ADVICE = 'the file system is mounted read-only; mount it for writing'

/**
 * Open a file of this user for reading and writing, or create it with mode 0600.
 * @throws AccessError for a link, another type of file, or another user's.
 */
export function openOwnFile(path: string): number {
  return ownOnly(path, openOrCreate(path))
}

/** The same of a file that is there, for reading alone: it may be on a read-only mount. @throws AccessError */
export function openOwnFileToRead(path: string): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  return ownOnly(
    path,
    opened(path, () => openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)),
  )
}

function ownOnly(path: string, descriptor: number): number {
  const status = fstatSync(descriptor)
  if (status.isFile() && status.uid === process.geteuid?.()) return descriptor
  closeSync(descriptor)
  throw new AccessError(path, `${path} is not a regular file that you own; remove it`)
}

function openOrCreate(path: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  return opened(path, () => openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600))
}

function opened(path: string, open: () => number): number {
  try {
    return open()
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'EMFILE' || code === 'ENFILE') throw systemFailure(cause)
    if (code === 'EROFS') throw new AccessError(path, `cannot open ${path}: ${READ_ONLY_ADVICE}`, { cause })
    const why = code === 'ELOOP' ? 'it is a symbolic link' : (cause as Error).message
    throw new AccessError(
      path,
      `cannot open ${path}: ${why}; remove it, or free some space and check the permissions`,
      { cause },
    )
  }
}
