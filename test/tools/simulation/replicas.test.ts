/** Replicated logs in virtual time, whatever goes wrong. `npm run simulate -- replicas` runs more. */
import { strict as assert } from 'node:assert'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { test } from 'node:test'
import { foundingConfiguration, unpackWord } from '../../../src/consensus/index.ts'
import { setTraceLevel, TraceLevel, type TraceMessage } from '../../../src/profiling/index.ts'
import { openSimulatedCluster } from '../../../src/providers/index.ts'
import {
  planReplicas,
  planWithDisks,
  type ReplicaPlan,
  simulateReplicas,
} from '../../../tools/simulation/replicas/index.ts'
import { type SimulatedReplica, simulatedSettings } from '../../../tools/simulation/replicas/simulated-replica.ts'
import type { Strike } from '../../../tools/simulation/replicas/strike.ts'
import { drawn } from '../../support/drawn.ts'
import { openQuietGroup } from './quiet-group.ts'

const SEEDS = 112
const FIRST_SEED = 101
/** Seeds of which some are drawn in each run. */
const BLOCKS = 80
const BLOCK_SEEDS = 15
/** Of these, together, all marks are known. After a change of the code others may be needed, which come after them. */
const RICH_SEEDS = [126, 127, 194, 195, 130, 172, 115, 154, 139, 181, 189, 151, 212]

/** What seldom happens, and has to in these seeds, so that they show something about it. */
const marks = [
  'read by memory',
  'told early',
  'decided alone',
  ...['adopted', 'corrected', 'restored', 'connects again', 'transferred'],
  ...['crash', 'pause', 'isolate', 'split'].map((kind) => `${kind} of a leader`),
  ...['crash', 'pause', 'isolate', 'split'].map((kind) => `${kind} of a follower`),
  ...['crash', 'pause', 'isolate', 'split'].map((kind) => `${kind} of a candidate`),
  ...['relay', 'part', 'link-down'].map((kind) => `${kind} of a leader`),
  ...['relay', 'delay', 'lossy', 'link-down'].map((kind) => `${kind} of a candidate`),
  'stepped down: a higher term was promised',
  'stepped down: it cannot replicate',
  'stepped down: it lets another lead',
  'stepped down: others have more entries',
  'stepped down: term N has come',
]

function play(seed: number, changes: Partial<ReplicaPlan> = {}): ReturnType<typeof simulateReplicas> {
  const result = simulateReplicas(planReplicas(seed, changes))
  assert.equal(result.violation, undefined, `npm run simulate -- replicas --seed ${seed}`)
  return result
}

interface Search {
  readonly first: number
  readonly seeds: number
  /** Those that are played first. */
  readonly rich: readonly number[]
  readonly marks: readonly string[]
  readonly play: (seed: number) => Pick<ReturnType<typeof simulateReplicas>, 'marks'>
}

/** Plays seeds until all marks have happened: all of them where all variants are tried. */
function meetAll({ first, seeds, rich, marks, play: playOne }: Search): void {
  const others = Array.from({ length: seeds }, (_, index) => first + index).filter((seed) => !rich.includes(seed))
  const missing = new Set(marks)
  const isWhole = process.env['AETHER_TEST_VALUES'] === 'all'
  let played = 0
  for (const seed of [...rich, ...others]) {
    if (missing.size === 0 && !isWhole) break
    for (const mark of playOne(seed).marks.keys()) missing.delete(mark)
    played += 1
  }
  console.log(`${marks.length} marks in ${played} of ${seeds} seeds`)
  assert.deepEqual([...missing], [])
}

test(`replicas hold in simulated clusters, and within ${SEEDS} meet all that they are prepared for`, () => {
  meetAll({ first: FIRST_SEED, seeds: SEEDS, rich: RICH_SEEDS, marks, play })
})

for (const block of drawn(
  Array.from({ length: BLOCKS }, (_, index) => index),
  1,
))
  test(`replicas hold in ${BLOCK_SEEDS} simulated clusters that are drawn`, () => {
    for (let seed = 0; seed < BLOCK_SEEDS; seed += 1) play(1000 + block * BLOCK_SEEDS + seed)
  })

/** With journals: what has to happen in these seeds. */
const diskMarks = [
  ...['recovered', 'restarted', 'restored', 'read by memory'],
  ...['restart', 'blackout', 'crash'].flatMap((kind) =>
    ['leader', 'follower', 'candidate'].map((target) => `${kind} of a ${target}`),
  ),
]
const DISK_SEEDS = 25
const RICH_DISK_SEEDS = [21, 9, 19, 12, 8]

function playWithDisks(seed: number): ReturnType<typeof simulateReplicas> {
  const result = simulateReplicas(planWithDisks(seed))
  assert.equal(result.violation, undefined, `npm run simulate -- replicas --disks --seed ${seed}`)
  return result
}

