import { isIndex, isRecord } from '../../hosts/index.ts'
import { MeshChannel } from '../mesh-channel.ts'
import { type LockMode, NOBODY } from './lock-queue.ts'

/** What agents send each other about locks: JSON behind the channel's byte. */
export type LockMessage =
  /** To the keeper. */
  | { readonly op: 'want'; readonly name: string; readonly token: number; readonly mode: LockMode }
  /** To a new keeper: what its predecessor had granted. */
  | {
      readonly op: 'hold'
      readonly name: string
      readonly token: number
      readonly mode: LockMode
      readonly abandonedBy: number
    }
  /** `had`: the sender's program had the lock. */
  | { readonly op: 'release'; readonly name: string; readonly token: number; readonly had: boolean }
  /** From the keeper. */
  | { readonly op: 'granted'; readonly token: number; readonly abandonedBy: number }
  | { readonly op: 'released'; readonly token: number; readonly holders: readonly number[] }
  /**
   * From every rank to every other: rank `dead` is known to be dead. The sender has told the successor all that the
   * dead rank kept for it.
   */
  | { readonly op: 'report'; readonly dead: number }

export function encodeLockMessage(message: LockMessage): Uint8Array {
  const text = Buffer.from(JSON.stringify(message))
  const bytes = new Uint8Array(1 + text.length)
  bytes[0] = MeshChannel.Locks
  bytes.set(text, 1)
  return bytes
}

/** Undefined if the bytes are not such a message. */
export function decodeLockMessage(bytes: Uint8Array): LockMessage | undefined {
  const message = parse(bytes.slice(1))
  if (!isRecord(message)) return undefined
  const { op, name, token, mode, abandonedBy, had, holders, dead } = message
  const isMode = mode === 'read' || mode === 'write'
  const isAbandoned = abandonedBy === NOBODY || isIndex(abandonedBy)
  const fits =
    (op === 'report' && isIndex(dead)) ||
    (isIndex(token) &&
      ((op === 'want' && typeof name === 'string' && isMode) ||
        (op === 'hold' && typeof name === 'string' && isMode && isAbandoned) ||
        (op === 'release' && typeof name === 'string' && typeof had === 'boolean') ||
        (op === 'granted' && isAbandoned) ||
        (op === 'released' && Array.isArray(holders) && holders.every(isIndex))))
  return fits ? (message as unknown as LockMessage) : undefined
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
