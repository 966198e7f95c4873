import { nowMs } from '../../torture-child/clock.ts'
import { INCARNATIONS_MAX } from '../journal.ts'
import { type CommonStructures, forAtMost, operate, type Subject } from '../subject.ts'

const PERMITS = 3
/** One that is stopped may have it for long. */
const WAIT_EVERY = 16
const WAIT_MS = 5
const STAY_EVERY = 16
/** How many times more than the permits were out may be written down. */
const CROWDS_MAX = 64
const CROWD_WORDS = 16
/**
 * First in the words that all share: of each process how often it has taken and given back a permit; odd while it has
 * one. Then what is to be judged: a time, and who had one.
 */
const CROWDS = INCARNATIONS_MAX + 1

/** No more permits are out than there are. Permits of processes that died are free again. */
export const semaphoreSubject: Subject<CommonStructures> = {
  name: 'semaphore',
  commonBytes: 4 * (CROWDS + CROWDS_MAX * CROWD_WORDS),

  async begin({ shared, words, common, incarnation, random }) {
    const semaphore = await shared.semaphore('semaphore', { permits: PERMITS })
    return async () => {
      const waits = random.below(WAIT_EVERY) === 0
      const permit = waits
        ? await forAtMost(WAIT_MS, (signal) => semaphore.acquire({ signal }))
        : await semaphore.tryAcquire()
      if (permit === undefined) return
      await operate(words, 1, async () => {
        Atomics.add(common, incarnation, 1)
        noteCrowd(common)
        if (random.below(STAY_EVERY) === 0) await new Promise((resolve) => setImmediate(resolve))
        Atomics.add(common, incarnation, 1)
        permit.release()
      })
    }
  },

  async judge({ shared, processes, common, wrong }) {
    for (const { atMs, who } of crowds(common)) {
      const living = who.filter(
        (each) =>
          (processes.find(({ incarnation }) => incarnation === each)?.killedMs ?? Number.POSITIVE_INFINITY) > atMs,
      )
      if (living.length > PERMITS) wrong(`processes ${living.join(', ')} had one of ${PERMITS} permits at a time`)
    }
    const semaphore = await shared.semaphore('semaphore', { permits: PERMITS })
    const permits = await Promise.all(Array.from({ length: PERMITS }, () => semaphore.acquire()))
    for (const permit of permits) permit.release()
  },

  async empty(shared) {
    await shared.semaphore('semaphore', { permits: PERMITS })
  },
}

/** It includes processes that were killed with a permit, so the judge decides whether they were too many. */
function noteCrowd(common: Int32Array): void {
  const before = turnsOf(common)
  const who = before.flatMap((turns, each) => (turns % 2 === 1 ? [each] : []))
  if (who.length <= PERMITS) return
  const atMs = Math.ceil(nowMs())
  // They were in there at the same time only if none of them has moved meanwhile.
  if (turnsOf(common).some((turns, each) => turns !== before[each])) return
  const index = Atomics.add(common, INCARNATIONS_MAX, 1)
  if (index >= CROWDS_MAX) return
  const begin = CROWDS + index * CROWD_WORDS
  common.set([Math.floor(atMs / 1e6), atMs % 1e6, ...who.slice(0, CROWD_WORDS - 2).map((each) => each + 1)], begin)
}

function turnsOf(common: Int32Array): readonly number[] {
  return Array.from({ length: INCARNATIONS_MAX }, (_, each) => Atomics.load(common, each))
}

function crowds(common: Int32Array): readonly { readonly atMs: number; readonly who: readonly number[] }[] {
  const count = Math.min(CROWDS_MAX, common[INCARNATIONS_MAX]!)
  return Array.from({ length: count }, (_, index) => {
    const begin = CROWDS + index * CROWD_WORDS
    const [millions = 0, rest = 0, ...who] = common.subarray(begin, begin + CROWD_WORDS)
    return { atMs: millions * 1e6 + rest, who: who.filter((each) => each !== 0).map((each) => each - 1) }
  })
}
