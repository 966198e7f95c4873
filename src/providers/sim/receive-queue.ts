import type { EncodedRequest } from '../encoded-request.ts'
import { RequestSlot } from '../encoded-request.ts'
import { Errno } from '../errors.ts'
import { ReceiveRequest } from './receive-request.ts'

/** Where messages find the receive requests that they consume. */
export interface ReceiveSource {
  /** The oldest request, which stays. */
  peek(): ReceiveRequest | undefined
  /** Take the oldest request. */
  take(): ReceiveRequest | undefined
}

/** The receive requests of one queue pair. A slot is free again once its completion was polled. */
export class ReceiveQueue implements ReceiveSource {
  readonly #capacity: number
  readonly #maxSegments: number
  readonly #domainId: number
  #requests: ReceiveRequest[] = []
  #outstanding = 0

  constructor(capacity: number, maxSegments: number, domainId: number) {
    this.#capacity = capacity
    this.#maxSegments = maxSegments
    this.#domainId = domainId
  }

  /** Returns 0 or an errno. */
  post(request: EncodedRequest): number {
    if (request.words[RequestSlot.SegmentCount]! > this.#maxSegments) return Errno.EINVAL
    if (this.#outstanding >= this.#capacity) return Errno.ENOMEM
    this.#outstanding += 1
    this.#requests.push(new ReceiveRequest(request, this.#domainId))
    return 0
  }

  peek(): ReceiveRequest | undefined {
    return this.#requests[0]
  }

  take(): ReceiveRequest | undefined {
    return this.#requests.shift()
  }

  /** A completion was polled. */
  retire(): void {
    this.#outstanding -= 1
  }

  reset(): void {
    this.#requests = []
    this.#outstanding = 0
  }
}
