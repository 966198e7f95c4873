import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { WaitingLine } from '../../src/messaging/waiting-line.ts'

interface Each {
  readonly number: number
}

test('a line serves in order, whoever leaves it, as an array does', () => {
  const step = fc.oneof(
    fc.record({ push: fc.integer({ min: 1, max: 3000 }) }),
    fc.record({ shift: fc.integer({ min: 1, max: 3000 }) }),
    fc.record({ remove: fc.double({ min: 0, max: 1, noNaN: true }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const line = new WaitingLine<Each>()
      const model: Each[] = []
      let number = 0
      for (const each of steps) {
        if ('push' in each)
          for (let count = each.push; count > 0; count -= 1) {
            const one = { number: number++ }
            line.push(one)
            model.push(one)
          }
        else if ('shift' in each)
          for (let count = Math.min(each.shift, model.length); count > 0; count -= 1) {
            line.shift()
            model.shift()
            assert.equal(line.first, model[0])
          }
        else if (model.length > 0) {
          const index = Math.min(model.length - 1, Math.floor(each.remove * model.length))
          const [gone] = model.splice(index, 1)
          assert.equal(line.remove(gone!), index === 0 ? 'first' : 'later')
          assert.equal(line.remove(gone!), 'absent')
        }
        assert.equal(line.length, model.length)
        assert.equal(line.first, model[0])
      }
    }),
  )
})
