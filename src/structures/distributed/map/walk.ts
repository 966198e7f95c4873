import type { HomeMemory } from '../heap/home-memory.ts'
import { ReadCommand } from '../memory/command.ts'
import { BUCKET_SLOTS } from './body.ts'
import type { MapBuckets } from './buckets.ts'
import { BucketsRead, type FullSlot, isFull, isThere, type Slot } from './slot.ts'
import { type MapTable, tableOf } from './tree.ts'

/** Buckets that are read in one go: 16 KiB. */
const BUCKETS_A_PART = 256

/** A slot that was met, and which one of which table it is. */
export interface WalkedSlot extends FullSlot {
  readonly node: number
  readonly bucket: number
  /** Of the bucket's slots. */
  readonly at: number
}

/**
 * Goes through all slots of a map at one home, table by table. An entry stays in its slot as long as it is there, and
 * in the same slot of another table when the table is split. The walk goes on in the tables below at the place where it
 * was in the table above. So it meets each entry that stays once.
 */
export class MapWalk {
  readonly #memory: HomeMemory
  readonly #map: MapBuckets

  constructor(memory: HomeMemory, map: MapBuckets) {
    this.#memory = memory
    this.#map = map
  }

  /** Slots with entries, part by part. */
  async *parts(): AsyncGenerator<readonly WalkedSlot[], undefined> {
    yield* this.#below(1, 0)
    return undefined
  }

  /** What is now where a slot was. */
  async again({ node, bucket, at }: WalkedSlot): Promise<readonly WalkedSlot[]> {
    return (await this.#read(node, bucket, 1)).filter((slot) => slot.at === at)
  }

  async *#below(node: number, from: number): AsyncGenerator<readonly WalkedSlot[], undefined> {
    const { tree, buckets } = this.#map
    for (let first = from; first < buckets; first += BUCKETS_A_PART) {
      if (tree.isDone(node)) {
        yield* this.#below(2 * node, first)
        yield* this.#below(2 * node + 1, first)
        return undefined
      }
      yield await this.#read(node, first, Math.min(BUCKETS_A_PART, buckets - first))
    }
    return undefined
  }

  /** The slots of some buckets that have entries; of the tables below where the node is done. */
  async #read(node: number, first: number, count: number): Promise<readonly WalkedSlot[]> {
    const { tree } = this.#map
    for (;;) {
      if (tree.isDone(node))
        return [...(await this.#read(2 * node, first, count)), ...(await this.#read(2 * node + 1, first, count))]
      const table = tableOf(tree.word(node))
      const slots = table && (await this.#readTable(node, table, first, count))
      if (slots !== undefined) return slots
      await tree.refresh()
    }
  }

  /** Undefined where what is known of the tables is out of date. */
  async #readTable(node: number, table: MapTable, first: number, count: number): Promise<WalkedSlot[] | undefined> {
    const { tree, buckets } = this.#map
    const below = [tableOf(tree.word(2 * node)), tableOf(tree.word(2 * node + 1))].filter((one) => one !== undefined)
    const next = below.length === 2 ? below : []
    const reads = [table, ...next].map((one) => new BucketsRead(one, buckets, first, count))
    const word = new ReadCommand(tree.place(node), 8)
    await this.#memory.run([...reads.flatMap(({ commands }) => commands), word])
    if (word.word() !== tree.word(node)) return undefined
    const [here, ...moved] = reads as [BucketsRead, ...BucketsRead[]]
    if (next.length === 0 && here.isFrozen()) return undefined
    const found = next.length === 0 ? here.fullSlots() : whereMoved(here, moved)
    return found
      .filter(([slot]) => isThere(slot))
      .map(([slot, index]): WalkedSlot => {
        const bucket = first + Math.floor(index / BUCKET_SLOTS)
        return { ...slot, node, bucket, at: index % BUCKET_SLOTS }
      })
  }
}

/**
 * Each slot of a table that is being split, or those of the tables below where it was moved: they have the same number.
 */
export function whereMoved(here: BucketsRead, below: readonly BucketsRead[]): (readonly [FullSlot, number])[] {
  const [left, right] = below.map((read) => read.slots()) as [Slot[], Slot[]]
  return here.slots().flatMap((slot, index) => {
    const moved = [left[index]!, right[index]!]
    const now = moved.some(({ unset }) => unset) ? [slot] : moved
    return now.filter(isFull).map((full) => [full, index] as const)
  })
}
