/** `aether bench structures`: its rows and its table; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { keySequence, SEQUENCE_LENGTH, writeSequence } from '../../../tools/bench/structures/key-sequence.ts'
import { estimateMs, planOf } from '../../../tools/bench/structures/plan.ts'
import { rowsOf, withRatios, withShares } from '../../../tools/bench/structures/structures-row.ts'
import { fullGrid, quickGrid } from '../../../tools/commands/bench-structures.ts'
import { aether } from '../../cli/command-line.ts'
import { checkedRows } from './checked-rows.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const small = ['--value-sizes', '4096', '--writes', '50', '--cell-ms', '1']

interface Row {
  readonly op: string
  readonly store: string
  readonly processes: number
}

describe('aether bench structures', options, () => {
  it('prints the promised rows as JSON and nothing else', () => {
    const { status, stdout, stderr } = aether(
      'bench',
      'structures',
      '--json',
      '--stores',
      'aether,Map',
      '--processes',
      '1,2',
      '--keys',
      'zipf',
      ...small,
    )
    assert.equal(status, 0, stderr)
    const rows = checkedRows<Row>(stdout)
    const worksOf = (name: string, count: number): string =>
      rows.flatMap(({ op, store, processes }) => (store === name && processes === count ? [op] : [])).join('; ')
    for (const count of [1, 2]) assert.equal(worksOf('aether', count), 'get, 50 % set; update; push; pop; add')
    assert.equal(worksOf('Map', 1), 'get, 50 % set; update; add')
    assert.equal(worksOf('Map', 2), '', 'a Map is of one process')
  })

  it('says what it does not understand', () => {
    assert.match(
      aether('bench', 'structures', '--stores', 'disk').stderr,
      /--stores takes aether or Map or Redis or lmdb, not 'disk'/,
    )
    assert.match(aether('bench', 'structures', '--keys', 'some').stderr, /--keys takes uniform or zipf, not 'some'/)
    assert.match(aether('bench', 'structures', '--processes', '0').stderr, /--processes takes an integer from 1 to 64/)
  })
})

describe('keys of the benchmark', () => {
  const counts = (sequence: Uint32Array, keys: number): number[] => {
    const found = new Array<number>(keys).fill(0)
    for (const key of sequence) found[key]! += 1
    return found
  }

  it('are all alike where uniform', () => {
    for (const count of counts(keySequence('uniform', 16, 1), 16))
      assert.ok(Math.abs(count - SEQUENCE_LENGTH / 16) < 400, `${count}`)
  })

  it('are as skewed as Zipf says: the first twice as often as the second, and half of all are among the first few', () => {
    const found = counts(keySequence('zipf', 1000, 1), 1000)
    const share = found.map((count) => count / SEQUENCE_LENGTH)
    const sum = Array.from({ length: 1000 }, (_, key) => 1 / (key + 1) ** 0.99).reduce((a, b) => a + b)
    for (const key of [0, 1, 9])
      assert.ok(Math.abs(share[key]! - 1 / (key + 1) ** 0.99 / sum) < 0.01, `key ${key}: ${share[key]}`)
  })

  it('are the same for the same seed', () => {
    assert.deepEqual(keySequence('zipf', 100, 7), keySequence('zipf', 100, 7))
    assert.notDeepEqual(keySequence('zipf', 100, 7), keySequence('zipf', 100, 8))
    assert.deepEqual(new Set(writeSequence(0, 1)), new Set([0]))
    assert.deepEqual(new Set(writeSequence(100, 1)), new Set([1]))
  })
})

describe('rows of the benchmark', () => {
  const job = { work: { kind: 'get, set', keys: 'uniform', writes: 0 }, bytes: 16, timeMs: 1 } as const
  const samplesOf = (...ns: number[]) => [
    { op: 'get', ns: Float64Array.from(ns), operations: 10 * ns.length, totalNs: 10 * ns.reduce((a, b) => a + b) },
  ]

  it('join what the processes found: samples together, rates added', () => {
    const [row] = rowsOf('aether', job, [samplesOf(100, 300), samplesOf(200, 200)])
    assert.equal(row?.processes, 2)
    assert.equal(row?.samples, 4)
    assert.equal(row?.p50Ns, 200)
    assert.equal(row?.maxNs, 300)
    assert.equal(row?.opsPerSec, 10_000_000)
  })

  it('are held against the best rate of their store in the same work', () => {
    const one = rowsOf('aether', job, [samplesOf(100)])
    const two = rowsOf('aether', job, [samplesOf(500), samplesOf(500)])
    const slow = rowsOf('Redis', job, [samplesOf(5000)])
    assert.deepEqual(
      withShares([...one, ...two, ...slow]).map(({ peakShare }) => peakShare),
      [1, 0.4, 1],
    )
  })

  it('are held against ours of the same work', () => {
    const own = rowsOf('aether', job, [samplesOf(100)])
    const other = rowsOf('Redis', job, [samplesOf(5000)])
    const elsewhere = rowsOf('Redis', { ...job, bytes: 32 }, [samplesOf(5000)])
    assert.deepEqual(
      withRatios([...own, ...other, ...elsewhere]).map(({ baseline, ratio }) => [baseline, ratio]),
      [
        [null, null],
        ['get, aether', 50],
        [null, null],
      ],
    )
  })
})

describe('the plan of the benchmark', () => {
  const stores = ['aether', 'Map', 'Redis', 'lmdb'] as const

  it('has the whole grid with --full: each number of processes with each size, choice of keys and share of writes', () => {
    const rounds = planOf({ ...fullGrid, stores, timeMs: 100 })
    assert.deepEqual(
      rounds.map(({ processes }) => processes),
      [1, 2, 4, 8],
    )
    for (const { stores: present, steps } of rounds)
      for (const store of present)
        for (const bytes of [16, 65_536])
          for (const keys of ['uniform', 'zipf'])
            for (const writes of [0, 50, 100]) {
              const there = steps.filter(
                ({ store: name, job: { work, bytes: length } }) =>
                  name === store &&
                  length === bytes &&
                  'writes' in work &&
                  work.keys === keys &&
                  work.writes === writes,
              )
              assert.equal(there.length, 1, `${store}: ${bytes} bytes, ${keys}, ${writes} %`)
            }
  })

  it('says a longer time for more of it', () => {
    const quick = estimateMs(planOf({ ...quickGrid, stores, timeMs: 100 }))
    assert.ok(estimateMs(planOf({ ...fullGrid, stores, timeMs: 100 })) > 3 * quick)
    assert.ok(estimateMs(planOf({ ...quickGrid, stores, timeMs: 200 })) > quick)
    assert.equal(estimateMs([]), 0)
  })
})
