import type { MemoryAnswer, MemoryOperation } from '../model/memory.ts'

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

/** @throws SyntaxError if it is no JSON; the connection ends by that. */
export const decodeMessage = (data: Uint8Array): unknown => JSON.parse(Buffer.from(data).toString())
