import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { ConnectionRequest } from '../../cm/index.ts'
import { ArgumentError, TimeoutError } from '../../native/index.ts'
import { IoThreadError } from './errors.ts'
import {
  type FromThread,
  type ThreadLinkOptions,
  type ThreadStart,
  ThreadWord,
  type ToThread,
  unpackError,
} from './thread-contract.ts'
import type { ThreadSettings } from './thread-options.ts'

/** The present figures of one thread. */
export interface IoThreadStatistics {
  readonly index: number
  /** `restarting`: it has ended and waits for its next start. `ended`: it will not start again. */
  readonly state: 'starting' | 'running' | 'restarting' | 'ended'
  /** The kernel's thread id; 0 until it runs. */
  readonly threadId: number
  /** The processors it may run on; empty until it runs. */
  readonly cpus: readonly number[]
  /** Its present connections. */
  readonly connections: number
  /** Connections that it was given and let in since the listener was opened. */
  readonly accepted: number
  /** Clients that it turned away, or that went away while they were let in. */
  readonly refused: number
  /** How often it has ended unasked. */
  readonly failures: number
  /** Time on a processor since its last start, in milliseconds; undefined if the kernel does not say. */
  readonly processorMs: number | undefined
}

export interface IoThreadParts {
  readonly index: number
  readonly settings: ThreadSettings
  readonly roleUrl: string
  readonly options: ThreadLinkOptions
  readonly clientError: (error: unknown) => void
}

/** How long after its closing time a thread is ended by force, and how long after that it is no longer waited for. */
const GRACE_MS = 1000

/** The listener's side of one IO thread: starts it, gives it connections, and restarts it. */
export class IoThreadHandle {
  readonly index: number
  readonly #parts: IoThreadParts
  readonly #words: Int32Array
  #state: IoThreadStatistics['state'] = 'starting'
  #worker: Worker | undefined
  #threadId = 0
  #cpus: readonly number[] = []
  #failures = 0
  /** Ends in a row that came soon after the start. */
  #soon = 0
  #runsSince = 0
  #load = 0
  #closing = false
  #held = true
  #timer: NodeJS.Timeout | undefined
  #cause: unknown
  #ended: (() => void) | undefined

  constructor(parts: IoThreadParts) {
    this.#parts = parts
    this.index = parts.index
    this.#words = new Int32Array(new SharedArrayBuffer(4 * ThreadWord.Count))
  }

  get running(): boolean {
    return this.#state === 'running'
  }

  /** Connections that it has or is about to have. */
  get load(): number {
    return this.#load
  }

