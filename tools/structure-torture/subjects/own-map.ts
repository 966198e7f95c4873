import { bytes } from 'aether-dsm/internal/structures'
import { SEATS_MAX } from '../journal.ts'
import { settleMap } from '../settle-map.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { type CommonStructures, operate, type Subject } from '../subject.ts'

const KEYS = 256
const FILLING_MAX = 500
const ITERATE_EVERY = 4096
/** Stands for a key that a killed process was changing. */
const DOUBTFUL = -1
/** The highest version that each key has had comes after the versions that they have. */
const HIGHEST = SEATS_MAX * KEYS

/**
 * Every seat has keys of its own, so it is known what is under them: the version that was acknowledged last, 0 for
 * none. The map grows meanwhile, and others read.
 */
export const ownMapSubject: Subject<CommonStructures> = {
  name: 'map: own keys',
  commonBytes: 4 * 2 * SEATS_MAX * KEYS,

  async begin({ shared, words, common, seat, random, wrong }) {
    const map = await shared.map<Uint8Array>('own', { codec: bytes })
    const find = async (of: number, key: number): Promise<number> => {
      const value = await map.get(nameOf(of, key))
      const version = value === undefined ? 0 : versionOf(value, of, key)
      if (typeof version === 'string') wrong(version)
      return typeof version === 'string' ? DOUBTFUL : version
    }
    const see = async (key: number): Promise<number> => {
      const found = await find(seat, key)
      const known = Atomics.load(common, seat * KEYS + key)
      if (known !== DOUBTFUL && found !== known)
        wrong(`under '${nameOf(seat, key)}' is version ${found}, and ${known} was acknowledged`)
      return found
    }
    /** Whatever came of a change that was cut short, it is what is there now. */
    for (let key = 0; key < KEYS; key += 1) Atomics.store(common, seat * KEYS + key, await see(key))
    const change = async (key: number): Promise<void> => {
      const [known, at] = [await see(key), seat * KEYS + key]
      const next = 1 + Atomics.add(common, HIGHEST + at, 1)
      const name = nameOf(seat, key)
      const value = stampedValue([seat, key, next], random.below(FILLING_MAX))
      Atomics.store(common, at, DOUBTFUL)
      const kind = random.below(4)
      const after = await operate(words, 1, async () => {
        if (kind === 0) return (await deleteKnown(name, known)) ? 0 : known
        if (kind === 1) return (await map.setIfAbsent(name, value)) ? next : known
        await map.set(name, value)
        return next
      })
      if (kind === 1 && after !== undefined && (after === next) !== (known === 0))
        wrong(`setIfAbsent gave ${after === next} where version ${known} was`)
      Atomics.store(common, at, after ?? known)
    }
    const deleteKnown = async (name: string, known: number): Promise<boolean> => {
      const deleted = await map.delete(name)
      if (deleted !== (known !== 0)) wrong(`delete gave ${deleted} where version ${known} was`)
      return deleted
    }
    return async () => {
      if (random.below(ITERATE_EVERY) === 0) for await (const [, value] of map.entries()) checkWhole(value, wrong)
      else if (random.below(4) === 0) await find(random.below(SEATS_MAX), random.below(KEYS))
      else await change(random.below(KEYS))
    }
  },

  async judge({ shared, common, wrong }) {
    const map = await shared.map<Uint8Array>('own', { codec: bytes })
    const found = new Map<string, Uint8Array>()
    for await (const [key, value] of map.entries()) found.set(String(key), value)
    for (let seat = 0; seat < SEATS_MAX; seat += 1) {
      for (let key = 0; key < KEYS; key += 1) {
        const value = found.get(nameOf(seat, key))
        const version = value === undefined ? 0 : versionOf(value, seat, key)
        const known = common[seat * KEYS + key]!
        if (typeof version === 'string') wrong(version)
        else if (known !== DOUBTFUL && version !== known)
          wrong(`under '${nameOf(seat, key)}' is version ${version}, and ${known} was acknowledged`)
      }
    }
    const size = await map.size()
    if (size !== found.size) wrong(`the map says that it has ${size} entries, and has ${found.size}`)
  },

  async empty(shared) {
    const map = await shared.map<Uint8Array>('own', { codec: bytes })
    await map.clear()
    await settleMap(shared, map, 2 * 4 * SEATS_MAX * KEYS)
  },
}

function nameOf(seat: number, key: number): string {
  return `${seat} ${key}`
}

function versionOf(value: Uint8Array, seat: number, key: number): number | string {
  const fields = readStamped(value, 3)
  if (typeof fields === 'string') return `'${nameOf(seat, key)}': ${fields}`
  if (fields[0] !== seat || fields[1] !== key)
    return `under '${nameOf(seat, key)}' is what belongs under '${nameOf(fields[0]!, fields[1]!)}'`
  return fields[2]!
}

function checkWhole(value: Uint8Array, wrong: (text: string) => void): void {
  const fields = readStamped(value, 3)
  if (typeof fields === 'string') wrong(`while all are looked at: ${fields}`)
}
