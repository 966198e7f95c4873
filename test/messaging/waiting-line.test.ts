import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type InLine, WaitingLine } from '../../src/messaging/waiting-line.ts'

interface Person extends InLine {
  readonly name: number
}

test('whoever joins and leaves, from the front or from the middle, the others keep their order', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('push' as const) },
    { weight: 1, arbitrary: fc.constant('shift' as const) },
    { weight: 2, arbitrary: fc.nat() },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
      const line = new WaitingLine<Person>()
      const model: Person[] = []
      const gone: Person[] = []
      for (const [name, what] of steps.entries()) {
        if (what === 'push') {
          const person = { name, place: -1 }
          line.push(person)
          model.push(person)
        } else if (what === 'shift' || model.length === 0) {
          const first = model.shift()
          assert.equal(line.shift(), first)
          if (first !== undefined) gone.push(first)
        } else {
          const [left] = model.splice(what % model.length, 1) as [Person]
          assert.equal(line.remove(left), true)
          gone.push(left)
        }
        assert.deepEqual([line.length, line.first], [model.length, model[0]])
      }
      assert.deepEqual([...line], model)
      for (const each of gone) assert.equal(line.remove(each), false)
      assert.deepEqual([...line], model)
    }),
  )
})

test('a line of a hundred thousand empties from its end as from its front, in no more than moments', () => {
  for (const order of ['front', 'end'] as const) {
    const line = new WaitingLine<Person>()
    const all = Array.from({ length: 100_000 }, (_, name) => ({ name, place: -1 }))
    for (const each of all) line.push(each)
    for (const each of order === 'front' ? all : all.toReversed()) line.remove(each)
    assert.deepEqual([line.length, line.first, [...line]], [0, undefined, []])
  }
})
