import { PAIR_WORDS, PairWord, SystemError, type VerbsAddon, type VerbsToken } from '../../native/index.ts'
import { QueuePairType } from '../queue-pair-state.ts'

/** No device has elements of its send queue as long as that. */
const MOST = 1 << 16
const FIRST = 64

/**
 * How many bytes a queue pair may have inline. No verb tells, so queue pairs are made (`rc`, for one request of one
 * segment) until the greatest that the device grants is known: about a dozen of them.
 */
export function probeMaxInlineBytes(verbs: VerbsAddon, device: VerbsToken): number {
  const domain = verbs.allocateDomain(device)
  try {
    const { handle: queue } = verbs.createCompletionQueue(device, 1, 0, 0)
    try {
      return greatest((bytes) => grant(verbs, domain, queue, bytes))
    } finally {
      verbs.destroy(queue)
    }
  } finally {
    verbs.destroy(domain)
  }
}

/** What a queue pair that asked for `bytes` got, which may be more; undefined where it was refused. */
function grant(verbs: VerbsAddon, domain: VerbsToken, queue: VerbsToken, bytes: number): number | undefined {
  const words = new Float64Array(PAIR_WORDS)
  words[PairWord.type] = QueuePairType.rc
  words[PairWord.maxSendRequests] = 1
  words[PairWord.maxReceiveRequests] = 1
  words[PairWord.maxSendSegments] = 1
  words[PairWord.maxReceiveSegments] = 1
  words[PairWord.maxInlineBytes] = bytes
  try {
    const { handle, maxInlineBytes } = verbs.createQueuePair(domain, queue, queue, 0, 0, words)
    verbs.destroy(handle)
    return Math.max(bytes, maxInlineBytes)
  } catch (error) {
    if (error instanceof SystemError) return undefined
    throw error
  }
}

/** Doubles until it is refused, and then halves the gap. */
function greatest(ask: (bytes: number) => number | undefined): number {
  let granted = ask(0) ?? 0
  let refused = MOST + 1
  while (refused > granted + 1) {
    const isDoubling = refused > MOST
    const wanted = isDoubling ? Math.min(MOST, Math.max(FIRST, 2 * granted)) : Math.floor((granted + refused) / 2)
    const got = ask(wanted)
    if (got === undefined) refused = wanted
    else granted = got
  }
  return granted
}
