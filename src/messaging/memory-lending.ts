import { ArgumentError, checkBoolean, checkWhole, mustBe, shown, UnsupportedError } from '../native/index.ts'
import {
  Access,
  type MemoryWindow,
  type PreparedRequest,
  type ProtectionDomain,
  type QueuePair,
} from '../verbs/index.ts'
import { closeSurely } from './close-surely.ts'
import { LinkError } from './errors.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './memory-range.ts'
import type { OperationDone } from './send-requests.ts'
import { Staging } from './staging.ts'
import { segmentOf, VerbsBuffer } from './verbs-buffer.ts'

/**
 * How a part of memory is shown to the peer for a time:
 * - `window`: by a memory window of type 2, bound and revoked by work requests. It works for the peer of this
 *   connection only.
 * - `registration`: by registering that part alone. Any peer of this process over the same device could use the key if
 *   it knew it.
 */
export type LendingMeans = 'window' | 'registration'

/** A part of this end's memory that the peer may read, or write, until it is taken back. */
export interface Loan {
  /** The address that the peer names. A message that is committed after `lend` may carry it at once. */
  readonly address: number
  readonly key: number
  readonly length: number
  /**
   * Take it back. Resolves when no operation of the peer can reach the memory any more.
   *
   * `isIdle`: the peer has said that none of its operations on it is under way. If it has not and the means is
   * `registration`, the link is ended first. A device may keep a registration alive until a long operation is complete.
   *
   * Rejects with a LinkError if the peer cannot be kept out, such as a peer stopped in the middle of a copy (`shm`).
   * Its bytes may then still come. A device request that is stuck for a second ends the link, unless `isHurried` is
   * false, which means that no caller waits for it.
   */
  end(isIdle: boolean, isHurried?: boolean): Promise<void>
  /**
   * Called once when the loan is over, before that promise settles, so also for a caller that polls without the event
   * loop. It receives the error if the peer cannot be kept out.
   */
  onOver: ((error: LinkError | undefined) => void) | undefined
}

/** Memory of this end of which the peer reaches only what is lent to it. */
export interface MemoryLending {
  readonly means: LendingMeans
  /** Allocate zeroed memory, without rights for any peer. It outlives the link until it is closed. */
  allocate(lengthBytes: number): RegisteredBuffer
  /** Register existing memory for the same use. */
  register(memory: Uint8Array): RegisteredBuffer
  /**
   * Take memory as of `allocate` for a short time, of at least `lengthBytes`, with arbitrary contents. Used memory is
   * kept for a while, and all of it goes with the link.
   */
  take(lengthBytes: number): RegisteredBuffer
  /** Give back memory of `take`; nothing may be under way in it. */
  giveBack(buffer: RegisteredBuffer): void
  /**
   * READ as the link does, but report the end by a call from a later `poll`, for callers outside the event loop. Throws
   * LinkError once the link has ended.
   */
  read(local: LocalRange, remote: RemoteAddress, done: OperationDone): void
  /**
   * Call `done` when no finished READ of this end can reach the peer's memory any more, however often the network
   * repeats it. Use it before you tell the peer that it may take the memory back. Throws LinkError once the link has
   * ended.
   */
  fenceReads(done: OperationDone): void
  /**
   * True if operations and loans of this link may name the buffer: it belongs to the same device and protection domain.
   */
  accepts(buffer: RegisteredBuffer): boolean
  /**
   * Let the peer read, or write, that part. Throws ArgumentError for an empty part or one beyond the buffer. Throws
   * LinkError once the link has ended, and VerbsError if the device has no room for another.
   */
  lend(range: LocalRange, right: 'read' | 'write'): Loan
}

/** What lending needs from its link. */
export interface LendingLink {
  readonly open: boolean
  readonly pair: QueuePair
  post(name: string, request: PreparedRequest, done: OperationDone): void
  postReadFence(done: OperationDone): void
  destroy(reason?: Error): void
}

const LENDABLE: number = Access.LocalWrite | Access.MemoryWindowBind
/** Windows that are kept for the next loans. */
const WINDOWS_KEPT = 16
/** A request that takes a window back and is not done by then has a peer in its way that does not move. */
const TAKE_BACK_MS_MAX = 1000
/** Of soft-RoCE: it checks an access through a window against the region under it, not against the window. */
const SOFT_ROCE_VENDOR = 0xff_ffff

/** The loans of a link over verbs. */
export class VerbsLending implements MemoryLending {
  readonly #link: LendingLink
  readonly #domain: ProtectionDomain
  readonly #hold: () => () => void
  readonly #loans = new Set<VerbsLoan>()
  readonly #windows: MemoryWindow[] = []
  readonly #staging = new Staging((lengthBytes) => this.allocate(lengthBytes))
  #means: LendingMeans

