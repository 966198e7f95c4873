import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { native, TIMER_MS_MAX } from '../../native/index.ts'
import { KeepAlive } from '../../runtime/index.ts'
import { ConsensusError } from '../errors.ts'
import type { Recovered } from '../replica/journal.ts'
import type { AppendPolicy } from './append-policy.ts'
import {
  type JournalOrder,
  type JournalReport,
  type JournalStart,
  type JournalState,
  packError,
  unpackError,
} from './journal-contract.ts'

export interface JournalThreadOptions {
  /** Of this replica alone. It is made if it is not there. */
  readonly directory: string
  /** Of the replicated machine. */
  readonly name: string
  /** Default `always`. */
  readonly append?: AppendPolicy
  /** How long the disk may take until all that the log holds is read. */
  readonly timeoutMs: number
  /** The log refuses all further use, and its thread has ended or ends. Called once at most, and not after `close`. */
  readonly onFailure: (error: ConsensusError) => void
  readonly onState: (state: JournalState) => void
}

/** How long the thread may take to end, and how long after that it is no longer waited for. */
const CLOSE_MS_MAX = 5000
const GRACE_MS = 1000

/** The program's side of the thread in which a replica's log is on a disk. It keeps no process alive. */
export class JournalThread {
  /** What a `JournalPort` is made with, in the replica's thread. */
  readonly port: MessagePort
  readonly #bell = native.createPipe()
  readonly #worker: Worker
  readonly #options: JournalThreadOptions
  readonly #keepAlive = new KeepAlive()
  readonly #ended: Promise<void>
  #opened: Opened | undefined
  #opening: { resolve(opened: Opened): void; reject(error: ConsensusError): void } | undefined
  #hasFailed = false
  #closing: Promise<void> | undefined

  private constructor(options: JournalThreadOptions) {
    this.#options = options
    const { port1, port2 } = new MessageChannel()
    this.port = port2
    const { directory, name, append = 'always' } = options
    const workerData: JournalStart = { directory, name, append, port: port1, bell: this.#bell[1] }
    // The parent's flags (an inspector, a loader) are not for this thread.
    this.#worker = new Worker(new URL('./journal-worker.js', import.meta.url), {
      workerData,
      transferList: [port1],
      execArgv: [],
      name: 'aether-log',
    })
    this.#worker.unref()
    this.#worker.on('message', (report: JournalReport) => this.#hear(report))
    this.#worker.on('error', (error) => this.#fail(unpackError(packError(error))))
    this.#ended = new Promise((resolve) =>
      this.#worker.once('exit', () => {
        this.#fail(unpackError(packError(new Error('it has ended'))))
        resolve()
      }),
    )
  }

  /** The read end of a pipe that is rung after each count on the port. It is open until {@link close} has ended. */
  get bell(): number {
    return this.#bell[0]
  }

  /** Of the replica. */
  get id(): number {
    return this.#opened!.id
  }

  /** What it held when it was opened. */
  get recovered(): Recovered {
    return this.#opened!.recovered
  }

  /** {@link recovered} is not needed any more: it may be large. */
  forgetRecovered(): void {
    this.#opened = { id: this.id, recovered: NOTHING }
  }

  /** Open the log of a replica; resolves once all of it is read. @throws ConsensusError */
  static async open(options: JournalThreadOptions): Promise<JournalThread> {
    const thread = new JournalThread(options)
    // A timer with more would end at once.
    const late = setTimeout(() => thread.#giveUp(), Math.min(options.timeoutMs, TIMER_MS_MAX))
    try {
      thread.#opened = await thread.#keepAlive.during(
        new Promise<Opened>((resolve, reject) => {
          thread.#opening = { resolve, reject }
        }),
      )
      return thread
    } catch (error) {
      thread.#closeBell()
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  /**
   * End the thread after what was posted on the port is on the disk. One that takes too long is ended, or left alone if
   * the disk does not even answer. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#keepAlive.during(this.#close())
    return this.#closing
  }

  async #close(): Promise<void> {
    const order: JournalOrder = 'close'
    this.#worker.postMessage(order)
    const force = setTimeout(() => void this.#worker.terminate(), CLOSE_MS_MAX)
    let giveUp: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      giveUp = setTimeout(resolve, CLOSE_MS_MAX + GRACE_MS)
    })
    await Promise.race([this.#ended.then(() => this.#closeBell()), late])
    clearTimeout(force)
    clearTimeout(giveUp)
  }

  /** The thread may be in a call of the system that does not return. */
  #giveUp(): void {
    const { directory, timeoutMs } = this.#options
    const what = `the log ${directory} was not read within ${timeoutMs} ms`
    this.#opening?.reject(new ConsensusError('TIMEOUT', `${what}; look at its disk, or allow more by timeoutMs`))
    this.#opening = undefined
    this.#hasFailed = true
    void this.#worker.terminate()
  }

  #closeBell(): void {
    for (const end of this.#bell) native.closeDescriptor(end)
  }

  #hear(report: JournalReport): void {
    if (report.type === 'opened') {
      // Once more: what Node has made of the Worker while it started would keep the process alive.
      this.#worker.unref()
      this.#opening?.resolve({ id: report.id, recovered: report.recovered })
      this.#opening = undefined
    } else if (report.type === 'failed') this.#fail(unpackError(report.error))
    else if (this.#closing === undefined) this.#options.onState(report.state)
  }

  #fail(error: ConsensusError): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    if (this.#opening === undefined) {
      if (this.#closing === undefined) this.#options.onFailure(error)
      return
    }
    // Tell it once the lock is free.
    const { reject } = this.#opening
    this.#opening = undefined
    void this.#ended.then(() => reject(error))
  }
}

const NOTHING: Recovered = { promise: 0, decided: 0, snapshot: undefined, entries: [] }

interface Opened {
  /** Of the replica. */
  readonly id: number
  readonly recovered: Recovered
}
