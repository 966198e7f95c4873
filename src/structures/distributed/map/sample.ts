import { ReadCommand } from '../memory/command.ts'
import { ageOf } from './ages.ts'
import type { MapBuckets } from './buckets.ts'
import { BucketsRead, type FullSlot, isThere } from './slot.ts'
import { tableOf } from './tree.ts'
import { whereMoved } from './walk.ts'

/** Buckets in a row that are looked at: some thirty entries of a map that is full, all of one that is small. */
const SAMPLE_BUCKETS = 8
const SPREAD = 0x9e3779b1

/** A few entries of a map, drawn by chance, from which those that were not used for longest are taken out. */
export class MapSample {
  /** READs for a batch, whatever else it has. */
  readonly commands: readonly ReadCommand[]
  readonly #here: BucketsRead
  readonly #below: readonly BucketsRead[]
  readonly #node: ReadCommand
  readonly #word: bigint

  private constructor(map: MapBuckets, node: number, first: number, count: number) {
    const { tree, buckets } = map
    this.#word = tree.word(node)
    const read = (word: bigint): BucketsRead[] => {
      const table = tableOf(word)
      return table === undefined ? [] : [new BucketsRead(table, buckets, first, Math.min(count, buckets))]
    }
    const [here] = read(this.#word) as [BucketsRead]
    const below = [2 * node, 2 * node + 1].flatMap((one) => read(tree.word(one)))
    this.#here = here
    // Of one table alone it cannot be told what was moved.
    this.#below = below.length === 2 ? below : []
    this.#node = new ReadCommand(tree.place(node), 8)
    this.commands = [...[here, ...this.#below].flatMap(({ commands }) => commands), this.#node]
  }

  /** Undefined where the tree has to be read first. */
  static of(map: MapBuckets, random: () => number, count: number = SAMPLE_BUCKETS): MapSample | undefined {
    const route = map.tree.route(Math.imul(Math.floor(random() * 2 ** 31), SPREAD) >>> 0)
    return route && new MapSample(map, route.node, Math.floor(random() * map.buckets), count)
  }

  /** The tables were not those that this rank knows. */
  get isStale(): boolean {
    return this.#node.word() !== this.#word
  }

  /**
   * Once the commands have been carried out: up to `count` entries that were not used for longest, without the one in
   * `but`.
   */
  oldest(count: number, moment: number, but: number | undefined): readonly FullSlot[] {
    if (this.isStale) return []
    const found = this.#below.length === 0 ? this.#here.fullSlots() : whereMoved(this.#here, this.#below)
    const reads = [this.#here, ...this.#below]
    return found
      .map(([slot]) => slot)
      .filter((slot) => isThere(slot) && !slot.frozen && slot.place !== but)
      .map((slot) => {
        const ages = reads.reduce<bigint | undefined>((one, read) => one ?? read.ages(slot.place), undefined)
        return { slot, age: ageOf(ages ?? 0n, slot.place, moment) }
      })
      .sort((a, b) => b.age - a.age)
      .slice(0, count)
      .map(({ slot }) => slot)
  }
}
