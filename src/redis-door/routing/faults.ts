import { CommandFault, type FaultReply, IndexError } from '../../index-service/index.ts'
import { messageOfThrown } from '../../native/index.ts'

/** What went wrong, as clients of Redis understand it. `TRYAGAIN`: nothing was done. */
export function faultOfThrown(error: unknown): FaultReply {
  if (error instanceof CommandFault) return { fault: error.code, message: error.message }
  if (!(error instanceof IndexError)) return { fault: 'ERR', message: messageOfThrown(error) }
  const { kind, message, outcome } = error
  if (outcome === 'unknown') return { fault: 'UNKNOWN', message: `${message} (it may have been done)` }
  if (kind === 'BUSY' || kind === 'TIMEOUT') return { fault: 'TRYAGAIN', message }
  if (kind === 'UNREACHABLE' || kind === 'CLOSED') return { fault: 'CLUSTERDOWN', message }
  if (kind === 'FULL' || kind === 'MEMORY') return { fault: 'OOM', message }
  return { fault: 'ERR', message }
}
