import type { Leadership } from 'aether-dsm/internal/structures'
import { type CommonStructures, operate, type Subject } from '../subject.ts'

const LEASE_MS = 400
const TERMS_MAX = 2 ** 20
const TRY_EVERY = 32
/** In the words that all share: the highest term that was given; then a bit for each. */
const Common = { Highest: 0, Terms: 1 } as const

/** Each term is one process's; who was overtaken does not take itself for the leader; who was killed is followed. */
export const leaderSubject: Subject<CommonStructures> = {
  name: 'leader',
  commonBytes: 4 + TERMS_MAX / 8,

  async begin({ shared, words, common, random, wrong, atEnd }) {
    const leader = await shared.leader('leader', { leaseMs: LEASE_MS })
    let leadership: Leadership | undefined
    const acknowledge = (gained: Leadership | undefined): void => {
      if (gained === undefined) return
      leadership = gained
      const bit = 1 << (gained.term & 31)
      const noted = Atomics.or(common, Common.Terms + ((gained.term >>> 5) % (TERMS_MAX / 32)), bit) & bit
      if (noted !== 0 && gained.term < TERMS_MAX) wrong(`term ${gained.term} was given twice`)
      raiseTo(common, Common.Highest, gained.term)
    }
    atEnd(async () => leadership?.resign())
    return async () => {
      if (leadership === undefined) {
        if (random.below(TRY_EVERY) === 0) await operate(words, 1, () => leader.tryCampaign(), acknowledge)
        return
      }
      const highest = Atomics.load(common, Common.Highest)
      if (leadership.isLeader && highest > leadership.term)
        wrong(`term ${leadership.term} is said to last after term ${highest} was given`)
      if (random.below(TRY_EVERY) > 0) return
      await leadership.resign()
      leadership = undefined
    }
  },

  async judge({ shared, common, wrong }) {
    const leadership = await (await shared.leader('leader', { leaseMs: LEASE_MS })).campaign()
    const highest = common[Common.Highest]!
    if (leadership.term <= highest) wrong(`term ${leadership.term} comes after ${highest}`)
    await leadership.resign()
  },

  async empty(shared) {
    await (await (await shared.leader('leader', { leaseMs: LEASE_MS })).campaign()).resign()
  },
}

function raiseTo(words: Int32Array, at: number, wanted: number): void {
  for (;;) {
    const there = Atomics.load(words, at)
    if (there >= wanted || Atomics.compareExchange(words, at, there, wanted) === there) return
  }
}
