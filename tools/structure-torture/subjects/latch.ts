import type { Structures } from 'aether-dsm/internal/structures'
import { Word } from '../journal.ts'
import { operate, type Subject, sumOf, underWay } from '../subject.ts'

/** More than are ever counted. */
const COUNT = 2 ** 30

/** Each countdown that was acknowledged is counted, once. */
export const latchSubject: Subject<Structures> = {
  name: 'latch',
  commonBytes: 0,

  async begin({ shared, words }) {
    const latch = await shared.latch('latch', { count: COUNT })
    return async () => {
      await operate(words, 1, async () => latch.countDownSync())
    }
  },

  async judge({ shared, processes, wrong }) {
    const counted = COUNT - (await shared.latch('latch', { count: COUNT })).remainingSync()
    const acknowledged = sumOf(processes, Word.Done)
    const inDoubt = underWay(processes)
    if (counted < acknowledged || counted > acknowledged + inDoubt)
      wrong(`${counted} were counted, ${acknowledged} acknowledged, ${inDoubt} in doubt`)
  },

  async empty(shared) {
    await shared.latch('latch', { count: COUNT })
  },
}
