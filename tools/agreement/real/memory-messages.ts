import { parseData } from '../model/data-text.ts'
import type { MemoryAnswer, MemoryOperation } from '../model/memory.ts'
import type { Data } from '../model/process.ts'

/** Where a region lies, and by which keys the process may read and write it; null where it may not. */
export interface RegionGrant {
  readonly name: string
  readonly read: RemoteRange | null
  readonly write: RemoteRange | null
}

export interface RemoteRange {
  readonly address: number
  readonly key: number
}

/** What a memory says to a process. */
export type MemorySays =
  | { readonly say: 'who'; readonly challenge: string }
  | { readonly say: 'grants'; readonly grants: readonly RegionGrant[] }
  | { readonly say: 'answer'; readonly number: number; readonly answer: MemoryAnswer; readonly grant?: RegionGrant }

/** What a process says to a memory. Reads and writes are no messages: they are one-sided. */
export type ProcessSays =
  | { readonly say: 'me'; readonly process: number; readonly signature: string }
  | {
      readonly say: 'do'
      /** Counted from 1: one that is repeated after a new connection is answered, and not done again. */
      readonly number: number
      readonly operation: Extract<MemoryOperation, { readonly do: 'claim' | 'permit' }>
    }

export const encodeMessage = (message: unknown): Uint8Array => Buffer.from(JSON.stringify(message))

/** What is longer than that is no message, and is not taken from anyone. */
export const MESSAGE_BYTES_MAX: number = 64 << 10

/** @throws TypeError if it is nothing that a correct process sends; the connection ends by that. */
export function decodeMessage(data: Uint8Array): Data {
  const message = parseData(Buffer.from(data).toString())
  if (message === undefined) throw new TypeError('a message is no JSON as a correct process has it')
  return message
}

/** What a process says, if it has the form of that: a liar says what it likes. @throws TypeError as above. */
export function decodeProcessSays(data: Uint8Array): ProcessSays {
  const says = decodeMessage(data) as Fields
  if (!isMe(says) && !isDo(says)) throw new TypeError('a message is nothing that a process says to a memory')
  return says as unknown as ProcessSays
}

/** Undefined where there is no such field. */
type Fields = { readonly [name: string]: Data | undefined } | null

const isMe = (says: Fields): boolean =>
  says?.['say'] === 'me' && Number.isSafeInteger(says['process']) && typeof says['signature'] === 'string'

function isDo(says: Fields): boolean {
  if (says?.['say'] !== 'do' || !Number.isSafeInteger(says['number'])) return false
  const operation = says['operation'] as Fields | undefined
  if (operation?.['do'] === 'permit') {
    const writers = operation['writers']
    return typeof operation['region'] === 'string' && Array.isArray(writers) && writers.every(Number.isSafeInteger)
  }
  if (operation?.['do'] !== 'claim') return false
  const register = operation['register'] as Fields | undefined
  const isRegister = typeof register?.['region'] === 'string' && Number.isSafeInteger(register['index'])
  return isRegister && (operation['value'] ?? null) !== null
}
