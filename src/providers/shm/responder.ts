import type { EncodedRequest } from '../encoded-request.ts'
import type { Inbox } from './inbox.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'

/** Who answers one request, once its queue pair has been entered. */
export interface Responder {
  /** Whose memory its keys name. */
  readonly peer: PeerDevice
  /** Of the queue pair. */
  readonly number: number
  /** Which protection domain the memory must be of. */
  readonly domainId: number
  /** Where messages are put; undefined where nobody receives now. Asked at most once per operation. */
  readonly inbox: Inbox | undefined
  /** Which of the peer's completion queues hears of a message; -1 none. */
  readonly queueIndex: number
}

/** Where a queue pair sends to: entered for the time of one operation. */
export interface Reachable {
  readonly peer: PeerDevice
  /** Rights and limits of the queue pair there; only inside. */
  readonly block: PairBlock | undefined
  /** False where nobody is there who would answer; then nothing was entered. */
  enter(): boolean
  leave(): void
  /** Nobody will ever answer. */
  readonly vanished: boolean
  /** Who answers a request; a CompletionStatus where what it names is not there, or not for us. Only inside. */
  responder(request: EncodedRequest): Responder | number
  /** The request failed there: its queue pair is to know. */
  fault(): void
}
