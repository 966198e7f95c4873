import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Team } from '../../src/arrays/exchange/team.ts'
import { Mesh } from '../messaging/peers/mesh.ts'
import { faultsOf, someMoves } from './support/moves.ts'
import { PlainMemory } from './support/plain-memory.ts'

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
