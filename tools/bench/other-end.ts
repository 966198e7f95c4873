import { AetherError, isEnding } from 'aether-dsm/internal/native'

/** Empty polls between two looks. */
const CHECK_POLLS = 1 << 14

/**
 * The process at the other end, for who waits for it spinning: the event loop, which would tell that it has ended, has
 * no turn.
 */
export class OtherEnd {
  readonly #pid: number
  #polls = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  /** After a poll that found nothing. @throws AetherError when it has ended. */
  missed(): void {
    this.#polls += 1
    if (this.#polls % CHECK_POLLS === 0 && isEnding(this.#pid))
      throw new AetherError('ERR_AETHER_BENCH', 'the other process of the benchmark ended')
  }
}