test('replicas with journals hold in simulated clusters, though all are killed at once', () => {
  meetAll({ first: 1, seeds: DISK_SEEDS, rich: RICH_DISK_SEEDS, marks: diskMarks, play: playWithDisks })
})

test('replicas with journals hold in simulated clusters that are drawn', () => {
  const others = Array.from({ length: DISK_SEEDS }, (_, index) => 1 + index)
  for (const seed of drawn(others, 3)) playWithDisks(seed)
})

test('a seed always takes the same course, and another takes another', () => {
  const courses = [1, 2, 3, 4].map((seed) => play(seed).traceHash)
  assert.deepEqual(
    [1, 2, 3, 4].map((seed) => play(seed).traceHash),
    courses,
  )
  assert.equal(new Set(courses).size, 4)
})

const calm = { shape: 'mixed', replicas: 3, hazards: [], strikes: [], joins: [] } as const
const strike = (atNs: number, target: Strike['target'], blow: Strike['blow']): Strike => ({
  ...{ atNs, afterNs: 0, target, pick: 0, blow },
})
const crash = { kind: 'crash', keeps: 'nothing', lingerNs: 0, certainNs: 2_000_000, follows: true } as const
const busy = { calls: 40, keys: 4, thinkNs: 1_500_000 } as const

test('without faults one term decides everything', () => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const { terms, marks: counts } = play(seed, calm)
    assert.equal(terms, 1)
    for (const name of ['corrected', 'adopted', 'connects again']) assert.equal(counts.get(name), undefined, name)
  }
})

test('every voter is replaced, one after the other', () => {
  const strikes = [10, 30, 50].map((ms) => strike(ms * 1e6, 'leader', crash))
  const { deaths, terms, marks: counts } = play(1, { ...calm, ...busy, strikes })
  assert.equal(deaths, 3)
  assert.ok(terms >= 4)
  // Each of them is removed and another added.
  assert.ok(counts.get('configuration')! >= 6)
})

test('one that lags behind further than its ring and the history begins again from a snapshot', () => {
  const lag = { kind: 'pause', forNs: 50_000_000, inWrite: false, adapterStops: false } as const
  const sizes = { ...simulatedSettings, window: 8, historyBytes: 2048 }
  const { marks: counts } = play(2, { ...calm, ...busy, sizes, strikes: [strike(5e6, 'follower', lag)] })
  assert.ok(counts.get('restored')! >= 1)
})

test('a leader that stops in the middle of a WRITE is replaced, and what it finishes later hurts no one', () => {
  const pause = { kind: 'pause', forNs: 20_000_000, inWrite: true, adapterStops: false } as const
  for (let seed = 1; seed <= 5; seed += 1)
    assert.ok(play(seed, { ...calm, ...busy, strikes: [strike(8e6, 'leader', pause)] }).terms >= 2)
})

test('an acceptor whose process has ended still accepts, as long as its memory is there', () => {
  const ends = { ...crash, keeps: 'memory', certainNs: undefined, follows: false } as const
  const { deaths, terms } = play(3, { ...calm, ...busy, strikes: [strike(8e6, 'leader', ends)] })
  assert.equal(deaths, 1)
  assert.ok(terms >= 2)
})

test('a leader lets another lead, and no call is lost', () => {
  const strikes = [8, 16, 24].map((ms) => ({ ...strike(ms * 1e6, 'leader', { kind: 'transfer' }), pick: ms / 8 }))
  const { marks: counts, terms } = play(4, { ...calm, ...busy, strikes })
  assert.equal(counts.get('transferred'), 3)
  assert.ok(terms >= 4)
})

test('an entry is decided without the processor of any follower, by few packets', () => {
  using cluster = openSimulatedCluster(1)
  const founding = foundingConfiguration([1, 2, 3])
  const calls = Array.from({ length: 6 }, (_, call) => ({ key: 1, input: { type: 'set', value: call + 1 } as const }))
  // Looks of a tick come seldom enough not to be counted.
  const settings = { ...simulatedSettings, tickNs: 100_000_000, stuckNs: 10e9 }
  const replicas = openQuietGroup(founding, { cluster, settings, askAgainNs: 3_000_000 }, (id) =>
    id === 1 ? [{ number: 1, calls, thinkNs: 400_000_000 }] : [],
  )
  const [leader, ...followers] = replicas
  assert.ok(cluster.runUntil(() => leader!.history.filter(({ returned }) => returned !== undefined).length === 1))
  for (const { host } of followers) host.pause()
  const asked = (): number => leader!.history.length
  const costs: number[] = []
  for (let call = 1; call < 4; call += 1) {
    assert.ok(cluster.runUntil(() => asked() > call))
    const [packets, beganNs] = [cluster.network.packets, cluster.nowNs]
    assert.ok(cluster.runUntil(() => leader!.history[call]?.returned !== undefined))
    costs.push(cluster.network.packets - packets)
    // A round trip of the simulated network is 2 µs.
    assert.ok(cluster.nowNs - beganNs < 6000, `${cluster.nowNs - beganNs} ns`)
  }
  console.log(`packets until an entry is decided by three replicas: ${costs.join(', ')}`)
  // To each of the three, one of them itself: WRITE and compare-and-swap, and their answers.
  assert.ok(
    costs.every((cost) => cost <= 12),
    costs.join(),
  )
  for (const { host } of followers) host.resume()
  assert.ok(cluster.runUntil(() => followers.every(({ applied }) => applied === leader!.applied)))
  for (const replica of replicas) replica.close()
})

