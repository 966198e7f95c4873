import { ConsensusError } from '../../consensus/index.ts'
import { IndexError, type IndexErrorKind } from '../errors.ts'

/** What a replica refuses a call with, as an error of the index. What a machine has thrown stays what it is. */
export function asIndexError(error: unknown): unknown {
  if (!(error instanceof ConsensusError) || error.outcome === 'applied') return error
  // A write that has begun says what became of it.
  const { message, outcome = 'not-applied' } = error
  return new IndexError(kindOf(error), message, { cause: error, outcome })
}

/** A process that was stopped for long has no session any more. All else ends the replica. */
function kindOf({ kind }: ConsensusError): IndexErrorKind {
  return kind === 'TIMEOUT' || kind === 'EXPIRED' ? 'TIMEOUT' : 'CLOSED'
}
