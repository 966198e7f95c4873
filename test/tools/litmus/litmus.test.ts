/**
 * Real processes play litmus shapes on regions; on memories that are wrong on purpose the same runner has to notice.
 */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  type Axis,
  axesFor,
  type LitmusOptions,
  type LitmusResult,
  runLitmus,
  shapes,
} from '../../../tools/litmus/index.ts'
import { drawn } from '../../support/drawn.ts'

const named = (...names: string[]): typeof shapes => shapes.filter(({ name }) => names.includes(name))
/** Where other cases play the same shapes. */
const someOf = (count: number, ...names: string[]): typeof shapes => named(...drawn(names, count))

/** Plays, prints what was seen, and skips with the reason where views are not to be had. */
async function play(test: TestContext, options: LitmusOptions): Promise<readonly LitmusResult[]> {
  const results = await runLitmus(options)
  for (const { shape, axis, rounds, outcomes } of results) {
    const counts = outcomes.map(({ outcome, count }) => `${outcome}: ${count}`).join('  ')
    test.diagnostic(
      `${shape} ${axis.coherence} ${axis.ranks} ${axis.pages} ${axis.homes} ${axis.access}${axis.evictions ? ' evictions' : ''}, ${rounds} rounds: ${counts}`,
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

/** Rounds did run beside each other: outcomes were seen that no process running alone gives. */
function assertOverlapped(results: readonly LitmusResult[]): void {
  for (const shape of new Set(results.map((result) => result.shape))) {
    const of = results.filter((result) => result.shape === shape && result.skipped === undefined)
    assert.ok(
      of.some(({ overlapped }) => overlapped === undefined || overlapped > 0),
      `no round of ${shape} overlapped`,
    )
  }
}

/** A batch in which all sleep, and one in which they do not: the command plays more. */
const rounds = 60
/** The axes on which every page stays until another rank wants it. */
const settled = (ranks: number, access: Axis['access']): Axis[] =>
  axesFor(ranks, access).filter(({ evictions }) => !evictions)
const hasProtocol = (axis: Axis): boolean => axis.coherence !== 'hardware'

describe('litmus shapes on coherent memory', () => {
  it('never show what sequential consistency forbids, to two processes with Atomics', async (test) => {
    const axes = settled(2, 'atomics')
    const results = await play(test, { rounds, axes, shapes: someOf(3, 'SB', 'MP', 'LB', 'S', 'R', '2+2W') })
    assertAllowed(results)
    assertCovered(results)
    assertOverlapped(results)
  })

  it('never show it to three, one of which is a home and disturbs', async (test) => {
    const axes = settled(3, 'atomics')
    const results = await play(test, { rounds, axes, shapes: someOf(3, 'SB', 'MP', 'WRC', 'ISA2', 'RWC') })
    assertAllowed(results)
    assertCovered(results)
  })

  it('never show it to four, however few processors there are', async (test) => {
    const results = await play(test, { rounds, axes: settled(4, 'atomics'), shapes: named('IRIW', '2+2W') })
    assertAllowed(results)
    assertCovered(results)
    assertOverlapped(results.filter(({ shape }) => shape === '2+2W'))
  })

  it('keep every location coherent', async (test) => {
    const axes = [2, 3].flatMap((ranks) => settled(ranks, 'atomics'))
    const results = await play(test, { rounds, axes, shapes: shapes.filter(({ name }) => name.startsWith('Co')) })
    assertAllowed(results)
  })

  it('keep every location coherent with plain elements', async (test) => {
    const results = await play(test, {
      rounds,
      axes: settled(2, 'plain'),
      shapes: someOf(2, 'SB', 'MP', 'CoRR', 'CoWR'),
    })
    assertAllowed(results)
  })

  it('never show it where pages are evicted between and during rounds, and what was written comes back', async (test) => {
    const axes = axesFor(2, 'atomics').filter(({ evictions }) => evictions)
    const results = await play(test, { rounds, axes, shapes: someOf(2, 'MP', '2+2W', 'CoRR', 'CoWW') })
    assertAllowed(results)
    assertCovered(results.filter(({ shape }) => shape !== 'CoWW'))
    for (const { shape, axis, evicted, skipped } of results)
      assert.ok(evicted > 0 || skipped !== undefined, `nothing was evicted: ${shape}, ${axis.coherence}`)
  })

  it('hold for the explicit calls', async (test) => {
    const axes = [...settled(2, 'atomic-calls'), ...settled(2, 'copies')].filter(hasProtocol)
    const results = await play(test, { rounds, axes, shapes: someOf(2, 'SB', 'MP', 'CoRR') })
    assertAllowed(results)
  })
})

describe('litmus shapes on memory that is wrong', () => {
  const wrongRounds = 4000
  /** How often those are played that have shown nothing yet, each time otherwise: when which process runs is chance. */
  const attemptsMax = 8

  /** The shapes that show a forbidden outcome. Locations have pages of their own, but where there is only one. */
  const caught = async (kind: string, ranks: number, names: readonly string[], seed: number): Promise<string[]> => {
    const memory = new URL(`./fixtures/wrong-memories.js?kind=${kind}`, import.meta.url)
    const axes = axesFor(ranks, 'atomics').filter(({ coherence }) => coherence === 'hardware')
    const results = await runLitmus({ rounds: wrongRounds, axes, memory, seed, shapes: named(...names) })
    const own = results.filter(({ shape, axis }) => axis.pages === 'different' || shape.startsWith('Co'))
    return own.filter(({ forbidden }) => forbidden > 0).map(({ shape }) => shape)
  }
  const assertCaught = async (kind: string, ranks: number, names: readonly string[]): Promise<void> => {
    let left = names
    for (let seed = 1; left.length > 0 && seed <= attemptsMax; seed += 1) {
      const seen = await caught(kind, ranks, left, seed)
      left = left.filter((name) => !seen.includes(name))
    }
    assert.deepEqual(left, [], `not caught on ${kind}`)
  }

  const memories: [kind: string, what: string, ranks: number, ...shapes: string[]][] = [
    ['private', 'memory that is not shared at all', 2, 'SB', 'LB', 'CoRR'],
    ['late-frames', 'stores that come out of order', 2, 'MP', 'S', '2+2W', 'CoWW'],
    ['stale-copies', 'invalidations that were lost', 4, 'MP', 'WRC', 'ISA2', 'IRIW'],
    ['early-stores', 'stores that come too early', 2, 'LB', 'CoRW1', 'CoRW2'],
    ['unforwarded-stores', 'stores that their own process does not see', 2, 'CoWR'],
    ['lost-stores', 'stores that are lost', 4, 'IRIW', 'CoRR', 'CoRW2'],
  ]
  for (const index of drawn([...memories.keys()], 2)) {
    const [kind, what, ranks, ...names] = memories[index]!
    it(`catch ${what}: ${names.join(', ')}`, async () => {
      await assertCaught(kind, ranks, names)
    })
  }

  it('catch stores that come late by the shapes that tell total store order from sequential consistency, and by no other', async () => {
    const allowing = ['SB', 'R', 'RWC']
    await assertCaught('store-buffer', 3, allowing)
    const others = shapes.map(({ name }) => name).filter((name) => !allowing.includes(name))
    assert.deepEqual(await caught('store-buffer', 4, others, 1), [])
  })
})
