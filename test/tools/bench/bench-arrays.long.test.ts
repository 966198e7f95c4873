/** `aether bench arrays`: its rows, the bytes that move, and what it says of what is missing; nothing of speed. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { localWorks, rankWorks } from '../../../tools/bench/arrays/array-works.ts'
import { type ArraysRow, arraysRow, heldAgainst } from '../../../tools/bench/arrays/arrays-row.ts'
import { aether, aetherWith } from '../../cli/command-line.ts'
import { checkedRows } from './checked-rows.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }
const small = ['bench', 'arrays', '--elements', '1000', '--time-ms', '1', '--threads', '1']
const opsOf = (rows: readonly ArraysRow[], of: (row: ArraysRow) => boolean): string[] =>
  rows.filter(of).map(({ op }) => op)

describe('aether bench arrays', options, () => {
  it('prints the promised rows as JSON, beside NumPy or why it is not there', () => {
    const { status, stdout, stderr } = aether(...small, '--ranks', '2', '--json')
    assert.equal(status, 0, stderr)
    const rows = checkedRows<ArraysRow>(stdout)
    const local = localWorks.map(({ op }) => op)
    assert.deepEqual(
      opsOf(rows, ({ provider, ranks }) => provider === 'aether' && ranks === 0),
      local,
    )
    assert.deepEqual(
      opsOf(rows, ({ ranks }) => ranks === 2),
      rankWorks.map(({ op }) => op),
    )
    const isMissing = /^without NumPy: python3 has no numpy/m.test(stderr)
    assert.deepEqual(
      opsOf(rows, ({ provider, baseline, op }) => provider.startsWith('NumPy') && baseline === `${op}, aether`),
      isMissing ? [] : local,
      stderr,
    )
  })

  it('moves the bytes that have to move, and no others', () => {
    const { stdout } = aether(...small, '--ranks', '1,2,3', '--peers', 'none', '--json')
    const told = (JSON.parse(stdout) as ArraysRow[]).filter(({ neededBytes }) => neededBytes !== null)
    assert.ok(told.some(({ neededBytes, ranks }) => ranks === 3 && neededBytes! > 0))
    for (const { op, ranks, movedBytes, neededBytes } of told) assert.equal(movedBytes, neededBytes, `${op}, ${ranks}`)
  })

  it('has its own figures without Python, and says what is not there', () => {
    const nowhere = { AETHER_PYTHON: '/nonexistent', PATH: '/nonexistent' }
    const { status, stdout, stderr } = aetherWith(nowhere, ...small, '--ranks', 'none')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /\n {2}add +1,000 +1 +aether/)
    if (/NumPy \d/.test(stdout)) return
    assert.match(stderr, /^without NumPy: python3 has no numpy \(on Debian: apt-get install python3-numpy\)$/m)
  })

  it('leaves out what memory does not hold, and says so', () => {
    const { status, stdout, stderr } = aether(...small.with(3, String(2 ** 40)), '--ranks', 'none', '--peers', 'none')
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(stderr, /--elements takes an integer from 64 to 1000000000000/)
    const much = aether(...small.with(3, '900000000000'), '--ranks', 'none', '--peers', 'none', '--json')
    assert.deepEqual([much.status, much.stdout], [0, '[]\n'])
    assert.match(much.stderr, /^without 900000000000 elements: they need [\d.]+ GiB, and [\d.]+ are available$/m)
  })
})

describe('rows of the benchmark of arrays', () => {
  it('have the mean and the distribution of their samples, and are held against others by their medians', () => {
    const head = { op: 'add', elements: 1000, ranks: 0, threads: 1 }
    const own = arraysRow({ ...head, provider: 'aether' }, [100, 100, 400])
    assert.deepEqual([own.samples, own.meanNs, own.p50Ns, own.maxNs, own.movedBytes], [3, 200, 100, 400, null])
    const other = heldAgainst(arraysRow({ ...head, provider: 'NumPy 2' }, [250]), own, 'aether')
    assert.deepEqual([other.baseline, other.ratio], ['add, aether', 2.5])
    assert.equal(heldAgainst(own, own, 'aether').baseline, null)
  })
})
