import { setTimeout as sleep } from 'node:timers/promises'
import { native, TimeoutError } from '../native/index.ts'
import { type Member, processInWords } from './member-table.ts'
import { describeProcess } from './process-identity.ts'
import type { LockOptions } from './space-lock.ts'

const PAUSE_MS = 16
/** The longest time without progress. */
const TIMEOUT_MS = 10_000

/** A restore by another member, as it was when it was looked at. */
export interface RunningRestore {
  readonly restorer: Member | undefined
  /** Changes as long as the restore goes on. */
  readonly progress: number
}

/** Waiting until another member has restored the space. It may take long, so only a lack of progress is an error. */
export class RestoreWait {
  readonly #space: string
  readonly #options: LockOptions
  #seen: number | undefined
  #seenNs = 0

  constructor(space: string, options: LockOptions) {
    this.#space = space
    this.#options = options
  }

  /** Sleep until it is worth looking again. @throws TimeoutError naming the process; the reason of the signal. */
  async pause({ restorer, progress }: RunningRestore): Promise<void> {
    const { timeoutMs = TIMEOUT_MS, signal } = this.#options
    signal?.throwIfAborted()
    const nowNs = native.monotonicNs()
    if (progress !== this.#seen) {
      this.#seen = progress
      this.#seenNs = nowNs
    }
    if (nowNs - this.#seenNs > timeoutMs * 1e6) {
      const { who, advice } = blame(restorer)
      const what = `space '${this.#space}' is being restored from a save by ${who}`
      throw new TimeoutError(`${what}, without progress for ${timeoutMs} ms; ${advice}`)
    }
    await sleep(PAUSE_MS * (0.5 + Math.random()))
  }
}

/** A number of another container says nothing here. */
function blame(restorer: Member | undefined): { readonly who: string; readonly advice: string } {
  if (restorer === undefined) return { who: 'another process', advice: 'try again' }
  if (restorer.foreign === true) return { who: processInWords(restorer), advice: 'end it there' }
  const { processId } = restorer
  return { who: describeProcess(processId), advice: `end it, or continue it (kill -CONT ${processId})` }
}
