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
import { drawnSeeds } from '../../support/drawn.ts'
import { AgreementWorld, TIMEOUT_MS, type WorldOptions } from './agreement-world.ts'

/** Seeds of each kind of fault; more by `AETHER_TEST_SEEDS`. */
const count = process.env['AETHER_TEST_SEEDS']
const seeds = drawnSeeds(Number(count ?? 200), 3, 0, count !== undefined)

/** What holds whatever happens. Answers with what was decided. */
function judge(seed: number, world: AgreementWorld): readonly number[] | undefined {
  const { members, decisions, size, options } = world
  const told = `seed ${seed}: ${JSON.stringify(members.map(({ alive, outcome }) => ({ alive, outcome })))}`
  for (const { alive, outcome } of members)
    if (alive) assert.ok(outcome !== undefined, `${told}: somebody has no answer`)
  // Who asks again has its time again.
  const mostMs = (options.retreats === undefined ? 1 : 3) * TIMEOUT_MS + 2000
  assert.ok(world.nowMs <= mostMs, `${told}: it took ${world.nowMs} ms`)
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
  'some give up and ask again': { quorum: 'majority', deaths: 0, cuts: 0, stops: 0, retreats: 3 },
  'some give up, die, stop and are cut off': {
    quorum: 'majority',
    deaths: 1,
    cuts: 2,
    stops: 1,
    retreats: 4,
    leaders: true,
  },
  'deaths without a quorum': { quorum: 'any', deaths: 2, cuts: 0, stops: 0 },
  'a cut in two without a quorum': { quorum: 'any', deaths: 0, cuts: 0, stops: 0, partition: true },
}

for (const [kind, options] of Object.entries(kinds)) {
  test(`${seeds.length} agreements in which ${kind}: all that get a set get the same, in bounded time`, (t) => {
    let decided = 0
    let withDead = 0
    for (const seed of seeds) {
      const world = new AgreementWorld(seed, options)
      world.run()
      const ranks = judge(seed, world)
      const { members, size, firstDecision } = world
      const living = members.filter(({ alive }) => alive).length
      const { cuts, stops, partition = false, retreats = 0 } = options
      const isCrashOnly = cuts === 0 && stops === 0 && !partition && retreats === 0
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
    assert.ok(decided > seeds.length / 4, `${decided} of ${seeds.length} came to a set`)
    t.diagnostic(
      `${decided} of ${seeds.length} came to a set; in ${withDead} one in it was dead when the first learned of it`,
    )
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
      round: 2 ** 30 + 5,
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

/** Members whose messages come when the test says so. */
class HeldBack {
  readonly held: { readonly from: number; readonly to: number; readonly message: AgreementMessage }[] = []
  readonly sets: (readonly number[] | undefined)[]
  readonly members: readonly Agreement[]

  constructor(size: number) {
    this.sets = new Array<undefined>(size).fill(undefined)
    this.members = Array.from({ length: size }, (_, from) => {
      const send = (to: number, message: AgreementMessage): void => void this.held.push({ from, to, message })
      const decided = (ranks: readonly number[]): void => {
        this.sets[from] = ranks
      }
      return new Agreement(size, from, { send, decided, failed: () => undefined })
    })
  }

  /** Hand over what is wanted, and what comes of that, in the order in which it was sent. */
  deliver(nowMs: number, isWanted: (step: number, from: number, to: number) => boolean): void {
    for (;;) {
      const at = this.held.findIndex(({ from, to, message }) => isWanted(message.step, from, to))
      if (at < 0) return
      const [{ from, to, message }] = this.held.splice(at, 1) as [(typeof this.held)[number]]
      this.members[to]!.came(from, message, nowMs)
    }
  }
}

test('a leader that has answered a later round does not decide its own when the answers come at last', () => {
  const world = new HeldBack(5)
  const { members, sets } = world
  const call = { quorum: 'majority', absentAfterMs: 100, timeoutMs: 10_000 } as const
  const { Accept, Prepare } = AgreementStep
  for (const rank of [0, 1, 2, 3]) members[rank]!.begin(call, 0)
  world.deliver(0, () => true)
  // Rank 4 is late: rank 0 leads without it. What 1, 2 and 3 accept is on its way.
  members[0]!.tick(100)
  world.deliver(100, (step) => step !== Accept)
  assert.deepEqual(
    world.held.map(({ from, to, message }) => [from, to, message.step]),
    [1, 2, 3].map((rank) => [rank, 0, Accept]),
  )
  const late = world.held.splice(0)
  members[4]!.begin(call, 100)
  world.deliver(100, (_, __, to) => to !== 0)
  for (const rank of [3, 4]) members[rank]!.lostRank(0, 100)
  // To rank 1 nothing came of that round; it leads the next, and rank 0 answers.
  members[1]!.tick(400)
  world.deliver(150, (step, from, to) => from === 1 && to === 0 && step === Prepare)
  world.deliver(400, (step, from, to) => (from === 0 ? to === 1 && step === AgreementStep.Promise : to !== 0))
  assert.deepEqual(sets.slice(1), new Array(4).fill([1, 2, 3, 4]))
  assert.equal(sets[0], undefined)
  world.held.unshift(...late)
  world.deliver(150, (step, _, to) => to === 0 && step === Accept)
  assert.equal(sets[0], undefined, 'two sets')
  world.deliver(400, () => true)
  assert.deepEqual(sets[0], [1, 2, 3, 4])
})

test('a set that may stand is not decided by a few because the others have given up meanwhile', () => {
  const world = new HeldBack(5)
  const { members, sets } = world
  const call = { quorum: 'majority', absentAfterMs: 100, timeoutMs: 10_000 } as const
  const { Join, Prepare, Promise: Answer, Propose, Rest } = AgreementStep
  for (const member of members) member.begin(call, 0)
  world.deliver(0, (step) => step === Join || step === Prepare || step === Answer)
  // Rank 0 has proposed all five; 2, 3 and 4 accept. Then 1 dies, 0 stands still, and 2 loses the way to it.
  world.deliver(0, (step, _, to) => step === Propose && to >= 2)
  for (const rank of [2, 3, 4]) members[rank]!.lostRank(1, 10)
  members[2]!.lostRank(0, 10)
  members[2]!.tick(2000)
  world.deliver(2000, (step, from, to) => from >= 2 && to >= 2 && (step === Prepare || step === Answer))
  assert.ok(
    world.held.some(({ from, message }) => from === 2 && message.proposal?.recovers),
    'rank 2 proposes once more what may have been decided',
  )
  for (const rank of [3, 4]) members[rank]!.leave()
  world.deliver(2000, (step, _, to) => step === Rest && to === 2)
  assert.equal(sets[2], undefined, 'decided by one of five')
  // It dies; 0 wakes up, the others ask again.
  world.held.splice(0)
  for (const rank of [0, 3, 4]) members[rank]!.lostRank(2, 2100)
  members[0]!.lostRank(1, 2100)
  for (const rank of [3, 4]) members[rank]!.begin(call, 2100)
  for (const nowMs of [2200, 2500, 3000, 4000])
    for (const rank of [0, 3, 4]) {
      members[rank]!.tick(nowMs)
      world.deliver(nowMs, (_, from, to) => ![1, 2].includes(from) && ![1, 2].includes(to))
    }
  assert.deepEqual(
    [0, 3, 4].map((rank) => sets[rank]),
    new Array(3).fill([0, 3, 4]),
  )
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
