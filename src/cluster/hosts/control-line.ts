import { Worker } from 'node:worker_threads'
import { AetherError, native } from '../../native/index.ts'
import { KeepAlive } from '../../runtime/index.ts'
import { MemberEndedError, MissingMembersError, ranksInWords } from '../group/errors.ts'
import type { ControlFailure, ControlOrder, ControlReport, ControlStart } from './control-worker.ts'
import { EndNotices } from './end-notices.ts'
import { RendezvousError } from './errors.ts'
import { COMPLETING_ROUND } from './keeper.ts'

/** How long the worker may take to say goodbye before it is ended. */
const LEAVE_MS_MAX = 2000

/** Where the agent learns of ranks that have ended. */
export interface ControlPlace {
  readonly notices: SharedArrayBuffer
  /** Readable after a notice. */
  readonly bell: number
}

export type ControlOptions = Omit<ControlStart, 'notices' | 'bell'>

interface Waiting {
  readonly round: number
  resolve(values: readonly unknown[]): void
  reject(error: Error): void
}

/** The main thread's side of the connection to the rendezvous. */
export class ControlLine {
  readonly place: ControlPlace
  readonly #worker: Worker
  readonly #bell: readonly [number, number]
  readonly #keepAlive = new KeepAlive()
  readonly #left: Promise<void>
  #waiting: Waiting | undefined
  #failure: Error | undefined
  #complete = false
  #closing: Promise<void> | undefined

  constructor(options: ControlOptions) {
    const notices = new EndNotices(options.size)
    this.#bell = native.createPipe()
    this.place = { notices: notices.buffer, bell: this.#bell[0] }
    const workerData: ControlStart = { ...options, notices: notices.buffer, bell: this.#bell[1] }
    this.#worker = new Worker(new URL('./control-worker.js', import.meta.url), {
      workerData,
      execArgv: [],
      name: 'aether-control',
    })
    this.#worker.unref()
    this.#worker.on('message', (report: ControlReport) => this.#hear(report))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#left = new Promise((resolve) => this.#worker.once('exit', () => resolve()))
  }

  /**
   * Give a value, and wait for the values of all ranks, by rank. @throws MissingMembersError, MemberEndedError,
   * RendezvousError, the signal's reason.
   */
  async gather(round: number, value: unknown, signal?: AbortSignal): Promise<readonly unknown[]> {
    signal?.throwIfAborted()
    if (this.#failure !== undefined) throw this.#failure
    const onAbort = (): void => this.#fail(signal?.reason as Error)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await this.#keepAlive.during(
        new Promise((resolve, reject) => {
          this.#waiting = { round, resolve, reject }
          this.#order({ type: 'give', round, value })
        }),
      )
    } finally {
      this.#waiting = undefined
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Say goodbye to the others; `why` is what they are told if the group is not complete yet. Idempotent. */
  close(why?: string): Promise<void> {
    this.#closing ??= this.#close(why)
    return this.#closing
  }

  async #close(why: string | undefined): Promise<void> {
    this.#order({ type: 'leave', why })
    const timer = setTimeout(() => void this.#worker.terminate(), LEAVE_MS_MAX)
    await this.#keepAlive.during(this.#left)
    clearTimeout(timer)
    for (const end of this.#bell) native.closeDescriptor(end)
  }

  #order(order: ControlOrder): void {
    this.#worker.postMessage(order)
  }

  #hear(report: ControlReport): void {
    if (report.type === 'gathered') {
      this.#complete ||= report.round === COMPLETING_ROUND
      if (this.#waiting?.round === report.round) this.#waiting.resolve(report.values)
    } else if (report.type === 'ended') {
      // Once the group is complete the agent learns of deaths by the notices, and no call here waits for dead ranks.
      if (!this.#complete || report.lost) this.#fail(endedTooSoon(report.ranks, report.why))
    } else {
      this.#fail(revive(report.error))
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#waiting?.reject(error)
  }
}

function endedTooSoon(ranks: readonly number[], why: string): MemberEndedError {
  return new MemberEndedError(ranks, `${ranksInWords(ranks)} ended before the group was complete: ${why}`)
}

function revive({ code, message, address, ranks, cause }: ControlFailure): Error {
  const options = cause === undefined ? {} : { cause: revive(cause) }
  if (code === 'ERR_AETHER_MISSING_MEMBERS') return new MissingMembersError(ranks ?? [], message, options)
  if (isRendezvousCode(code)) return new RendezvousError(code, address ?? '', message, options)
  return new AetherError(code, message, options)
}

function isRendezvousCode(code: string): code is RendezvousError['code'] & `ERR_AETHER_RENDEZVOUS_${'LOST'}` {
  return code.startsWith('ERR_AETHER_RENDEZVOUS_')
}
