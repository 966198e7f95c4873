import type { KeptAnswer, KeyWaiter, LastFrame } from './answer-table.ts'
import { MalformedFrameError, RpcError } from './errors.ts'
import { FailureCode, FrameKind, SLOTS_MAX } from './frame.ts'
import type { IncomingFrame } from './incoming-frame.ts'
import type { ServerCall } from './server-call.ts'
import type { ServerCore } from './server-core.ts'
import type { Session } from './session.ts'

interface Keyed {
  readonly kept: KeptAnswer
  readonly waiter: KeyWaiter
}

/**
 * The calls of one client that wait for the answer of an idempotency key, whether their own call or an earlier one
 * makes it.
 */
export class KeyedCalls {
  readonly #core: ServerCore
  readonly #session: Session
  readonly #refuse: (id: number, code: number, message: string) => void
  readonly #waiting = new Map<number, Keyed>()

  /** `refuse` sends the last frame of a call without a handler. */
  constructor(core: ServerCore, session: Session, refuse: (id: number, code: number, message: string) => void) {
    this.#core = core
    this.#session = session
    this.#refuse = refuse
  }

  get size(): number {
    return this.#waiting.size
  }

  has(id: number): boolean {
    return this.#waiting.has(id)
  }

  /**
   * True if a call with this key needs no handler: it runs already, has its answer, or may have had one that was
   * forgotten.
   */
  isRepeated({ call: id, word: number, extension: { key, repeated } }: IncomingFrame): boolean {
    // A call that waits for an answer takes no handler, so nothing else limits their number.
    if (this.#waiting.size === SLOTS_MAX) throw new MalformedFrameError(`more than ${SLOTS_MAX} calls are under way`)
    const { answers, incarnation } = this.#core
    const kept = answers.find(`${number}:${key}`)
    if (kept !== undefined) {
      this.#await(kept, id)
      return true
    }
    if (repeated === undefined || answers.isFresh(repeated, incarnation, performance.now())) return false
    const why = 'its key is no longer known here, so an earlier try may have taken effect'
    this.#refuse(id, FailureCode.Forgotten, why)
    return true
  }

  /** From here on the key has a call. */
  keep(call: ServerCall): void {
    call.kept = this.#core.answers.begin(`${call.info.number}:${call.idempotencyKey}`, performance.now(), call)
    this.#await(call.kept, call.id)
  }

  /** The client waits for the answer of a key. */
  #await(kept: KeptAnswer, id: number): void {
    const waiter: KeyWaiter = {
      answer: (frame) => {
        this.#waiting.delete(id)
        this.#say(id, frame)
      },
    }
    if (kept.frame !== undefined) {
      waiter.answer(kept.frame)
      return
    }
    this.#waiting.set(id, { kept, waiter })
    kept.waiters.add(waiter)
  }

  /** The kept metadata may be too long for the link of this client, though not for that of the first caller. */
  #say(id: number, { kind, word, extension, body }: LastFrame): void {
    const fits = this.#session.fits(extension)
    if (fits || kind === FrameKind.Failure) {
      const frame = this.#session.frame(kind, id)
      frame.word = word
      frame.extension = fits ? extension : undefined
      frame.setBody(body, true)
      this.#session.send(frame)
    } else {
      const why = 'the answer cannot be sent: its metadata are too long for this link'
      this.#refuse(id, FailureCode.InvalidResponse, why)
    }
  }

  /** The client waits no more. When the last waiting client cancels, the call ends. */
  cancel(id: number): void {
    const keyed = this.#waiting.get(id)
    if (keyed === undefined) return
    const { kept, waiter } = keyed
    this.#waiting.delete(id)
    kept.waiters.delete(waiter)
    this.#refuse(id, FailureCode.Cancelled, 'cancelled')
    const { call } = kept
    if (kept.waiters.size > 0 || call === undefined) return
    const why = 'the callers with this key have cancelled'
    call.abort(new RpcError('ERR_AETHER_RPC_CANCELLED', 'unknown', call.method, why))
  }

  /** The link has ended: running calls go on, for callers that come again. */
  clear(): void {
    for (const { kept, waiter } of this.#waiting.values()) kept.waiters.delete(waiter)
    this.#waiting.clear()
  }
}
