import { Buffer } from 'node:buffer'
import { randomInt } from 'node:crypto'
import { ConsensusError } from '../errors.ts'
import { damaged, type LogDirectory, otherVersion } from './log-directory.ts'

/** The name of the file, which is JSON. */
export const IDENTITY_FILE = 'identity'
/** Of the directory as a whole. Segments have a version of their own. */
const FORMAT = 1

/** Whose directory it is. */
export interface Identity {
  /** Of the replica: below 2^48. */
  readonly id: number
  /** Of the replicated machine. */
  readonly name: string
}

/** Make a new one. @throws ConsensusError */
export async function writeIdentity(directory: LogDirectory, name: string): Promise<Identity> {
  const identity: Identity = { id: randomInt(1, 2 ** 48 - 1), name }
  await directory.replace(IDENTITY_FILE, [Buffer.from(`${JSON.stringify({ format: FORMAT, ...identity })}\n`)])
  return identity
}

/** Undefined if there is none. @throws ConsensusError: it is damaged, or of another version, or of another machine. */
export async function readIdentity(directory: LogDirectory, name: string): Promise<Identity | undefined> {
  const bytes = await directory.read(IDENTITY_FILE)
  if (bytes === undefined) return undefined
  const path = directory.pathOf(IDENTITY_FILE)
  const stored = parse(bytes)
  if (stored === undefined) throw damaged(path, 0, 'it is not an identity')
  if (stored.format !== FORMAT) throw otherVersion(path, stored.format, FORMAT)
  if (stored.name === name) return stored
  const what = `${directory.path} holds the log of '${stored.name}', not of '${name}'`
  const message = `${what}; open '${stored.name}' there, or give '${name}' a directory of its own`
  throw new ConsensusError('LOG_FOREIGN', message, { file: path })
}

function parse(bytes: Buffer): (Identity & { readonly format: unknown }) | undefined {
  try {
    const stored = JSON.parse(bytes.toString()) as Identity & { readonly format: unknown }
    const isOne = stored.format !== FORMAT || (Number.isSafeInteger(stored.id) && typeof stored.name === 'string')
    return isOne && stored.format !== undefined ? stored : undefined
  } catch {
    return undefined
  }
}
