import { checkMilliseconds, checkOptions, type OptionNames, TimeoutError } from '../native/index.ts'
import type { PreparedRequest, QueuePair } from '../verbs/index.ts'
import type { LocalRange, RegisteredBuffer, RemoteAddress } from './memory-range.ts'
import { checkRemote, lengthOf } from './memory-range.ts'
import type { Outbox } from './outbox.ts'
import type { OperationDone } from './send-requests.ts'
import { segmentOf } from './verbs-buffer.ts'
import type { VerbsLink } from './verbs-link.ts'

/** Options of calls that block the thread. */
export interface WaitSyncOptions {
  /** Default 10,000. */
  readonly timeoutMs?: number
}

export interface CompareSwapOperands {
  readonly compare: bigint
  readonly swap: bigint
}

export interface MaskedCompareSwapOperands extends CompareSwapOperands {
  /** Bits to compare. Default: all. */
  readonly compareMask?: bigint
  /** Bits to replace if the compared ones are equal. Default: all. */
  readonly swapMask?: bigint
}

export interface MaskedFetchAddOperands {
  readonly add: bigint
  /** The highest bit of each field, which no carry leaves. Default 0: one field of 64 bits. */
  readonly boundaries?: bigint
}

const waitNames: OptionNames<WaitSyncOptions> = { timeoutMs: true }

const DEFAULT_TIMEOUT_MS = 10_000
const CELL_BYTES = 8
const CELLS = 64

/** Takes an operation back: false where it was posted already. */
type Withdraw = () => boolean

/** A request on an 8-byte word, made for the cell where the old value is to land. */
type PrepareAtomic = (pair: QueuePair, local: ReturnType<typeof segmentOf>) => PreparedRequest

/**
 * READs, WRITEs and atomics on memory of the peer, without its processor. Each reports its end separately: by a
 * promise, by a callback with the program's number, or by returning.
 */
export class OneSided {
  readonly #link: VerbsLink
  readonly #outbox: Outbox
  #cells: RegisteredBuffer | undefined
  #words: BigUint64Array | undefined
  readonly #freeCells: number[] = []
  readonly #whenFree: (() => void)[] = []

  constructor(link: VerbsLink, outbox: Outbox) {
    this.#link = link
    this.#outbox = outbox
  }

  /**
   * A WRITE that is checked now, and posted when the returned function is called. Throws ArgumentError, or LinkError
   * once the link has ended.
   */
  prepareWrite(local: LocalRange, remote: RemoteAddress): (done: OperationDone) => void {
    this.#link.checkOpen('write')
    checkRemote(remote)
    const request = this.#link.pair.prepareWrite({ local: segmentOf(local), remote })
    return (done) => this.#link.post('write', request, done)
  }

  write(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return promised((done) => this.postWrite(local, remote, done))
  }

  read(local: LocalRange, remote: RemoteAddress): Promise<void> {
    return promised((done) => this.postRead(local, remote, done))
  }

  postWrite(local: LocalRange, remote: RemoteAddress, done: OperationDone): Withdraw {
    const post = this.prepareWrite(local, remote)
    return this.#leave(lengthOf(local), post, done)
  }

  postRead(local: LocalRange, remote: RemoteAddress, done: OperationDone): Withdraw {
    this.#link.checkOpen('read')
    checkRemote(remote)
    const request = this.#link.pair.prepareRead({ local: segmentOf(local), remote })
    return this.#leave(lengthOf(local), (told) => this.#link.post('read', request, told), done)
  }

  writeSync(local: LocalRange, remote: RemoteAddress, options: WaitSyncOptions | undefined): void {
    this.#waitSync('write', options, (done) => this.postWrite(local, remote, done))
  }

  readSync(local: LocalRange, remote: RemoteAddress, options: WaitSyncOptions | undefined): void {
    this.#waitSync('read', options, (done) => this.postRead(local, remote, done))
  }

  fetchAdd(remote: RemoteAddress, add: bigint): Promise<bigint> {
    return this.#atomic('fetchAdd', remote, (pair, local) => pair.prepareFetchAdd({ local, remote, add }))
  }

  compareSwap(remote: RemoteAddress, operands: CompareSwapOperands): Promise<bigint> {
    return this.#atomic('compareSwap', remote, (pair, local) => pair.prepareCompareSwap({ ...operands, local, remote }))
  }

