import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Allocations } from '../../../src/dsm/allocation/allocations.ts'

const SIZE = 4096

test('no two allocations overlap, each is aligned and within the region, and what is free can be had', () => {
  const step = fc.oneof(
    fc.record({ lengthBytes: fc.integer({ min: 1, max: 900 }), power: fc.nat(8) }),
    fc.record({ free: fc.nat(30) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let allocations = new Allocations(SIZE)
      for (const what of steps) {
        const { records } = allocations.state
        if ('free' in what) {
          const id = records[what.free % Math.max(1, records.length)]?.id ?? 10_000
          assert.equal(allocations.free(id).kind, records.length > 0 ? 'freed' : 'notAllocated')
          assert.equal(allocations.free(id).kind, 'notAllocated')
        } else {
          const outcome = allocations.allocate({
            lengthBytes: what.lengthBytes,
            alignBytes: 2 ** what.power,
            name: null,
          })
          if (outcome.kind === 'allocated') assert.equal(outcome.record.offsetBytes % 2 ** what.power, 0)
          else assert.ok(outcome.kind === 'exhausted' && outcome.largestBytes < what.lengthBytes)
        }
        let end = 0
        for (const { offsetBytes, lengthBytes } of allocations.state.records) {
          assert.ok(offsetBytes >= end)
          end = offsetBytes + lengthBytes
        }
        assert.ok(end <= SIZE)
        // As it is read back by whoever comes next.
        allocations = new Allocations(SIZE, JSON.parse(JSON.stringify(allocations.state)))
      }
      for (const { id } of allocations.state.records) allocations.free(id)
      assert.equal(allocations.allocate({ lengthBytes: SIZE, alignBytes: 1, name: null }).kind, 'allocated')
    }),
    { numRuns: 200 },
  )
})

test('a name stands for one allocation, until that is freed', () => {
  const allocations = new Allocations(SIZE)
  const ask = (lengthBytes: number) => allocations.allocate({ lengthBytes, alignBytes: 8, name: 'a' })
  const first = ask(100)
  assert.ok(first.kind === 'allocated' && first.created)
  const again = ask(100)
  assert.ok(again.kind === 'allocated' && !again.created)
  assert.equal(again.record.id, first.record.id)
  assert.equal(ask(101).kind, 'other')
  allocations.free(first.record.id)
  const anew = ask(101)
  assert.ok(anew.kind === 'allocated' && anew.created && anew.record.id !== first.record.id)
})
