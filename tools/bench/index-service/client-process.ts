/** A client of `aether bench index`: `node client-process.js JSON`, where the JSON is a {@link ClientPlan}. */
import process from 'node:process'
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import { type LanesRun, runLanes } from '../lanes.ts'
import { keyName } from '../structures/measurement.ts'
import type { ClientPlan, FromKeysClient, KeysFill, ToKeysClient } from './client-orders.ts'
import type { KeyStore, KeysName } from './key-store.ts'
import { fillFor, type KeyTurn, takenTogether, turnOf } from './key-turn.ts'
import { openKeys } from './open-keys.ts'
import { runOpenLoad } from './open-load.ts'
import { fillMix, isOrdered } from './ycsb.ts'

/** Stores that take turns do so as often as that. */
const ROUNDS = 5
/** Writes under way while it is measured how many an index can do, and the keys that they write. */
const CAPACITY_LANES = 32
const KEYS = 1000

const { place, seed } = JSON.parse(process.argv[2]!) as ClientPlan
const say = (message: FromKeysClient): void => void process.send?.(message)
const stores = new Map<KeysName, Promise<KeyStore>>()
let turns: readonly KeyTurn[] = []
let timeMs = 0

function storeOf(name: KeysName): Promise<KeyStore> {
  const open = stores.get(name) ?? openKeys(name, place)
  stores.set(name, open)
  return open
}

async function fill(store: KeyStore, what: KeysFill): Promise<void> {
  if (what.kind === 'mix') await fillMix(store, isOrdered(what.mix), what.records)
  else await fillFor(store, what.op, what.bytes)
}

/** Of one key after the other. */
async function writes(bytes: number): Promise<() => Promise<unknown>> {
  const store = await storeOf('aether')
  const value = Buffer.alloc(bytes, seed)
  let next = 0
  return async () => {
    next += 1
    return await store.set(keyName(next % KEYS), value)
  }
}

async function measure(): Promise<LanesRun[]> {
  const rounds = turns.length === 1 ? 1 : ROUNDS
  const found = turns.map((): LanesRun[] => [])
  for (let round = 0; round < rounds; round += 1)
    for (const [which, turn] of turns.entries()) found[which]!.push(await turn.run(timeMs / rounds))
  return found.map(takenTogether)
}

async function follow(told: ToKeysClient): Promise<void> {
  if (told.kind === 'fill') {
    await fill(await storeOf(told.store), told.fill)
    return say({ kind: 'filled' })
  }
  if (told.kind === 'prepare') {
    const opened = await Promise.all(told.stores.map(storeOf))
    turns = opened.map((store) => turnOf(store, told.work, seed))
    timeMs = told.timeMs
    for (const turn of turns) await turn.prepare(timeMs)
    return say({ kind: 'prepared' })
  }
  if (told.kind === 'saturate') {
    const write = await writes(told.bytes)
    const lanes = Array.from({ length: CAPACITY_LANES }, () => write)
    return say({ kind: 'saturated', run: await runLanes(lanes, told.timeMs) })
  }
  if (told.kind === 'offer')
    return say({ kind: 'offered', run: await runOpenLoad(await writes(told.bytes), told.load) })
  if (told.kind === 'go') return say({ kind: 'measured', runs: await measure() })
  for (const store of stores.values()) await (await store).close()
  process.send?.({ kind: 'closed' } satisfies FromKeysClient, () => process.exit(0))
}

endWithParent()
process.on('message', (told: ToKeysClient) => {
  follow(told).catch((error: unknown) => say({ kind: 'failed', why: whyOf(error) }))
})
say({ kind: 'opened' })
