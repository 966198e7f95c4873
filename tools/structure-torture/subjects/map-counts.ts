import { bytes } from 'aether-dsm/internal/structures'
import { SEATS_MAX, Word } from '../journal.ts'
import { settleMap } from '../settle-map.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { type CommonStructures, operate, type Subject, sumOf, underWay } from '../subject.ts'

const KEYS = 16
const FILLING_MAX = 700

/** Every process changes every entry: each change is there, once, and no value is half written. */
export const mapCountsSubject: Subject<CommonStructures> = {
  name: 'map: update',
  commonBytes: 0,

  async begin({ shared, words, seat, random, wrong }) {
    const map = await shared.map<Uint8Array>('counts', { codec: bytes })
    return async () => {
      const key = `count ${random.below(KEYS)}`
      const change = (value: Uint8Array | undefined): Uint8Array => {
        const counts = value === undefined ? zeros() : readStamped(value, SEATS_MAX)
        if (typeof counts === 'string') wrong(`'${key}': ${counts}`)
        const known = typeof counts === 'string' ? zeros() : counts
        return stampedValue(
          known.map((count, at) => (at === seat ? count + 1 : count)),
          4 * SEATS_MAX + random.below(FILLING_MAX),
        )
      }
      await operate(words, 1, () => map.update(key, change))
    }
  },

  async judge({ shared, processes, wrong }) {
    const map = await shared.map<Uint8Array>('counts', { codec: bytes })
    const found = zeros()
    for await (const [key, value] of map.entries()) {
      const counts = readStamped(value, SEATS_MAX)
      if (typeof counts === 'string') wrong(`'${String(key)}': ${counts}`)
      else for (const [seat, count] of counts.entries()) found[seat] = found[seat]! + count
    }
    for (const [seat, count] of found.entries()) {
      const of = processes.filter((each) => each.seat === seat)
      const [least, doubt] = [sumOf(of, Word.Done), underWay(of)]
      if (count < least || count > least + doubt)
        wrong(`${count} changes of seat ${seat} are there; ${least} were acknowledged, ${doubt} in doubt`)
    }
  },

  async empty(shared) {
    const map = await shared.map<Uint8Array>('counts', { codec: bytes })
    await map.clear()
    await settleMap(shared, map, 1024)
  },
}

function zeros(): number[] {
  return Array.from({ length: SEATS_MAX }, () => 0)
}
