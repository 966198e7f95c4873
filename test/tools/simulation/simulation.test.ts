import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type Protocol, protocols } from '../../../src/dsm/index.ts'
import { flipsOf } from '../../../tools/modelcheck/index.ts'
import { planSimulation, runSeeds, shorten, simulate } from '../../../tools/simulation/index.ts'
import { drawn } from '../../support/drawn.ts'

const SEEDS = 6

for (const name of protocols.keys()) {
  test(`${name} holds in ${SEEDS} simulated clusters, whatever goes wrong`, () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const plan = planSimulation(seed, { protocols: [name] })
      const { violation, accesses, deaths } = simulate(plan)
      assert.equal(violation, undefined, `seed ${seed}`)
      if (deaths === 0) assert.equal(accesses, plan.nodes * plan.threads * plan.accesses)
    }
  })
}

test('token: ranks that have never used a page hear from those that starve for it', () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const plan = planSimulation(seed, { protocols: ['token'], hazards: [] })
    const scattered = { nodes: 5, threads: 2, pages: 24, accesses: 60, stores: 40, placement: 'first-touch' } as const
    assert.equal(simulate({ ...plan, ...scattered, evictions: 20 }).violation, undefined, `seed ${seed}`)
  }
})

test('a page that a peer has not acknowledged keeps its memory while the region is closed', () => {
  const drawn = planSimulation(20064, { protocols: ['directory'], hazards: [] })
  const sizes = { nodes: 5, threads: 1, pages: 5, words: 4, accesses: 3, stores: 40, atomics: 30 } as const
  const ways = { evictions: 0, thinkNs: 7370, views: 0, copyNs: 0, replicas: 1, fences: 0 } as const
  const cut = { kind: 'cut', from: 3, to: 4, atNs: 1_173_045, forNs: 18_950_981 } as const
  const clog = { kind: 'clog', from: 1, to: 0, atNs: 7936, delayNs: 1_819_701, forNs: 213_796 } as const
  const hazards = [
    { text: 'cut', fault: cut },
    { text: 'late completions', adapter: { completionNs: 15_768 } },
    { text: 'clog', fault: clog },
  ]
  const placement = { blockCyclic: 2 }
  const { violation } = simulate({ ...drawn, ...sizes, ...ways, cachePages: undefined, placement, hazards })
  assert.equal(violation, undefined)
})

test('the same seed takes the same course, another seed another', () => {
  const course = (seed: number): string => simulate(planSimulation(seed)).traceHash
  for (let seed = 1; seed <= 4; seed += 1) assert.equal(course(seed), course(seed))
  assert.equal(new Set([1, 2, 3, 4].map(course)).size, 4)
})

test('a hazard that is left out leaves the others as they are', () => {
  const all = planSimulation(17)
  assert.ok(all.hazards.length > 1)
  const some = planSimulation(17, { hazards: [1] })
  assert.deepEqual(some.hazards, [all.hazards[1]])
  assert.deepEqual({ ...some, hazards: [] }, { ...all, hazards: [] })
})

test('seeds are drawn with different protocols, sizes and hazards', () => {
  const plans = Array.from({ length: 200 }, (_, seed) => planSimulation(seed))
  const kinds = new Set(plans.flatMap(({ hazards }) => hazards.map(({ text }) => text.replace(/[\d.]+/g, '#'))))
  assert.deepEqual(new Set(plans.map(({ protocol }) => protocol)), new Set(protocols.keys()))
  assert.ok(kinds.size >= 17, [...kinds].join('\n'))
  assert.ok(plans.some(({ hazards }) => hazards.length === 0))
})

/** A protocol with one mistake in its table. */
function flawed(protocol: string, mistake: string): Protocol {
  const flip = flipsOf(protocols.get(protocol)!).find(({ name }) => name === mistake)
  assert.ok(flip !== undefined, `${protocol} has no cell for: ${mistake}`)
  return flip.protocol
}

/** Mistakes, and what shows them. */
const mistakes: readonly (readonly [string, string, RegExp])[] = [
  ['mesi', 'cache S/Invalidate without unmap', /single writer or many readers/],
  ['mesi', 'directory S/GetModified without sendModified', /data value|progress|protocol/i],
  ['mesi', 'cache M/ForwardShared without writeBack', /data value/],
  ['moesi', 'cache M/ForwardModified without sendModified', /progress/],
  // Production refuses to go on.
  ['directory', 'cache M/ForwardShared without protect', /it is sent while the program may write it/],
]

for (const index of drawn([...mistakes.keys()], 1)) {
  const [protocol, mistake, what] = mistakes[index]!
  test(`a mistake is found, and shortened: ${protocol}, ${mistake}`, () => {
    const table = flawed(protocol, mistake)
    const options = { protocols: [protocol] }
    let seed = 1
    while (seed < 100 && simulate(planSimulation(seed, options), table).violation === undefined) seed += 1
    const { hazards, result } = shorten(seed, options, table)
    assert.match(result.violation ?? 'nothing was found', what)
    // These show without any hazard; the run that is left has none, and fails the same way again.
    assert.deepEqual(hazards, [])
    assert.equal(simulate(planSimulation(seed, { ...options, hazards }), table).traceHash, result.traceHash)
  })
}

test('seeds are played in several threads, and every report comes', async () => {
  const seen: number[] = []
  const reports = await runSeeds({
    first: 5,
    seeds: 4,
    threads: 2,
    twiceEvery: 2,
    onReport: ({ seed }) => {
      seen.push(seed)
      return undefined
    },
  })
  assert.deepEqual(seen.sort(), [5, 6, 7, 8])
  assert.deepEqual(
    reports.map(({ violation }) => violation),
    [undefined, undefined, undefined, undefined],
  )
})

test('no more seeds are begun once somebody says stop', async () => {
  const reports = await runSeeds({ first: 1, seeds: 50, threads: 1, onReport: () => 'stop' })
  assert.equal(reports.length, 1)
})
