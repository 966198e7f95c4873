import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { SPACES } from '../memory/layout.ts'
import type { RecordTable } from '../memory/record-table.ts'
import type { UseWindow } from '../memory/use-counts.ts'
import { isOfKey, keyOfRecord, ownerOfRecord, RecordKeys } from '../state/record-format.ts'
import type { ShardMachine } from '../state/shard-machine.ts'
import type { HotKey, HotKeysRequest } from './index-contract.ts'

/** Records that are looked at in a row: the shard does nothing else meanwhile. */
const RECORDS_MAX = 4096

/**
 * Finds the keys of a shard that are used most while someone wants to know. Commands count each of their keys once, and
 * reads of the shard's memory count where they are made. All processes that hold the shard run its writes: they count
 * in that of the leader only.
 */
export class HotKeys {
  readonly #table: RecordTable
  readonly #shard: ShardMachine
  readonly #leads: () => boolean
  readonly #keys = new RecordKeys()

  constructor(table: RecordTable, shard: ShardMachine, leads: () => boolean) {
    this.#table = table
    this.#shard = shard
    this.#leads = leads
  }

  /** The most used first. @throws what the signal aborts with. */
  async find({ forMs, count }: HotKeysRequest, signal: AbortSignal): Promise<HotKey[]> {
    const table = this.#table
    const window = table.countUses()
    this.#shard.onUse = (db, key, isRead) => {
      if (isRead || this.#leads()) table.use(this.#keys.ofKey(key, table.spaceOf(db)))
    }
    try {
      await sleep(forMs, undefined, { signal })
    } finally {
      window.end()
      if (!table.isCounting) this.#shard.onUse = undefined
    }
    return await this.#most(window, count, signal)
  }

  /** Keys that are gone by now are not among them. */
  async #most(window: UseWindow, count: number, signal: AbortSignal): Promise<HotKey[]> {
    const most = new Map<string, HotKey>()
    let above = 0
    const found = (record: Uint8Array, uses: number): void => {
      const db = this.#dbOf(ownerOfRecord(record).space)
      const key = keyOfRecord(record)
      // A table that grows meanwhile may show it twice.
      most.set(Buffer.from(record).toString('latin1'), { db, key, uses })
      if (most.size < 2 * count) return
      for (const [name] of [...most].sort(([, one], [, other]) => other.uses - one.uses).slice(count)) most.delete(name)
      above = Math.min(...[...most.values()].map((each) => each.uses))
    }
    const options = { count: RECORDS_MAX, above: () => above, accepts: isOfKey }
    for (let cursor = this.#table.usedMore(window, 0, options, found); cursor !== 0; ) {
      await turn(undefined, { signal })
      cursor = this.#table.usedMore(window, cursor, options, found)
    }
    return mostUsed([...most.values()], count)
  }

  #dbOf(space: number): number {
    for (let db = 0; db < SPACES; db += 1) if (this.#table.spaceOf(db) === space) return db
    return 0
  }
}

export function mostUsed(keys: readonly HotKey[], count: number): HotKey[] {
  return [...keys].sort((one, other) => other.uses - one.uses).slice(0, count)
}