  get statistics(): IoThreadStatistics {
    const word = (at: number): number => Atomics.load(this.#words, at)
    return {
      index: this.index,
      state: this.#state,
      threadId: this.#threadId,
      cpus: this.#cpus,
      connections: word(ThreadWord.Connections),
      accepted: word(ThreadWord.Accepted),
      refused: word(ThreadWord.Refused),
      failures: this.#failures,
      processorMs: this.running ? processorMs(this.#threadId) : undefined,
    }
  }

  /** The first start. Resolves once the module is loaded. @throws IoThreadError */
  start(): Promise<void> {
    return new Promise((resolve, reject) => this.#launch(resolve, reject))
  }

  give(request: ConnectionRequest): void {
    const handed = request.handOver(() => {
      this.#load -= 1
    })
    this.#load += 1
    this.#tell({ kind: 'request', request: handed })
  }

  hold(hold: boolean): void {
    this.#held = hold
    if (hold) this.#worker?.ref()
    else this.#worker?.unref()
  }

  /** Resolves once it has ended, by itself within `timeoutMs` or by force. */
  async close(timeoutMs: number): Promise<void> {
    this.#closing = true
    clearTimeout(this.#timer)
    const worker = this.#worker
    if (worker === undefined) {
      this.#state = 'ended'
      return
    }
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve
    })
    // One that is loading takes it afterwards: ended in the middle of that, it would leave files open.
    this.#tell({ kind: 'close', timeoutMs })
    const force = setTimeout(() => void worker.terminate(), timeoutMs + GRACE_MS)
    const giveUp = setTimeout(
      () => {
        worker.unref()
        this.#ended?.()
      },
      timeoutMs + 2 * GRACE_MS,
    )
    await ended
    clearTimeout(force)
    clearTimeout(giveUp)
  }

  #launch(up: () => void, failed: (error: IoThreadError) => void): void {
    const { settings, roleUrl, options } = this.#parts
    const { moduleUrl, data, startTimeoutMs } = settings
    const workerData: ThreadStart = {
      roleUrl,
      moduleUrl,
      index: this.index,
      cpus: settings.cpus[this.index] ?? [],
      data,
      options,
      words: this.#words.buffer as SharedArrayBuffer,
    }
    this.#state = 'starting'
    this.#cause = undefined
    const name = `aether-io-${this.index}`
    const worker = startWorker(name, workerData)
    this.#worker = worker
    if (!this.#held) worker.unref()
    const patience = setTimeout(() => {
      this.#cause = new TimeoutError(
        `it did not load its module within ${startTimeoutMs} ms; raise startTimeoutMs if loading takes long`,
      )
      void worker.terminate()
    }, startTimeoutMs)
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'client-error') this.#parts.clientError(unpackError(message.error))
      else {
        clearTimeout(patience)
        this.#isUp(message.threadId, message.cpus)
        up()
      }
    })
    worker.on('error', (error) => {
      this.#cause ??= error
    })
    worker.on('exit', (code) => {
      clearTimeout(patience)
      this.#hasEnded(code, failed)
    })
  }

  #isUp(threadId: number, cpus: readonly number[]): void {
    this.#threadId = threadId
    this.#cpus = cpus
    this.#runsSince = performance.now()
    if (!this.#closing) this.#state = 'running'
  }

  #hasEnded(code: number, failed: (error: IoThreadError) => void): void {
    const hasRun = this.running
    const connections = Atomics.exchange(this.#words, ThreadWord.Connections, 0)
    this.#worker = undefined
    this.#threadId = 0
    this.#cpus = []
    this.#state = 'ended'
    if (this.#closing) {
      this.#ended?.()
      return
    }
    this.#failures += 1
    const delayMs = this.#nextDelay(hasRun)
    const cause = this.#cause ?? new Error(`it called process.exit(${code})`)
    const error = new IoThreadError(this.index, connections, delayMs, cause)
    if (delayMs !== undefined) this.#startLater(delayMs)
    if (hasRun) this.#parts.settings.failed(error)
    else failed(error)
  }

  /** Doubled with each end that came soon; undefined where there is no next start. */
  #nextDelay(hasRun: boolean): number | undefined {
    const { restart } = this.#parts.settings
    // What has never run would not run the next time, either.
    if (restart === undefined || (!hasRun && this.#runsSince === 0)) return undefined
    const isSoon = !hasRun || performance.now() - this.#runsSince < restart.delayMsMax
    this.#soon = isSoon ? this.#soon + 1 : 1
    return Math.min(restart.delayMsMax, restart.delayMs * 2 ** Math.min(this.#soon - 1, 30))
  }

  #startLater(delayMs: number): void {
    const { failed } = this.#parts.settings
    this.#state = 'restarting'
    this.#timer = setTimeout(() => this.#launch(() => undefined, failed), delayMs)
  }

  #tell(message: ToThread): void {
    this.#worker?.postMessage(message, message.kind === 'request' ? [message.request.port] : [])
  }
}

/** The first figure of `schedstat`: nanoseconds on a processor. */
function processorMs(threadId: number): number | undefined {
  try {
    return Number.parseInt(readFileSync(`/proc/self/task/${threadId}/schedstat`, 'latin1'), 10) / 1e6
  } catch {
    // A thread that has just ended, or a kernel without these figures.
    return undefined
  }
}

/** @throws ArgumentError if `data` cannot be passed to a thread. */
function startWorker(name: string, workerData: object): Worker {
  try {
    return new Worker(new URL('./thread-worker.js', import.meta.url), { workerData, name })
  } catch (cause) {
    if (!(cause instanceof DOMException && cause.name === 'DataCloneError')) throw cause
    const what = `data must be something that structuredClone takes: ${cause.message}`
    throw new ArgumentError('threads.data', what, { cause })
  }
}
