import { Word } from '../journal.ts'
import { type CommonStructures, operate, type Subject, sumOf, underWay } from '../subject.ts'

const options = { limit: 20_000, intervalMs: 2 ** 30 } as const
/** Of an interval of twelve days, in a round. */
const REGAINED_MAX = 2

/** Every call that was let through counts, even if processes are killed. No more than that is refused. */
export const rateLimiterSubject: Subject<CommonStructures> = {
  name: 'rate limiter',
  commonBytes: 64,

  async begin({ shared, words }) {
    const limiter = await shared.rateLimiter('limiter', options)
    return async () => {
      await operate(
        words,
        1,
        () => limiter.take(),
        ({ allowed }) => Atomics.add(words, Word.Own + Number(allowed), 1),
      )
    }
  },

  async judge({ processes, wrong }) {
    const [refused, allowed, doubt] = [sumOf(processes, Word.Own), sumOf(processes, Word.Own + 1), underWay(processes)]
    const { limit } = options
    if (allowed > limit + REGAINED_MAX) wrong(`${allowed} were let through; the limit is ${limit}`)
    if (refused > 0 && allowed + doubt < limit)
      wrong(`some were refused when ${allowed} of ${limit} had been let through and ${doubt} were in doubt`)
  },

  async empty(shared) {
    await (await shared.rateLimiter('limiter', options)).reset()
  },
}
