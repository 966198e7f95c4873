import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  allowedOutcomes,
  formatOutcome,
  parseShape,
  satisfies,
  serialOutcomes,
  shapes,
} from '../../../tools/litmus/index.ts'

const everyOutcome = (fields: number): number[] => Array.from({ length: 1 << (2 * fields) }, (_, outcome) => outcome)
const named = (name: string): (typeof shapes)[number] => shapes.find((shape) => shape.name === name)!

describe('the litmus shapes', () => {
  for (const shape of shapes) {
    it(`${shape.name}: sequential consistency forbids what is said to be forbidden`, () => {
      const program = parseShape(shape)
      const forbidden = everyOutcome(program.fields.length).filter((each) => satisfies(program, each, shape.forbidden))
      assert.ok(forbidden.length > 0)
      const allowed = allowedOutcomes(program, 'sequential')
      assert.deepEqual(
        forbidden.filter((each) => allowed.has(each)),
        [],
      )
    })

    it(`${shape.name}: coherence of each location ${shape.name.startsWith('Co') ? 'forbids it too' : 'allows it'}`, () => {
      const program = parseShape(shape)
      const allowed = [...allowedOutcomes(program, 'coherence')]
      const weak = allowed.filter((each) => satisfies(program, each, shape.forbidden))
      assert.equal(weak.length > 0, !shape.name.startsWith('Co'))
    })
  }

  it('are what the literature says in every outcome of store buffering', () => {
    const program = parseShape(named('SB'))
    const allowed = [...allowedOutcomes(program, 'sequential')].map((each) => formatOutcome(program, each)).sort()
    assert.deepEqual(allowed, ['0|1', '1|0', '1|1'])
  })

  it('tell outcomes that need processes to run at the same time from those of one after the other', () => {
    const program = parseShape(named('SB'))
    const serial = [...serialOutcomes(program)].map((each) => formatOutcome(program, each)).sort()
    assert.deepEqual(serial, ['0|1', '1|0'])
    for (const shape of shapes) {
      const allowed = allowedOutcomes(parseShape(shape), 'sequential')
      for (const each of serialOutcomes(parseShape(shape))) assert.ok(allowed.has(each), shape.name)
    }
  })

  it('are refused where an operation is none', () => {
    for (const text of ['Wx', 'Rx1', 'Wq1', 'x1', 'Wx3'])
      assert.throws(() => parseShape({ ...named('SB'), processes: [[text]] }), SyntaxError, text)
  })
})
