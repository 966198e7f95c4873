import { ArgumentError } from '../../native/index.ts'
import {
  Access,
  type CompletionQueue,
  Errno,
  type LinkLayer,
  linkTimeout,
  type MemoryRegion,
  type PreparedReceive,
  type PreparedRequest,
  type ProtectionDomain,
  type QueuePair,
  type RemoteEndpoint,
  VerbsError,
} from '../../verbs/index.ts'
import { MeshChannel } from './mesh-channel.ts'
import { MESSAGE_BYTES_MAX, RECEIVES_PER_LINK, SENDS_PER_LINK, SIGNAL_EVERY } from './mesh-limits.ts'

/** A message without content, so that something completes. */
const NOTHING = Uint8Array.of(MeshChannel.Nothing)

/** The peer of a link to a candidate, which is not a member yet. */
export const NO_RANK = -1

type Place = { readonly address: number; readonly key: number }
type Waiting =
  | { readonly bytes: Uint8Array }
  | { readonly source: Place; readonly lengthBytes: number; readonly target: Place }

/**
 * One rank's connection to one other: a queue pair, a ring of send slots, a ring of receive slots.
 *
 * A send slot is reused after SENDS_PER_LINK further requests. The send queue holds no more than that, so by then the
 * request that used the slot has completed.
 */
export class MeshLink {
  /** Its rank; {@link NO_RANK} while it is a candidate. */
  peer: number
  /** Why a request failed; undefined if none has. */
  broken: string | undefined
  /** True once it was reported that the link is broken, or that the peer is silent. */
  suspected = false
  /** True if something has arrived since this was last set to false. */
  heard = false
  dead = false
  readonly #pair: QueuePair
  readonly #outbox: MemoryRegion
  readonly #inbox: MemoryRegion
  readonly #send: PreparedRequest
  readonly #write: PreparedRequest
  readonly #receive: PreparedReceive
  readonly #waiting: Waiting[] = []
  #posted = 0
  #completed = 0
  #nextSlot = 0
  /** Callers that wait until all requests up to a number have completed, ordered by that number. */
  readonly #flushes: { readonly upTo: number; readonly done: () => void }[] = []

