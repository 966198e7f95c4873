import { Word } from '../journal.ts'
import { type CommonStructures, operate, type Subject, sumOf, underWay } from '../subject.ts'

const Common = { Acknowledged: 0 } as const

/** Everything that was added is there, once. No process reads less than was acknowledged to any process before. */
export const counterSubject: Subject<CommonStructures> = {
  name: 'counter',
  commonBytes: 64,

  async begin({ shared, words, common, random, wrong }) {
    const counter = await shared.counter('counter')
    const acknowledge = (): void => void Atomics.add(common, Common.Acknowledged, 1)
    const increase = async (): Promise<void> => {
      for (;;) {
        const seen = await counter.get()
        if ((await counter.compareAndSet(seen, seen + 1)) === seen) return
      }
    }
    return async () => {
      if (random.below(4) > 0) await operate(words, 1, () => counter.add(), acknowledge)
      else await operate(words, 1, increase, acknowledge)
      const before = Atomics.load(common, Common.Acknowledged)
      const found = await counter.get()
      if (found < before) wrong(`${found} were found after ${before} had been acknowledged`)
    }
  },

  async judge({ shared, processes, wrong }) {
    const found = await (await shared.counter('counter')).get()
    const [least, doubt] = [sumOf(processes, Word.Done), underWay(processes)]
    if (found < least || found > least + doubt)
      wrong(`${found} were counted; ${least} were acknowledged, ${doubt} in doubt`)
  },

  async empty(shared) {
    await (await shared.counter('counter')).set(0)
  },
}
