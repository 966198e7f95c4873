import { GRANULES_PER_SLAB } from '../heap/layout.ts'
import type { BlockSight, HeapSight } from '../sight/heap-sight.ts'
import { Damage, must } from './damage.ts'

/** Which structure has each block: each is reached by one, and once. */
export class Claims {
  readonly #sight: HeapSight
  /** By granule of the slabs: the number of the claimant whose block begins there, or 0. */
  readonly #claimants: Uint16Array
  readonly #names: string[] = ['']

  constructor(sight: HeapSight) {
    this.#sight = sight
    this.#claimants = new Uint16Array(sight.backed * GRANULES_PER_SLAB)
  }

  /** One who reaches blocks. `name`: for those who reach the same. */
  claimant(name: string): Claimant {
    const number = this.#names.push(name) - 1
    return new Claimant({
      claim: (reference, leastBytes, what) => this.#claim(number, reference, leastBytes, what),
      has: (reference) => this.#claimants[this.#granuleOf(reference)] === number,
    })
  }

  isClaimed(reference: number): boolean {
    return (this.#claimants[this.#granuleOf(reference)] ?? 0) !== 0
  }

  #claim(number: number, reference: number, leastBytes: number, what: string): BlockSight {
    const block = this.#sight.block(reference)
    if (block === undefined) throw new Damage(`${what} is not a block in use`)
    must(block.lengthBytes >= leastBytes, `${what} is a block of ${block.lengthBytes} bytes, which is too short`)
    const granule = this.#granuleOf(reference)
    const other = this.#claimants[granule]!
    if (other !== 0)
      throw new Damage(`${what} is also reached from ${other === number ? 'another place in it' : this.#names[other]!}`)
    this.#claimants[granule] = number
    return block
  }

  #granuleOf(reference: number): number {
    return reference - this.#sight.layout.firstReference
  }
}

interface ClaimCalls {
  claim(reference: number, leastBytes: number, what: string): BlockSight
  has(reference: number): boolean
}

/** A structure, or a part of a heap, that reaches blocks. */
export class Claimant {
  readonly #calls: ClaimCalls

  constructor(calls: ClaimCalls) {
    this.#calls = calls
  }

  /**
   * The block of a reference, which no one has reached before.
   *
   * @throws Damage if another has, or it is not in use, or it is too short.
   */
  claim(reference: number, leastBytes: number, what: string): BlockSight {
    return this.#calls.claim(reference, leastBytes, what)
  }

  /** Whether it has claimed that block. */
  has(reference: number): boolean {
    return this.#calls.has(reference)
  }
}