  constructor(peer: number, domain: ProtectionDomain, queue: CompletionQueue) {
    this.peer = peer
    this.#pair = domain.createQueuePair({
      type: 'rc',
      sendQueue: queue,
      receiveQueue: queue,
      maxSendRequests: SENDS_PER_LINK,
      maxReceiveRequests: RECEIVES_PER_LINK,
    })
    this.#outbox = domain.allocate(SENDS_PER_LINK * MESSAGE_BYTES_MAX, Access.LocalWrite)
    this.#inbox = domain.allocate(RECEIVES_PER_LINK * MESSAGE_BYTES_MAX, Access.LocalWrite)
    this.#send = this.#pair.prepareSend({ local: this.#outbox.subarray(0, MESSAGE_BYTES_MAX) })
    this.#write = this.#pair.prepareWrite({
      local: this.#outbox.subarray(0, MESSAGE_BYTES_MAX),
      remote: { address: 0, key: 0 },
    })
    this.#receive = this.#pair.prepareReceive({ local: this.#inbox.subarray(0, MESSAGE_BYTES_MAX) })
  }

  get number(): number {
    return this.#pair.number
  }

  get endpoint(): RemoteEndpoint {
    return this.#pair.endpoint
  }

  connect(remote: RemoteEndpoint, linkLayer: LinkLayer, pathMtu: number | undefined): void {
    const timeout = linkTimeout(linkLayer)
    this.#pair.connect(remote, { timeout, ...(pathMtu === undefined ? {} : { pathMtu }) })
    for (let slot = 0; slot < RECEIVES_PER_LINK; slot += 1) this.repost(slot)
  }

  send(bytes: Uint8Array): void {
    if (bytes.length > MESSAGE_BYTES_MAX) {
      throw new ArgumentError(
        'bytes',
        `a message of the mesh holds at most ${MESSAGE_BYTES_MAX} bytes, not ${bytes.length}`,
      )
    }
    if (this.dead) return
    if (this.#mustWait()) this.#waiting.push({ bytes: bytes.slice() })
    else this.#postSend(bytes)
  }

  write(source: Place, lengthBytes: number, target: Place): void {
    if (this.dead) return
    if (this.#mustWait()) this.#waiting.push({ source, lengthBytes, target })
    else this.#postWrite(source, lengthBytes, target)
  }

  /**
   * Call `done`, but not at once, when all that was queued to be sent or written has completed: the sources are no
   * longer read.
   */
  afterWrites(done: () => void): void {
    if (this.dead) {
      done()
      return
    }
    this.#flushes.push({ upTo: this.#posted + this.#waiting.length + 1, done })
    this.send(NOTHING)
  }

  /**
   * The peer is considered dead: nothing from it reaches our memory after this. False where that does not hold. On shm,
   * a peer that was stopped in the middle of a WRITE finishes it if it is continued.
   */
  bury(): boolean {
    this.dead = true
    const isFenced = this.#reset()
    for (const { done } of this.#flushes.splice(0)) done()
    return isFenced
  }

  /** Nothing is left to be said or heard: give back its memory. */
  close(): void {
    this.dead = true
    this.#pair.close()
    this.#outbox.close()
    this.#inbox.close()
  }

  #reset(): boolean {
    try {
      this.#pair.toReset()
      return true
    } catch (error) {
      if (!(error instanceof VerbsError && error.errno === Errno.EBUSY)) throw error
      // Our part of it: a second attempt does not wait for the peer.
      this.#pair.toReset()
      return false
    }
  }

  /** The bytes of a received message; valid until `repost(slot)`. */
  received(slot: number, length: number): Uint8Array {
    const begin = slot * MESSAGE_BYTES_MAX
    return this.#inbox.bytes.subarray(begin, begin + length)
  }

  repost(slot: number): void {
    if (this.dead || this.broken !== undefined) return
    this.#receive.setSegmentAddress(0, this.#inbox.address + slot * MESSAGE_BYTES_MAX)
    this.#receive.post(slot)
  }

  /** The request with number `id`, and all before it, are done. */
  completed(id: number): void {
    this.#completed = id
    while (this.#flushes.length > 0 && this.#flushes[0]!.upTo <= id) this.#flushes.shift()!.done()
    while (this.#waiting.length > 0 && this.#posted - this.#completed < SENDS_PER_LINK) {
      const next = this.#waiting.shift()!
      if ('bytes' in next) this.#postSend(next.bytes)
      else this.#postWrite(next.source, next.lengthBytes, next.target)
    }
  }

  #mustWait(): boolean {
    return this.#waiting.length > 0 || this.#posted - this.#completed >= SENDS_PER_LINK
  }

  #postSend(bytes: Uint8Array): void {
    const begin = this.#nextSlot * MESSAGE_BYTES_MAX
    this.#nextSlot = (this.#nextSlot + 1) % SENDS_PER_LINK
    this.#outbox.bytes.set(bytes, begin)
    this.#send.setSegment(0, this.#outbox.address + begin, bytes.length, this.#outbox.localKey)
    this.#post(this.#send)
  }

  #postWrite(source: Place, lengthBytes: number, target: Place): void {
    this.#write.setSegment(0, source.address, lengthBytes, source.key)
    this.#write.setRemote(target)
    this.#post(this.#write)
  }

  #isAwaited(number: number): boolean {
    return this.#flushes.length > 0 && this.#flushes.some(({ upTo }) => upTo === number)
  }

  #post(request: PreparedRequest): void {
    if (this.broken !== undefined) return
    this.#posted += 1
    request.signaled = this.#posted % SIGNAL_EVERY === 0 || this.#isAwaited(this.#posted)
    request.post(this.#posted)
  }
}
