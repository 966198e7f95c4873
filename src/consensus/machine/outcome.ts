import { Buffer } from 'node:buffer'
import type { Codec } from '../../codecs/index.ts'
import { messageOfThrown } from '../../native/index.ts'
import { ConsensusError } from '../errors.ts'

/** What a command came to, as kept in its session. `error`: JSON of an {@link ThrownError}. */
export interface StoredOutcome {
  readonly kind: 'answer' | 'error'
  readonly bytes: Uint8Array
}

/**
 * - `acknowledged`: it was applied before, and what it came to was dropped.
 * - `expired`: its session is unknown. This copy of it was not applied.
 */
export type Outcome = StoredOutcome | { readonly kind: 'acknowledged' | 'expired' }

export const ACKNOWLEDGED: Outcome = { kind: 'acknowledged' }
export const EXPIRED: Outcome = { kind: 'expired' }

interface ThrownError {
  readonly name: string
  readonly message: string
  readonly code?: string
}

/** Keep an answer. The bytes of most codecs are used again for the next one. */
export function answered<Answer>(answer: Answer, codec: Codec<Answer>): StoredOutcome {
  const bytes = codec.encode(answer)
  return { kind: 'answer', bytes: codec.keeps === true ? bytes : Buffer.from(bytes) }
}

/** Keep what was thrown: what replicas have in common of it, so without its stack. */
export function thrown(error: unknown): StoredOutcome {
  const message = messageOfThrown(error)
  const described: ThrownError = error instanceof Error ? { ...namesOf(error), message } : { name: 'Error', message }
  return { kind: 'error', bytes: Buffer.from(JSON.stringify(described)) }
}

function namesOf(error: Error): Omit<ThrownError, 'message'> {
  const { name, code } = error as NodeJS.ErrnoException
  return { name: typeof name === 'string' ? name : 'Error', ...(typeof code === 'string' ? { code } : {}) }
}

/** As codecs may expect them: `slice` of a Buffer copies nothing, and its memory has bytes of others. */
export function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

/**
 * The answer, as a value of the caller's own.
 * @throws ConsensusError if there is none: its `outcome` says what became of the command.
 */
export function answerOf<Answer>(outcome: Outcome, codec: Codec<Answer>): Answer {
  switch (outcome.kind) {
    case 'answer':
      // A duplicate of the command may ask again: what is kept of the bytes is copied.
      return codec.decode(plain(outcome.bytes))
    case 'error': {
      const cause = errorOf(outcome.bytes)
      throw new ConsensusError('REJECTED', `the machine refused the command: ${cause.message}`, {
        outcome: 'applied',
        cause,
      })
    }
    case 'acknowledged':
      throw new ConsensusError(
        'ACKNOWLEDGED',
        'the command was applied, but its answer was acknowledged and dropped; read the state instead',
        { outcome: 'applied' },
      )
    case 'expired':
      throw new ConsensusError(
        'EXPIRED',
        'the session has expired, and an earlier copy of the command may have been applied; read the state, then propose again',
        { outcome: 'unknown' },
      )
  }
}

/** What a machine threw, made again. */
export function errorOf(bytes: Uint8Array): Error {
  const { name, message, code } = JSON.parse(Buffer.from(bytes).toString()) as ThrownError
  return Object.assign(new Error(message), { name, stack: `${name}: ${message}` }, code === undefined ? {} : { code })
}
