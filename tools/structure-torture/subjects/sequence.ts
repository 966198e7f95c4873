import { Word } from '../journal.ts'
import { type CommonStructures, operate, type Subject, sumOf, underWay } from '../subject.ts'

const NUMBERS_MAX = 2 ** 25
const COUNT_MAX = 3

/** A number is given out once, and none is left out but by those that were killed. */
export const sequenceSubject: Subject<CommonStructures> = {
  name: 'sequence',
  commonBytes: NUMBERS_MAX / 8,

  async begin({ shared, words, common, random, wrong }) {
    const sequence = await shared.sequence('sequence')
    return async () => {
      const count = 1 + random.below(COUNT_MAX)
      const acknowledge = (first: number): void => {
        for (let number = first; number < first + count; number += 1)
          if (!takeNote(common, number)) wrong(`${number} was given out twice`)
        Atomics.add(words, Word.Own, count)
      }
      if ((await sequence.last()) + 100 * COUNT_MAX < NUMBERS_MAX)
        await operate(words, 1, () => sequence.next(count), acknowledge)
    }
  },

  async judge({ shared, processes, wrong }) {
    const last = await (await shared.sequence('sequence')).last()
    const [given, doubt] = [sumOf(processes, Word.Own), underWay(processes)]
    if (last < given || last > given + doubt * COUNT_MAX)
      wrong(`the last number is ${last}; ${given} were given, and ${doubt} takers killed`)
  },

  async empty(shared) {
    await shared.sequence('sequence')
  },
}

/** False where it has been noted before. */
function takeNote(bits: Int32Array, number: number): boolean {
  const bit = 1 << (number & 31)
  return (Atomics.or(bits, number >>> 5, bit) & bit) === 0
}
