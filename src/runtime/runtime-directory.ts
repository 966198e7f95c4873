import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { AccessError, ArgumentError } from '../native/index.ts'

/** The variable that puts the runtime directory somewhere else. */
const RUNTIME_DIRECTORY_VARIABLE = 'AETHER_RUNTIME_DIRECTORY'

const ADVICE = `set ${RUNTIME_DIRECTORY_VARIABLE} to a directory of your own`

/**
 * Return `<runtime directory>/<part>`, private to this user, and create it if needed. The runtime directory is
 * `AETHER_RUNTIME_DIRECTORY`, else `/tmp/aether-<uid>`. It is not `TMPDIR`, because processes with different values of
 * it must still meet.
 * @throws AccessError if either is a link, not a directory, another user's, or open to others. Another user who can
 * write there could send this process to memory of theirs.
 */
export function runtimeDirectory(part: string): string {
  const base = process.env[RUNTIME_DIRECTORY_VARIABLE] ?? `/tmp/aether-${ownUserId()}`
  if (!base.startsWith('/')) {
    throw new ArgumentError(
      RUNTIME_DIRECTORY_VARIABLE,
      `${RUNTIME_DIRECTORY_VARIABLE} must be an absolute path, not '${base}'`,
    )
  }
  return ensurePrivate(join(ensurePrivate(base), part))
}

function ensurePrivate(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotMake(path, cause)
  }
  checkPrivate(path)
  return path
}

function checkPrivate(path: string): void {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) throw new AccessError(path, `${path} is a symbolic link; remove it, or ${ADVICE}`)
  if (!status.isDirectory()) throw new AccessError(path, `${path} is not a directory; remove it, or ${ADVICE}`)
  if (status.uid !== ownUserId()) {
    throw new AccessError(
      path,
      `${path} belongs to user ${status.uid}, but a space must belong to its user (you are ${ownUserId()}); ${ADVICE}`,
    )
  }
  if ((status.mode & 0o077) !== 0) {
    const mode = (status.mode & 0o777).toString(8)
    throw new AccessError(path, `${path} is open to other users (mode ${mode}); run: chmod 700 ${path}`)
  }
}

function cannotMake(path: string, cause: unknown): AccessError {
  return new AccessError(path, `cannot make the directory ${path} (${(cause as Error).message}); ${ADVICE}`, { cause })
}

function ownUserId(): number {
  return process.geteuid?.() ?? -1
}
