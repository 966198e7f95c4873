import assert from 'node:assert/strict'
import process from 'node:process'
import test from 'node:test'
import { Agreement } from '../../../src/messaging/peers/agreement.ts'
import {
  type AgreementMessage,
  AgreementStep,
  decodeAgreement,
  encodeAgreement,
} from '../../../src/messaging/peers/agreement-message.ts'
import { chooseSurvivors } from '../../../src/messaging/peers/survivor-choice.ts'
import { AgreementWorld, TIMEOUT_MS, type WorldOptions } from './agreement-world.ts'

/** Seeds of each kind of fault; more by `AETHER_TEST_SEEDS`. */
const SEEDS = Number(process.env['AETHER_TEST_SEEDS'] ?? 400)

/** What holds whatever happens. Answers with what was decided. */
function judge(seed: number, world: AgreementWorld): readonly number[] | undefined {
  const { members, decisions, size, options } = world
  const told = `seed ${seed}: ${JSON.stringify(members.map(({ alive, outcome }) => ({ alive, outcome })))}`
  for (const { alive, outcome } of members)
    if (alive) assert.ok(outcome !== undefined, `${told}: somebody has no answer`)
  assert.ok(world.nowMs <= TIMEOUT_MS + 2000, `${told}: it took ${world.nowMs} ms`)
  const [first] = decisions
  if (first === undefined) return undefined
  for (const ranks of decisions) {
    if (options.quorum === 'any') continue
    assert.deepEqual(ranks, first, `${told}: two sets`)
    assert.ok(ranks.length * 2 > size, `${told}: no majority`)
  }
  for (const rank of first) assert.ok(members[rank]!.begunMs !== undefined, `${told}: ${rank} was never there`)
  return first
}

const kinds: Readonly<Record<string, WorldOptions>> = {
  'nothing goes wrong': { quorum: 'majority', deaths: 0, cuts: 0, stops: 0 },
  'one dies at any step': { quorum: 'majority', deaths: 1, cuts: 0, stops: 0 },
  'two die, each at any step': { quorum: 'majority', deaths: 2, cuts: 0, stops: 0 },
  'the network is cut in two': { quorum: 'majority', deaths: 0, cuts: 0, stops: 0, partition: true },
  'it is cut in two, and one dies': { quorum: 'majority', deaths: 1, cuts: 0, stops: 0, partition: true },
  'some lose each other': { quorum: 'majority', deaths: 0, cuts: 2, stops: 0 },
  'one is stopped and wakes up': { quorum: 'majority', deaths: 0, cuts: 0, stops: 1 },
  'deaths, cuts and stops': { quorum: 'majority', deaths: 1, cuts: 2, stops: 1 },
  'leaders stop, die and are cut off': { quorum: 'majority', deaths: 1, cuts: 2, stops: 2, leaders: true },
  'deaths without a quorum': { quorum: 'any', deaths: 2, cuts: 0, stops: 0 },
  'a cut in two without a quorum': { quorum: 'any', deaths: 0, cuts: 0, stops: 0, partition: true },
}

for (const [kind, options] of Object.entries(kinds)) {
  test(`${SEEDS} agreements in which ${kind}: all that get a set get the same, in bounded time`, (t) => {
    let decided = 0
    let withDead = 0
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const world = new AgreementWorld(seed, options)
      world.run()
      const ranks = judge(seed, world)
      const { members, size, firstDecision } = world
      const living = members.filter(({ alive }) => alive).length
      const isCrashOnly = options.cuts === 0 && options.stops === 0 && options.partition !== true
      // Where a majority lives and has not lost each other, it gets a set.
      if (isCrashOnly && (options.quorum === 'any' ? living > 0 : living * 2 > size)) {
        assert.ok(ranks !== undefined, `seed ${seed}: ${living} of ${size} live and have no set`)
        for (const [rank, { alive, outcome }] of members.entries())
          if (alive) {
            assert.ok(outcome !== undefined && 'ranks' in outcome, `seed ${seed}: rank ${rank} has none`)
            assert.deepEqual(outcome.ranks, ranks, `seed ${seed}`)
            assert.ok(ranks.includes(rank), `seed ${seed}: rank ${rank} lives and was left out`)
          }
      }
      if (ranks === undefined) continue
      decided += 1
      if (ranks.some((rank) => !firstDecision!.alive.includes(rank))) withDead += 1
    }
    assert.ok(decided > SEEDS / 4, `${decided} of ${SEEDS} came to a set`)
    t.diagnostic(`${decided} of ${SEEDS} came to a set; in ${withDead} one in it was dead when the first learned of it`)
  })
}

test('ranks that have lost each other are not both chosen, and as few as possible are left out', () => {
  const lost = (...lists: number[][]): Map<number, Set<number>> =>
    new Map(lists.map((list, rank) => [rank, new Set(list)]))
  assert.deepEqual(chooseSurvivors(lost([], [], [])), [0, 1, 2])
  assert.deepEqual(chooseSurvivors(lost([], [2], [1], [])), [0, 1, 3])
  assert.deepEqual(chooseSurvivors(lost([], [2], [], [])), [0, 1, 3])
  assert.deepEqual(chooseSurvivors(lost([1, 2, 3], [], [], [])), [1, 2, 3])
  assert.deepEqual(chooseSurvivors(lost([9])), [0])
})

test('messages are read as they were written, and what is none is refused', () => {
  for (const size of [1, 2, 8, 9, 64, 1000]) {
    const ranks = [0, size - 1].filter((rank, at, all) => all.indexOf(rank) === at)
    const message = {
      step: 3,
      any: true,
      round: 2 ** 31 + 5,
      proposal: { round: 77, ranks, recovers: true },
      lost: new Set([size - 1]),
    }
    const bytes = encodeAgreement(message, size)
    assert.deepEqual(decodeAgreement(bytes, size), message)
    assert.equal(decodeAgreement(bytes, size + 8), undefined)
    assert.equal(decodeAgreement(bytes.subarray(1), size), undefined)
    assert.equal(decodeAgreement(Uint8Array.from(bytes).fill(9, 0, 1), size), undefined)
    assert.equal(decodeAgreement(Uint8Array.from(bytes).fill(0, 1, 2), size), undefined, 'a proposal without a set')
  }
})

test('one that gives up after it has accepted: the set may be agreed on with it, and it is told', () => {
  const said: { readonly from: number; readonly to: number; readonly message: AgreementMessage }[] = []
  const members = [0, 1, 2].map(
    (from) =>
      new Agreement(3, from, {
        send: (to, message) => void said.push({ from, to, message }),
        decided: () => {},
        failed: ({ kind }) => assert.fail(kind),
      }),
  )
  for (const member of members) member.begin({ quorum: 'majority', absentAfterMs: 1000, timeoutMs: 5000 }, 0)
  let hasLeft = false
  for (let next = said.shift(); next !== undefined; next = said.shift()) {
    const { from, to, message } = next
    members[to]!.came(from, message, 1)
    if (hasLeft || from === 2 || to !== 2 || message.step !== AgreementStep.Propose) continue
    assert.deepEqual(said.at(-1), {
      from: 2,
      to: from,
      message: { ...said.at(-1)!.message, step: AgreementStep.Accept },
    })
    assert.equal(members[2]!.decision, undefined)
    members[2]!.leave()
    hasLeft = true
  }
  assert.equal(hasLeft, true)
  for (const member of members) assert.deepEqual(member.decision, [0, 1, 2])
})
