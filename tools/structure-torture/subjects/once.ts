import { setTimeout as sleep } from 'node:timers/promises'
import { Word } from '../journal.ts'
import { type CommonStructures, operate, type Subject, underWay } from '../subject.ts'

const COUNT = 32
/** In the words that all share: which one is next, then how often each was done. */
const Common = { Next: 0, Done: 1 } as const
/** One call in this many. */
const RUN_EVERY = 64

/** The work runs once, and again only if it was cut short. No process goes on before it is done. */
export const onceSubject: Subject<CommonStructures> = {
  name: 'once',
  commonBytes: 4 * (Common.Done + COUNT),

  async begin({ shared, words, common, random, wrong }) {
    return async () => {
      const index = Atomics.load(common, Common.Next)
      if (index >= COUNT || random.below(RUN_EVERY) > 0) return
      const once = await shared.once(`once ${index}`)
      const work = async (): Promise<void> => {
        Atomics.store(words, Word.UnderWay, 2)
        await sleep(random.below(3))
        Atomics.add(common, Common.Done + index, 1)
      }
      await operate(words, 1, () => once.run(work))
      if (Atomics.load(common, Common.Done + index) === 0) wrong(`'${once.name}' was said to be done before it was`)
      Atomics.compareExchange(common, Common.Next, index, index + 1)
    }
  },

  async judge({ shared, processes, common, wrong }) {
    const next = Math.min(common[Common.Next]!, COUNT)
    const done = Array.from(common.subarray(Common.Done, Common.Done + COUNT))
    const again = done.reduce((sum, times) => sum + Math.max(0, times - 1), 0)
    const cutShort = underWay(processes, 2)
    if (again > cutShort) wrong(`done ${again} times more than once; ${cutShort} were killed while they did it`)
    for (let index = 0; index < next; index += 1)
      if (!(await (await shared.once(`once ${index}`)).isDone())) wrong(`'once ${index}' is not done any more`)
  },

  async empty(shared) {
    for (let index = 0; index < COUNT; index += 1) await (await shared.once(`once ${index}`)).run(() => {})
  },
}
