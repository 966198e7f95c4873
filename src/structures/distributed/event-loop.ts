import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import type { CompletionChannel } from '../../verbs/index.ts'
import type { WordsRuntime } from './words-runtime.ts'

/** Turns of the event loop before it sleeps: a round trip over a network that is near takes less. */
const EAGER_TURNS = 16
/** The longest sleep without a look. */
const LOOK_MS = 20

/** The event loop of this thread. */
export class EventLoop implements WordsRuntime {
  #driving = false

  /** The machine's clock as it was when the process began, and steady from there on. */
  nowMs(): number {
    return performance.timeOrigin + performance.now()
  }

  random(): number {
    return Math.random()
  }

  after(ms: number, done: () => void): () => void {
    const timer = setTimeout(done, ms)
    return () => clearTimeout(timer)
  }

  drive(channel: CompletionChannel, turn: () => boolean, arm: () => boolean): void {
    // What is carried out at once, as in shared memory, needs no turn of the loop.
    if (!turn() || this.#driving) return
    this.#driving = true
    void this.#turn(channel, turn, arm).finally(() => (this.#driving = false))
  }

  async #turn(channel: CompletionChannel, turn: () => boolean, arm: () => boolean): Promise<void> {
    for (let turns = 0; turn(); turns += 1) {
      if (turns < EAGER_TURNS) await setImmediate()
      else if (arm()) {
        // Late is no error: it is looked anyway.
        await channel.wait({ timeoutMs: LOOK_MS }).catch(() => {})
        if (!channel.closed) channel.drain()
      }
    }
  }
}
