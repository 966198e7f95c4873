import { bytes } from 'aether-dsm/internal/structures'
import { nowMs } from '../../torture-child/clock.ts'
import { SEATS_MAX } from '../journal.ts'
import { settleMap } from '../settle-map.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { type CommonStructures, operate, type Subject } from '../subject.ts'

const KEYS = 32
const TTL_MS_MIN = 20
const TTL_MS_MAX = 200
const FILLING_MAX = 300
/** What clocks may differ by where a member reads its own. */
const SLACK_MS = 5

/** An entry of which is known from when to when it was set. */
interface Known {
  readonly version: number
  readonly thereUntilMs: number
  readonly goneFromMs: number
}

/** An entry is there until its time is over, and not after that. */
export const expiringMapSubject: Subject<CommonStructures> = {
  name: 'map: time to live',
  commonBytes: 4 * SEATS_MAX,

  async begin({ shared, words, common, seat, random, wrong }) {
    const map = await shared.map<Uint8Array>('expiring', { codec: bytes, ttlMs: TTL_MS_MAX })
    const known = new Map<number, Known>()
    const set = async (key: number, name: string): Promise<void> => {
      const version = 1 + Atomics.add(common, seat, 1)
      const ttlMs = TTL_MS_MIN + random.below(TTL_MS_MAX - TTL_MS_MIN)
      const beganMs = nowMs()
      known.delete(key)
      await operate(
        words,
        1,
        () => map.set(name, stampedValue([seat, key, version], random.below(FILLING_MAX)), { ttlMs }),
        () => known.set(key, { version, thereUntilMs: beganMs + ttlMs, goneFromMs: nowMs() + ttlMs + SLACK_MS }),
      )
    }
    const look = async (key: number, name: string): Promise<void> => {
      const beganMs = nowMs()
      const value = await map.get(name)
      const endedMs = nowMs()
      const { version, thereUntilMs, goneFromMs } = known.get(key) ?? unknown
      if (value === undefined && endedMs < thereUntilMs - SLACK_MS)
        wrong(`'${name}' is gone ${Math.round(thereUntilMs - endedMs)} ms before its time is over`)
      if (value === undefined) return
      const fields = readStamped(value, 3)
      if (typeof fields === 'string') wrong(`'${name}': ${fields}`)
      else if (version !== 0 && fields[2] !== version) wrong(`'${name}' has version ${fields[2]}, not ${version}`)
      if (beganMs > goneFromMs) wrong(`'${name}' is there ${Math.round(beganMs - goneFromMs)} ms after its time`)
    }
    return async () => {
      const key = random.below(KEYS)
      const name = `${seat} ${key}`
      await (random.below(2) === 0 ? set(key, name) : look(key, name))
    }
  },

  async judge({ shared, wrong }) {
    const map = await shared.map<Uint8Array>('expiring', { codec: bytes, ttlMs: TTL_MS_MAX })
    for await (const [key, value] of map.entries()) {
      const fields = readStamped(value, 3)
      if (typeof fields === 'string') wrong(`'${String(key)}': ${fields}`)
    }
  },

  async empty(shared) {
    const map = await shared.map<Uint8Array>('expiring', { codec: bytes, ttlMs: TTL_MS_MAX })
    await map.clear()
    // What has expired is not given by an iteration, and is there.
    for (let seat = 0; seat < SEATS_MAX; seat += 1) {
      for (let key = 0; key < KEYS; key += 1) {
        await map.set(`${seat} ${key}`, stampedValue([], 0), { ttlMs: 2 ** 30 })
        await map.delete(`${seat} ${key}`)
      }
    }
    await settleMap(shared, map, 2 * 4 * SEATS_MAX * KEYS)
  },
}

const unknown: Known = {
  version: 0,
  thereUntilMs: Number.NEGATIVE_INFINITY,
  goneFromMs: Number.POSITIVE_INFINITY,
}
