import { SystemError } from '../../native/index.ts'
import { Access } from '../access.ts'
import { EncodedRequest, RequestSlot } from '../encoded-request.ts'
import { CompletionFlag, CompletionOpcode, Opcode, RequestFlag } from '../opcode.ts'
import { changeAtomically } from '../soft/atomic.ts'
import { MAX_MESSAGE_BYTES } from '../soft/limits.ts'
import type { MemoryOperations } from '../soft/memory-operations.ts'
import { Outcome } from '../soft/outcome.ts'
import { isAtomic, receiveFlags } from '../soft/service.ts'
import { CompletionStatus } from '../status.ts'
import type { Inbox } from './inbox.ts'
import { BlockKind, BlockWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import { reach } from './reach.ts'
import type { RemoteMemory } from './remote-memory.ts'
import type { Reachable, Responder } from './responder.ts'
import { SegmentList } from './segment-list.ts'
import type { SharedKeyTable } from './shared-key-table.ts'
import { copySpan, Span } from './span.ts'
import type { Target } from './target.ts'

/**
 * Carries out one request on the memory of the peer, from this thread; the peer's processor has no part in it. Checks
 * come in the responder's order: local segments, peer ready, operation enabled, receive posted, length, key. So the
 * status is the one that a device would report.
 */
export class ShmRequester {
  readonly #keys: SharedKeyTable
  readonly #operations: MemoryOperations
  readonly #domainId: number
  readonly #number: number
  readonly #local = new SegmentList()
  readonly #remote = new SegmentList()
  /** A datagram with its header in front. */
  readonly #datagram = new SegmentList()
  /**
   * False for types whose requests are not answered. A message that cannot be delivered is then dropped, and neither
   * side is told.
   */
  readonly #answered: boolean
  maxReadAtomic = 0
  /** How many bytes the last request moved. */
  byteLength = 0
  /** The errno of a failed copy across processes, for the completion's vendor error. */
  vendorError = 0

  constructor(keys: SharedKeyTable, operations: MemoryOperations, domainId: number, number: number, answered: boolean) {
    this.#keys = keys
    this.#operations = operations
    this.#domainId = domainId
    this.#number = number
    this.#answered = answered
  }

  /**
   * Returns a CompletionStatus, or an Outcome. If the request failed at the peer, the peer's queue pair has been told.
   */
  execute(request: EncodedRequest, target: Target): number {
    const { words } = request
    const opcode = words[RequestSlot.Opcode]!
    const plain = words[RequestSlot.SegmentCount] === 1 && (words[RequestSlot.Flags]! & RequestFlag.Inline) === 0
    if (plain && opcode === Opcode.WriteWithImmediate) return this.#directTelling(request, target)
    if (plain && (opcode === Opcode.Write || opcode === Opcode.Read)) return this.#direct(request, opcode, target)
    return this.carryOut(request, opcode, target)
  }

  /**
   * WRITE and READ of one segment, the hot path: the same checks, without lists. Any other request goes to `carryOut`,
   * which finds its status.
   */
  #direct(request: EncodedRequest, opcode: number, target: Target): number {
    const { words } = request
    const address = words[RequestSlot.Segments]!
    const length = words[RequestSlot.Segments + 1]!
    const entry = this.#keys.covering(this.#domainId, address, length, words[RequestSlot.Segments + 2]!)
    if (entry === undefined || target.peer.died || !target.enter()) return this.carryOut(request, opcode, target)
    const memory = this.#directMemory(request, opcode, target, entry.access, length)
    if (memory === undefined) {
      target.leave()
      return this.carryOut(request, opcode, target)
    }
    const offset = words[RequestSlot.RemoteAddress]! - memory.address
    if (opcode === Opcode.Read) copySpan(entry.span, address - entry.address, memory.span, offset, length, request)
    else copySpan(memory.span, offset, entry.span, address - entry.address, length, request)
    target.leave()
    this.byteLength = length
    return CompletionStatus.Success
  }

  /**
   * The same for WRITE with immediate, which carries the messages of a ring. It is one function, because each further
   * call takes time.
   */
  #directTelling(request: EncodedRequest, target: Target): number {
    const { words } = request
    const address = words[RequestSlot.Segments]!
    const length = words[RequestSlot.Segments + 1]!
    const entry = this.#keys.covering(this.#domainId, address, length, words[RequestSlot.Segments + 2]!)
    if (entry === undefined || target.peer.died || !target.enter())
      return this.carryOut(request, Opcode.WriteWithImmediate, target)
    const { peer } = target
    const block = target.block!
    const inbox = target.ownInbox
    const memory = this.#remoteMemory(request, target, Access.RemoteWrite, length)
    const isRight = memory?.direct === true && enabled(block, Access.RemoteWrite) && length <= MAX_MESSAGE_BYTES
    if (!isRight || inbox === undefined || inbox.peek() < 0) {
      target.leave()
      return this.carryOut(request, Opcode.WriteWithImmediate, target)
    }
    const offset = words[RequestSlot.RemoteAddress]! - memory.address
    copySpan(memory.span, offset, entry.span, address - entry.address, length, request)
    const immediate = words[RequestSlot.Immediate]!
    const opcode = CompletionOpcode.ReceiveWriteWithImmediate
    inbox.publish(opcode, CompletionFlag.WithImmediate, immediate, 0, length, this.#number, target.number)
    peer.announce(target.queueIndex, (words[RequestSlot.Flags]! & RequestFlag.Solicited) !== 0)
    target.leave()
    this.byteLength = length
    return CompletionStatus.Success
  }

  /** The remote memory, if the request is correct in every respect and the memory is mapped here. */
  #directMemory(
    request: EncodedRequest,
    opcode: number,
    target: Target,
    localAccess: number,
    length: number,
  ): RemoteMemory | undefined {
    const block = target.block!
    const right = opcode === Opcode.Read ? Access.RemoteRead : Access.RemoteWrite
    if (
      opcode === Opcode.Read &&
      (this.maxReadAtomic === 0 || (localAccess & Access.LocalWrite) === 0 || !readable(block, right))
    )
      return undefined
    if (!enabled(block, right) || length > MAX_MESSAGE_BYTES) return undefined
    const memory = this.#remoteMemory(request, target, right, length)
    return memory?.direct === true ? memory : undefined
  }

  /** Everything but the hot path, for every type that accesses memory of a peer. */
  carryOut(request: EncodedRequest, opcode: number, target: Reachable): number {
    if (opcode >= Opcode.LocalInvalidate && this.#operations.includes(opcode)) {
      this.byteLength = 0
      return this.#operations.execute(request, opcode)
    }
    const local = this.gather(request, opcode)
    this.byteLength = this.#local.total
    if (local !== CompletionStatus.Success) return local
    if (target.peer.dead) return CompletionStatus.RetryExceeded
    if (!target.enter()) return target.vanished ? CompletionStatus.RetryExceeded : Outcome.NotReady
    let status: number
    try {
      const responder = target.responder(request)
      status = typeof responder === 'number' ? responder : this.#perform(request, opcode, responder, target.block!)
    } catch (error) {
      status = this.#copyFailed(error, target)
    }
    // If the peer is just ending, memory that can no longer be reached is not the request's fault.
    if (isAboutMemory(status) && target.peer.lookForEnd()) status = CompletionStatus.RetryExceeded
    if (status > 0 && this.#answered) target.fault()
    target.leave()
    return status
  }

  #perform(request: EncodedRequest, opcode: number, target: Responder, block: PairBlock): number {
    switch (opcode) {
      case Opcode.Write:
        return this.#write(request, target, block)
      case Opcode.Read:
        return this.#read(request, target, block)
      case Opcode.Send:
      case Opcode.SendWithImmediate:
      case Opcode.SendWithInvalidate:
        return this.#send(request, opcode, target, block)
      case Opcode.WriteWithImmediate:
        return this.#writeWithImmediate(request, target, block)
      default:
        return this.#atomic(request, opcode, target, block)
    }
  }

  // ---- local side
  // --------------------------------------------------------------------------------------------------------------

  /** The number of bytes that `gather` found. */
  get gathered(): number {
    return this.#local.total
  }

  /** Check the local segments of a request, and keep them. Returns a CompletionStatus. */
  gather(request: EncodedRequest, opcode: number): number {
    const { words } = request
    const list = this.#local
    list.clear()
    if ((words[RequestSlot.Flags]! & RequestFlag.Inline) !== 0) return this.#gatherInline(request)
    const writable = opcode === Opcode.Read || isAtomic(opcode)
    let at = RequestSlot.Segments as number
    for (let left = words[RequestSlot.SegmentCount]!; left > 0; left -= 1) {
      const taken = this.#keys.gather(list, this.#domainId, words[at]!, words[at + 1]!, words[at + 2]!, writable)
      if (!taken) return CompletionStatus.LocalProtectionError
      at += 3
    }
    if (list.total > MAX_MESSAGE_BYTES) return CompletionStatus.LocalLengthError
    if (!writable) return CompletionStatus.Success
    if (this.maxReadAtomic === 0) return CompletionStatus.LocalQueuePairOperationError
    return opcode !== Opcode.Read && list.total !== 8 ? CompletionStatus.LocalLengthError : CompletionStatus.Success
  }

  /** Inline bytes need no registration. If they happen to have one, its span saves making another. */
  #gatherInline(request: EncodedRequest): number {
    const { words } = request
    let at = RequestSlot.Segments as number
    for (let index = 0; index < words[RequestSlot.SegmentCount]!; index += 1) {
      const key = words[at + 2]!
      const known = key !== 0 && this.#keys.gather(this.#local, this.#domainId, words[at]!, words[at + 1]!, key, false)
      const source = request.sources[index]
      if (!known && source !== undefined && source.length > 0) this.#local.add(new Span(source, 0, 0), 0, source.length)
      at += 3
    }
    return CompletionStatus.Success
  }

  // ---- one-sided
  // ---------------------------------------------------------------------------------------------------------------

  #write(request: EncodedRequest, target: Responder, block: PairBlock): number {
    if (!enabled(block, Access.RemoteWrite)) return CompletionStatus.RemoteInvalidRequest
    return this.#place(request, target)
  }

  /** The WRITE itself, once the queue pair is known to allow it. A message without bytes uses no key. */
  #place(request: EncodedRequest, target: Responder): number {
    const { total } = this.#local
    if (total === 0) return CompletionStatus.Success
    if (!this.#reach(request, target, Access.RemoteWrite, total)) return CompletionStatus.RemoteAccessError
    this.#remote.fill(this.#local, total, request)
    return CompletionStatus.Success
  }

  #read(request: EncodedRequest, target: Responder, block: PairBlock): number {
    if (!readable(block, Access.RemoteRead)) return CompletionStatus.RemoteInvalidRequest
    const { total } = this.#local
    if (total === 0) return CompletionStatus.Success
    if (!this.#reach(request, target, Access.RemoteRead, total)) return CompletionStatus.RemoteAccessError
    this.#local.fill(this.#remote, total, request)
    return CompletionStatus.Success
  }

  #atomic(request: EncodedRequest, opcode: number, target: Responder, block: PairBlock): number {
    if (!readable(block, Access.RemoteAtomic)) return CompletionStatus.RemoteInvalidRequest
    const address = request.words[RequestSlot.RemoteAddress]!
    if (address % 8 !== 0) return CompletionStatus.RemoteInvalidRequest
    const memory = this.#remoteMemory(request, target, Access.RemoteAtomic, 8)
    if (memory === undefined) return CompletionStatus.RemoteAccessError
    let { span } = memory
    let offset = address - memory.address
    if (!memory.direct) {
      if (!this.#find(target, memory, offset, 8, Access.RemoteAtomic)) return CompletionStatus.RemoteAccessError
      // A word in two pieces cannot be changed atomically.
      if (this.#remote.count !== 1) return CompletionStatus.RemoteOperationError
      span = this.#remote.span(0)
      offset = this.#remote.offset(0)
    }
    const { words } = span
    const index = offset / 8
    // Memory that no eight-byte word covers (private to its process, or registered unaligned) cannot be changed
    // atomically from here.
    if (!(Number.isInteger(index) && index < words.length)) return CompletionStatus.RemoteOperationError
    const old = changeAtomically(words, index, request, opcode)
    this.#storeOld(old)
    return CompletionStatus.Success
  }

  #storeOld(old: bigint): void {
    const span = this.#local.span(0)
    const offset = this.#local.offset(0)
    if (this.#local.count === 1 && offset % 8 === 0 && offset / 8 < span.words.length) span.words[offset / 8] = old
    else this.#storeOldScattered(old)
  }

  #storeOldScattered(old: bigint): void {
    const value = new Span(new Uint8Array(new BigInt64Array([old]).buffer), 0, 0)
    this.#remote.clear()
    this.#remote.add(value, 0, 8)
    this.#local.fill(this.#remote, 8, unremembered)
  }

  /**
   * The memory that a request names, or undefined if its key, range, rights or protection domain do not allow the
   * access.
   */
  #remoteMemory(request: EncodedRequest, target: Responder, right: number, length: number): RemoteMemory | undefined {
    const memory = target.peer.memory(request.words[RequestSlot.RemoteKey]!)
    if (memory === undefined || (memory.access & right) === 0 || memory.domainId !== target.domainId) return undefined
    const offset = request.words[RequestSlot.RemoteAddress]! - memory.address
    return offset >= 0 && offset + length <= memory.length ? memory : undefined
  }

  /** Find the bytes that a request names, and put them into `#remote`. */
  #reach(request: EncodedRequest, target: Responder, right: number, length: number): boolean {
    const memory = this.#remoteMemory(request, target, right, length)
    if (memory === undefined) return false
    const offset = request.words[RequestSlot.RemoteAddress]! - memory.address
    return this.#find(target, memory, offset, length, right)
  }

  #find(target: Responder, memory: RemoteMemory, offset: number, length: number, right: number): boolean {
    this.#remote.clear()
    return reach(this.#remote, target.peer, memory, offset, length, target.number, right)
  }

  // ---- two-sided
  // ---------------------------------------------------------------------------------------------------------------

  #send(request: EncodedRequest, opcode: number, target: Responder, block: PairBlock): number {
    const { inbox } = target
    const { total } = this.#local
    const scattered = inbox === undefined ? NOTHING_POSTED : this.#takeReceive(inbox, target, total)
    if (inbox === undefined || scattered === NOTHING_POSTED) return Outcome.NoReceive
    if (scattered !== CompletionStatus.Success) {
      if (scattered !== CompletionStatus.LocalLengthError || this.#answered)
        this.#deliver(request, target, inbox, block, CompletionOpcode.Receive, 0, scattered, 0)
      return scattered === CompletionStatus.LocalLengthError
        ? CompletionStatus.RemoteInvalidRequest
        : CompletionStatus.RemoteOperationError
    }
    if (total > 0) this.#remote.fill(this.#local, total, request)
    if (opcode === Opcode.SendWithInvalidate && !this.#invalidate(request, target)) {
      const status = CompletionStatus.RemoteInvalidRequest
      this.#deliver(request, target, inbox, block, CompletionOpcode.Receive, 0, status, 0)
      return CompletionStatus.RemoteAccessError
    }
    const flags = receiveFlags(opcode)
    this.#deliver(request, target, inbox, block, CompletionOpcode.Receive, flags, CompletionStatus.Success, total)
    return CompletionStatus.Success
  }

  #invalidate(request: EncodedRequest, target: Responder): boolean {
    const key = request.words[RequestSlot.Immediate]!
    return target.peer.invalidate(key, target.number, target.domainId)
  }

  #writeWithImmediate(request: EncodedRequest, target: Responder, block: PairBlock): number {
    if (!enabled(block, Access.RemoteWrite)) return CompletionStatus.RemoteInvalidRequest
    const { inbox } = target
    if (inbox === undefined || !takeAny(inbox)) return Outcome.NoReceive
    const status = this.#place(request, target)
    const flags = status === CompletionStatus.Success ? CompletionFlag.WithImmediate : 0
    const { total } = this.#local
    this.#deliver(request, target, inbox, block, CompletionOpcode.ReceiveWriteWithImmediate, flags, status, total)
    return status
  }

  /**
   * Deliver a datagram: the header, then the local bytes that `gather` found. It is dropped if there is no receive
   * request, or if that is too short (IB specification 9.8.3.2: the sender is not told).
   */
  deliverDatagram(request: EncodedRequest, opcode: number, target: Responder, block: PairBlock, header: Span): void {
    const { inbox } = target
    const whole = this.#datagram
    whole.clear()
    whole.add(header, 0, header.bytes.length)
    whole.append(this.#local)
    const { total } = whole
    const status = inbox === undefined ? NOTHING_POSTED : this.#takeReceive(inbox, target, total)
    if (inbox === undefined || status === NOTHING_POSTED || status === CompletionStatus.LocalLengthError) return
    if (status === CompletionStatus.Success) this.#remote.fill(whole, total, request)
    const flags = CompletionFlag.GlobalRoute | receiveFlags(opcode)
    this.#deliver(request, target, inbox, block, CompletionOpcode.Receive, flags, status, total)
  }

  /**
   * Take the oldest receive request, and find where the first `length` bytes go in it. Returns the receiver's status.
   * If the message is too long for an unanswered type, the request stays.
   */
  #takeReceive(inbox: Inbox, target: Responder, length: number): number {
    for (;;) {
      const slot = inbox.peek()
      if (slot < 0) return NOTHING_POSTED
      const status = this.#scatter(target, inbox.block, slot, length)
      if (status === CompletionStatus.LocalLengthError && !this.#answered) return status
      if (inbox.take()) return status
    }
  }

  /**
   * Find where the first `length` bytes of a message go in the receive request of `slot`. Returns the receiver's
   * status.
   */
  #scatter(target: Responder, ring: PairBlock, slot: number, length: number): number {
    const list = this.#remote
    const { requests, requestStride } = ring
    list.clear()
    let at = slot * requestStride
    const segments = requests[at]!
    at += 1
    for (let left = segments <= ring.segments ? segments : 0; left > 0 && list.total < length; left -= 1) {
      const room = Math.min(requests[at + 1]!, length - list.total)
      if (room !== 0 && !this.#scatterInto(target, ring, requests[at]!, room, requests[at + 2]!)) {
        return CompletionStatus.LocalProtectionError
      }
      at += 3
    }
    return list.total < length ? CompletionStatus.LocalLengthError : CompletionStatus.Success
  }

  /** Receive requests belong to the protection domain of the ring that they were posted to. */
  #scatterInto(target: Responder, ring: PairBlock, address: number, length: number, key: number): boolean {
    const memory = target.peer.memory(key)
    if (
      memory === undefined ||
      memory.domainId !== ring.words[BlockWord.Domain] ||
      (memory.access & Access.LocalWrite) === 0
    )
      return false
    const offset = address - memory.address
    if (!(offset >= 0 && length > 0 && offset + length <= memory.length)) return false
    return reach(this.#remote, target.peer, memory, offset, length, target.number, Access.LocalWrite)
  }

  /** Publish the receiver's completion, and announce it. */
  #deliver(
    request: EncodedRequest,
    target: Responder,
    inbox: Inbox,
    block: PairBlock,
    opcode: number,
    flags: number,
    status: number,
    byteLength: number,
  ): void {
    const { words } = request
    // A target that many initiators share keeps working.
    if (status !== CompletionStatus.Success && block.words[BlockWord.Kind] !== BlockKind.DynamicTarget)
      Atomics.store(block.words, BlockWord.Fault, 1)
    inbox.publish(opcode, flags, words[RequestSlot.Immediate]!, status, byteLength, this.#number, target.number)
    const solicited = status !== 0 || (words[RequestSlot.Flags]! & RequestFlag.Solicited) !== 0
    target.peer.announce(target.queueIndex, solicited)
  }

  #copyFailed(error: unknown, target: Reachable): number {
    if (!(error instanceof SystemError)) {
      target.leave()
      throw error
    }
    this.vendorError = error.errno
    return CompletionStatus.RemoteOperationError
  }
}

/** Not a status: there is no receive request. */
const NOTHING_POSTED: number = Outcome.NoReceive
/** For copies whose source view is not worth keeping. */
const unremembered = new EncodedRequest(1)

function isAboutMemory(status: number): boolean {
  return status === CompletionStatus.RemoteAccessError || status === CompletionStatus.RemoteOperationError
}

function enabled(block: PairBlock, right: number): boolean {
  return (block.words[BlockWord.Access]! & right) !== 0
}

/** READ and atomics also need the responder's resources. */
function readable(block: PairBlock, right: number): boolean {
  return enabled(block, right) && block.words[BlockWord.MaxReadAtomic]! > 0
}

/** Take the oldest receive request, whatever it contains. */
function takeAny(inbox: Inbox): boolean {
  while (inbox.peek() >= 0) if (inbox.take()) return true
  return false
}
