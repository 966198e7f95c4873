/** Named arrays, as those see them who look at a space from outside. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openArrays } from '../../src/arrays/index.ts'
import { runningSpaces } from '../../src/cluster/index.ts'
import { ArrayLooks } from '../../src/dashboard/array-looks.ts'
import type { ArraysFrame } from '../../src/dashboard/index.ts'
import { metricSources } from '../../src/dashboard/metric-sources.ts'
import { ObservedSpace } from '../../src/dashboard/observed-space.ts'
import { Profile, prometheusText } from '../../src/profiling/index.ts'
import { join } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

type Values = Readonly<Record<string, number>>

/** A member that shows these arrays, and what came to it. */
function member(number: number, arrays: Readonly<Record<string, Values>>, ...moved: readonly Values[]) {
  const blocks = [
    ...Object.entries(arrays).map(([label, values]) => ({ name: 'array', label, labelled: 'array', values })),
    ...moved.map((values) => ({ name: 'arrays.moved', label: '', labelled: '', values })),
  ]
  const counters = blocks.map((block, at) => {
    const rest = { spread: '', rest: false, thread: 0, serial: at + 1, gauges: [] }
    return { ...block, ...rest }
  })
  return { number, profile: Profile.fromJSON({ version: 1, unplaced: 0, counters, histograms: [], findings: [] }) }
}

const FLOAT32 = 9
const FLOAT64 = 10

test('an array is drawn over the ranks that show a part of it', () => {
  const looks = new ArrayLooks()
  const grid = { dtype: FLOAT64, axes: 2, extent0: 4, extent1: 6, division0: 1, division1: 1, ranks: 4, bytes: 48 }
  const turns = { dtype: FLOAT32, axes: 1, extent0: 8, division0: 4, ranks: 2, elements: 4, bytes: 16 }
  const all = { dtype: 0, axes: 1, extent0: 3, ranks: 2, elements: 3, bytes: 3 }
  const members = [
    member(2, { grid: { ...grid, place: 1, elements: 6 }, turns: { ...turns, place: 1 }, all: { ...all, place: 1 } }),
    member(1, { grid: { ...grid, place: 0, elements: 6 }, turns: { ...turns, place: 0 }, all }, { bytes: 5 }),
    member(7, { grid: { ...grid, place: 3, elements: 6 } }, { bytes: 16, exchanges: 3 }, { bytes: 4, exchanges: 1 }),
  ]
  const machines: [] = []
  const frame = looks.next(members, machines)
  assert.deepEqual(
    frame.arrays.map(({ name, dtype, shape, partition }) => [name, dtype, shape, partition]),
    [
      ['all', 'bool', [3], ['replicated']],
      ['grid', 'float64', [4, 6], ['block', 'block']],
      ['turns', 'float32', [8], ['blockCyclic 2']],
    ],
  )
  const [everywhere, blocks, dealt] = frame.arrays
  assert.deepEqual(everywhere!.cells, [[-2, -2, -2]])
  // The third of four places is that of a rank that is not shown.
  assert.deepEqual(blocks!.cells, [
    [1, 1, 1, 2, 2, 2],
    [1, 1, 1, 2, 2, 2],
    [-1, -1, -1, 7, 7, 7],
    [-1, -1, -1, 7, 7, 7],
  ])
  assert.deepEqual(blocks!.parts[0], { number: 1, elements: 6, bytes: 48 })
  assert.deepEqual(dealt!.cells, [[1, 1, 2, 2, 1, 1, 2, 2]])
  assert.deepEqual(frame.moved, [
    { number: 1, bytes: 5, exchanges: 0 },
    { number: 7, bytes: 20, exchanges: 4 },
  ])
  assert.equal(looks.next([], machines), frame)
  assert.deepEqual(looks.next([], []), { arrays: [], moved: [] })
})

test('long axes are sampled, and five axes are shown as four', () => {
  const looks = new ArrayLooks()
  const long = { dtype: FLOAT64, axes: 1, extent0: 1e9, division0: 1, ranks: 2 }
  const deep = { dtype: FLOAT64, axes: 5, extent0: 500, extent1: 3, extent2: 2, extent3: 2, division1: 1, ranks: 2 }
  const members = [0, 1].map((place) => member(place, { long: { ...long, place }, deep: { ...deep, place } }))
  const { arrays } = looks.next(members, [])
  const [five, one] = arrays
  assert.deepEqual(one!.cells, [Array.from({ length: 64 }, (_, cell) => Number(cell >= 32))])
  assert.deepEqual([five!.axes, five!.shape], [5, [500, 3, 2, 2]])
  assert.equal(five!.cells.length, 32)
  assert.deepEqual(five!.cells[0], [0, 1, 1])
  const none = member(0, { none: { dtype: FLOAT64, axes: 1, ranks: 1 }, scalar: { dtype: FLOAT64, ranks: 1 } })
  assert.deepEqual(
    looks.next([none], []).arrays.map(({ cells }) => cells),
    [[], []],
  )
})

test('a named array is seen from outside until it is closed, and is among the metrics', async () => {
  await using group = await join({ name: `arrays-${process.pid}` })
  await group.barrier()
  const xp = await openArrays(group)
  const grid = await xp.named('grid', {
    shape: [4, 3, 2],
    dtype: xp.float32,
    partition: ['cyclic', 'block', 'replicated'],
  })
  const [spaceName] = runningSpaces()
  using space = ObservedSpace.attach(spaceName!)
  let atMs = 0
  const until = async (isSeen: (frame: ArraysFrame) => boolean): Promise<ArraysFrame> => {
    for (;;) {
      atMs += 1000
      const { arrays } = space.look(atMs)
      if (isSeen(arrays)) return arrays
      await sleep(20)
    }
  }
  const { arrays } = await until((frame) => frame.arrays.length === 1)
  assert.deepEqual(arrays[0], {
    name: 'grid',
    dtype: 'float32',
    shape: [4, 3, 2],
    axes: 3,
    partition: ['cyclic', 'block', 'replicated'],
    cells: Array.from({ length: 4 }, () => [0, 0, 0]),
    parts: [{ number: 0, elements: 24, bytes: 96 }],
  })
  const metrics = prometheusText(metricSources(spaceName!))
  assert.match(metrics, /^aether_array_bytes\{[^}]*array="grid"\} 96$/m)
  grid[Symbol.dispose]()
  await until((frame) => frame.arrays.length === 0)
  await xp.named('grid', { shape: 5 })
  assert.deepEqual((await until((frame) => frame.arrays.length === 1)).arrays[0]!.shape, [5])
  await xp.close()
  await until((frame) => frame.arrays.length === 0)
})
