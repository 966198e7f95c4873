import { bytesOfClass } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { ReadCommand } from '../memory/command.ts'
import { type MapEntry, readMapEntry } from './entry.ts'
import { isSameKey, type KeyBytes } from './key.ts'
import { BucketsRead, type FullSlot, isFull, type Slot } from './slot.ts'
import type { MapTable, MapTree, Route } from './tree.ts'

/** What the two buckets of a key were like. */
export interface Look {
  readonly route: Route
  /** The table whose slots these are. */
  readonly table: MapTable
  /** The table is being split, and what is in these buckets not moved yet: to be read, not to be changed. */
  readonly moving: boolean
  /** Slots whose fingerprint is that of the key. */
  readonly candidates: readonly FullSlot[]
  /** Empty ones, those of the bucket with more of them first. */
  readonly empty: readonly Slot[]
  readonly full: readonly FullSlot[]
  /** The word of count.ts, where the map has a bound. */
  readonly count: bigint
  /** When the entries of the bucket of a slot were used: see ages.ts. */
  ages(slot: Slot): bigint
}

/** A slot with the entry that it named. */
export interface FoundEntry extends FullSlot {
  readonly entry: MapEntry
}

/** READs of the buckets that a key may be in. */
export interface LookReads {
  readonly route: Route
  readonly commands: readonly ReadCommand[]
  readonly here: readonly BucketsRead[]
  readonly next: readonly BucketsRead[]
  readonly count: ReadCommand | undefined
  /** The word of the node, read last. */
  readonly node: ReadCommand
}

/**
 * The slots of one map at one home.
 *
 * While a table is split, it is valid for a key until both buckets of the key are moved. That is when no slot of theirs
 * is unset in the table below; from then on that table is valid. Both tables are read in one round trip, in this order,
 * and then the word of the node. If that is as it was, both were tables, and no other came in their place.
 */
export class MapBuckets {
  readonly tree: MapTree
  readonly buckets: number
  readonly #memory: HomeMemory
  /** Where the entries are counted; undefined where they are not. */
  readonly #countPlace: number | undefined

  constructor(memory: HomeMemory, tree: MapTree, buckets: number, countPlace: number | undefined) {
    this.#memory = memory
    this.#countPlace = countPlace
    this.tree = tree
    this.buckets = buckets
  }

  /** The buckets that a key may be in: two choices are two buckets. */
  choices({ first, second }: KeyBytes): readonly [number, number] {
    const one = first % this.buckets
    const other = second % this.buckets
    return [one, other === one ? (one + 1) % this.buckets : other]
  }

  /** For a batch. Undefined where the tree has to be read first. */
  reads(key: KeyBytes): LookReads | undefined {
    const route = this.tree.route(key.first)
    if (route === undefined) return undefined
    const of = (table: MapTable): BucketsRead[] =>
      this.choices(key).map((bucket) => new BucketsRead(table, this.buckets, bucket, 1))
    const here = of(route.table)
    const next = route.next === undefined ? [] : of(route.next)
    const node = new ReadCommand(this.tree.place(route.node), 8)
    const count = this.#countPlace === undefined ? undefined : new ReadCommand(this.#countPlace, 8)
    const commands = [...here, ...next].flatMap((read) => read.commands)
    return {
      route,
      here,
      next,
      node,
      count,
      commands: count === undefined ? [...commands, node] : [...commands, count, node],
    }
  }

  /** What the READs have found. Undefined where what is known of the tables is out of date. */
  see({ fingerprint }: KeyBytes, { route, here, next, node, count }: LookReads): Look | undefined {
    if (node.word() !== route.word) return undefined
    const below = next.map((read) => read.slots())
    const moved = route.next !== undefined && !below.flat().some(({ unset }) => unset)
    const table = moved ? (route.next as MapTable) : route.table
    const reads = moved ? next : here
    const buckets = moved ? below : here.map((read) => read.slots())
    const slots = buckets.flat()
    if ((moved || route.next === undefined) && slots.some(({ frozen }) => frozen)) return undefined
    const full = slots.filter(isFull)
    const empty = buckets.map((bucket) => bucket.filter((slot) => !isFull(slot))).sort((a, b) => b.length - a.length)
    const candidates = full.filter(({ block }) => block.fingerprint === fingerprint)
    return {
      route,
      table,
      moving: route.splitting && !moved,
      candidates,
      empty: empty.flat(),
      full,
      count: count?.word() ?? 0n,
      ages: ({ place }) => reads.reduce<bigint | undefined>((ages, read) => ages ?? read.ages(place), undefined) ?? 0n,
    }
  }

  async look(key: KeyBytes): Promise<Look> {
    for (;;) {
      const reads = this.reads(key)
      if (reads !== undefined) {
        await this.#memory.run(reads.commands)
        const look = this.see(key, reads)
        if (look !== undefined) return look
      }
      await this.tree.refresh()
    }
  }

  /** The entries that slots named, in one round trip; undefined for each whose slot has changed since. */
  async entries(slots: readonly FullSlot[]): Promise<readonly (FoundEntry | undefined)[]> {
    if (slots.length === 0) return []
    const reads = slots.map(({ block }) => new ReadCommand(block.offset, bytesOfClass(block.sizeClass)))
    await this.#memory.run(reads)
    return slots.map((slot, at) => {
      const entry = readMapEntry(slot.block, reads[at]!.bytes)
      return entry && { ...slot, entry }
    })
  }

  /** Those of `slots` that have the key; undefined if the caller has to look again, because a slot has changed. */
  async withKey(key: KeyBytes, slots: readonly FullSlot[]): Promise<readonly FoundEntry[] | undefined> {
    const entries = await this.entries(slots)
    if (entries.includes(undefined)) return undefined
    return (entries as readonly FoundEntry[]).filter(({ entry }) => isSameKey(key, entry.keyMeta, entry.key))
  }
}
