import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Step } from '../../src/arrays/exchange/steps.ts'
import { Team } from '../../src/arrays/exchange/team.ts'
import type { OwnPiece, PartMemory, Place } from '../../src/arrays/memory/part-memory.ts'
import type { DType, Elements } from '../../src/arrays/types/dtype.ts'
import { Mesh } from '../messaging/peers/mesh.ts'
import { faultsOf, someMoves } from './support/moves.ts'

/** Memory of ranks of one process, which every rank reaches. */
class PlainMemory implements PartMemory {
  readonly #pieces = new Map<number, Uint8Array>()
  #last = 0

  take(lengthBytes: number): OwnPiece {
    const address = ++this.#last
    const bytes = new Uint8Array(lengthBytes)
    this.#pieces.set(address, bytes)
    return { place: { address, key: 0 }, bytes, giveBack: () => this.#pieces.delete(address) }
  }

  get taken(): number {
    return this.#pieces.size
  }

  mapped(_: number, { address }: Place, dtype: DType, length: number): Elements {
    return new dtype.Elements(this.#pieces.get(address)!.buffer as ArrayBuffer, 0, length)
  }

  read(): Step<void> {
    throw new Error('a redistribution reads what is mapped')
  }

  write(): Step<void> {
    throw new Error('a redistribution writes to no other rank')
  }

  async close(): Promise<void> {}
}

// Grids of two and three axes come with numbers of ranks that are no primes.
for (const size of [2, 3, 4, 6, 8, 12])
  test(`among ${size} ranks every redistribution brings each element, and no byte more than is needed`, async () => {
    await using mesh = await Mesh.open(size)
    const groups = mesh.groups()
    const ranks = [...groups.keys()]
    for (const memory of [new PlainMemory(), undefined]) {
      const teams = groups.map((group, rank) => new Team(group, ranks, rank, memory))
      for (const move of someMoves(40, size))
        assert.deepEqual((await Promise.all(teams.map((team) => faultsOf(team, move, false)))).flat(), [])
      assert.equal(memory?.taken ?? 0, 0, 'all memory is given back')
    }
  })
