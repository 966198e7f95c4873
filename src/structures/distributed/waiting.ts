import type { WaitOptions } from '../waiting/bell.ts'
import type { RemoteWords } from './remote-words.ts'

/** From one look to the next, in milliseconds: at first, and at most. */
const LOOK_MS_MIN = 0.25
const LOOK_MS_MAX = 16

/**
 * Try until it succeeds. Nobody rings over a network: who waits looks again and again, each time after up to twice as long (with chance in it, so that those who wait for one
 * thing do not look all at once), and at once when a rank has ended.
 */
export async function waitFor<T>(
  words: RemoteWords,
  attempt: () => Promise<T | undefined>,
  { signal }: WaitOptions = {},
): Promise<T> {
  for (let lookMs = LOOK_MS_MIN; ; lookMs = Math.min(LOOK_MS_MAX, lookMs * 2)) {
    signal?.throwIfAborted()
    const outcome = await attempt()
    if (outcome !== undefined) return outcome
    await words.sleep(lookMs * (0.5 + words.random()))
  }
}
