import { ArgumentError, checkBoolean, checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import {
  EncodedRequest,
  type Opcode,
  type ProviderQueuePair,
  type QueuePairCapacities,
  RequestFlag,
  RequestSlot,
  segmentSlot,
} from '../providers/index.ts'
import type { AddressHandle } from './address-handle.ts'
import { exact, word32, word64 } from './field-checks.ts'
import { type Closable, checkNoun } from './lifetime.ts'
import type { Segment } from './memory-region.ts'

/** One segment, or several gathered (sent) or scattered (received) in order. */
export type Segments = Segment | Uint8Array | readonly (Segment | Uint8Array)[]

/** Remote memory by address and key, as in a RegionToken. */
export interface RemoteTarget {
  readonly address: number
  readonly key: number
}

/** Where a request goes, for queue pairs without a single connected receiver. */
export interface Destination {
  /** The device of the receiver; `ud` and `dci` only. */
  readonly addressHandle?: AddressHandle
  /** The receiver: the queue pair (`ud`), the target (`dci`) or the shared receive queue (`xrc-send`). */
  readonly number: number
  /**
   * `ud` only. Default: {@link DEFAULT_QUEUE_KEY}, as of {@link QueuePair.toInit}. With the high bit set, the queue
   * pair's own key is sent instead.
   */
  readonly queueKey?: number
  /** `dci` only: the access key of the target. */
  readonly accessKey?: bigint
}

/** Where receives are posted: a queue pair or a shared receive queue. */
export interface ReceiveTarget {
  /** @internal */
  readonly maxReceiveSegments: number
  /** @internal */
  postReceive(encoded: EncodedRequest): void
}

/** Where sends are posted: a queue pair. */
export interface SendTarget extends Closable {
  readonly number: number
  readonly capacities: QueuePairCapacities
  /** @internal */
  post(encoded: EncodedRequest): void
  /** @internal A post that another object of the provider carries out. */
  postBy(encoded: EncodedRequest, post: (pair: ProviderQueuePair) => number): void
}

/** The queue key of a queue pair that was given no other. */
export const DEFAULT_QUEUE_KEY = 0x11111111

/** More than any device takes. */
const SEGMENTS_MAX = 65_536

/** The base of send and receive requests. Encoded once, patched in place, posted without allocating. */
export abstract class Request {
  /** @internal */
  readonly encoded: EncodedRequest
  #held: Segments | undefined

  constructor(local: Segments, capacity: number) {
    if (!(Number.isInteger(capacity) && capacity >= 0 && capacity <= SEGMENTS_MAX))
      throw mustBe('capacity', `a whole number of segments, at most ${SEGMENTS_MAX}`, capacity)
    const count = Array.isArray(local) ? local.length : 1
    if (count > capacity) {
      throw new ArgumentError(
        'local',
        `local must be at most ${capacity} segments of a request of this queue, not ${count}; raise the limit when you create it`,
      )
    }
    this.encoded = new EncodedRequest(capacity)
    this.setLocal(local)
  }

  get id(): number {
    return this.encoded.words[RequestSlot.Id]!
  }

  /** The id that the completion will carry. Negative ids are reserved for the conveniences. */
  set id(value: number) {
    this.encoded.words[RequestSlot.Id] = exact('id', value)
  }

  /** Replace all segments. Unregistered bytes are allowed only in inline requests. */
  setLocal(local: Segments): void {
    const list = (Array.isArray(local) ? local : [local]) as readonly (Segment | Uint8Array)[]
    if (list.length > this.encoded.segmentCapacity)
      throw new ArgumentError(
        'local',
        `local must be at most ${this.encoded.segmentCapacity} segments, not ${list.length}`,
      )
    this.#held = local
    this.encoded.words[RequestSlot.SegmentCount] = list.length
    list.forEach((segment, index) => {
      if (typeof segment !== 'object' || segment === null)
        throw mustBe(
          'local',
          'bytes, a slice of a memory region, { address, length, key }, or an array of these',
          segment,
        )
      if (segment instanceof Uint8Array) {
        this.encoded.sources[index] = segment
        this.encoded.setSegment(index, 0, segment.length, 0)
      } else {
        this.encoded.sources[index] = segment.bytes
        this.setSegment(index, segment.address, segment.length, segment.key)
      }
    })
  }

  /** Patch one segment by numbers. */
  setSegment(index: number, address: number, length: number, key: number): void {
    if (!(Number.isInteger(index) && index >= 0 && index < this.encoded.segmentCapacity))
      throw mustBe('index', 'that of a segment of this request', index)
    this.encoded.setSegment(index, exact('address', address), exact('length', length), word32('key', key))
  }

  /** Patch where segment `index` starts; its length and key stay. */
  setSegmentAddress(index: number, address: number): void {
    if (!(Number.isInteger(index) && index >= 0 && index < this.encoded.segmentCapacity))
      throw mustBe('index', 'that of a segment of this request', index)
    this.encoded.words[segmentSlot(index)] = exact('address', address)
  }

  /** @internal What the garbage collector must keep. */
  get held(): Segments | undefined {
    return this.#held
  }
}

export interface SendRequestFields {
  readonly local: Segments
  readonly remote?: RemoteTarget
  /** For types without a single connected receiver: `ud`, `xrc-send`, `dci`. */
  readonly to?: Destination
  readonly immediate?: number
  /** Make a completion; default true. An unsignaled request's slot is freed by a later signaled one. */
  readonly signaled?: boolean
  /** Copy the bytes when the request is posted; they may be reused at once and need no registration. */
  readonly inline?: boolean
  readonly fence?: boolean
  readonly solicited?: boolean
  /** The addend of fetchAdd. */
  readonly add?: bigint
  /** The expected value of compareSwap. */
  readonly compare?: bigint
  readonly swap?: bigint
}

/** The fields of a request of any kind. */
export const requestNames: OptionNames<SendRequestFields> = {
  local: true,
  remote: true,
  to: true,
  immediate: true,
  signaled: true,
  inline: true,
  fence: true,
  solicited: true,
  add: true,
  compare: true,
  swap: true,
}

const receiveNames: OptionNames<{ readonly local: Segments }> = { local: true }

/** @throws ArgumentError */
export function checkReceive(fields: { readonly local: Segments }): void {
  checkOptions('prepareReceive', fields, receiveNames, 'fields')
}

function checkFlags({ inline, fence, solicited }: SendRequestFields): void {
  if (inline !== undefined) checkBoolean('inline', inline)
  if (fence !== undefined) checkBoolean('fence', fence)
  if (solicited !== undefined) checkBoolean('solicited', solicited)
}

/** Posting takes what was encoded, and nothing else. @throws ArgumentError */
export function encodedOf(requests: readonly Request[]): EncodedRequest[] {
  if (!Array.isArray(requests)) throw mustBe('requests', 'an array of prepared requests', requests)
  return (requests as readonly Request[]).map((request) => {
    if (request instanceof Request) return request.encoded
    throw mustBe('requests', 'an array of what pair.prepare…() returned', request)
  })
}

export function noRemote(remote: unknown): ArgumentError {
  return mustBe('remote', 'an object such as { address, key }, from the token of a region of the peer', remote)
}

/** A request for a send queue. */
export class PreparedRequest extends Request {
  readonly pair: SendTarget
  #to: Destination | undefined

  /** @internal Made by `pair.prepare…`. */
  constructor(pair: SendTarget, opcode: Opcode, fields: SendRequestFields, capacity?: number) {
    super(fields.local, capacity ?? pair.capacities.maxSendSegments)
    this.pair = pair
    this.encoded.words[RequestSlot.Opcode] = opcode
    this.signaled = fields.signaled ?? true
    checkFlags(fields)
    this.#setFlag(RequestFlag.Inline, fields.inline ?? false)
    this.#setFlag(RequestFlag.Fence, fields.fence ?? false)
    this.#setFlag(RequestFlag.Solicited, fields.solicited ?? false)
    if (fields.remote !== undefined) this.setRemote(fields.remote)
    if (fields.to !== undefined) this.setDestination(fields.to)
    if (fields.immediate !== undefined) this.immediate = fields.immediate
    this.encoded.bits[RequestSlot.CompareAdd] =
      fields.compare === undefined ? word64('add', fields.add ?? 0n) : word64('compare', fields.compare)
    this.encoded.bits[RequestSlot.Swap] = word64('swap', fields.swap ?? 0n)
  }

  /**
   * Post the request with `id`. Throws VerbsError ENOMEM if the send queue is full (poll first), EINVAL if the state or
   * the fields do not allow it.
   */
  post(id: number): void {
    this.id = id
    this.submit()
  }

  /**
   * @internal Post it for other bytes of the same memory, another place and another immediate. These are what changes
   * between the messages of a ring. Its one segment keeps its key. The caller answers for the numbers.
   */
  postNext(id: number, signaled: boolean, local: number, length: number, remote: number, immediate: number): void {
    const { words } = this.encoded
    words[RequestSlot.Id] = id
    words[RequestSlot.Segments] = local
    words[RequestSlot.Segments + 1] = length
    words[RequestSlot.RemoteAddress] = remote
    words[RequestSlot.Immediate] = immediate
    this.#setFlag(RequestFlag.Signaled, signaled)
    this.pair.post(this.encoded)
  }

  /** @internal Hand it to the queue as it is. */
  submit(): void {
    this.pair.post(this.encoded)
  }

  setDestination(to: Destination): void {
    if (typeof to !== 'object' || to === null) throw mustBe('to', 'an object such as { addressHandle, number }', to)
    if (to.addressHandle !== undefined)
      checkNoun('to.addressHandle', to.addressHandle, 'address handle', 'domain.createAddressHandle() makes')
    const { words, bits } = this.encoded
    this.#to = to
    words[RequestSlot.AddressHandle] = to.addressHandle?.token ?? 0
    words[RequestSlot.RemoteQueuePair] = word32('to.number', to.number)
    if (to.accessKey === undefined)
      words[RequestSlot.QueueKey] = word32('to.queueKey', to.queueKey ?? DEFAULT_QUEUE_KEY)
    else bits[RequestSlot.AccessKey] = word64('to.accessKey', to.accessKey)
  }

  /** @internal What the garbage collector must keep. */
  get destination(): Destination | undefined {
    return this.#to
  }

  setRemote(remote: RemoteTarget): void {
    if (typeof remote !== 'object' || remote === null) throw noRemote(remote)
    this.remoteAddress = remote.address
    this.remoteKey = remote.key
  }

  get remoteAddress(): number {
    return this.encoded.words[RequestSlot.RemoteAddress]!
  }

  set remoteAddress(value: number) {
    this.encoded.words[RequestSlot.RemoteAddress] = exact('remote.address', value)
  }

  get remoteKey(): number {
    return this.encoded.words[RequestSlot.RemoteKey]!
  }

  set remoteKey(value: number) {
    this.encoded.words[RequestSlot.RemoteKey] = word32('remote.key', value)
  }

  get immediate(): number {
    return this.encoded.words[RequestSlot.Immediate]!
  }

  /** 32 bits, in host byte order. */
  set immediate(value: number) {
    this.encoded.words[RequestSlot.Immediate] = word32('immediate', value)
  }

  get signaled(): boolean {
    return (this.encoded.words[RequestSlot.Flags]! & RequestFlag.Signaled) !== 0
  }

  set signaled(value: boolean) {
    checkBoolean('signaled', value)
    this.#setFlag(RequestFlag.Signaled, value)
  }

  set add(value: bigint) {
    this.encoded.bits[RequestSlot.CompareAdd] = word64('add', value)
  }

  set compare(value: bigint) {
    this.encoded.bits[RequestSlot.CompareAdd] = word64('compare', value)
  }

  set swap(value: bigint) {
    this.encoded.bits[RequestSlot.Swap] = word64('swap', value)
  }

  #setFlag(flag: number, on: boolean): void {
    const flags = this.encoded.words[RequestSlot.Flags]!
    this.encoded.words[RequestSlot.Flags] = on ? flags | flag : flags & ~flag
  }
}

/** A request for a receive queue. */
export class PreparedReceive extends Request {
  readonly #target: ReceiveTarget

  /** @internal Made by `prepareReceive` of a queue pair or a shared receive queue. */
  constructor(target: ReceiveTarget, local: Segments) {
    super(local, target.maxReceiveSegments)
    this.#target = target
  }

  /** Post the request with `id`. Throws VerbsError ENOMEM if the receive queue is full, EINVAL in RESET. */
  post(id: number): void {
    this.id = id
    this.#target.postReceive(this.encoded)
  }
}
