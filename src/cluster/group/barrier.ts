import { checkOptions, checkSignal, mustBe, type OptionNames } from '../../native/index.ts'
import type { Agent } from '../../runtime/index.ts'
import { KeepAlive } from '../../runtime/index.ts'
import { BarrierWord, newBarrierWords } from './barrier-words.ts'
import { MemberEndedError, MissingMembersError, ranksInWords } from './errors.ts'

/** How long to wait for answers to "where are you?"; a rank that has not answered by then is missing too. */
const QUESTION_MS = 1000

/** A rank that waits looks around this often. */
const LOOK_MS = 100

export interface BarrierOptions {
  /** How long to wait for the others, in milliseconds; default 60,000. */
  readonly timeoutMs?: number
}

type WaitOptions = BarrierOptions & { readonly signal?: AbortSignal }

const syncNames: OptionNames<BarrierOptions> = { timeoutMs: true }
const names: OptionNames<WaitOptions> = { timeoutMs: true, signal: true }

/** @throws ArgumentError; the reason of the signal if it is aborted. */
export function checkBarrier(options: WaitOptions): void {
  checkOptions('barrier', options, names)
  checkTimeout(options.timeoutMs)
  checkSignal('options.signal', options.signal)
}

/** @throws ArgumentError */
export function checkBarrierSync(options: BarrierOptions): void {
  checkOptions('barrierSync', options, syncNames)
  checkTimeout(options.timeoutMs)
}

function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return
  throw mustBe('options.timeoutMs', 'a number of milliseconds from 0 on', timeoutMs)
}

/** The main thread's side of barriers: enters, sleeps until released, and reports which ranks are missing. */
export class Barrier {
  readonly words: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #size: number
  readonly #keepAlive = new KeepAlive()
  #agent: Agent | undefined
  /**
   * The generation of a barrier that was given up, or 0. The next wait is for the same one, though it may be over by
   * then.
   */
  #givenUp = 0
  /** By rank: the last question that {@link isMissing} has put about it, and in which barrier. */
  readonly #questions = new Map<number, { readonly generation: number; readonly question: number }>()

  constructor(size: number) {
    this.#size = size
    this.words = newBarrierWords(size)
    this.#words = new Int32Array(this.words)
  }

  /** The agent exists after its words: it is started with them. */
  attach(agent: Agent): void {
    this.#agent = agent
  }

