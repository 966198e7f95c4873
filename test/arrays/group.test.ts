import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openArrays } from '../../src/arrays/open-arrays.ts'
import type { Division } from '../../src/arrays/partitions/partition.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { type RankProcess, Ranks } from '../support/rank-process.ts'
import type { Way } from './fixtures/array-rank.ts'
import { programs } from './fixtures/programs.ts'
import { someMoves } from './support/moves.ts'

useRuntimeDirectory()
/** Processes that are ranks of one job after the other: most of the time of a job is to start them. */
const ranks = new Ranks(new URL('./fixtures/array-rank.js', import.meta.url), 3)
after(() => ranks[Symbol.asyncDispose]())
let jobs = 0
let current: Job | undefined

/** A job of so many of the processes: the one that is there, or a new one. */
async function jobOf(size: number): Promise<Job> {
  if (current?.processes.length === size) return current
  await current?.all('close')
  current = await Job.begin(ranks.processes.slice(0, size))
  return current
}

class Job {
  readonly processes: readonly RankProcess[]

  private constructor(processes: readonly RankProcess[]) {
    this.processes = processes
  }

  static async begin(processes: readonly RankProcess[]): Promise<Job> {
    const job = { size: processes.length, rendezvous: `${ranks.rendezvous}-${++jobs}` }
    await Promise.all(processes.map((process, rank) => process.call('join', { ...job, rank })))
    return new Job(processes)
  }

  all<T = unknown>(scenario: string, ...args: readonly unknown[]): Promise<T[]> {
    return Promise.all(this.processes.map((process) => process.call<T>(scenario, ...args)))
  }
}

const alone = await openArrays()
const expected: (readonly [name: string, results: unknown])[] = []
for (const [name, program] of Object.entries(programs)) expected.push([name, await program(alone, 'replicated')])

const mapped = (partition: Division): Way => ({ partition, isApart: false })
const apart = (partition: Division): Way => ({ partition, isApart: true })
/** By number of ranks, how all programs run. Where several ways stand together, each program runs in one of them. */
const turns: readonly (readonly [size: number, turns: readonly (readonly Way[])[]])[] = [
  [1, [[mapped('block')], [apart('cyclic')]]],
  [2, [[mapped('block')], [mapped('cyclic')], [apart({ blockCyclic: 3 })], [apart('replicated')]]],
  [3, [[mapped({ blockCyclic: 4 })], [apart('block')]]],
]

function tryPrograms([size, each]: (typeof turns)[number]): void {
  test(`on ${size} ranks programs have the bits of one process, and no byte more moves than is needed`, async () => {
    const job = await jobOf(size)
    assert.deepEqual((await job.all<string[]>('moveAll', someMoves(5, size))).flat(), [])
    for (const ways of each) {
      const results = await job.all<Record<string, unknown>>('runAll', ways)
      for (const [rank, said] of results.entries())
        for (const [name, wanted] of expected)
          assert.deepEqual(said[name], wanted, `${name} at rank ${rank} with ${JSON.stringify(ways)}`)
    }
  })
}

tryPrograms(turns[0]!)
tryPrograms(turns[1]!)

test('ranks of which one does what moves elements, and others wait for it elsewhere, are told so', async () => {
  const job = await jobOf(2)
  // Their group is of no use any more.
  current = undefined
  for (const { code } of await job.all<{ code: string }>('alone')) assert.equal(code, 'ERR_AETHER_COLLECTIVE_MISMATCH')
})

tryPrograms(turns[2]!)

test('ranks read and write elements and parts of each other, in memory that all map or over their connections', async () => {
  const job = await jobOf(3)
  const answers = [...(await job.all<object>('elements', false)), ...(await job.all<object>('elements', true))]
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
})

test('what cannot be is refused at every rank, with what to do, and all go on', async () => {
  const job = await jobOf(3)
  for (const said of await job.all<Record<string, { code: string; message: string }>>('refusals')) {
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
})

test('ranks that do different things are told so, each with what the others do, and may go on', async () => {
  const job = await jobOf(3)
  for (const { error, after } of await job.all<{ error: { code: string; message: string }; after: number }>('differ')) {
    assert.equal(error.code, 'ERR_AETHER_ARRAY_ORDER')
    assert.match(error.message, /rank 0 sum of \(100\)/)
    assert.match(error.message, /rank 2 max of \(100\)/)
    assert.equal(after, 100)
  }
})

test('a group may have several namespaces, each with memory of its own', async () => {
  const job = await jobOf(3)
  assert.deepEqual(await job.all('twice'), [
    [0, 9],
    [1, 9],
    [2, 9],
  ])
})

test('memory is used again once every rank has dropped it', async () => {
  const job = await jobOf(3)
  for (const most of await job.all<number>('reuse', 200)) assert.ok(most <= 12 * 8000, `${most} bytes`)
})

test('a rank that dies takes its parts along; the others go on without it', async () => {
  const job = await jobOf(3)
  assert.deepEqual(await job.all('keep'), [66, 66, 66])
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
