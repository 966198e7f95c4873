import { PAIR_WORDS, PairWord, POST_ERRNO_UNIT, type VerbsAddon, type VerbsToken } from '../../native/index.ts'
import type {
  ProviderQueuePair,
  ProviderQueuePairOptions,
  QueuePairAttributes,
  QueuePairCapacities,
} from '../contract.ts'
import type { EncodedRequest } from '../encoded-request.ts'
import { Attribute, type QueuePairState, QueuePairType } from '../queue-pair-state.ts'
import { AttributeWords } from './attribute-words.ts'
import type { IbverbsCompletionQueue } from './completion-queue.ts'
import { modifyError } from './modify-error.ts'
import { PostBuffer } from './post-buffer.ts'
import type { IbverbsProtectionDomain } from './protection-domain.ts'
import { attempt, check } from './verb.ts'

const ALL_ATTRIBUTES = Object.values(Attribute).reduce((mask: number, bit) => mask | bit, 0)

/** ibv_create_qp(3). Requests go down as they are encoded, a batch in one native call. */
export class IbverbsQueuePair implements ProviderQueuePair {
  readonly number: number
  readonly type: QueuePairType
  readonly capacities: QueuePairCapacities
  readonly handle: VerbsToken
  lastErrno = 0
  readonly #domain: IbverbsProtectionDomain
  readonly #verbs: VerbsAddon
  readonly #queues: readonly IbverbsCompletionQueue[]
  readonly #attributes: AttributeWords
  readonly #sends: PostBuffer
  readonly #receives: PostBuffer

  constructor(domain: IbverbsProtectionDomain, options: ProviderQueuePairOptions) {
    const sendQueue = options.sendQueue as IbverbsCompletionQueue
    const receiveQueue = options.receiveQueue as IbverbsCompletionQueue
    const { verbs, port } = domain.device
    this.#domain = domain
    this.#verbs = verbs
    this.type = options.type
    const facts = attempt(() =>
      verbs.createQueuePair(domain.handle, sendQueue.handle, receiveQueue.handle, optionWords(options)),
    )
    this.handle = facts.handle
    this.number = facts.number
    this.capacities = {
      maxSendRequests: facts.maxSendRequests,
      maxReceiveRequests: facts.maxReceiveRequests,
      maxSendSegments: facts.maxSendSegments,
      maxReceiveSegments: facts.maxReceiveSegments,
      maxInlineBytes: facts.maxInlineBytes,
    }
    this.#attributes = new AttributeWords(port)
    this.#sends = new PostBuffer(facts.maxInlineBytes)
    this.#receives = new PostBuffer(0)
    this.#queues = [...new Set([sendQueue, receiveQueue])]
    for (const queue of this.#queues) queue.users.add(this)
  }

  // ---- state -------------------------------------------------------------------------------------------------------------------

  /** Asked of the device: a failed request changes it without a word. */
  get state(): QueuePairState {
    const errno = this.#verbs.queryQueuePair(this.handle, Attribute.state, this.#attributes.words)
    check('ibv_query_qp', errno, () => 'the state cannot be asked for')
    return this.#attributes.state
  }

  query(): QueuePairAttributes {
    const errno = this.#verbs.queryQueuePair(this.handle, ALL_ATTRIBUTES, this.#attributes.words)
    check('ibv_query_qp', errno, () => 'the attributes cannot be asked for')
    return this.#attributes.decode(ALL_ATTRIBUTES)
  }

  modify(attributes: QueuePairAttributes): void {
    const mask = this.#attributes.encode(attributes)
    const errno = this.#verbs.modifyQueuePair(this.handle, mask, this.#attributes.words)
    if (errno !== 0) throw modifyError(this.type, this.state, attributes, mask, errno)
  }

  destroy(): void {
    check('ibv_destroy_qp', this.#verbs.destroy(this.handle), () => 'it is attached to multicast groups, or in use')
    for (const queue of this.#queues) queue.users.delete(this)
    this.#domain.queuePairs.delete(this)
  }

  // ---- posting -----------------------------------------------------------------------------------------------------------------

  postSend(request: EncodedRequest): number {
    if (!PostBuffer.isInline(request)) {
      const { words } = request
      return this.#errnoOf(this.#verbs.postSend(this.handle, words, 1, words.length, this.#sends.staging))
    }
    return this.postSendList([request], 1) === 1 ? 0 : this.lastErrno
  }

  postSendList(requests: readonly EncodedRequest[], count: number): number {
    const sends = this.#sends
    const ready = sends.encode(requests, count)
    const refused = sends.refusal
    if (ready === 0) {
      this.lastErrno = refused
      return 0
    }
    const result = this.#verbs.postSend(this.handle, sends.words, ready, sends.stride, sends.staging)
    return this.#taken(result, refused)
  }

  postReceive(request: EncodedRequest): number {
    const { words } = request
    return this.#errnoOf(this.#verbs.postReceive(this.handle, words, 1, words.length))
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    const receives = this.#receives
    if (receives.encode(requests, count) === 0) return 0
    return this.#taken(this.#verbs.postReceive(this.handle, receives.words, count, receives.stride), 0)
  }

  #errnoOf(result: number): number {
    return result >= POST_ERRNO_UNIT ? Math.floor(result / POST_ERRNO_UNIT) : 0
  }

  #taken(result: number, refused: number): number {
    const errno = this.#errnoOf(result)
    this.lastErrno = errno === 0 ? refused : errno
    return result % POST_ERRNO_UNIT
  }
}

function optionWords(options: ProviderQueuePairOptions): Float64Array {
  const words = new Float64Array(PAIR_WORDS)
  words[PairWord.type] = QueuePairType[options.type]
  words[PairWord.maxSendRequests] = options.maxSendRequests
  words[PairWord.maxReceiveRequests] = options.maxReceiveRequests
  words[PairWord.maxSendSegments] = options.maxSendSegments
  words[PairWord.maxReceiveSegments] = options.maxReceiveSegments
  words[PairWord.maxInlineBytes] = options.maxInlineBytes
  words[PairWord.signalAll] = options.signalAll ? 1 : 0
  return words
}