  /**
   * Wait until every rank is here. Calls `look` now and then, which may throw. After an error the next call waits for
   * the same barrier.
   */
  async wait(options: WaitOptions, look: () => void = () => {}): Promise<void> {
    const { timeoutMs = 60_000, signal } = options
    signal?.throwIfAborted()
    const generation = this.#enter()
    const aborted = signal === undefined ? undefined : abortion(signal)
    Atomics.add(this.#words, BarrierWord.Waiting, 1)
    try {
      await this.#keepAlive.during(this.#released(generation, timeoutMs, aborted?.promise, look))
    } catch (error) {
      this.#givenUp = generation
      throw error
    } finally {
      Atomics.sub(this.#words, BarrierWord.Waiting, 1)
      aborted?.stop()
    }
  }

  /** Like {@link wait}, but blocks the thread. */
  waitSync(options: BarrierOptions, look: () => void = () => {}): void {
    const { timeoutMs = 60_000 } = options
    const generation = this.#enter()
    Atomics.add(this.#words, BarrierWord.Waiting, 1)
    try {
      this.#waitReleased(generation, timeoutMs, look)
    } catch (error) {
      this.#givenUp = generation
      throw error
    } finally {
      Atomics.sub(this.#words, BarrierWord.Waiting, 1)
    }
  }

  /**
   * Whether this rank waits in a barrier that `rank` has not entered, according to its agent. Asks it, so that only a
   * later call can return true.
   */
  isMissing(rank: number): boolean {
    const generation = Atomics.load(this.#words, BarrierWord.Entered)
    const isWaiting = Atomics.load(this.#words, BarrierWord.Waiting) > 0
    if (!isWaiting || Atomics.load(this.#words, BarrierWord.Released) >= generation) return false
    const asked = this.#questions.get(rank)
    if (asked?.generation !== generation) {
      this.#questions.set(rank, { generation, question: this.#ask() })
      return false
    }
    // While a later question is under way, all ranks are missing that have not answered it.
    const latest = Math.max(asked.question, Atomics.load(this.#words, BarrierWord.Question))
    return this.#isAnswered(latest) && this.#isMarked(rank)
  }

  #waitReleased(generation: number, timeoutMs: number, look: () => void): void {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const released = Atomics.load(this.#words, BarrierWord.Released)
      if (this.#isOver(generation, released)) return
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) break
      if (Atomics.wait(this.#words, BarrierWord.Released, released, Math.min(leftMs, LOOK_MS)) === 'timed-out') look()
    }
    const question = this.#ask()
    const answerBy = performance.now() + QUESTION_MS
    for (let leftMs = QUESTION_MS; leftMs > 0 && !this.#isAnswered(question); leftMs = answerBy - performance.now())
      Atomics.wait(this.#words, BarrierWord.Answer, Atomics.load(this.#words, BarrierWord.Answer), leftMs)
    this.#giveUp(generation, timeoutMs)
  }

  async #released(
    generation: number,
    timeoutMs: number,
    aborted: Promise<never> | undefined,
    look: () => void,
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const released = Atomics.load(this.#words, BarrierWord.Released)
      if (this.#isOver(generation, released)) return
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) break
      const change = Atomics.waitAsync(this.#words, BarrierWord.Released, released, Math.min(leftMs, LOOK_MS)).value
      if ((await (aborted === undefined ? change : Promise.race([change, aborted]))) === 'timed-out') look()
    }
    const question = this.#ask()
    const answerBy = performance.now() + QUESTION_MS
    for (let leftMs = QUESTION_MS; leftMs > 0 && !this.#isAnswered(question); leftMs = answerBy - performance.now()) {
      const answer = Atomics.load(this.#words, BarrierWord.Answer)
      if (answer < question) await Atomics.waitAsync(this.#words, BarrierWord.Answer, answer, leftMs).value
    }
    this.#giveUp(generation, timeoutMs)
  }

  #isAnswered(question: number): boolean {
    return Atomics.load(this.#words, BarrierWord.Answer) >= question
  }

  /** Throws with the ranks that are missing, unless all of them arrived in the meantime. */
  #giveUp(generation: number, timeoutMs: number): void {
    if (this.#isOver(generation, Atomics.load(this.#words, BarrierWord.Released))) return
    throw this.#missing(timeoutMs)
  }

  #enter(): number {
    if (this.#givenUp !== 0) {
      const again = this.#givenUp
      this.#givenUp = 0
      return again
    }
    const entered = Atomics.load(this.#words, BarrierWord.Entered)
    if (entered !== Atomics.load(this.#words, BarrierWord.Released)) return entered
    Atomics.store(this.#words, BarrierWord.Entered, entered + 1)
    this.#agent!.ring()
    return entered + 1
  }

  #isOver(generation: number, released: number): boolean {
    if (released >= generation) return true
    const failed = Atomics.load(this.#words, BarrierWord.Failed)
    if (failed === 0 || generation <= Atomics.load(this.#words, BarrierWord.Possible)) return false
    const rank = failed - 1
    throw new MemberEndedError(
      [rank],
      `rank ${rank} has ended or left the group, so a barrier of all ranks can no longer complete`,
    )
  }

  #ask(): number {
    const question = Atomics.add(this.#words, BarrierWord.Question, 1) + 1
    this.#agent!.ring()
    return question
  }

  #isMarked(rank: number): boolean {
    return (Atomics.load(this.#words, BarrierWord.Missing + (rank >>> 5)) & (1 << (rank & 31))) !== 0
  }

  #missing(timeoutMs: number): MissingMembersError {
    const ranks: number[] = []
    for (let rank = 0; rank < this.#size; rank += 1) if (this.#isMarked(rank)) ranks.push(rank)
    // All have just arrived, but the release is still on its way. The next wait is for the same barrier, and returns
    // once the release is here.
    const who =
      ranks.length === 0 ? 'all have arrived, but the release was late' : `${ranksInWords(ranks)} did not arrive`
    return new MissingMembersError(ranks, `the barrier did not complete within ${timeoutMs} ms: ${who}`)
  }
}

function abortion(signal: AbortSignal): { promise: Promise<never>; stop: () => void } {
  let onAbort = (): void => {}
  const promise = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  // A race that was lost must not surface as an unhandled rejection.
  promise.catch(() => {})
  return { promise, stop: () => signal.removeEventListener('abort', onAbort) }
}
