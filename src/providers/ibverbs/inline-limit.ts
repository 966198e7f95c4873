import { PAIR_WORDS, PairWord, SystemError, type VerbsAddon, type VerbsToken } from '../../native/index.ts'
import { QueuePairType } from '../queue-pair-state.ts'

/** No device has send queue elements of that length. */
const MOST = 1 << 16
const FIRST = 64

/**
 * How many inline bytes a queue pair may have. No verb reports it, so queue pairs (`rc`, one request of one segment)
 * are created until the maximum is known. That takes about a dozen.
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

/** The bytes granted to a queue pair that asked for `bytes`, which may be more; undefined if it was refused. */
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

/** Doubles until a size is refused, and then halves the gap. */
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
