import { Errno, TransitionError, type VerbsError } from '../errors.ts'
import { formatGid } from '../gid.ts'
import type { QueuePairAttributes } from '../queue-pair-contract.ts'
import { judgeTransition, type QueuePairType, stateNames } from '../queue-pair-state.ts'
import { verbError } from './verb.ts'

const ENETUNREACH = 101
const EHOSTUNREACH = 113

/** The error for a refused ibv_modify_qp(3): explained by the state table if possible, otherwise by its errno. */
export function modifyError(
  type: QueuePairType,
  current: number,
  attributes: QueuePairAttributes,
  mask: number,
  errno: number,
): Error {
  const wanted = attributes.state ?? current
  const refusal = verbError('ibv_modify_qp', errno, explain(errno, attributes))
  if (errno !== Errno.EINVAL) return refusal
  const { legal, missing, extra } = judgeTransition(type, current, wanted, mask)
  if (legal && missing.length + extra.length === 0) return refusal
  const names = [stateNames[current]!, stateNames[wanted]!] as const
  return new TransitionError(...names, missing, extra, legal, { cause: refusal as VerbsError })
}

function explain(errno: number, attributes: QueuePairAttributes): string {
  const { addressVector } = attributes
  if (addressVector !== undefined && (errno === Errno.ETIMEDOUT || errno === ENETUNREACH || errno === EHOSTUNREACH)) {
    return `no host answers for gid ${formatGid(addressVector.gid)}: check that the host is up, that the source gid (sourceGidIndex) reaches it, and that UDP port 4791 is open`
  }
  return 'the device refuses these values; compare them with its limits, the port and the source gid'
}
