import {
  PAIR_WORDS,
  PairWord,
  SystemError,
  type VerbsAddon,
  type VerbsPairFacts,
  type VerbsToken,
} from '../../native/index.ts'
import { type EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import { Opcode } from '../opcode.ts'
import { capabilitiesOfType, type PairCapabilities } from '../pair-capabilities.ts'
import { canceled } from '../pending.ts'
import type {
  AdoptedStream,
  ProviderQueuePair,
  ProviderQueuePairOptions,
  QueuePairAttributes,
  QueuePairCapacities,
} from '../queue-pair-contract.ts'
import { Attribute, QueuePairState, QueuePairType, stateNames } from '../queue-pair-state.ts'
import { AttributeWords, putGid } from './attribute-words.ts'
import type { IbverbsCompletionQueue } from './completion-queue.ts'
import type { IbverbsContext, IbverbsDomain } from './context.ts'
import { deviceCapabilities } from './device-attributes.ts'
import { modifyError } from './modify-error.ts'
import { errnoOf, PostBuffer, takenOf } from './post-buffer.ts'
import type { IbverbsSharedReceiveQueue } from './shared-receive-queue.ts'
import { attempt, check, isUnsupported } from './verb.ts'
import type { IbverbsXrcDomain } from './xrc-domain.ts'

const ALL_ATTRIBUTES = Object.values(Attribute).reduce((mask: number, bit) => mask | bit, 0)

const DRAIN_PATIENCE_MS = 50

/** By the numbers of the addon. */
const READY_MESSAGES: readonly AdoptedStream['ready'][] = ['none', 'write', 'read', 'send']

/** A memory window that was bound through a queue pair. */
interface BoundWindow {
  boundThrough: IbverbsQueuePair | undefined
  remoteKey: number
  replace(): void
}

/** A device with its queue pairs and memory windows by token. */
export interface PairDevice extends IbverbsContext {
  /** True for soft-RoCE, which needs some special care. */
  readonly isRxe: boolean
  readonly pairs: Map<VerbsToken, IbverbsQueuePair>
  readonly windows: ReadonlyMap<VerbsToken, BoundWindow>
}

interface PairDomain extends IbverbsDomain {
  readonly device: PairDevice
  readonly queuePairs: Set<IbverbsQueuePair>
}

/** ibv_create_qp(3). Requests are passed on as they are encoded, a batch in one native call. */
export class IbverbsQueuePair implements ProviderQueuePair {
  readonly number: number
  readonly type: QueuePairType
  readonly capacities: QueuePairCapacities
  readonly handle: VerbsToken
  capabilities: PairCapabilities
  lastErrno = 0
  readonly #domain: PairDomain
  readonly #verbs: VerbsAddon
  // The calls themselves: looking them up in the addon takes a tenth of a post.
  readonly #postSend: VerbsAddon['postSend']
  readonly #postReceive: VerbsAddon['postReceive']
  readonly #queues: ReadonlySet<IbverbsCompletionQueue>
  readonly #attributes: AttributeWords
  readonly #sends: PostBuffer
  readonly #receives: PostBuffer

  private constructor(
    domain: PairDomain,
    type: QueuePairType,
    facts: VerbsPairFacts,
    queues: readonly (IbverbsCompletionQueue | undefined)[],
  ) {
    this.#domain = domain
    this.#verbs = domain.device.verbs
    this.#postSend = this.#verbs.postSend
    this.#postReceive = this.#verbs.postReceive
    this.type = type
    this.handle = facts.handle
    this.number = facts.number
    this.capacities = {
      maxSendRequests: facts.maxSendRequests,
      maxReceiveRequests: facts.maxReceiveRequests,
      maxSendSegments: facts.maxSendSegments,
      maxReceiveSegments: facts.maxReceiveSegments,
      maxInlineBytes: facts.maxInlineBytes,
    }
    this.capabilities = capabilitiesOfType(type, deviceCapabilities(domain.device.attributes))
    this.#attributes = new AttributeWords(domain.device.port)
    this.#sends = new PostBuffer(facts.maxInlineBytes)
    this.#receives = new PostBuffer(0)
    this.#queues = new Set(queues.filter((queue) => queue !== undefined))
    for (const queue of this.#queues) queue.users.add(this)
    domain.device.pairs.set(this.handle, this)
  }

  static create(domain: PairDomain, options: ProviderQueuePairOptions): IbverbsQueuePair {
    const sendQueue = options.sendQueue as IbverbsCompletionQueue | undefined
    const receiveQueue = options.receiveQueue as IbverbsCompletionQueue | undefined
    const shared = options.sharedReceiveQueue as IbverbsSharedReceiveQueue | undefined
    const xrcDomain = options.xrcDomain as IbverbsXrcDomain | undefined
    const words = optionWords(options)
    // The kernel asks for both queues, even for an end that only sends or only receives.
    const other = isDynamic(options.type) ? (sendQueue ?? receiveQueue) : undefined
    const facts = attempt(
      () =>
        domain.device.verbs.createQueuePair(
          domain.handle,
          (sendQueue ?? other)?.handle ?? 0,
          (receiveQueue ?? other)?.handle ?? 0,
          shared?.handle ?? 0,
          xrcDomain?.handle ?? 0,
          words,
        ),
      (errno) => (errno === Errno.EINVAL ? 'the device refuses these capacities or this type' : undefined),
    )
    return new IbverbsQueuePair(domain, options.type, facts, [sendQueue, receiveQueue])
  }

  static open(domain: PairDomain, xrcDomain: IbverbsXrcDomain, number: number): IbverbsQueuePair {
    const facts = attempt(() => domain.device.verbs.openQueuePair(domain.handle, xrcDomain.handle, number))
    return new IbverbsQueuePair(domain, 'xrc-receive', facts, [])
  }

  // ---- state
  // -------------------------------------------------------------------------------------------------------------------

  /** Asked of the device: a failed request changes it silently. */
  get state(): QueuePairState {
    const errno = this.#verbs.queryQueuePair(this.handle, Attribute.state, this.#attributes.words)
    check('ibv_query_qp', errno, () => 'the state cannot be queried')
    return this.#attributes.state
  }

  query(): QueuePairAttributes {
    const errno = this.#verbs.queryQueuePair(this.handle, ALL_ATTRIBUTES, this.#attributes.words)
    check('ibv_query_qp', errno, () => 'the attributes cannot be queried')
    return this.#attributes.decode(ALL_ATTRIBUTES)
  }

  modify(attributes: QueuePairAttributes): void {
    const { state, currentState } = attributes
    // Not every driver compares; some trust it.
    if (currentState !== undefined && currentState !== this.state) {
      const why = `the state is ${stateNames[this.state]}, not ${stateNames[currentState]} as currentState says`
      throw new VerbsError('ibv_modify_qp', Errno.EINVAL, why)
    }
    const { mask, errno } = this.#modify(attributes)
    if (errno !== 0) throw modifyError(this.type, this.state, attributes, mask, errno)
    if (state === QueuePairState.Reset) for (const queue of this.#queues) queue.clean(this.number)
  }

  /** Another `modify` or `destroy` in the meantime waits for this to end, and this then rejects with ECANCELED. */
  async modifyAsync(attributes: QueuePairAttributes): Promise<void> {
    const mask = this.#attributes.encode(attributes)
    try {
      await this.#verbs.modifyQueuePairAsync(this.handle, mask, this.#attributes.words)
    } catch (error) {
      if (!(error instanceof SystemError)) throw error
      if (error.errno === Errno.ECANCELED) throw canceled('ibv_modify_qp')
      throw modifyError(this.type, this.state, attributes, mask, error.errno)
    }
  }

  /** Put the pair into the error state, because a queue that it feeds has lost completions. */
  fail(): void {
    const mask = this.#attributes.encode({ state: QueuePairState.Error })
    this.#verbs.modifyQueuePair(this.handle, mask, this.#attributes.words)
  }

  /**
   * A device may refuse to leave SQD until the send queue has drained. A queue without work drains at once, so this
   * waits for a moment.
   */
  #modify(attributes: QueuePairAttributes): { readonly mask: number; readonly errno: number } {
    const deadline = performance.now() + DRAIN_PATIENCE_MS
    for (;;) {
      const mask = this.#attributes.encode(attributes)
      const errno = this.#verbs.modifyQueuePair(this.handle, mask, this.#attributes.words)
      if (errno !== Errno.EINVAL || this.state !== QueuePairState.SendQueueDrained || !this.#attributes.isDraining)
        return { mask, errno }
      if (performance.now() > deadline) return { mask, errno }
    }
  }

  adoptStream({ descriptor, isCaller, crc, ird, ord, ready, reply }: AdoptedStream): void {
    const first = READY_MESSAGES.indexOf(ready)
    const errno = this.#verbs.adoptTcpStream(this.handle, descriptor, isCaller, crc, ird, ord, first, reply)
    check('adoptTcpStream', errno, () => 'the queue pair is not in INIT, or not of a tcp device')
    // The peer knows the standards, and acknowledges nothing.
    this.capabilities = { ...this.capabilities, atomics: false, immediate: false, remoteCompletion: false }
  }

  setRateLimit(bytesPerSecond: number): void {
    const errno = this.#verbs.setRateLimit(this.handle, bytesPerSecond)
    check('ibv_modify_qp_rate_limit', errno, () =>
      isUnsupported(errno)
        ? 'it does not pace its queue pairs, or none of this type'
        : 'the rate is not one of its rates',
    )
  }

  get rateLimit(): number {
    return this.#verbs.queryRateLimit(this.handle)
  }

  attachMulticast(gid: Gid, localIdentifier: number): void {
    const errno = this.#verbs.attachMulticast(this.handle, gidWords(gid), localIdentifier)
    check('ibv_attach_mcast', errno, () => 'the group is not a multicast gid, is full, or the type is not ud')
  }

  detachMulticast(gid: Gid, localIdentifier: number): void {
    const errno = this.#verbs.detachMulticast(this.handle, gidWords(gid), localIdentifier)
    check('ibv_detach_mcast', errno, () => 'the queue pair is not attached to that group')
  }

  destroy(): void {
    if (this.#domain.device.isRxe) this.#freeWindows()
    check('ibv_destroy_qp', this.#verbs.destroy(this.handle), () => 'it is attached to multicast groups, or in use')
    for (const queue of this.#queues) {
      queue.users.delete(this)
      queue.clean(this.number)
    }
    this.#domain.queuePairs.delete(this)
    this.#domain.device.pairs.delete(this.handle)
  }

  // ---- posting
  // -----------------------------------------------------------------------------------------------------------------

  postSend(request: EncodedRequest): number {
    if (PostBuffer.isInline(request)) return this.postSendList([request], 1) === 1 ? 0 : this.lastErrno
    const { words } = request
    const errno = errnoOf(this.#postSend(this.handle, request.buffer))
    if (errno === 0 && words[RequestSlot.Opcode] === Opcode.BindMemoryWindow) this.#noteBind(words)
    return errno
  }

  postSendList(requests: readonly EncodedRequest[], count: number): number {
    const sends = this.#sends
    const ready = sends.encode(requests, count)
    const { refusal } = sends
    if (ready === 0) {
      this.lastErrno = refusal
      return 0
    }
    const result = this.#postSend(this.handle, sends.buffer, ready, sends.stride, sends.staging)
    const errno = errnoOf(result)
    const taken = takenOf(result)
    this.lastErrno = errno === 0 ? refusal : errno
    for (let index = 0; index < taken; index += 1) {
      const { words } = requests[index]!
      if (words[RequestSlot.Opcode] === Opcode.BindMemoryWindow) this.#noteBind(words)
    }
    return taken
  }

  postReceive(request: EncodedRequest): number {
    return errnoOf(this.#postReceive(this.handle, request.buffer))
  }

  postReceiveList(requests: readonly EncodedRequest[], count: number): number {
    const receives = this.#receives
    if (receives.encode(requests, count) === 0) return 0
    const result = this.#postReceive(this.handle, receives.buffer, count, receives.stride)
    this.lastErrno = errnoOf(result)
    return takenOf(result)
  }

  #freeWindows(): void {
    for (const window of [...this.#domain.device.windows.values()]) {
      if (window.boundThrough !== this) continue
      window.boundThrough = undefined
      window.replace()
    }
  }

  /** A window has the key of the last bind that was posted. */
  #noteBind(words: Float64Array): void {
    const window = this.#domain.device.windows.get(words[RequestSlot.Window]!)
    if (window === undefined) return
    window.remoteKey = words[RequestSlot.RemoteKey]!
    window.boundThrough = this
  }
}

function gidWords(gid: Gid): Float64Array {
  const words = new Float64Array(4)
  putGid(words, 0, gid)
  return words
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
  for (const word of words) {
    if (!Number.isInteger(word) || word < 0 || word > 0xffffffff)
      throw new VerbsError('ibv_create_qp', Errno.EINVAL, `capacities must be integers of at least 0, not ${word}`)
  }
  new BigUint64Array(words.buffer)[PairWord.targetKey] = options.dcAccessKey ?? 0n
  return words
}

function isDynamic(type: QueuePairType): boolean {
  return type === 'dci' || type === 'dct'
}
