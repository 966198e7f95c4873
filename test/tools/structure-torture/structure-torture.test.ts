/**
 * Every structure, worked on by real processes that are killed: one short round at each place.
 * `npm run torture -- structures` does it for as long as one likes.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { HomeLostError } from '../../../src/structures/index.ts'
import { doomedSubject, judgeLosses, LossWord } from '../../../tools/structure-torture/doomed.ts'
import { runStructureTorture, type StructurePlace } from '../../../tools/structure-torture/index.ts'
import { INCARNATIONS_MAX, TortureJournal, Word } from '../../../tools/structure-torture/journal.ts'
import { readStamped, stampedValue } from '../../../tools/structure-torture/stamped-value.ts'
import type { CommonStructures, Ended } from '../../../tools/structure-torture/subject.ts'
import { counterSubject } from '../../../tools/structure-torture/subjects/counter.ts'
import { judgeAges } from '../../../tools/structure-torture/version-ages.ts'
import { drawn } from '../../support/drawn.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-test-torture-'))
process.env['TMPDIR'] = folder
after(() => rmSync(folder, { recursive: true, force: true }))

const places = [
  ['machine', 4],
  ['directory', 4],
  ['group', 3],
  ['homes', 3],
] as const satisfies readonly (readonly [StructurePlace, number])[]
for (const [place, seconds] of drawn(places, 2)) {
  test(`${place}: what was acknowledged before a kill is there, once, and all memory is found`, async (t) => {
    const options = { processes: 3, killEveryMs: 1000, stopEveryMs: 400, stopMsMax: 50, leaseMs: 120_000 }
    const [result, ...others] = await runStructureTorture({ ...options, places: [place], seconds })
    assert.equal(others.length, 0)
    t.diagnostic(JSON.stringify(result))
    const wrong = result?.structures.flatMap((each) => each.wrong)
    assert.deepEqual([wrong, result?.wrong], [[], []])
    assert.equal(result?.bytesLeft.length, place === 'machine' || place === 'directory' ? 1 : 0)
    assert.equal((result?.reopenings ?? 0) > 0, place === 'directory')
    assert.equal((result?.checks ?? 0) > 0, place === 'directory')
    assert.equal(
      result?.structures.filter(({ structure }) => structure.startsWith('lost: ')).length,
      place === 'homes' ? 17 : 0,
    )
  })
}

test('a value of which some was overwritten is found out, and how much of it is freed memory', () => {
  const value = stampedValue([7, -1], 100)
  assert.deepEqual(readStamped(value, 2), [7, -1])
  for (const at of [0, 4, 8, 12, 60, value.length - 1]) {
    const torn = value.slice()
    torn[at] = torn[at]! ^ 1
    assert.equal(typeof readStamped(torn, 2), 'string', `byte ${at}`)
  }
  assert.match(String(readStamped(value.slice().fill(0xdb, 40), 2)), /[6-9]\d bytes of it are those of freed memory/)
  assert.equal(typeof readStamped(value.slice(0, 8), 2), 'string')
})

/**
 * What the judge says of a counter at `value`, after two processes were acknowledged 3 and 4, and one of them was
 * killed in the middle of another.
 */
async function judged(value: number): Promise<readonly string[]> {
  const words = new Int32Array(TortureJournal.bytesFor([counterSubject]) / 4)
  const journal = new TortureJournal(words, [counterSubject])
  const processes = [3, 4].map((done, incarnation): Ended => {
    const own = journal.wordsOf('counter', incarnation)
    own[Word.Done] = done
    own[Word.UnderWay] = incarnation
    return { incarnation, seat: incarnation, killedMs: Number.POSITIVE_INFINITY, words: own }
  })
  const shared = { counter: async () => ({ get: async () => value }) } as unknown as CommonStructures
  const wrong: string[] = []
  const common = journal.commonOf(counterSubject)
  await counterSubject.judge({ shared, processes, common, wrong: (text) => void wrong.push(text) })
  return wrong
}

test('one that is lost, or there twice, is found out; what was under way may be there or not', async () => {
  assert.deepEqual([await judged(7), await judged(8)], [[], []])
  assert.match((await judged(6)).join(), /6 were counted; 7 were acknowledged, 1 in doubt/)
  assert.match((await judged(9)).join(), /9 were counted/)
  assert.ok(INCARNATIONS_MAX > 2)
})

test('a version that was seen a grace period after it was replaced is found out', () => {
  const wrong: string[] = []
  judgeAges([1000, 5, 0, 0, 0, 0, 0, 0], (text) => void wrong.push(text))
  assert.equal(wrong.length, 0)
  judgeAges([1000, 5, 1, 0, 0, 0, 0, 0], (text) => void wrong.push(text))
  assert.equal(wrong.length, 1)
})

/**
 * What is said where the home was killed at 5000 ms, and one was told at `atMs` by a call that began at `beganMs`; a
 * later call took `laterMs`.
 */
function judgedLoss(atMs: number, beganMs: number = atMs, laterMs: number = 0, homeKilledMs: number = 5000): string {
  const words = new Int32Array(32)
  words[LossWord.AtMs] = atMs
  words[LossWord.BeganMs] = beganMs
  words[LossWord.LongestMs] = laterMs
  const ended = (incarnation: number, killedMs: number, own: Int32Array): Ended => ({
    incarnation,
    seat: incarnation,
    killedMs,
    words: own,
  })
  const processes = [ended(0, homeKilledMs, new Int32Array(32)), ended(1, Number.POSITIVE_INFINITY, words)]
  const said: string[] = []
  judgeLosses({ processes, wrong: (text) => void said.push(text) })
  return said.join()
}

test('a home that was lost before it was killed, or of which somebody was told late or never, is found out', () => {
  assert.equal(judgedLoss(5000), '')
  assert.equal(judgedLoss(9000, 100, 20), '')
  // Who asks late is told late.
  assert.equal(judgedLoss(90_000, 89_999), '')
  assert.match(judgedLoss(4990), /process 1 was told that its home is lost 10 ms before it was killed/)
  assert.match(judgedLoss(0), /process 1 was not told/)
  assert.match(judgedLoss(36_000, 100), /process 1 was told 31000 ms after the kill/)
  assert.match(judgedLoss(6000, 6000, 31_000), /process 1 was told 31000 ms after/)
  assert.match(judgedLoss(6000, 6000, 0, Number.POSITIVE_INFINITY), /its home was not killed/)
})

test('a structure whose home was killed and that answers, or fails in another way, is found out', async () => {
  const judgedWith = async (answer: () => Promise<unknown>): Promise<string> => {
    const subject = doomedSubject(counterSubject, { counter: answer, flag: answer } as unknown as CommonStructures)
    const said: string[] = []
    const home: Ended = { incarnation: 0, seat: 0, killedMs: 1, words: new Int32Array(32) }
    const common = new Int32Array(16)
    await subject.judge({
      shared: {} as unknown as CommonStructures,
      processes: [home],
      common,
      wrong: (text) => void said.push(text),
    })
    return said.join()
  }
  const lostAt = (rank: number) => async () => {
    throw new HomeLostError("counter 'counter'", rank, 'it was killed')
  }
  assert.equal(await judgedWith(lostAt(1)), '')
  assert.match(await judgedWith(lostAt(2)), /the judge was given HomeLostError/)
  assert.match(await judgedWith(async () => ({ get: async () => 0 })), /the judge was given an answer/)
  assert.match(
    await judgedWith(async () => {
      throw new Error('something else')
    }),
    /the judge was given Error: something else/,
  )
})

test('nothing is left behind', () => assert.deepEqual(readdirSync(folder), []))
