import { SEATS_MAX, Word } from '../journal.ts'
import { type CommonStructures, forAtMost, operate, type Subject } from '../subject.ts'

/** In the words that all share: of each seat, what its flag was made last, and whether that is in doubt. */
const State = { Lowered: 0, Raised: 1 } as const
const WAIT_EVERY = 256
const WAIT_MS = 5

/** A flag is as it was left by the last one who made it something; those who wait for one are woken. */
export const flagSubject: Subject<CommonStructures> = {
  name: 'flag',
  commonBytes: 4 * SEATS_MAX,

  async begin({ shared, words, common, seat, random, wrong }) {
    const [own, gate] = [await shared.flag(`flag ${seat}`), await shared.flag('gate')]
    const look = async (when: string): Promise<number> => {
      const found = (await own.isRaised()) ? State.Raised : State.Lowered
      const expected = Atomics.load(common, seat)
      // Negative: the process that set it was killed meanwhile.
      if (expected >= 0 && found !== expected) wrong(`${when}: the flag is ${found}, and was made ${expected}`)
      return found
    }
    Atomics.store(common, seat, await look('after a death'))
    return async () => {
      const next = (await look('in between')) === State.Raised ? State.Lowered : State.Raised
      Atomics.store(common, seat, -1)
      await operate(words, 1, () => (next === State.Raised ? own.raise() : own.lower()))
      Atomics.store(common, seat, next)
      if (random.below(WAIT_EVERY) === 0) await forAtMost(WAIT_MS, (signal) => gate.wait({ signal }))
      else if (random.below(4) === 0) await (random.below(2) === 0 ? gate.raise() : gate.lower())
    }
  },

  async judge({ shared, processes, common, wrong }) {
    for (const seat of new Set(processes.filter(({ words }) => words[Word.Done] !== 0).map((each) => each.seat))) {
      const found = (await (await shared.flag(`flag ${seat}`)).isRaised()) ? State.Raised : State.Lowered
      const expected = common[seat]!
      if (expected >= 0 && found !== expected) wrong(`the flag of seat ${seat} is ${found}, and was made ${expected}`)
    }
    const gate = await shared.flag('gate')
    await gate.raise()
    await gate.wait()
  },

  async empty(shared) {
    for (let seat = 0; seat < SEATS_MAX; seat += 1) await (await shared.flag(`flag ${seat}`)).lower()
    await (await shared.flag('gate')).lower()
  },
}
