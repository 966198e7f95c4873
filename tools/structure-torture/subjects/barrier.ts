import type { Structures } from 'aether-dsm/internal/structures'
import { forAtMost, operate, type Subject, underWay } from '../subject.ts'

const PARTIES = 2
const WAIT_MS = 20
/** How many were told to be the last of an opening, and how many not to be. */
const Common = { Last: 0, Others: 1 } as const

/** Each opening lets one go on as the last and one as the other; who gave up or was killed is not one of them. */
export const barrierSubject: Subject<Structures> = {
  name: 'barrier',
  commonBytes: 64,

  async begin({ shared, words, common }) {
    const barrier = await shared.barrier('barrier', { parties: PARTIES })
    return async () => {
      await operate(words, 1, async () => {
        const last = await forAtMost(WAIT_MS, (signal) => barrier.wait({ signal }))
        if (last !== undefined) Atomics.add(common, last ? Common.Last : Common.Others, 1)
      })
    }
  },

  async judge({ shared, processes, common, wrong }) {
    const barrier = await shared.barrier('barrier', { parties: PARTIES })
    const waiting = barrier.waitingSync()
    if (waiting !== 0) wrong(`${waiting} wait, and no process lives`)
    const [last, others] = [Atomics.load(common, Common.Last), Atomics.load(common, Common.Others)]
    const inDoubt = underWay(processes)
    if (Math.abs(last - others) > inDoubt) wrong(`${last} were the last, ${others} were not, ${inDoubt} are in doubt`)
  },

  /** What the dead left in its state goes when it opens. */
  async empty(shared) {
    const barrier = await shared.barrier('barrier', { parties: PARTIES })
    await Promise.all([barrier.wait(), barrier.wait()])
  },
}
