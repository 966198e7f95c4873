import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import type { CompletionChannel } from '../../../verbs/index.ts'
import type { MemoryRuntime } from './memory-runtime.ts'

/** Turns of the event loop before it sleeps: a round trip over a network that is near takes less. */
const EAGER_TURNS = 16
/** Calls that are answered before the loop has its turn: some tenths of a millisecond in shared memory. */
const IN_A_ROW_MAX = 64
/** The longest sleep without a look. */
const LOOK_MS = 20

/** The event loop of this thread. */
export class EventLoop implements MemoryRuntime {
  #driving = false
  /** Looks since the last turn of the loop. */
  #inARow = 0

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
    // What is carried out at once, as in shared memory, needs no turn of the loop. But a program that does one thing
    // after the other would have none at all, and hear of nothing.
    this.#inARow += 1
    if (this.#inARow <= IN_A_ROW_MAX && !turn()) return
    if (!this.#driving) void this.#turn(channel, turn, arm)
  }

  async #turn(channel: CompletionChannel, turn: () => boolean, arm: () => boolean): Promise<void> {
    this.#driving = true
    try {
      let turns = 0
      do {
        turns += 1
        if (turns <= EAGER_TURNS) await setImmediate()
        // A timeout is not an error: the loop looks anyway.
        else if (arm()) await channel.wait({ timeoutMs: LOOK_MS }).catch(() => {})
        if (turns > EAGER_TURNS && !channel.closed) channel.drain()
        this.#inARow = 0
      } while (turn())
    } finally {
      // In the same moment as the last look: what is begun by those who were waiting has to be driven again.
      this.#driving = false
    }
  }
}
