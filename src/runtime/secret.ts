import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import process from 'node:process'
import { AetherError } from '../native/index.ts'

/** The shared secret is missing or not acceptable. Ranks of several machines cannot meet without it. */
export class SecretError extends AetherError {
  override readonly name = 'SecretError'
  /** The file; undefined if none was named. */
  readonly path: string | undefined

  constructor(path: string | undefined, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_SECRET', message, options)
    this.path = path
  }
}

/** The variable that names the file. */
export const SECRET_FILE_VARIABLE = 'AETHER_SECRET_FILE'
/**
 * An impostor that listens in place of the rendezvous receives a proof, and can try secrets against it offline. A
 * random secret of this length cannot be guessed.
 */
export const SECRET_BYTES_MIN = 32
/** A longer file was probably named by mistake. */
const SECRET_BYTES_MAX = 4096

const HOW = `make one with: (umask 077 && head -c 32 /dev/urandom | base64 > FILE), and copy it to every machine`

/** A random secret, as text: bytes that end like a line would come out of {@link readSecret} one byte shorter. */
export function makeSecret(): Buffer {
  return Buffer.from(randomBytes(SECRET_BYTES_MIN).toString('base64'))
}

/**
 * The secret in `path`: all of its bytes, without one line end.
 * @throws SecretError if the file is missing, is open to other users, belongs to another user, or is too short or too
 * long.
 */
export function readSecret(path: string | undefined): Buffer {
  if (path === undefined || path === '') {
    throw new SecretError(
      undefined,
      `ranks that meet over TCP need a shared secret: give secretFile, or set ${SECRET_FILE_VARIABLE}; ${HOW}`,
    )
  }
  const descriptor = openSecret(path)
  try {
    checkFile(path, fstatSync(descriptor))
    return checkLength(path, readAll(descriptor))
  } finally {
    closeSync(descriptor)
  }
}

/**
 * The secret that the environment names, or undefined where it names none.
 * @throws SecretError, as {@link readSecret}.
 */
export function secretOfEnvironment(): Buffer | undefined {
  const path = process.env[SECRET_FILE_VARIABLE]
  return path === undefined || path === '' ? undefined : readSecret(path)
}

function openSecret(path: string): number {
  try {
    // Does not block on a pipe without a writer.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    throw new SecretError(path, `the secret ${path} cannot be read (${(cause as Error).message}); ${HOW}`, { cause })
  }
}

/** A user that can read it can join; one that can write it can let others in. */
function checkFile(path: string, status: Stats): void {
  const user = process.geteuid?.() ?? -1
  if (!status.isFile()) throw new SecretError(path, `the secret ${path} is not a file`)
  if (status.uid !== user && status.uid !== 0)
    throw new SecretError(path, `the secret ${path} belongs to user ${status.uid}, not to you (${user}) or root`)
  if ((status.mode & 0o077) === 0) return
  const mode = (status.mode & 0o777).toString(8)
  throw new SecretError(path, `the secret ${path} is open to other users (mode ${mode}); run: chmod 600 ${path}`)
}

function readAll(descriptor: number): Buffer {
  const bytes = Buffer.alloc(SECRET_BYTES_MAX + 2)
  let length = 0
  for (;;) {
    const count = readSync(descriptor, bytes, length, bytes.length - length, null)
    length += count
    if (count === 0 || length === bytes.length) return bytes.subarray(0, length)
  }
}

/** @throws SecretError unless `bytes`, without one line end, are an acceptable secret. `path` is for the message. */
function checkLength(path: string, bytes: Buffer): Buffer {
  const secret = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes
  if (secret.length >= SECRET_BYTES_MIN && secret.length <= SECRET_BYTES_MAX) return secret
  const rule = `a secret has ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes`
  const length = secret.length > SECRET_BYTES_MAX ? 'more' : String(secret.length)
  throw new SecretError(path, `the secret ${path} has ${length}: ${rule}; ${HOW}`)
}
