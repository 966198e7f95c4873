import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openArrays } from '../../src/arrays/open-arrays.ts'
import type { AxisDivision, Division } from '../../src/arrays/partitions/partition.ts'
import { DTYPES, type DTypeName } from '../../src/arrays/types/dtype.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { Ranks } from '../support/rank-process.ts'
import type { Move } from './fixtures/array-rank.ts'
import { programs } from './fixtures/programs.ts'

useRuntimeDirectory()
const fixture = new URL('./fixtures/array-rank.js', import.meta.url)
const alone = await openArrays()
const names = Object.keys(programs)
const expected = Object.fromEntries(names.map((name) => [name, programs[name]?.(alone, 'replicated')]))

async function joined(size: number): Promise<Ranks> {
  const ranks = new Ranks(fixture, size)
  await ranks.all('join')
  return ranks
}

const division: fc.Arbitrary<AxisDivision> = fc.oneof(
  fc.constantFrom('block' as const, 'cyclic' as const, 'replicated' as const),
  fc.integer({ min: 2, max: 4 }).map((blockCyclic) => ({ blockCyclic })),
)
const moves: fc.Arbitrary<Move> = fc.array(fc.integer({ min: 0, max: 11 }), { maxLength: 3 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    from: fc.array(division, { minLength: shape.length, maxLength: shape.length }),
    to: fc.array(division, { minLength: shape.length, maxLength: shape.length }),
    dtype: fc.constantFrom(...(Object.keys(DTYPES) as DTypeName[])),
    isShared: fc.boolean(),
    isBlocking: fc.boolean(),
  }),
)

/** Every size has some of them. */
const divisions: Readonly<Record<number, readonly Division[]>> = {
  1: ['block', 'cyclic'],
  2: ['block', 'cyclic', { blockCyclic: 3 }, 'replicated'],
  3: ['block', { blockCyclic: 4 }],
  4: ['block', 'cyclic'],
  7: ['block', { blockCyclic: 2 }],
}

for (const size of [1, 2, 3, 4, 7]) {
  test(`on ${size} ranks programs have the bits of one process, and no byte more moves than is needed`, async () => {
    await using ranks = await joined(size)
    const wanted = fc.sample(moves, { numRuns: 40, seed: size })
    assert.deepEqual((await ranks.all<string[]>('moveAll', wanted)).flat(), [])
    for (const [turn, each] of divisions[size]!.entries())
      for (const name of names)
        for (const [rank, results] of (await ranks.all('run', name, each, turn % 2 === 1)).entries())
          assert.deepEqual(results, expected[name], `${name} at rank ${rank} with ${JSON.stringify(each)}`)
    await ranks.all('close')
  })
}

test('ranks read and write elements and parts of each other, in memory that all map or over their connections', async () => {
  await using ranks = await joined(3)
  const answers = [...(await ranks.all<object>('elements', false)), ...(await ranks.all<object>('elements', true))]
  for (const [at, said] of answers.entries()) {
    const rank = at % 3
    const next = (rank + 1) % 3
    const written = [102, 1, 2, 100, 4, 5, 101, 7, 8, 9]
    const starts = [0, 3, 6]
    assert.deepEqual(said, {
      read: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      owners: [0, 0, 0, 1, 1, 1, 2, 2, 2, 2],
      own: rank === 2 ? 4 : 3,
      written: [
        [0, 102],
        [1, 100],
        [2, 101],
      ],
      bulk: written.slice(starts[next]! + 1, starts[next]! + 3),
      all: [102, -1, -2, 100, -1, -2, 101, -1, -2, 9],
      partition: 'block',
    })
  }
  await ranks.all('close')
})

test('what cannot be is refused at every rank, with what to do, and all go on', async () => {
  await using ranks = await joined(2)
  for (const said of await ranks.all<Record<string, { code: string; message: string }>>('refusals')) {
    const { after, ...errors } = said
    assert.equal(after, 8)
    const codes = Object.fromEntries(
      Object.entries(errors).map(([name, { code }]) => [name, code.replace('ERR_AETHER_ARRAY_', '')]),
    )
    assert.deepEqual(codes, {
      write: 'READ_ONLY',
      bulk: 'READ_ONLY',
      slice: 'READ_ONLY',
      private: 'PARTITION',
      beyond: 'INDEX',
      type: 'TYPE',
      index: 'INDEX',
      division: 'PARTITION',
      unknown: 'PARTITION',
      memory: 'MEMORY',
      gather: 'AXIS',
    })
    assert.match(errors['private']!.message, /make a copy\(\) of the array at every rank/)
  }
  await ranks.all('close')
})

test('ranks that do different things are told so, each with what the others do, and may go on', async () => {
  await using ranks = await joined(3)
  for (const { error, after } of await ranks.all<{ error: { code: string; message: string }; after: number }>(
    'differ',
  )) {
    assert.equal(error.code, 'ERR_AETHER_ARRAY_ORDER')
    assert.match(error.message, /rank 0 sum of \(100\)/)
    assert.match(error.message, /rank 2 max of \(100\)/)
    assert.equal(after, 100)
  }
  for (const { code } of await ranks.all<{ code: string }>('alone'))
    assert.equal(code, 'ERR_AETHER_COLLECTIVE_MISMATCH')
})

test('memory is used again once every rank has dropped it', async () => {
  await using ranks = await joined(3)
  for (const most of await ranks.all<number>('reuse', 200)) assert.ok(most <= 12 * 8000, `${most} bytes`)
})

test('a rank that dies takes its parts along; the others go on without it', async () => {
  await using ranks = await joined(3)
  assert.deepEqual(await ranks.all('keep'), [66, 66, 66])
  await ranks.kill(1)
  const left = await Promise.all([0, 2].map((rank) => ranks.on<Record<string, unknown>>(rank, 'afterDeath')))
  for (const [at, said] of left.entries()) {
    const { failure, failed, own, lost, ...others } = said as Record<string, { code: string; message: string }>
    assert.equal(failure!.code, 'ERR_AETHER_ARRAY_LOST')
    assert.match(failure!.message, /rank 1 ended.*shrink\(\)/)
    assert.equal(failed, 'ERR_AETHER_ARRAY_LOST')
    assert.deepEqual(
      own,
      [
        [1, 2, 3, 4],
        [9, 10, 11, 12],
      ][at],
    )
    assert.equal(lost!.code, 'ERR_AETHER_ARRAY_LOST')
    assert.match(lost!.message, /from \[4\] on were at rank 1/)
    assert.deepEqual(others, { sum: 30, mixed: [2, 3, 4] })
  }
})
