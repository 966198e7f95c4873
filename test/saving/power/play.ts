/** Opens the space in many states in which a power cut may have left the disk. */
// First: see there.
import './recorder.ts'

import assert from 'node:assert/strict'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { Random } from '../../../src/runtime/index.ts'
import { afterPowerCut, cutsOf, type Life, liveAll, outcomesAllowed } from './lives.ts'

const SEED = Number(process.env['AETHER_TEST_SEED'] ?? Date.now() % 2 ** 31)

/** Of each life, `states` states: all places to cut in turn, if there are enough, and drawn ones otherwise. */
export async function playPowerCuts(scratch: string, states: number): Promise<void> {
  console.log(`AETHER_TEST_SEED=${SEED} repeats it`)
  const lives = await liveAll(scratch)
  test('every kind of call is seen', () => {
    const types = new Set(lives.flatMap(({ operations }) => operations.map(({ type }) => type)))
    assert.deepEqual([...types].sort(), [
      ...['data', 'directory', 'grown', 'name', 'remove', 'rename', 'size', 'sync', 'sync names'],
    ])
  })
  for (const life of lives)
    test(`${life.name}: it is as it was, as its last save, or says that there is none`, async (t) => {
      const found = new Map<string, number>()
      await play(life, states, scratch, (outcome) => found.set(outcome, (found.get(outcome) ?? 0) + 1))
      t.diagnostic(`${states} states: ${[...found].map(([what, count]) => `${what}: ${count}`).join(', ')}`)
    })
  // The model must find what it is there to find.
  for (const [what, type] of [
    ['files are not synced', 'sync'],
    ['directories are not synced', 'sync names'],
  ] as const)
    test(`if ${what}, a state is found that is none of these`, async () => {
      for (const life of lives) {
        // What was there at the start stays on the disk.
        const begin = life.deeds[0]!.begin
        const operations = life.operations.map((operation, at) =>
          at >= begin && operation.type === type ? ({ type: 'nothing' } as const) : operation,
        )
        if (
          await play({ ...life, operations }, 100, scratch).then(
            () => false,
            () => true,
          )
        )
          return
      }
      assert.fail('no such state was found')
    })
}

async function play(
  life: Life,
  states: number,
  scratch: string,
  visit: (outcome: string) => void = () => {},
): Promise<void> {
  const random = new Random(SEED)
  const cuts = cutsOf(life)
  for (let state = 0; state < states; state += 1) {
    const cut = cuts[states >= cuts.length ? state % cuts.length : random.below(cuts.length)]!
    const share = (['nothing', 'all', 'some', 'some', 'some', 'some'] as const)[random.below(6)]!
    const seed = random.uint32() | 0
    const what = `cut at ${cut} of ${life.operations.length}, ${share}, seed ${seed}`
    const outcome = await afterPowerCut(life, cut, share, seed, join(scratch, 'state')).catch((cause) => {
      throw new Error(`${what}: ${String(cause)}`, { cause })
    })
    const allowed = outcomesAllowed(life, cut)
    assert.ok(allowed.has(outcome), `${what}: ${outcome}, not ${[...allowed].join(' or ')}`)
    visit(outcome)
  }
}
