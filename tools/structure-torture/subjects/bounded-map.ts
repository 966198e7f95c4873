import { bytes } from 'aether-dsm/internal/structures'
import { SEATS_MAX } from '../journal.ts'
import { settleMap } from '../settle-map.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { type CommonStructures, operate, type Subject } from '../subject.ts'

const KEYS = 64
const ENTRIES_MAX = 128
const FILLING_MAX = 900
const DOUBTFUL = -1
const options = { codec: bytes, maxEntries: ENTRIES_MAX }

/** An entry is what was set last, or was evicted; never what was there before. There are no more than the bound. */
export const boundedMapSubject: Subject<CommonStructures> = {
  name: 'map: evicting',
  commonBytes: 4 * 2 * SEATS_MAX * KEYS,

  async begin({ shared, words, common, seat, random, wrong }) {
    const map = await shared.map<Uint8Array>('bounded', options)
    const see = async (key: number): Promise<number> => {
      const value = await map.get(`${seat} ${key}`)
      const fields = value === undefined ? [seat, key, 0] : readStamped(value, 3)
      if (typeof fields === 'string') wrong(`'${seat} ${key}': ${fields}`)
      const found = typeof fields === 'string' ? DOUBTFUL : fields[2]!
      const known = Atomics.load(common, seat * KEYS + key)
      if (known !== DOUBTFUL && found !== 0 && found !== known)
        wrong(`under '${seat} ${key}' is version ${found}, and ${known} was acknowledged`)
      return found
    }
    for (let key = 0; key < KEYS; key += 1) Atomics.store(common, seat * KEYS + key, await see(key))
    const change = async (key: number): Promise<void> => {
      const at = seat * KEYS + key
      const known = Atomics.load(common, at)
      const next = 1 + Atomics.add(common, SEATS_MAX * KEYS + at, 1)
      const deletes = random.below(8) === 0
      Atomics.store(common, at, DOUBTFUL)
      const after = await operate(words, 1, async () => {
        if (deletes) await map.delete(`${seat} ${key}`)
        else await map.set(`${seat} ${key}`, stampedValue([seat, key, next], random.below(FILLING_MAX)))
        return deletes ? 0 : next
      })
      Atomics.store(common, at, after ?? known)
    }
    return async () => {
      const key = random.below(KEYS)
      if (random.below(2) === 0) await see(key)
      else await change(key)
    }
  },

  async judge({ shared, processes, common, wrong }) {
    const map = await shared.map<Uint8Array>('bounded', options)
    let count = 0
    for await (const [name, value] of map.entries()) {
      count += 1
      const fields = readStamped(value, 3)
      if (typeof fields === 'string') {
        wrong(`'${String(name)}': ${fields}`)
        continue
      }
      const [seat = 0, key = 0, version = 0] = fields
      const known = common[seat * KEYS + key]!
      if (known !== DOUBTFUL && version !== known) wrong(`under '${String(name)}' is version ${version}, not ${known}`)
    }
    if (count > ENTRIES_MAX + processes.length) wrong(`it has ${count} entries; the bound is ${ENTRIES_MAX}`)
    const size = await map.size()
    if (size !== count) wrong(`the map says that it has ${size} entries, and has ${count}`)
  },

  async empty(shared) {
    const map = await shared.map<Uint8Array>('bounded', options)
    await map.clear()
    await settleMap(shared, map, 2 * 4 * SEATS_MAX * KEYS)
  },
}
