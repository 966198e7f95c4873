/** Members of simulated clusters that crash, or are stopped for longer than a lease. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type Protocol, protocols } from '../../../src/dsm/index.ts'
import {
  type Hazard,
  planSimulation,
  type SimulationPlan,
  type SimulationResult,
  simulate,
} from '../../../tools/simulation/index.ts'
import { drawn } from '../../support/drawn.ts'

const SEEDS = 4
const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1)

/**
 * Much goes on when it happens: a plan of three members and more, two threads each, and nothing else that goes wrong.
 * The threads make calls, which throw where a page is lost: a view would end its process, too.
 */
function planWith(
  protocol: string,
  seed: number,
  hazards: (nodes: number) => readonly Hazard[],
  extra: Partial<SimulationPlan> = {},
): SimulationPlan {
  const plan = planSimulation(seed, { protocols: [protocol], hazards: [] })
  const nodes = Math.max(3, plan.nodes)
  const busy = { nodes, threads: 2, accesses: 150, stores: 40, thinkNs: 20_000, evictions: 10, views: 0 }
  return { ...plan, ...busy, placement: 'cyclic', replicas: 0, ...extra, hazards: hazards(nodes) }
}

const crash = (host: number, atNs: number, part: Partial<Hazard> = {}): Hazard => ({
  text: `crash of ${host}`,
  fault: { kind: 'crash', host, atNs, lingerNs: 100_000 },
  ...part,
})
const certainNs = 60_000_000

function play(
  protocol: string,
  hazards: (nodes: number) => readonly Hazard[],
  extra: Partial<SimulationPlan> = {},
): SimulationResult[] {
  return seeds.map((seed) => {
    const result = simulate(planWith(protocol, seed, hazards, extra))
    assert.equal(result.violation, undefined, `seed ${seed}`)
    return result
  })
}

/** Each of them takes the same ways; the recovery differs by what its states are worth. */
const played = drawn([...protocols.keys()], 1)

for (const name of played) {
  test(`${name}: members crash; the others agree on it and go on, and nothing is stale`, () => {
    const results = play(name, (nodes) => [crash(nodes - 1, 300_000, { certainNs }), crash(0, 400_000)])
    assert.ok(results.every(({ deaths }) => deaths >= 2))
    assert.ok(results.some(({ lost }) => lost > 0))
    assert.ok(results.some(({ lost, plan }) => lost < plan.pages))
  })

  test(`${name}: a member that is stopped for longer than the lease is out, and what it does then is nobody's`, () => {
    const pause: Hazard = { text: 'pause', fault: { kind: 'pause', host: 1, atNs: 200_000, forNs: 15_000_000_000 } }
    for (const { deaths, virtualNs } of play(name, () => [pause])) {
      assert.equal(deaths, 1)
      // Detected in bounded time.
      assert.ok(virtualNs < 60e9)
    }
  })
}

for (const name of played) {
  test(`${name}: with replicas, one death loses no page, and what was fenced or shown stays`, () => {
    const extra = { replicas: 1, fences: 10 } as const
    const results = play(name, (nodes) => [crash(nodes - 1, 300_000, { certainNs })], extra)
    assert.ok(results.every(({ lost }) => lost === 0))
    assert.ok(results.some(({ restored }) => restored > 0))
  })

  test(`${name}: homes that were decided by first use are known after the death of who decided`, () => {
    const extra = { placement: 'first-touch', pages: 12, replicas: 1, views: 0, evictions: 20 } as const
    for (const atNs of [5000, 20_000, 80_000])
      for (const { lost } of play(name, (nodes) => [crash(nodes - 1, atNs, { certainNs })], extra))
        assert.equal(lost, 0)
  })
}

for (const name of played) {
  test(`${name}: a member that is stopped in the middle of a WRITE finishes nothing`, () => {
    for (const atNs of [100_000, 200_000, 300_000]) {
      const fault = { kind: 'pause', host: 1, atNs, forNs: 15_000_000_000, inWrite: true } as const
      // Pages that come back to the same memory, so that what lands late is seen.
      const extra = { pages: 2, thinkNs: 0, accesses: 400, stores: 60, evictions: 0 }
      for (const { deaths } of play(name, () => [{ text: 'pause', fault }], extra)) assert.equal(deaths, 1)
    }
  })
}

test('with deaths, too, the same seed takes the same course', () => {
  const course = (seed: number): string =>
    simulate(planWith('token', seed, () => [crash(1, 300_000, { certainNs })])).traceHash
  for (const seed of seeds.slice(0, 3)) assert.equal(course(seed), course(seed))
})

test('where nobody is to die, nobody is missed', () => {
  const cut: Hazard = { text: 'cut', fault: { kind: 'cut', from: 0, to: 1, atNs: 100_000, forNs: 30_000_000_000 } }
  const { violation } = simulate(planWith('mesi', 1, () => [cut]))
  assert.match(violation ?? '', /^connection: rank \d has lost rank \d/)
})

/** A protocol in which a copy in one state counts for something else when members die. */
function misjudged(name: string, state: string, worth: 'none' | 'clean' | 'dirty'): Protocol {
  const protocol = protocols.get(name)!
  const { states } = protocol.cache
  const flawed = { ...states, [state]: { ...states[state]!, worth } }
  return { ...protocol, cache: { ...protocol.cache, states: flawed } } as Protocol
}

/** Mistakes of a recovery, and what shows them. */
const mistakes: readonly (readonly [string, string, 'none' | 'clean', RegExp])[] = [
  ['mesi', 'S', 'none', /^lost: page \d is lost to rank \d, although a live rank had it/],
  ['mesi', 'I', 'clean', /^data value: /],
  ['directory', 'M', 'none', /^ProtocolError: page \d: the cache in state M has no transition for verdict 'owner'/],
  ['moesi', 'S', 'none', /^lost: page \d is lost to rank \d, although a live rank had it/],
]

for (const [name, state, worth, what] of drawn(mistakes, 2)) {
  test(`a mistake of a recovery is found: ${name}, a copy in ${state} counts for ${worth}`, () => {
    const table = misjudged(name, state, worth)
    const hazards = [crash(1, 300_000, { certainNs })]
    const found: string[] = []
    for (let seed = 1; seed <= 60 && !found.some((text) => what.test(text)); seed += 1)
      found.push(
        simulate(
          planWith(name, seed, () => hazards),
          table,
        ).violation ?? '',
      )
    assert.match(found.at(-1) ?? '', what, found.join('\n'))
  })
}
