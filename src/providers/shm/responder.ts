import type { EncodedRequest } from '../encoded-request.ts'
import type { Inbox } from './inbox.ts'
import { BlockWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'

/** What answers one request, once its queue pair has been entered. */
export interface Responder {
  /** The device whose memory its keys name. */
  readonly peer: PeerDevice
  /** The number of the queue pair. */
  readonly number: number
  /** The protection domain that the memory must belong to. */
  readonly domainId: number
  /** Where messages are put; undefined if there is no receiver now. Read at most once per operation. */
  readonly inbox: Inbox | undefined
  /** The peer's completion queue that reports a message; -1: none. */
  readonly queueIndex: number
}

/** What the words of a block say: whose requests `block` answers by, of the queue pair or its shared receive queue. */
export class BlockResponder implements Responder {
  readonly peer: PeerDevice
  readonly number: number
  readonly domainId: number
  readonly queueIndex: number
  readonly inbox: Inbox | undefined

  constructor(peer: PeerDevice, number: number, block: PairBlock, inbox: Inbox | undefined) {
    this.peer = peer
    this.number = number
    this.domainId = block.words[BlockWord.Domain]!
    this.queueIndex = block.words[BlockWord.ReceiveQueue]!
    this.inbox = inbox
  }
}

/** Where a queue pair sends to. It is entered for the duration of one operation. */
export interface Reachable {
  readonly peer: PeerDevice
  /** Rights and limits of the queue pair there; only valid inside. */
  readonly block: PairBlock | undefined
  /** Returns false if there is nothing that would answer; nothing was entered then. */
  enter(): boolean
  leave(): void
  /** True if requests will never be answered. */
  readonly vanished: boolean
  /**
   * What answers a request. A CompletionStatus if what the request names does not exist, or is not for this queue pair.
   * Only inside.
   */
  responder(request: EncodedRequest): Responder | number
  /** The request failed there: tell its queue pair. */
  fault(): void
}