  maskedFetchAdd(remote: RemoteAddress, operands: MaskedFetchAddOperands): Promise<bigint> {
    return this.#atomic('maskedFetchAdd', remote, (pair, local) =>
      pair.prepareMaskedFetchAdd({ ...operands, local, remote }),
    )
  }

  maskedCompareSwap(remote: RemoteAddress, operands: MaskedCompareSwapOperands): Promise<bigint> {
    return this.#atomic('maskedCompareSwap', remote, (pair, local) =>
      pair.prepareMaskedCompareSwap({ ...operands, local, remote }),
    )
  }

  /** The link has ended. */
  close(): void {
    for (const use of this.#whenFree.splice(0)) use()
    this.#cells?.close()
  }

  /** At once, or, where bytes are limited, in its place among all that leaves. */
  #leave(bytes: number, post: (done: OperationDone) => void, done: OperationDone): Withdraw {
    if (this.#link.limitsBytes) return this.#outbox.operate(bytes, () => post(done), done)
    post(done)
    return wasPosted
  }

  #waitSync(name: string, options: WaitSyncOptions | undefined, begin: (done: OperationDone) => Withdraw): void {
    checkOptions(`${name}Sync`, options, waitNames)
    const timeoutMs = options?.timeoutMs ?? DEFAULT_TIMEOUT_MS
    checkMilliseconds('options.timeoutMs', timeoutMs)
    const end: { error?: unknown; over: boolean } = { over: false }
    const withdraw = begin((error) => {
      end.error = error
      end.over = true
    })
    const deadline = performance.now() + timeoutMs
    while (!end.over) {
      this.#outbox.move()
      // What moved up leaves only this way: the event loop does not run in the meantime.
      this.#link.flush()
      this.#link.reap()
      if (end.over || performance.now() < deadline) continue
      if (withdraw())
        throw new TimeoutError(
          `${name} did not start within ${timeoutMs} ms, because sendLimit holds it back; raise sendLimit or timeoutMs`,
        )
      throw new TimeoutError(`${name} did not complete within ${timeoutMs} ms; it may or may not have been carried out`)
    }
    if (end.error !== undefined) throw end.error
  }

  #atomic(name: string, remote: RemoteAddress, prepare: PrepareAtomic): Promise<bigint> {
    return new Promise<bigint>((resolve, reject) => {
      this.#link.checkOpen(name)
      checkRemote(remote)
      this.#withCell((cell, giveBack) => {
        const words = this.#words!
        const range = { buffer: this.#cells!, offset: cell * CELL_BYTES, length: CELL_BYTES }
        try {
          this.#link.checkOpen(name)
          const request = prepare(this.#link.pair, segmentOf(range))
          const post = (done: OperationDone): void => this.#link.post(name, request, done)
          this.#leave(CELL_BYTES, post, (error) => {
            if (error === undefined) resolve(words[cell]!)
            else reject(error)
            giveBack()
          })
        } catch (error) {
          reject(error)
          giveBack()
        }
      })
    })
  }

  /** A place where an old value may land, now or when one is given back. */
  #withCell(use: (cell: number, giveBack: () => void) => void): void {
    this.#makeCells()
    const cell = this.#freeCells.pop()
    if (cell === undefined) {
      this.#whenFree.push(() => this.#withCell(use))
      return
    }
    use(cell, () => {
      this.#freeCells.push(cell)
      // When the link ends `close` tells those that wait, one after the other and not each within the end of the one
      // before.
      if (this.#link.open) this.#whenFree.shift()?.()
    })
  }

  #makeCells(): void {
    if (this.#cells !== undefined) return
    this.#cells = this.#link.allocate(CELLS * CELL_BYTES)
    const { buffer, byteOffset } = this.#cells.bytes
    this.#words = new BigUint64Array(buffer, byteOffset, CELLS)
    for (let cell = 0; cell < CELLS; cell += 1) this.#freeCells.push(cell)
  }
}

const wasPosted: Withdraw = () => false

function promised(begin: (done: OperationDone) => void): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    begin((error) => {
      if (error === undefined) resolve()
      else reject(error)
    })
  })
}
