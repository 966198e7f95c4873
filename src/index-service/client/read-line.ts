import { type Connection, connect } from '../../cm/index.ts'
import { DeviceContext } from '../../messaging/index.ts'
import {
  Access,
  CompletionBatch,
  type CompletionQueue,
  CompletionStatus,
  type MemoryRegion,
  type PreparedRequest,
} from '../../verbs/index.ts'
import type { Place } from '../node/index-contract.ts'

/** What is READ of a node's memory, and the offset to which. */
export interface ReadPiece {
  readonly from: { readonly address: number; readonly key: number }
  readonly lengthBytes: number
  readonly to: number
}

/** Calls that READ at a time; others ask the node. */
const BUFFERS = 32
export const BUFFER_BYTES: number = 32 * 2 ** 10
export const REQUESTS_MAX: number = 16 * BUFFERS
/** The device for clients of other machines. */
export const READ_DEVICE = 'tcp0'

/** Where one call reads to. */
export class ReadBuffer {
  /** Of the first byte, in the memory of its line. */
  readonly begin: number
  /** READs under way. */
  pending = 0
  isFree = true

  constructor(begin: number) {
    this.begin = begin
  }
}

type ReadConnection = Pick<Connection, 'pair' | 'closed' | 'unref' | 'close'>

interface Posted {
  readonly buffer: ReadBuffer
  readonly settle: (isRead: boolean) => void
}

/** What reads a node's memory, piece by piece in order. */
export type ReadPort = Pick<ReadLine, 'bytes' | 'words' | 'slowUntilMs' | 'isOver' | 'take' | 'giveBack' | 'read'>

/** Connects for READs to the node at a place; rejects if it cannot be reached. */
export type OpenReadLine = (place: Place, signal: AbortSignal) => Promise<ReadLine>

/** What a line needs of its device, and of those that look after it. */
export interface ReadContext extends Pick<DeviceContext, 'domain' | 'release'> {
  readonly loop: Pick<DeviceContext['loop'], 'add' | 'wake' | 'remove'>
}

/** A connection to a node for READs alone: its processor takes no part in them. */
export class ReadLine {
  /** For the loop that looks after it. */
  readonly completion = 'adaptive'
  readonly queue: CompletionQueue
  /** All buffers. */
  readonly bytes: Uint8Array
  readonly words: Uint32Array
  /** A call has waited too long for it. */
  slowUntilMs = 0
  readonly #context: ReadContext
  readonly #connection: ReadConnection
  readonly #memory: MemoryRegion
  readonly #read: PreparedRequest
  readonly #buffers: readonly ReadBuffer[]
  readonly #batch = new CompletionBatch(64)
  readonly #posted = new Map<number, Posted>()
  #last = 0
  #isOver = false

  /** Simulations connect in another way. */
  constructor(context: ReadContext, queue: CompletionQueue, connection: ReadConnection) {
    this.#context = context
    this.queue = queue
    this.#connection = connection
    this.#memory = context.domain.allocate(BUFFERS * BUFFER_BYTES, Access.LocalWrite)
    this.bytes = this.#memory.bytes
    this.words = new Uint32Array(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length / 4)
    const local = this.#memory.subarray(0, 8)
    this.#read = connection.pair.prepareRead({ local, remote: { address: 0, key: 0 } })
    this.#buffers = Array.from({ length: BUFFERS }, (_, number) => new ReadBuffer(number * BUFFER_BYTES))
    connection.unref()
    void connection.closed.then(() => this.close())
    context.loop.add(this)
  }

  /** Rejects if the node cannot be reached. */
  static async open({ address, port }: Place, signal: AbortSignal): Promise<ReadLine> {
    const context = DeviceContext.acquire(READ_DEVICE)
    let queue: CompletionQueue | undefined
    try {
      const { domain, channel } = context
      queue = domain.device.createCompletionQueue({ depth: REQUESTS_MAX + 1, channel })
      const queues = { domain, sendQueue: queue, receiveQueue: queue }
      const sizes = { maxSendRequests: REQUESTS_MAX, maxReceiveRequests: 1, access: 0 }
      return new ReadLine(context, queue, await connect({ address, port, signal, ...queues, ...sizes }))
    } catch (error) {
      queue?.close()
      context.release()
      throw error
    }
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Undefined while all are in use. */
  take(): ReadBuffer | undefined {
    const buffer = this.#isOver ? undefined : this.#buffers.find(({ isFree, pending }) => isFree && pending === 0)
    if (buffer !== undefined) buffer.isFree = false
    return buffer
  }

  /** What is under way ends there by itself. */
  giveBack(buffer: ReadBuffer): void {
    buffer.isFree = true
  }

  /**
   * READ pieces one after the other, each to its offset in the memory of this line. Resolves with false if they could
   * not be read.
   */
  read(buffer: ReadBuffer, pieces: readonly ReadPiece[]): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false)
    return new Promise((settle) => {
      this.#last += 1
      this.#posted.set(this.#last, { buffer, settle })
      buffer.pending += 1
      const { address, localKey } = this.#memory
      const request = this.#read
      try {
        for (const [number, { from, lengthBytes, to }] of pieces.entries()) {
          request.setSegment(0, address + to, lengthBytes, localKey)
          request.remoteAddress = from.address
          request.remoteKey = from.key
          request.signaled = number === pieces.length - 1
          request.post(this.#last)
        }
        this.#context.loop.wake(this)
      } catch {
        this.close()
      }
    })
  }

  advance(): number {
    const batch = this.#batch
    let all = 0
    for (let count = this.#isOver ? 0 : this.queue.poll(batch); count > 0; count = this.queue.poll(batch)) {
      all += count
      for (let row = 0; row < count; row += 1) {
        if (batch.status[row] === CompletionStatus.Success) this.#settle(batch.id[row]!, true)
        else this.close()
        if (this.#isOver) return all
      }
    }
    return all
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#context.loop.remove(this)
    this.#connection.close()
    this.queue.close()
    for (const number of [...this.#posted.keys()]) this.#settle(number, false)
    this.#memory.close()
    this.#context.release()
  }

  #settle(number: number, isRead: boolean): void {
    const { buffer, settle } = this.#posted.get(number)!
    this.#posted.delete(number)
    buffer.pending -= 1
    settle(isRead)
  }
}
