import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RegionRegistry } from '../../../src/cluster/group/region-registry.ts'

test('the first who opens a name decides; others agree or are shown what there is', () => {
  const registry = new RegionRegistry()
  assert.deepEqual(registry.open(2, 'a', undefined), { kind: 'absent' })
  assert.deepEqual(registry.open(2, 'a', 'x'), { kind: 'opened', id: 1, parameters: 'x', ended: [] })
  assert.deepEqual(registry.open(0, 'a', 'y'), { kind: 'other', parameters: 'x' })
  assert.deepEqual(registry.open(0, 'a', undefined), { kind: 'opened', id: 1, parameters: 'x', ended: [] })
  assert.deepEqual(registry.open(1, 'b', 'y'), { kind: 'opened', id: 2, parameters: 'y', ended: [] })
})

test('a name is free when its last opener closes it or ends, and comes back under another number', () => {
  const registry = new RegionRegistry()
  for (const rank of [0, 1, 2]) registry.open(rank, 'a', 'x')
  registry.open(1, 'b', 'y')
  assert.equal(registry.close(0, 'a'), undefined)
  assert.equal(registry.close(0, 'a'), undefined)
  assert.deepEqual(registry.memberEnded(1), [2])
  assert.equal(registry.close(2, 'a'), 1)
  assert.equal(registry.close(2, 'a'), undefined)
  assert.deepEqual(registry.open(0, 'a', 'z'), { kind: 'opened', id: 3, parameters: 'z', ended: [1] })
})

test('to ask for the parameters is not to open', () => {
  const registry = new RegionRegistry()
  registry.open(0, 'a', 'x')
  assert.deepEqual(registry.lookUp('a'), { kind: 'opened', id: 1, parameters: 'x', ended: [] })
  assert.deepEqual(registry.lookUp('b'), { kind: 'absent' })
  assert.equal(registry.close(0, 'a'), 1)
})

test('everybody is told who had ended when the region was made, and not who has since', () => {
  const registry = new RegionRegistry()
  registry.memberEnded(3)
  registry.open(0, 'a', 'x')
  registry.memberEnded(2)
  assert.deepEqual(registry.open(1, 'a', 'x'), { kind: 'opened', id: 1, parameters: 'x', ended: [3] })
  assert.deepEqual(registry.open(1, 'b', 'y'), { kind: 'opened', id: 2, parameters: 'y', ended: [3, 2] })
})
