/** `aether bench index`: its rows; nothing of how fast anything is. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { type IndexRow, memoryRow, timedRow, withIndexRatios } from '../../../tools/bench/index-service/index-row.ts'
import type { KeyStore } from '../../../tools/bench/index-service/key-store.ts'
import { fillMix, mixLane, mixNames } from '../../../tools/bench/index-service/ycsb.ts'
import { aether } from '../../cli/command-line.ts'
import { checkedRows } from './checked-rows.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const small = ['--sizes', '8', '--clients', '1,2', '--time-ms', '1', '--keys', '200', '--peers', 'none']

describe('aether bench index', options, () => {
  it('prints the promised rows as JSON and nothing else', () => {
    const sections = ['--sections', 'single,ycsb,memory']
    const { status, stdout, stderr } = aether('bench', 'index', '--json', ...sections, ...small)
    assert.equal(status, 0, stderr)
    const rows = checkedRows<IndexRow>(stdout)
    const opsOf = (name: string, count: number): string =>
      rows.flatMap(({ op, provider, clients }) => (provider === name && clients === count ? [op] : [])).join('; ')
    const mixed = 'ycsb-a; ycsb-b; ycsb-c; ycsb-f; ycsb-d; ycsb-e'
    for (const count of [1, 2]) {
      assert.equal(opsOf('aether', count), `get; set; increment; hash get; range 100; ${mixed}`)
      assert.equal(opsOf('structures', count), 'get')
    }
    assert.equal(opsOf('aether', 0), 'memory')
    for (const { provider, baseline, op } of rows)
      assert.equal(baseline, provider === 'aether' ? null : `${op}, aether`)
  })

  it('has a row for what was answered at each load, held against the half', () => {
    const { status, stdout, stderr } = aether('bench', 'index', '--json', '--sections', 'overload', ...small)
    assert.equal(status, 0, stderr)
    const rows = checkedRows<IndexRow>(stdout).filter(({ op }) => op.startsWith('write'))
    const expected = ['1 node', '3 nodes'].flatMap((nodes) =>
      [0.5, 1, 2, 4].map((load) => [
        `write at ${load} of capacity, ${nodes}`,
        load === 0.5 ? null : `write at 0.5 of capacity, ${nodes}, aether`,
      ]),
    )
    assert.deepEqual(
      rows.map(({ op, baseline }) => [op, baseline]),
      expected,
    )
  })

  it('says what it does not understand', () => {
    assert.match(aether('bench', 'index', '--sections', 'all,other').stderr, /--sections takes single or .* or memory/)
    assert.match(aether('bench', 'index', '--keys', 'zipf').stderr, /--keys takes an integer from 1 to/)
    assert.match(aether('bench', 'index', '--device', 'shm0').stderr, /--device is not for bench index/)
  })
})

describe('the workloads of YCSB', () => {
  /** A store that counts. */
  function counting(): { readonly store: KeyStore; readonly done: Map<string, number>; readonly records: Set<string> } {
    const [done, records] = [new Map<string, number>(), new Set<string>()]
    const count = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1)
    const store: KeyStore = {
      waits: false,
      get: () => assert.fail('no value is read alone'),
      set: () => assert.fail('no value is stored alone'),
      setAll: () => assert.fail('nothing is stored together'),
      record(key) {
        assert.ok(records.has(key), `${key} is there`)
        count('record')
      },
      setFields(key, fields) {
        const whole = Object.keys(fields).length === 10
        assert.equal(records.has(key), !whole, `${key}: new records are whole, and others get a field`)
        records.add(key)
        count(whole ? 'new' : 'field')
      },
      insert(place) {
        assert.ok(!records.has(String(place)), 'no place is taken twice')
        records.add(String(place))
        count('new')
      },
      async range(from, length) {
        assert.ok(records.has(String(from)) && length >= 1 && length <= 100)
        count('range')
        return length
      },
      close: async () => {},
    }
    return { store, done, records }
  }

  const expected = {
    a: { record: 0.5, field: 0.5 },
    b: { record: 0.95, field: 0.05 },
    c: { record: 1 },
    d: { record: 0.95, new: 0.05 },
    e: { range: 0.95, new: 0.05 },
    f: { record: 1, field: 0.5 },
  } as const

  for (const mix of mixNames)
    it(`${mix} has its shares of reads and writes, of records that are there`, async () => {
      const { store, done, records } = counting()
      await fillMix(store, mix === 'e', 300)
      assert.equal(records.size, 300)
      done.clear()
      const lane = mixLane(store, { mix, records: 300, firstNew: 1_000_000 }, 3)
      for (let step = 0; step < 4000; step += 1) await lane()
      assert.deepEqual([...done.keys()].sort(), Object.keys(expected[mix]).sort())
      for (const [what, share] of Object.entries(expected[mix]))
        assert.ok(Math.abs(done.get(what)! / 4000 - share) < 0.03, `${what}: ${done.get(what)} of 4000`)
    })
})

describe('rows of the benchmark', () => {
  const row = (provider: string, clients: number, ...ns: number[]): IndexRow =>
    timedRow({ op: 'get', provider, bytes: 8, clients }, [
      { samples: Float64Array.from(ns), count: ns.length, tookNs: ns.reduce((sum, each) => sum + each, 0) },
    ])

  it('have the mean and quantiles of what was timed, and the rate of all clients', () => {
    const { meanNs, p50Ns, maxNs, opsPerSec, samples } = row('aether', 1, 100, 200, 600)
    assert.deepEqual([meanNs, p50Ns, maxNs, opsPerSec, samples], [300, 200, 600, 3_333_333, 3])
  })

  it('are held against ours of the same work: medians, and memory', () => {
    const rows = withIndexRatios([
      row('aether', 1, 100),
      row('Redis', 1, 5000),
      row('Redis', 2, 5000),
      memoryRow({ op: 'memory', provider: 'aether', bytes: 100, clients: 0 }, 250),
      memoryRow({ op: 'memory', provider: 'Redis', bytes: 100, clients: 0 }, 200),
    ])
    assert.deepEqual(
      rows.map(({ baseline, ratio }) => [baseline, ratio]),
      [
        [null, null],
        ['get, aether', 50],
        [null, null],
        [null, null],
        ['memory, aether', 0.8],
      ],
    )
  })
})