/** Calls back with each replica that wants to lead. */
function hearCampaigns(onCampaign: (id: number) => void): Disposable {
  const heard = (message: unknown): void => {
    const { type, fields } = message as TraceMessage
    if (type === 'campaign') onCampaign(Number(fields['replica']))
  }
  setTraceLevel(TraceLevel.Debug)
  subscribe('aether:consensus', heard)
  return { [Symbol.dispose]: () => unsubscribe('aether:consensus', heard) }
}

test('a certain death is followed at once by one candidate: no time has to pass', () => {
  using cluster = openSimulatedCluster(1)
  const founding = foundingConfiguration([1, 2, 3])
  // A death that had to be waited for would take this long.
  const settings = { ...simulatedSettings, ahead: 12, tickNs: 100_000_000, stuckNs: 10e9 }
  const calls = Array.from({ length: 30 }, (_, call) => ({ key: 1, input: { type: 'set', value: call + 1 } as const }))
  // The last one would be a candidate by what it knows of the others from the last tick.
  const replicas = openQuietGroup(founding, { cluster, settings, askAgainNs: 30e9 }, (id) =>
    id === 3 ? [{ number: 1, calls, thinkNs: 1000 }] : [],
  )
  const [leader, ...followers] = replicas as [SimulatedReplica, SimulatedReplica, SimulatedReplica]
  const answers = (): number => followers[1].history.filter(({ returned }) => returned !== undefined).length
  assert.ok(cluster.runUntil(() => answers() === 20))
  assert.ok(leader.replica.isLeader)
  const campaigns: number[] = []
  using _heard = hearCampaigns((id) => campaigns.push(id))
  leader.host.crash(false, 0)
  const diedNs = cluster.nowNs
  for (const follower of followers) follower.command(() => follower.replica.ended(leader.id))
  const heir = (): SimulatedReplica | undefined => followers.find(({ replica }) => replica.isLeader)
  assert.ok(cluster.runUntil(() => heir() !== undefined))
  const ledNs = cluster.nowNs - diedNs
  // What its first entries need is prepared, and no more.
  const { memory, taken } = heir()!.replica
  const words = new BigUint64Array(memory.region.bytes.buffer, memory.region.bytes.byteOffset)
  const slots = Array.from({ length: settings.window }, (_, place) => words[memory.layout.slots / 8 + place]!)
  const prepared = slots.filter((word) => unpackWord(word).promised === memory.promise).length
  assert.ok(prepared <= settings.inFlightMax + 1, `${prepared} slots, ${taken} entries`)
  assert.ok(cluster.runUntil(() => answers() === 21))
  const answeredNs = cluster.nowNs - diedNs
  assert.ok(answeredNs < settings.tickNs / 10, `${answeredNs} ns`)
  assert.deepEqual(campaigns, [heir()!.id])
  console.log(`virtual time from a certain death: leads after ${ledNs} ns, answers after ${answeredNs} ns`)
  for (const replica of replicas) replica.close()
})

/** A leader dies that has told those who do not vote of an entry, and not those who do. No one led after it. */
test('a replica that does not vote and knows more keeps no one from leading', () => {
  const { violation } = simulateReplicas(planWithDisks(61, { shape: 'absence' }))
  assert.equal(violation, undefined)
})

/** No one knows that a voter was replaced but by what is in memory, as long as no later entry says so. */
test('when a voter has been replaced, another may be lost, though all are killed while nothing is proposed', () => {
  const disks = { usualNs: 20_000, slow: 0, slowNs: 20_000 }
  const blackout = { kind: 'blackout', withinNs: 0, downNs: 1_000_000, lateNs: 0, losesOne: true } as const
  const strikes = [strike(5e6, 'follower', crash), strike(60e6, 'leader', blackout)]
  for (let seed = 1; seed <= 3; seed += 1) {
    const { violation, deaths } = simulateReplicas(
      planWithDisks(seed, {
        ...calm,
        disks,
        strikes,
        calls: 2,
        clients: 1,
        readers: 0,
        thinkNs: 100e6,
        isFoundedByOne: false,
      }),
    )
    assert.equal(violation, undefined)
    // One at first, and then three of which one had lost its disk.
    assert.equal(deaths, 4)
  }
})
