import { bytes, type RcuCell, type Structures } from 'aether-dsm/internal/structures'
import { SEATS_MAX, Word } from '../journal.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { forAtMost, operate, type Subject, sumOf, underWay } from '../subject.ts'
import { histogramOf, judgeAges, VERSION_AGES_BYTES, VersionAges } from '../version-ages.ts'

const CELLS = 3
const FILLING_MAX = 400
const FIELDS = 1 + SEATS_MAX
const GROW_EVERY = 8
const SYNCHRONIZE_EVERY = 512
const WAIT_MS = 10

/**
 * Each replacement is there, once. A value that is read stays the same until the end of the section. No reader gets a
 * value that was replaced more than a grace period ago.
 */
export const cellSubject: Subject<Structures> = {
  name: 'rcu',
  commonBytes: VERSION_AGES_BYTES,
  hasAges: true,

  async begin({ shared, words, common, seat, random, wrong }) {
    const cells = await openCells(shared)
    const { rcu } = shared
    const ages = new VersionAges(rcu, words, common)
    const update = async (): Promise<void> => {
      let before = 0
      const change = (value: Uint8Array | undefined): Uint8Array => {
        const fields = value === undefined ? zeros() : readStamped(value, FIELDS)
        if (typeof fields === 'string') wrong(`what is to be replaced: ${fields}`)
        const [version = 0, ...counts] = typeof fields === 'string' ? zeros() : fields
        before = version
        const after = counts.map((count, at) => (at === seat ? count + 1 : count))
        return stampedValue([ages.next(), ...after], 4 * FIELDS + random.below(FILLING_MAX))
      }
      const cell = cells[random.below(CELLS)]!
      await operate(
        words,
        1,
        () => rcu.update(cell, change),
        () => ages.replace(before),
      )
    }
    const read = async (): Promise<void> => {
      using _section = rcu.readLock()
      const found = rcu.dereferenceBytes(cells[random.below(CELLS)]!)
      if (found === undefined) return
      const first = readStamped(found, FIELDS)
      if (random.below(4) === 0) await new Promise((resolve) => setImmediate(resolve))
      const second = readStamped(found, FIELDS)
      if (typeof first === 'string') wrong(`in a section: ${first}`)
      else if (typeof second === 'string') wrong(`to the end of a section: ${second}`)
      else if (first.join() !== second.join()) wrong('what was read has changed before the end of the section')
      else ages.see(first[0]!)
    }
    return async () => {
      if (random.below(3) === 0) await update()
      else await read()
      if (random.below(GROW_EVERY) === 0) await ages.grow()
      if (random.below(GROW_EVERY * GROW_EVERY) === 0) ages.growLater()
      if (random.below(SYNCHRONIZE_EVERY) === 0) await forAtMost(WAIT_MS, (signal) => rcu.synchronize({ signal }))
    }
  },

  async judge({ shared, processes, wrong }) {
    const { rcu } = shared
    await rcu.synchronize()
    await rcu.barrier()
    judgeAges(histogramOf(processes), wrong)
    const found = zeros()
    for (const cell of await openCells(shared)) {
      using _section = rcu.readLock()
      const value = rcu.dereferenceBytes(cell)
      const fields = value === undefined ? zeros() : readStamped(value, FIELDS)
      if (typeof fields === 'string') wrong(fields)
      else for (const [at, count] of fields.entries()) found[at] = found[at]! + count
    }
    for (const [seat, count] of found.slice(1).entries()) {
      const of = processes.filter((each) => each.seat === seat)
      const [least, doubt] = [sumOf(of, Word.Done), underWay(of)]
      if (count < least || count > least + doubt)
        wrong(`${count} replacements by seat ${seat} are there; ${least} were acknowledged, ${doubt} in doubt`)
    }
  },

  async empty(shared) {
    for (const cell of await openCells(shared)) await shared.rcu.assign(cell, stampedValue(zeros(), 0))
  },
}

async function openCells(shared: Structures): Promise<readonly RcuCell<Uint8Array>[]> {
  return await Promise.all(
    Array.from({ length: CELLS }, (_, at) => shared.cell<Uint8Array>(`cell ${at}`, { codec: bytes })),
  )
}

function zeros(): number[] {
  return Array.from({ length: FIELDS }, () => 0)
}
