import {
  AetherError,
  checkOptions,
  checkSignal,
  mustBe,
  type OptionNames,
  TimeoutError,
} from '../../../native/index.ts'
import type { Agent } from '../../../runtime/index.ts'
import { ranksInWords } from '../errors.ts'
import type { LockOutcome } from './lock-machine.ts'
import { type LockMode, NOBODY } from './lock-queue.ts'

/** The longest name of a lock, in bytes of UTF-8. */
export const LOCK_NAME_BYTES_MAX = 256
/** How long to wait for a lock by default. */
const TIMEOUT_MS = 60_000
/** How long to wait for the keeper to name the holders of a lock that was not granted. */
const HOLDERS_MS = 1000

/** Options of a lock request. */
export interface LockRequest {
  /** `'write'` (default): alone. `'read'`: together with other readers. */
  readonly mode?: LockMode
  /** How long to wait, in milliseconds; default 60,000. */
  readonly timeoutMs?: number
  /** Stop waiting; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** A held lock. Release it with `release()`, or at the end of its `using` block. */
export class HeldLock implements Disposable {
  readonly name: string
  readonly mode: LockMode
  /**
   * The rank that died while it held the lock for writing, or null. What the lock protects may be half changed: repair
   * it, or give up. Each rank that gets the lock is told, until one that held it for writing releases it. (As
   * EOWNERDEAD of pthread_mutex_lock(3).)
   */
  readonly abandonedBy: number | null
  readonly #release: () => void
  #released = false

  /** @internal Made by {@link Locks}. */
  constructor(name: string, mode: LockMode, abandonedBy: number, release: () => void) {
    this.name = name
    this.mode = mode
    this.abandonedBy = abandonedBy === NOBODY ? null : abandonedBy
    this.#release = release
  }

  get released(): boolean {
    return this.#released
  }

  /** Release it. Idempotent. */
  release(): void {
    if (this.#released) return
    this.#released = true
    this.#release()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}

let lastToken = 0

/** The main thread's side of locks. */
export class Locks {
  readonly #agent: Agent

  constructor(agent: Agent) {
    this.#agent = agent
  }

  async lock(name: string, request: LockRequest = {}): Promise<HeldLock> {
    const { mode, timeoutMs } = check('lock', name, request)
    const { signal } = request
    checkSignal('options.signal', signal)
    const token = ++lastToken
    const outcome = this.#agent.command('lock', { token, name, mode }) as Promise<LockOutcome>
    const first = await firstOf(outcome, timeoutMs, signal)
    if (first === undefined) this.#release(token, false)
    const last = first ?? (await firstOf(outcome, HOLDERS_MS, undefined))
    // It may have been granted while it was given up.
    if (first === undefined || first.kind !== 'granted') {
      signal?.throwIfAborted()
      throw late(name, timeoutMs, last?.kind === 'givenUp' ? last.holders : [])
    }
    return new HeldLock(name, mode, first.abandonedBy, () => this.#release(token, true))
  }

  lockSync(name: string, request: LockRequest = {}): HeldLock {
    const { mode, timeoutMs } = check('lockSync', name, request)
    const token = ++lastToken
    try {
      const outcome = this.#agent.commandSync('lock', { token, name, mode }, timeoutMs) as LockOutcome
      if (outcome.kind !== 'granted') throw late(name, timeoutMs, outcome.holders)
      return new HeldLock(name, mode, outcome.abandonedBy, () => this.#release(token, true))
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error
      this.#release(token, false)
      throw late(name, timeoutMs, [])
    }
  }

  #release(token: number, had: boolean): void {
    // If the agent has ended, so have the group and its locks.
    this.#agent.command('unlock', { token, had }).catch(() => {})
  }
}

const names: OptionNames<LockRequest> = { mode: true, timeoutMs: true, signal: true }

function check(call: string, name: string, request: LockRequest): { mode: LockMode; timeoutMs: number } {
  checkOptions(call, request, names)
  const lengthBytes = typeof name === 'string' ? Buffer.byteLength(name) : 0
  if (lengthBytes < 1 || lengthBytes > LOCK_NAME_BYTES_MAX)
    throw mustBe('name', `a string of 1 to ${LOCK_NAME_BYTES_MAX} bytes`, name)
  const { mode = 'write', timeoutMs = TIMEOUT_MS } = request
  if (mode !== 'read' && mode !== 'write') throw mustBe('options.mode', "'read' or 'write'", mode)
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0))
    throw mustBe('options.timeoutMs', 'a number of milliseconds from 0 on', timeoutMs)
  return { mode, timeoutMs }
}

/** Undefined if `promise` did not settle in time, or `signal` was aborted first. */
async function firstOf<T>(
  outcome: Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  let stop = (): void => {}
  const stopped = new Promise<undefined>((resolve) => {
    // A time longer than a timer can wait means for ever.
    const timer = timeoutMs < 2 ** 31 ? setTimeout(() => resolve(undefined), timeoutMs) : undefined
    const onAbort = (): void => resolve(undefined)
    signal?.addEventListener('abort', onAbort, { once: true })
    stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([outcome, stopped])
  } finally {
    stop()
  }
}

/** A lock was not granted in time. */
export class LockTimeoutError extends AetherError {
  override readonly name = 'LockTimeoutError'
  readonly lock: string
  /** Ranks that hold it, if known. */
  readonly holders: readonly number[]

  constructor(lock: string, timeoutMs: number, holders: readonly number[]) {
    const who = holders.length === 0 ? 'its holder is not known' : `it is held by ${ranksInWords(holders)}`
    super('ERR_AETHER_TIMEOUT', `lock '${lock}' was not granted within ${timeoutMs} ms: ${who}`)
    this.lock = lock
    this.holders = holders
  }
}

const late = (name: string, timeoutMs: number, holders: readonly number[]): LockTimeoutError =>
  new LockTimeoutError(name, timeoutMs, holders)
