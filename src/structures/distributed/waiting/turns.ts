import type { GroupMemory } from '../memory/group-memory.ts'

/** One after the other, in the order in which they came: calls of one rank that would only be in each other's way. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}

/** From one attempt to the next, in milliseconds: only where others want the same. */
const PAUSE_MS_MAX = 8

/** Nothing before the first attempts; then a while that grows, with chance in it. */
export async function backOff(group: GroupMemory, attempt: number): Promise<void> {
  if (attempt < 2) return
  await group.sleep(Math.min(PAUSE_MS_MAX, 2 ** Math.min(attempt, 10) / 64) * group.random())
}
