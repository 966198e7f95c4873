/** What the page remembers of operations, as web/operation-list.ts has it, which is built for a browser. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationFrame, OperationsFrame } from '../../src/dashboard/wire.ts'

interface TimeSeries {
  values(look: number, count: number): (number | null)[]
}
interface History {
  readonly rate: TimeSeries
  readonly p50Us: TimeSeries
}
interface OperationList {
  take(frame: OperationsFrame, look: number): void
  get(key: string): History | undefined
}
const { OperationList } = (await import(new URL('../../web/operation-list.js', import.meta.url).href)) as {
  readonly OperationList: new () => OperationList
}

const page = (rate: number): OperationFrame => ({
  ...{
    from: 0,
    to: 1,
    layer: 'coherence',
    name: 'page',
    rate,
    bytes: 4096 * rate,
    p50Ns: 1000 * rate,
    p99Ns: 2000 * rate,
  },
})

test('an operation that goes on has no gap where all is told anew', () => {
  const operations = new OperationList()
  operations.take({ isWhole: true, operations: [page(4)] }, 10)
  operations.take({ isWhole: false, operations: [page(5)] }, 12)
  operations.take({ isWhole: true, operations: [page(6)] }, 13)
  const history = operations.get('0 1 coherence page')!
  assert.deepEqual(history.rate.values(15, 7), [0, 4, 4, 5, 6, 6, 6])
  assert.deepEqual(history.p50Us.values(15, 7), [null, 4, 4, 5, 6, 6, 6])
})

test('an operation is still from the look on at which all is told without it', () => {
  const operations = new OperationList()
  operations.take({ isWhole: true, operations: [page(4)] }, 10)
  operations.take({ isWhole: true, operations: [] }, 12)
  const history = operations.get('0 1 coherence page')!
  assert.deepEqual(history.rate.values(13, 4), [4, 4, 0, 0])
  assert.deepEqual(history.p50Us.values(13, 4), [4, 4, null, null])
})
