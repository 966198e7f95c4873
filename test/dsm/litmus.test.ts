/** Real processes play litmus shapes on regions; on memories that are wrong on purpose the same runner has to notice. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  type Axis,
  axesFor,
  type LitmusOptions,
  type LitmusResult,
  runLitmus,
  shapes,
} from '../../src/testing/index.ts'

const named = (...names: string[]): typeof shapes => shapes.filter(({ name }) => names.includes(name))

/** Plays, prints what was seen, and skips with the reason where views are not to be had. */
async function play(test: TestContext, options: LitmusOptions): Promise<readonly LitmusResult[]> {
  const results = await runLitmus(options)
  for (const { shape, axis, rounds, outcomes } of results) {
    const counts = outcomes.map(({ outcome, count }) => `${outcome}: ${count}`).join('  ')
    test.diagnostic(
      `${shape} ${axis.coherence} ${axis.ranks} ${axis.pages} ${axis.homes} ${axis.access}, ${rounds} rounds: ${counts}`,
    )
  }
  const reason = results.find(({ skipped }) => skipped !== undefined)?.skipped
  if (reason !== undefined) test.skip(reason)
  return results
}

function assertAllowed(results: readonly LitmusResult[]): void {
  const wrong = results.filter(({ forbidden }) => forbidden > 0)
  assert.deepEqual(wrong, [])
}

/** Every outcome that is possible was seen somewhere: else the rounds did not interleave, and nothing was tested. */
function assertCovered(results: readonly LitmusResult[]): void {
  for (const shape of new Set(results.map((result) => result.shape))) {
    const of = results.filter((result) => result.shape === shape && result.skipped === undefined)
    assert.ok(
      of.some(({ coverage }) => coverage.seen >= 2),
      `${shape} gave one outcome only`,
    )
  }
}

const rounds = 3000
const mesi = (axis: Axis): boolean => axis.coherence === 'mesi'

describe('litmus shapes on coherent memory', () => {
  it('never show what sequential consistency forbids, to two processes with Atomics', async (test) => {
    const axes = axesFor(2, 'atomics')
    const results = await play(test, { rounds, axes, shapes: named('SB', 'MP', 'LB', 'S', 'R', '2+2W') })
    assertAllowed(results)
    assertCovered(results)
  })

  it('never show it to three, one of which is a home and disturbs', async (test) => {
    const axes = axesFor(3, 'atomics')
    const results = await play(test, { rounds, axes, shapes: named('SB', 'MP', 'WRC', 'ISA2', 'RWC') })
    assertAllowed(results)
    assertCovered(results)
  })

  it('never show it to four', async (test) => {
    const results = await play(test, { rounds: 1000, axes: axesFor(4, 'atomics'), shapes: named('IRIW') })
    assertAllowed(results)
  })

  it('keep every location coherent', async (test) => {
    const axes = [2, 3].flatMap((ranks) => axesFor(ranks, 'atomics'))
    const results = await play(test, { rounds, axes, shapes: shapes.filter(({ name }) => name.startsWith('Co')) })
    assertAllowed(results)
  })

  it('keep every location coherent with plain elements', async (test) => {
    const results = await play(test, { rounds, axes: axesFor(2, 'plain'), shapes: named('SB', 'MP', 'CoRR', 'CoWR') })
    assertAllowed(results)
  })

  it('hold for the explicit calls', async (test) => {
    const axes = [...axesFor(2, 'atomic-calls'), ...axesFor(2, 'copies')].filter(mesi)
    const results = await play(test, { rounds, axes, shapes: named('SB', 'MP', 'CoRR') })
    assertAllowed(results)
  })
})

describe('litmus shapes on memory that is wrong', () => {
  const axes = axesFor(2, 'atomics').filter(({ coherence }) => coherence === 'hardware')
  const seen = async (test: TestContext, kind: string, shape: string): Promise<number> => {
    const memory = new URL(`./fixtures/wrong-memories.js?kind=${kind}`, import.meta.url)
    const results = await runLitmus({ rounds: 12_000, axes, memory, shapes: named(shape) })
    const forbidden = results.reduce((sum, result) => sum + result.forbidden, 0)
    test.diagnostic(`${shape} on ${kind}: ${forbidden} forbidden`)
    return forbidden
  }

  it('catch memory that is not shared at all', async (test) => {
    assert.ok((await seen(test, 'private', 'SB')) > 0)
    assert.ok((await seen(test, 'private', 'CoRR')) > 0)
  })

  it('catch stores that come late, by store buffering alone', async (test) => {
    assert.ok((await seen(test, 'store-buffer', 'SB')) > 0)
    assert.equal(await seen(test, 'store-buffer', 'MP'), 0)
  })

  it('catch stores that come out of order, by message passing', async (test) => {
    assert.ok((await seen(test, 'late-frames', 'MP')) > 0)
  })

  it('catch invalidations that were lost, by message passing', async (test) => {
    assert.ok((await seen(test, 'stale-copies', 'MP')) > 0)
  })
})
