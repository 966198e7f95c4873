import type { Block } from '../blocks/block.ts'
import { ArrayError } from '../errors.ts'
import { type Steps, waitFor } from '../exchange/steps.ts'
import type { Team } from '../exchange/team.ts'
import type { Parts } from '../graph/node.ts'
import type { Place } from '../memory/part-memory.ts'
import type { Partition } from '../partitions/partition.ts'
import type { DType, Elements } from '../types/dtype.ts'

/** The parts of an array that lie where every rank reaches them, in row-major order each. */
export class ReachableParts implements Parts {
  readonly #team: Team
  readonly #partition: Partition
  readonly #dtype: DType
  readonly #places: readonly Place[]
  /** By rank. The own part is not among them, so that its memory may go when nothing refers to it. */
  readonly #mapped = new Map<number, Block>()

  constructor(team: Team, partition: Partition, dtype: DType, places: readonly Place[]) {
    this.#team = team
    this.#partition = partition
    this.#dtype = dtype
    this.#places = places
  }

  blockOf(rank: number): Block | undefined {
    const known = this.#mapped.get(rank)
    if (known !== undefined) return known
    const block = this.#team.mappedPart(rank, this.#placeOf(rank), this.#dtype, this.#partition.shapeOf(rank))
    if (block !== undefined) this.#mapped.set(rank, block)
    return block
  }

  *read(rank: number, first: number, target: Elements): Steps<void> {
    yield* waitFor(this.#team.memory!.read(rank, this.#placeOf(rank, first), bytesOf(target)))
    this.#team.countMoved(target.byteLength)
  }

  *write(rank: number, first: number, source: Elements): Steps<void> {
    yield* waitFor(this.#team.memory!.write(rank, this.#placeOf(rank, first), bytesOf(source)))
  }

  #placeOf(rank: number, first: number = 0): Place {
    const place = this.#places[this.#partition.ranks.indexOf(rank)]
    if (place === undefined)
      throw new ArrayError('PARTITION', `rank ${rank} has no part; ranks ${this.#partition.ranks.join(', ')} have`)
    return { ...place, address: place.address + first * this.#dtype.bytes }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Elements): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

const numbers = new WeakMap<Elements, number>()

const reachable = new WeakMap<Elements, ReachableParts>()

/** Memory of blocks that no one refers to any more. */
const dropped = new FinalizationRegistry<{ readonly team: Team; readonly number: number }>(({ team, number }) => {
  team.drop(number)
})

/** Other ranks reach this block, and this one theirs, until nothing refers to its memory. */
export function makeReachable(
  team: Team,
  partition: Partition,
  { block, places, number }: { readonly block: Block; readonly places: readonly Place[]; readonly number: number },
): void {
  reachable.set(block.data, new ReachableParts(team, partition, block.dtype, places))
  numbers.set(block.data, number)
  dropped.register(block.data, { team, number }, block.data)
}

/** This block is not used any more, though it may be referred to. */
export function dropParts(team: Team, { data }: Block): void {
  const number = numbers.get(data)
  if (number === undefined) return
  numbers.delete(data)
  reachable.delete(data)
  dropped.unregister(data)
  team.drop(number)
}

/** Undefined if other ranks do not reach this block. */
export function reachableParts(block: Block | undefined): ReachableParts | undefined {
  return block === undefined ? undefined : reachable.get(block.data)
}
