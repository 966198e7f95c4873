import { fstatSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { native, TimeoutError } from '../native/index.ts'
import { describeProcess } from './process-identity.ts'

/** Only short synchronous work is done under the lock, so a longer wait means that its holder is stopped or starved. */
const LOCK_TIMEOUT_MS = 10_000

const PAUSE_MS_MAX = 16

/** How to wait for the lock. */
export interface LockOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * The lock of a space: flock(2) on its rendezvous file. The kernel releases it when the holder ends, however it ends.
 * What runs under it is a synchronous function: the holder awaits nothing while others wait.
 */
export class SpaceLock {
  readonly #descriptor: number
  readonly #space: string

  constructor(descriptor: number, space: string) {
    this.#descriptor = descriptor
    this.#space = space
  }

  /**
   * Run `work` under the lock. Polls, because a blocking flock would block the event loop.
   * @throws TimeoutError naming the holder.
   */
  async run<T>(work: () => T, options: LockOptions = {}): Promise<T> {
    const { timeoutMs = LOCK_TIMEOUT_MS, signal } = options
    const deadlineNs = native.monotonicNs() + timeoutMs * 1e6
    for (let pauseMs = 1; ; pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2)) {
      signal?.throwIfAborted()
      const outcome = this.tryRun(work)
      if (outcome !== undefined) return outcome.value
      if (native.monotonicNs() >= deadlineNs) throw this.#timeout(timeoutMs)
      await sleep(pauseMs * (0.5 + Math.random()))
    }
  }

  /** Run `work` under the lock if it is free; undefined if it is not. */
  tryRun<T>(work: () => T): { readonly value: T } | undefined {
    if (!native.lockFile(this.#descriptor, false)) return undefined
    try {
      return { value: work() }
    } finally {
      native.unlockFile(this.#descriptor)
    }
  }

  #timeout(timeoutMs: number): TimeoutError {
    const holder = holderOf(this.#descriptor)
    const who = holder === undefined ? 'another process, perhaps of another container' : describeProcess(holder)
    const advice = holder === undefined ? 'try again' : `end it, or continue it (kill -CONT ${holder})`
    return new TimeoutError(`space '${this.#space}' has been locked for ${timeoutMs} ms by ${who}; ${advice}`)
  }
}

/**
 * The process that holds flock(2) on the file, according to /proc/locks; undefined if none in this pid namespace does.
 */
function holderOf(descriptor: number): number | undefined {
  const { ino } = fstatSync(descriptor)
  const pattern = new RegExp(`FLOCK\\s+\\S+\\s+WRITE\\s+(\\d+)\\s+\\S+:${ino}\\s`)
  const processId = Number(pattern.exec(readFileSync('/proc/locks', 'latin1'))?.[1] ?? 0)
  return processId > 0 ? processId : undefined
}
