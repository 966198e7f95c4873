/** The check has to find what memories do that are wrong on purpose, and nothing where they are right. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkTortureHistory, type TortureAccess, type TortureHistory } from '../../../tools/torture/index.ts'
import { playMemory, type Wrong } from './fixtures/wrong-memory.ts'

const SEEDS = 200

const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1)
const found = (wrong: Wrong | undefined): string[] =>
  seeds.flatMap((seed) => checkTortureHistory(playMemory(seed, wrong)))

describe('the histories of a memory that is right', () => {
  it('have nothing wrong in them, whoever dies when', () => assert.deepEqual(found(undefined), []))

  it('have losses, and pages that outlive a death', () => {
    const histories = seeds.map((seed) => playMemory(seed, undefined))
    assert.ok(histories.some(({ accesses }) => accesses.some(({ outcome }) => outcome === 'lost')))
    assert.ok(histories.some((history) => outlives(history)))
  })
})

/** A page that a dead rank wrote is read after its death. */
function outlives({ accesses, deaths }: TortureHistory): boolean {
  return accesses.some(
    ({ seen, beganUs }) => seen !== undefined && beganUs > (deaths.get(seen.writer) ?? Number.POSITIVE_INFINITY),
  )
}

describe('a memory that is wrong', () => {
  const wrongs: readonly [Wrong, string, RegExp][] = [
    ['reverts', 'gives older bytes of a page after a death', /stale: rank \d's \w+ of version/],
    ['zeros', 'gives zeros in place of a page that is lost', /stale: rank \d's \w+ of zeros/],
    ['silent', 'gives the last bytes of a page that was reported as lost', /came back: /],
    ['stale-copies', 'lets a rank keep its copy of a page that another writes', /stale: /],
    ['shared-writes', 'lets two ranks write a page at a time', /lost update: version \d+ was written twice/],
    ['torn', 'gives a page while it is being written', /torn: rank \d's \w+/],
    ['forgets', 'loses pages that living ranks have', /lost without need: .* though there was rank/],
    ['careless', 'loses pages that no dead rank can have had', /lost without need: .* no rank that died/],
    ['foretells', 'shows what is written only later', /which (was written only later|nobody wrote)/],
  ]
  for (const [wrong, what, text] of wrongs)
    it(`is found where it ${what}`, () => {
      const texts = found(wrong)
      assert.ok(
        texts.some((each) => text.test(each)),
        texts.slice(0, 5).join('\n') || 'nothing was found',
      )
    })
})

describe('what was under way at a death', () => {
  const access = (part: Partial<TortureAccess>): TortureAccess => ({
    rank: 0,
    kind: 'read',
    page: 0,
    beganUs: 0,
    endedUs: 1,
    outcome: 'done',
    seen: { version: 0, writer: -1 },
    text: undefined,
    ...part,
  })
  const inDoubt = access({ rank: 1, kind: 'write', outcome: 'doubt', endedUs: Number.POSITIVE_INFINITY })
  const check = (...accesses: readonly TortureAccess[]): string[] =>
    checkTortureHistory({ accesses: [inDoubt, ...accesses], deaths: new Map([[1, 5]]), homeOf: () => 1 })
  const first = { version: 1, writer: 1 }

  it('may be seen, or not', () => {
    assert.deepEqual(check(access({ beganUs: 10, endedUs: 11, seen: first })), [])
    assert.deepEqual(check(access({ beganUs: 10, endedUs: 11 })), [])
    assert.deepEqual(check(access({ kind: 'write', beganUs: 10, endedUs: 11 })), [])
  })

  it('cannot be seen, and then not any more', () => {
    const [text] = check(access({ beganUs: 10, endedUs: 11, seen: first }), access({ beganUs: 12, endedUs: 13 }))
    assert.match(text ?? '', /^page 0: stale: rank 0's read of zeros/)
  })

  it('cannot be seen beside what another wrote in its place', () => {
    const other = access({ kind: 'write', beganUs: 10, endedUs: 20 })
    const [text] = check(other, access({ rank: 2, beganUs: 12, endedUs: 13, seen: first }))
    assert.match(text ?? '', /^page 0: lost update: version 1 was written twice/)
  })

  it('may have found what is old, where its rank was out by then', () => {
    const written = access({ kind: 'write', beganUs: 10, endedUs: 20 })
    const late = { outcome: 'doubt', beganUs: 30, endedUs: Number.POSITIVE_INFINITY, rank: 1 } as const
    assert.deepEqual(check(written, access(late)), [])
    // What it wrote then must not be seen beside what the others wrote.
    const lateWrite = access({ ...late, kind: 'write' })
    assert.deepEqual(check(written, lateWrite), [])
    const [text] = check(written, lateWrite, access({ rank: 2, beganUs: 40, endedUs: 41, seen: first }))
    assert.match(text ?? '', /^page 0: lost update: version 1 was written twice/)
  })

  it('may have taken the page along', () => {
    const lost = { outcome: 'lost', seen: undefined } as const
    assert.deepEqual(check(access({ beganUs: 10, endedUs: 11, ...lost })), [])
  })
})

describe('what is no history of one memory', () => {
  it('is told with the error of a call', () => {
    const failed = {
      rank: 2,
      kind: 'read',
      page: 3,
      beganUs: 1,
      endedUs: 2,
      outcome: 'failed',
      seen: undefined,
    } as const
    const accesses = [{ ...failed, text: 'TimeoutError: page 3' }]
    const [text] = checkTortureHistory({ accesses, deaths: new Map(), homeOf: () => 0 })
    assert.equal(text, "page 3: rank 2's read, failed (1 to 2 µs): TimeoutError: page 3")
  })
})
