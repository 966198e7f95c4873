import type { CompletionChannel } from '../../../verbs/index.ts'

/** Time, chance and waiting, as the seam over verbs needs them: an event loop has them, and so has a simulated host. */
export interface MemoryRuntime {
  /** See {@link GroupMemory.nowMs}. */
  nowMs(): number
  random(): number
  /** Call `done` after so long, unless the returned function is called before. Keeps the process alive. */
  after(ms: number, done: () => void): () => void
  /**
   * Something is under way: call `turn` again and again, when the channel says so and from time to time, until it says
   * that nothing is. `arm` asks the channel to say so, and returns false if something has come meanwhile.
   */
  drive(channel: CompletionChannel, turn: () => boolean, arm: () => boolean): void
}
