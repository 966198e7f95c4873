import { EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Opcode, RequestFlag } from '../opcode.ts'
import { captureRequest } from '../soft/captured-request.ts'
import { isAtomic } from '../soft/service.ts'
import { type Message, psnAfter } from './packet.ts'

/** A posted send request, from the post until its completion. */
export class SendEntry {
  readonly request: EncodedRequest
  readonly opcode: number
  readonly flags: number
  /** The adapter has started it, so it is finished even if the send queue is told to drain. */
  begun = false
  /** What its packets carry; undefined until it has begun, and for requests that send none. */
  message: Message | undefined
  /** How many sequence numbers it takes. */
  psnCount = 0
  /** Packets of a response that have arrived, or of the request that the peer is known to have. */
  received = 0
  /** The time when all of the response that has arrived will be in memory. */
  landedNs = 0
  done = false
  /** A CompletionStatus. */
  status = 0
  lengthBytes = 0

  constructor(request: EncodedRequest, maxInlineBytes: number) {
    this.request = new EncodedRequest(request.segmentCapacity)
    captureRequest(this.request, request, maxInlineBytes)
    this.opcode = request.words[RequestSlot.Opcode]!
    this.flags = request.words[RequestSlot.Flags]!
  }

  get id(): number {
    return this.request.words[RequestSlot.Id]!
  }

  get inline(): boolean {
    return (this.flags & RequestFlag.Inline) !== 0
  }

  /** True if the peer answers with more than an acknowledgement. */
  get isAnswered(): boolean {
    return this.opcode === Opcode.Read || isAtomic(this.opcode)
  }

  /** True if the whole answer has arrived; it may still be on its way into memory. */
  get isAnsweredWhole(): boolean {
    return this.isAnswered && this.psnCount > 0 && this.received === this.psnCount
  }

  get lastPsn(): number {
    return psnAfter(this.message?.firstPsn ?? 0, this.psnCount - 1)
  }

  /** Packets that it sends itself. */
  get packets(): number {
    return this.isAnswered ? 1 : this.psnCount
  }
}