  /** `hold` keeps the domain open until the function it returns is called. */
  constructor(link: LendingLink, domain: ProtectionDomain, hold: () => () => void, means: LendingMeans | 'auto') {
    this.#link = link
    this.#domain = domain
    this.#hold = hold
    this.#means = means === 'auto' ? meansOf(domain) : means
  }

  get means(): LendingMeans {
    return this.#means
  }

  allocate(lengthBytes: number): RegisteredBuffer {
    return new LendableBuffer(this.#domain.allocate(lengthBytes, LENDABLE), this.#hold())
  }

  register(memory: Uint8Array): RegisteredBuffer {
    return new LendableBuffer(this.#domain.register(memory, LENDABLE), this.#hold())
  }

  take(lengthBytes: number): RegisteredBuffer {
    checkWhole('lengthBytes', lengthBytes, 0, Number.MAX_SAFE_INTEGER)
    return this.#staging.take(lengthBytes)
  }

  giveBack(buffer: RegisteredBuffer): void {
    if (!this.accepts(buffer)) throw mustBe('buffer', 'memory that `take` has given', buffer)
    this.#staging.giveBack(buffer)
  }

  read(local: LocalRange, remote: RemoteAddress, done: OperationDone): void {
    if (!this.#link.open) throw new LinkError('lost', 'none', 'the link has ended before the read')
    this.#link.post('read', this.#link.pair.prepareRead({ local: segmentOf(local), remote }), done)
  }

  fenceReads(done: OperationDone): void {
    this.#link.postReadFence(done)
  }

  accepts(buffer: RegisteredBuffer): boolean {
    return buffer instanceof VerbsBuffer && buffer.memory.domain === this.#domain
  }

  lend(range: LocalRange, right: 'read' | 'write'): Loan {
    if (!this.#link.open) throw new LinkError('lost', 'none', 'the link has ended')
    if (right !== 'read' && right !== 'write') throw mustBe('right', "'read' or 'write'", right)
    const buffer = range?.buffer
    if (!(buffer instanceof VerbsBuffer) || !this.accepts(buffer))
      throw new ArgumentError(
        'buffer',
        'buffer must be memory for this connection: the range has none, or that of another device; allocate or register it here',
      )
    const { offset = 0 } = range
    if (typeof offset !== 'number') throw mustBe('range.offset', 'a number of bytes', offset)
    const { length = buffer.bytes.length - offset } = range
    if (typeof length !== 'number') throw mustBe('range.length', 'a number of bytes', length)
    const isWithin = offset >= 0 && length > 0 && offset + length <= buffer.bytes.length
    if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || !isWithin)
      throw new ArgumentError(
        'range',
        `range must be one byte or more within the buffer of ${buffer.bytes.length} bytes, not ${shown(length)} bytes from offset ${offset}`,
      )
    const loan = this.#lend(buffer, offset, length, right)
    this.#loans.add(loan)
    return loan
  }

  #lend(buffer: VerbsBuffer, offset: number, length: number, right: 'read' | 'write'): VerbsLoan {
    const access = right === 'read' ? Access.RemoteRead : Access.RemoteWrite
    if (this.#means === 'window') {
      const window = this.#window()
      if (window !== undefined) return this.#bind(window, buffer, offset, length, access)
    }
    const local = right === 'read' ? 0 : Access.LocalWrite
    const region = this.#domain.register(buffer.bytes.subarray(offset, offset + length), access | local)
    const token = { address: region.address, key: region.remoteKey, length }
    return new VerbsLoan(token, this.#link, {
      takeBack: undefined,
      close: () => region.close(),
      closeIdle: () => closeSurely(region),
      over: (loan) => this.#loans.delete(loan),
    })
  }

  /** Undefined where the device has none. */
  #window(): MemoryWindow | undefined {
    const kept = this.#windows.pop()
    if (kept !== undefined) return kept
    try {
      return this.#domain.createMemoryWindow(2)
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error
      this.#means = 'registration'
      return undefined
    }
  }

