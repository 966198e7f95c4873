import type { MutexHold } from 'aether-dsm/internal/structures'
import { type CommonStructures, forAtMost, operate, type Subject } from '../subject.ts'

/** Only the owner of the mutex uses these. */
const Common = { Owner: 0, Left: 1, Right: 2, Token: 3 } as const
/** One that is stopped may have it for long. */
const WAIT_EVERY = 16
const WAIT_MS = 5
const STAY_EVERY = 16

/** One at a time; what one that was killed may have left half done is said to the next, and nothing else is. */
export const mutexSubject: Subject<CommonStructures> = {
  name: 'mutex',
  commonBytes: 64,

  async begin({ shared, words, common, incarnation, random, wrong }) {
    const mutex = await shared.mutex('mutex')
    return async () => {
      const waits = random.below(WAIT_EVERY) === 0
      const hold = waits ? await forAtMost(WAIT_MS, (signal) => mutex.lock({ signal })) : await mutex.tryLock()
      if (hold === undefined) return
      await operate(words, 1, async () => {
        checkHold(hold, common, wrong)
        Atomics.store(common, Common.Owner, incarnation + 1)
        Atomics.add(common, Common.Left, 1)
        if (random.below(STAY_EVERY) === 0) await new Promise((resolve) => setImmediate(resolve))
        Atomics.add(common, Common.Right, 1)
        if (Atomics.load(common, Common.Owner) !== incarnation + 1) wrong('another was in there at the same time')
        Atomics.store(common, Common.Owner, 0)
        hold.release()
      })
    }
  },

  async judge({ shared, common, wrong }) {
    using hold = await (await shared.mutex('mutex')).lock()
    checkHold(hold, common, wrong)
  },

  async empty(shared) {
    ;(await (await shared.mutex('mutex')).lock()).release()
  },
}

function checkHold({ token, abandoned }: MutexHold, common: Int32Array, wrong: (text: string) => void): void {
  const [owner, left, right, last] = [0, 1, 2, 3].map((word) => Atomics.load(common, word))
  if (token <= last!) wrong(`token ${token} comes after ${last}`)
  Atomics.store(common, Common.Token, token)
  if (!abandoned && owner !== 0) wrong(`process ${owner! - 1} has it, too`)
  if (!abandoned && left !== right) wrong('what it protects is half changed, and was not said to be abandoned')
  Atomics.store(common, Common.Right, left!)
}
