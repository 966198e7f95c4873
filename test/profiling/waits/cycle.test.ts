import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cycleInWords, findCycle } from '../../../src/profiling/index.ts'

const edge = (waiter: number, ...others: number[]) => ({ waiter, others, object: `lock ${waiter}` })

test('a circle is found through who looks, the shortest one', () => {
  const edges = [edge(0, 1, 4), edge(1, 2), edge(2, 0), edge(4, 0), edge(5, 0)]
  assert.deepEqual(findCycle(edges, 0), [0, 4])
  assert.deepEqual(findCycle(edges, 1), [1, 2, 0])
  assert.equal(findCycle(edges, 5), undefined)
  assert.deepEqual(findCycle([edge(3, 3)], 3), [3])
})

test('waits that lead nowhere, or into a circle of others, are none', () => {
  assert.equal(findCycle([], 0), undefined)
  assert.equal(findCycle([edge(0, 1), edge(1, 2)], 0), undefined)
  assert.equal(findCycle([edge(0, 1), edge(1, 2), edge(2, 1)], 0), undefined)
})

test('it is told in words', () => {
  assert.equal(
    cycleInWords('rank', [0, 1], [edge(0, 1), edge(1, 0)]),
    'deadlock: ranks 0 and 1 wait for each other: rank 0 waits for lock 0, for which it needs rank 1; rank 1 waits for lock 1, for which it needs rank 0',
  )
  assert.match(cycleInWords('process', [7, 8, 9], []), /^deadlock: processes 7, 8 and 9 wait for each other: /)
  assert.match(cycleInWords('rank', [3], [edge(3, 3)]), /^deadlock: rank 3 waits for itself: /)
})