  #bind(window: MemoryWindow, buffer: VerbsBuffer, offset: number, length: number, access: number): VerbsLoan {
    const { pair } = this.#link
    const last = window.remoteKey
    const keyTag = (last + 1) & 0xff
    const key = ((last & 0xffff_ff00) | keyTag) >>> 0
    const bind = pair.prepareBind({ window, memory: buffer.memory, offset, length, access, keyTag })
    try {
      this.#post('bind', bind)
      if (!this.#link.open) throw new LinkError('lost', 'none', 'the link has ended')
    } catch (error) {
      closed(() => window.close())
      throw error
    }
    return new VerbsLoan({ address: buffer.address + offset, key, length }, this.#link, {
      takeBack: (done) => this.#post('invalidation', pair.prepareLocalInvalidate({ key }), done),
      close: () => window.close(),
      closeIdle: () => window.close(),
      over: (loan, isTakenBack) => {
        this.#loans.delete(loan)
        if (!isTakenBack || !this.#link.open) return
        if (this.#windows.length < WINDOWS_KEPT) this.#windows.push(window)
        else window.close()
      },
    })
  }

  /** A request that fails ends the link, and that ends the loans. */
  #post(name: string, request: PreparedRequest, done?: () => void): void {
    this.#link.post(name, request, (error) => {
      if (error === undefined) done?.()
      else if (this.#link.open) this.#link.destroy(error instanceof Error ? error : undefined)
    })
  }

  /**
   * The link has ended. Windows are closed before the queue pair: a kernel may wait for windows bound through a queue
   * pair that is destroyed. Registrations are closed after it, when nothing can be under way.
   */
  linkEnded(closePair: () => void): void {
    const loans = [...this.#loans]
    for (const window of this.#windows.splice(0)) closed(() => window.close())
    if (this.#means === 'window') for (const loan of loans) loan.linkEnded()
    closePair()
    for (const loan of loans) loan.linkEnded()
    this.#staging.close()
  }
}

/** How the memory of a loan is taken back. */
interface LoanMeans {
  /** While the link is there; `done` is told when the memory is out of reach. Undefined: `close` does it. */
  readonly takeBack: ((done: () => void) => void) | undefined
  readonly close: () => void
  /** The same where nothing is under way in it: other peers, in the middle of something else, are in no way of it. */
  readonly closeIdle: () => void
  readonly over: (loan: VerbsLoan, isTakenBack: boolean) => void
}

class VerbsLoan implements Loan {
  readonly address: number
  readonly key: number
  readonly length: number
  onOver: ((error: LinkError | undefined) => void) | undefined
  readonly #link: LendingLink
  readonly #means: LoanMeans
  readonly #ended: Promise<void>
  #resolve!: () => void
  #reject!: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #isEnding = false
  #isOver = false

  constructor(token: Pick<Loan, 'address' | 'key' | 'length'>, link: LendingLink, means: LoanMeans) {
    this.address = token.address
    this.key = token.key
    this.length = token.length
    this.#link = link
    this.#means = means
    this.#ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#ended.catch(() => undefined)
  }

  end(isIdle: boolean, isHurried = true): Promise<void> {
    checkBoolean('isIdle', isIdle)
    checkBoolean('isHurried', isHurried)
    if (this.#isEnding || this.#isOver) return this.#ended
    this.#isEnding = true
    const { takeBack } = this.#means
    if (takeBack === undefined) this.#unregister(isIdle)
    else if (this.#link.open) {
      takeBack(() => this.#over(true))
      if (isHurried) this.#timer = setTimeout(() => this.#giveUp('a request of the device is stuck'), TAKE_BACK_MS_MAX)
    }
    return this.#ended
  }

  #unregister(isIdle: boolean): void {
    if (isIdle) this.#close(this.#means.closeIdle)
    else this.#giveUp('the peer has not said that it is done with memory that it was lent')
  }

  #giveUp(why: string): void {
    this.#link.destroy(new LinkError('destroyed', 'unknown', why))
  }

  /** Nothing that is under way reaches the memory any more once its key is gone. */
  linkEnded(): void {
    if (!this.#isOver) this.#close(this.#means.close)
  }

  #close(close: () => void): void {
    const error = closed(close)
    if (error === undefined) this.#over(false)
    else
      this.#over(
        false,
        new LinkError('lost', 'unknown', 'the peer cannot be kept out of memory that it was lent', { cause: error }),
      )
  }

  #over(isTakenBack: boolean, error?: LinkError): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#means.over(this, isTakenBack)
    this.onOver?.(error)
    if (error === undefined) this.#resolve()
    else this.#reject(error)
  }
}

/** Memory that keeps its domain open. */
class LendableBuffer extends VerbsBuffer {
  #letGo: (() => void) | undefined

  constructor(memory: VerbsBuffer['memory'], letGo: () => void) {
    super(memory)
    this.#letGo = letGo
  }

  /**
   * Its own key admits no peer, and its loans were taken back before. So a peer stuck in the middle of an access is not
   * in its way.
   */
  override close(): void {
    closeSurely({ close: () => super.close() })
    const letGo = this.#letGo
    this.#letGo = undefined
    letGo?.()
  }
}

function meansOf({ device }: ProtectionDomain): LendingMeans {
  const { provider, maxMemoryWindows, vendorId } = device.attributes
  const isUnsafe = provider === 'ibverbs' && vendorId === SOFT_ROCE_VENDOR
  return maxMemoryWindows === 0 || isUnsafe ? 'registration' : 'window'
}

/** What it threw. */
function closed(close: () => void): unknown {
  try {
    close()
    return undefined
  } catch (error) {
    return error
  }
}
