/**
 * What a fail-over waits for, counted: the same death is played with two delays of the network. What a stage takes
 * longer, in delays, is how many messages it waits for, one after the other. `docs/consensus.md` has the table.
 */
import { strict as assert } from 'node:assert'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { foundingConfiguration } from '../../../src/consensus/index.ts'
import { setTraceLevel, TraceLevel, type TraceMessage } from '../../../src/profiling/index.ts'
import { openSimulatedCluster, type SimulationOptions } from '../../../src/providers/index.ts'
import { simulatedSettings } from '../../../tools/simulation/replicas/simulated-replica.ts'
import { openQuietGroup } from './quiet-group.ts'

const LEADER = 1
const HEIR = 2
const OTHER = 3
const DELAYS_NS = [10_000, 110_000] as const
/** A look of a tick would count, and so would what has to be waited for. */
const settings = { ...simulatedSettings, ahead: 12, tickNs: 100e6, stuckNs: 10e9, acknowledgeTimeout: 14 }
/** Calls before the one whose leader dies. */
const CALLS = 10
const THINK_NS = 20_000_000

interface Death {
  readonly atomics: NonNullable<SimulationOptions['atomics']>
  readonly replicas: number
  /** Whose client has made a call. */
  readonly client: number
  /** When the leader dies after that call: in delays. */
  readonly after: number
}

/** Since the death. */
interface Stages {
  readonly campaign: number
  readonly promised: number
  readonly caughtUp: number
  readonly decided: number
  readonly answered: number
}

function play({ atomics, replicas: count, client, after }: Death, delayNs: number): Stages {
  using cluster = openSimulatedCluster(1, { atomics, network: { delayNs, jitterNs: 0 } })
  const founding = foundingConfiguration(Array.from({ length: count }, (_, index) => index + 1))
  const calls = Array.from({ length: CALLS + 1 }, (_, call) => ({
    key: 1,
    input: { type: 'set', value: call } as const,
  }))
  const replicas = openQuietGroup(founding, { cluster, settings, askAgainNs: 30e9 }, (id) =>
    id === client ? [{ number: 1, calls, thinkNs: THINK_NS }] : [],
  )
  const [leader, heir, asking] = [LEADER, HEIR, client].map((id) => replicas[id - 1]!)
  const called = (): number => asking!.history.length
  const answers = (): number => asking!.history.filter(({ returned }) => returned !== undefined).length
  assert.ok(cluster.runUntil(() => answers() === CALLS && called() > CALLS))
  assert.ok(leader!.replica.isLeader)
  cluster.advance(after * delayNs)
  const diedNs = cluster.nowNs
  let campaignNs = 0
  using _heard = hear('campaign', () => {
    campaignNs = cluster.nowNs - diedNs
  })
  leader!.host.crash(false, 0)
  for (const other of replicas) if (other !== leader) other.command(() => other.replica.ended(LEADER))
  assert.ok(cluster.runUntil(() => heir!.replica.isLeader))
  const { campaignMs, promisedMs, caughtUpMs, decidedMs } = heir!.replica.lastFailOver!
  assert.ok(cluster.runUntil(() => answers() > CALLS))
  const answered = cluster.nowNs - diedNs
  for (const replica of replicas) replica.close()
  const at = (ms: number): number => campaignNs + 1e6 * (ms - campaignMs)
  return { campaign: campaignNs, promised: at(promisedMs), caughtUp: at(caughtUpMs), decided: at(decidedMs), answered }
}

function hear(name: string, act: () => void): Disposable {
  const heard = (message: unknown): void => {
    if ((message as TraceMessage).type === name) act()
  }
  setTraceLevel(TraceLevel.Debug)
  subscribe('aether:consensus', heard)
  return { [Symbol.dispose]: () => unsubscribe('aether:consensus', heard) }
}

/** Messages, one after the other, from the death until each stage. */
function delaysOf(death: Death): Stages {
  const [quick, slow] = DELAYS_NS.map((delayNs) => play(death, delayNs)) as [Stages, Stages]
  const delays = Object.entries(quick).map(([stage, ns]) => {
    const messages = (slow[stage as keyof Stages] - ns) / (DELAYS_NS[1] - DELAYS_NS[0])
    return [stage, Math.round(100 * messages) / 100]
  })
  return Object.fromEntries(delays) as unknown as Stages
}

const forms = (['device', 'global'] as const).flatMap((atomics) => [3, 5].map((replicas) => ({ atomics, replicas })))

for (const form of forms) {
  const which = `${form.replicas} replicas, atomics of the ${form.atomics === 'global' ? 'processor' : 'device'}`

  test(`a call that died with its leader is answered after 12 or 15 message delays: ${which}`, () => {
    const stages = { campaign: 2, promised: 8, caughtUp: 8, decided: 10 }
    const lost = { ...form, after: 0.5 }
    assert.deepEqual(delaysOf({ ...lost, client: HEIR }), { ...stages, answered: 12 })
    // It is told of the new leader, asks it, and is told again.
    assert.deepEqual(delaysOf({ ...lost, client: OTHER }), { ...stages, answered: 15 })
  })

  test(`a call that the leader had stored is answered after 12 or 13 message delays: ${which}`, () => {
    const stages = { campaign: 2, promised: 8, caughtUp: 10, decided: 12 }
    const stored = { ...form, after: 2.5 }
    assert.deepEqual(delaysOf({ ...stored, client: HEIR }), { ...stages, answered: 12 })
    assert.deepEqual(delaysOf({ ...stored, client: OTHER }), { ...stages, answered: 13 })
  })
}
