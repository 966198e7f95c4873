/**
 * One rank of `aether bench dsm`: `node dsm-rank.js PLAN`, with PLAN a {@link DsmBenchPlan} as JSON. Rank 0 prints a
 * {@link DsmRow} a line; where the plan says `traced`, {@link TracedAccesses}.
 */
import process from 'node:process'
import { type CoherenceKind, join, probeUserfault, type Region, type RegionGroup } from 'aether-dsm/internal/dsm'
import { native } from 'aether-dsm/internal/native'
import { Baton } from './dsm-baton.ts'
import { Grid, gridBoardWords } from './dsm-grid.ts'
import { type DsmBenchPlan, type DsmRow, FLOORS, nameOf, PING_PONG, type RowHead, rowFrom } from './dsm-row.ts'
import { type Act, FETCH, LOCAL_FAULT, type Scenario, scenarios } from './dsm-scenario.ts'
import type { TracedAccesses } from './dsm-stages.ts'
import { type Traffic, trafficAtRest } from './dsm-traffic.ts'

/** Pages that are touched for the first time, of each home: they cannot be used again. */
const FRESH_PAGES = 128
/** By then the agents sleep, and no grant is held any more. */
const CALM_MS = 0.3
/** Repetitions whose messages are counted, apart from those whose time is taken. */
const COUNTED = 12
const WARM_SHARE = 0.1
const WARM_TURNS = 300
/** Operations in one sample of what is too short for the clock. */
const BATCH = 200
/** Faults that a thread of C answers. */
const C_FAULTS = 300
const C_FAULT = { op: 'load, answered by a C thread', coherence: 'none' }
/** A page of userfaultfd(2). */
const SYSTEM_PAGE_BYTES = 4096
const LEASE_MS = 60_000

const calm = new Int32Array(new SharedArrayBuffer(4))
const pause = (ms: number): void => void Atomics.wait(calm, 0, 0, ms)

class DsmBench {
  readonly #group: RegionGroup
  readonly #baton: Baton
  readonly #iterations: number
  readonly #spins: boolean

  constructor(group: RegionGroup, baton: Baton, { iterations, spinMs = 0 }: DsmBenchPlan) {
    this.#spins = spinMs > CALM_MS
    this.#group = group
    this.#baton = baton
    this.#iterations = iterations
  }

  /** Everything that depends on the protocol. */
  async run(coherence: CoherenceKind, pageBytes: number): Promise<void> {
    const { size } = this.#group
    const pages = size * (1 + 3 * FRESH_PAGES)
    const options = { size: pages * pageBytes, pageSize: pageBytes, coherence, placement: 'cyclic' } as const
    await using region = await this.#group.openRegion(`bench-${coherence}-${pageBytes}`, options)
    this.#warm(region)
    for (const scenario of scenarios.filter(({ ranks }) => ranks <= size)) this.#measure(region, scenario)
    this.#pingPong(region)
    this.#hits(region)
    await this.#group.barrier()
  }

  /** The agents' code is compiled before anything is measured: the first protocol would pay for the others. */
  #warm(region: Region): void {
    const scenario = scenarios.find(({ page }) => page === 'shared')!
    for (let turn = 0; turn < Math.min(WARM_TURNS, this.#iterations); turn += 1)
      this.#once(
        region,
        scenario,
        1,
        () => {},
        () => {},
      )
  }

  /** What has stages, of a region of one protocol: when each access began and ended. */
  async runTraced(coherence: CoherenceKind, pageBytes: number): Promise<void> {
    const name = `stages-${coherence}-${pageBytes}`
    const options = { size: 2 * pageBytes, pageSize: pageBytes, coherence, placement: 'cyclic' } as const
    await using region = await this.#group.openRegion(name, options)
    this.#warm(region)
    const scenario = scenarios.find(({ op }) => op === FETCH)!
    const times: [number, number][] = []
    for (let index = 0; index < this.#iterations; index += 1)
      this.#once(
        region,
        scenario,
        1,
        () => pause(CALM_MS),
        (ns, beganNs) => times.push([beganNs, beganNs + ns]),
      )
    const accesses: TracedAccesses = { coherence, region: name, page: 1, pageBytes, times }
    if (this.#group.rank === 0) process.stdout.write(`${JSON.stringify(accesses)}\n`)
    await this.#group.barrier()
  }

  /** What depends on no region. */
  async runLocal(pageBytes: number): Promise<void> {
    this.#barriers(pageBytes)
    if (pageBytes === SYSTEM_PAGE_BYTES) this.#baton.step(0, () => this.#answeredByC())
    await this.#group.barrier()
  }

  #answeredByC(): void {
    const probe = probeUserfault()
    if ('refused' in probe) throw probe.refused
    const samples = new Float64Array(C_FAULTS)
    native.timeFaults(probe.descriptor, samples, CALM_MS)
    native.closeDescriptor(probe.descriptor)
    const { size } = this.#group
    this.#report(rowFrom({ ...C_FAULT, ranks: size, pageBytes: SYSTEM_PAGE_BYTES }, samples.subarray(C_FAULTS / 10)))
  }

  #measure(region: Region, scenario: Scenario): void {
    const fresh = scenario.page !== 'shared'
    const count = fresh ? FRESH_PAGES : this.#iterations
    const pageOf = (iteration: number): number => {
      if (!fresh) return 1
      return (1 + iteration) * this.#group.size + (scenario.page === 'fresh-own' ? 0 : 1)
    }
    const samples = new Float64Array(count)
    for (let index = 0; index < count; index += 1)
      this.#once(
        region,
        scenario,
        pageOf(index),
        () => pause(CALM_MS),
        (ns) => {
          samples[index] = ns
        },
      )
    const first = Math.floor(count * WARM_SHARE)
    const traffic = this.#count(region, scenario, (index) => pageOf((fresh ? FRESH_PAGES : 0) + index))
    const baseline = nameOf(this.#baselineOf(scenario.op, region.coherence))
    const head = { op: scenario.op, ...this.#head(region), baseline }
    this.#report(rowFrom(head, samples.subarray(first), { ...traffic, hitRate: null }))
  }

  #baselineOf(op: string, coherence: string): Pick<DsmRow, 'op' | 'coherence'> {
    if (op === LOCAL_FAULT) return C_FAULT
    if (op === FETCH) return this.#spins ? FLOORS.awake : FLOORS.asleep
    return { op: LOCAL_FAULT, coherence }
  }

  /** Every step of a scenario; `before` runs ahead of the measured one, `done` gets its time. */
  #once(
    region: Region,
    scenario: Scenario,
    page: number,
    before: () => void,
    done: (ns: number, beganNs: number) => void,
  ): void {
    const last = scenario.steps.length - 1
    for (const [index, { rank, act }] of scenario.steps.entries()) {
      this.#baton.step(rank, () => {
        if (index === last) before()
        const began = native.monotonicNs()
        this.#act(region, act, page)
        if (index === last) done(native.monotonicNs() - began, began)
      })
    }
  }

  #act(region: Region, act: Act, page: number): void {
    const at = (page * region.pageSize) / 8
    const words = act === 'load' || act === 'store' ? region.bigInt64 : undefined
    if (act === 'load') Atomics.load(words!, at)
    else if (act === 'store') Atomics.store(words!, at, 1n)
    else if (act === 'readSync') region.readSync(8 * at, this.#pageBuffer(region.pageSize))
    else region.writeSync(8 * at, this.#pageBuffer(region.pageSize))
  }

  #buffer = new Uint8Array(0)

  #pageBuffer(bytes: number): Uint8Array {
    if (this.#buffer.length !== bytes) this.#buffer = new Uint8Array(bytes)
    return this.#buffer
  }

  /** The same again, slowly: what the agents' counters say before and after. */
  #count(region: Region, scenario: Scenario, pageOf: (index: number) => number): { messages: number; bytes: number } {
    let messages = 0
    let bytes = 0
    for (let index = 0; index < COUNTED; index += 1) {
      let before: Traffic = { messages: 0, bytes: 0, faults: 0 }
      const mark = (): void => {
        before = trafficAtRest(this.#group)
      }
      this.#once(region, scenario, pageOf(index), mark, () => {
        const after = trafficAtRest(this.#group)
        messages += after.messages - before.messages
        bytes += after.bytes - before.bytes
      })
    }
    return { messages: Math.round((10 * messages) / COUNTED) / 10, bytes: Math.round(bytes / COUNTED) }
  }

  /** Two ranks hand a word to each other and poll for it without sleeping. Each round trip moves the page twice. */
  #pingPong(region: Region): void {
    const words = region.int32
    const at = region.pageSize / 4
    const samples = new Float64Array(this.#iterations)
    this.#baton.step(0, () => Atomics.store(words, at, 0))
    this.#group.barrierSync()
    for (let index = 0; index < this.#iterations && this.#group.rank < 2; index += 1) {
      const began = native.monotonicNs()
      if (this.#group.rank === 0) Atomics.store(words, at, 2 * index + 1)
      const awaited = this.#group.rank === 0 ? 2 * index + 2 : 2 * index + 1
      while (Atomics.load(words, at) !== awaited);
      if (this.#group.rank === 1) Atomics.store(words, at, 2 * index + 2)
      samples[index] = native.monotonicNs() - began
    }
    this.#group.barrierSync()
    const head = { op: PING_PONG, ...this.#head(region), baseline: nameOf(FLOORS.turns) }
    this.#report(rowFrom(head, samples.subarray(Math.floor(this.#iterations * WARM_SHARE))))
  }

  /** Accesses to pages that are here: no agent, no message. */
  #hits(region: Region): void {
    this.#baton.step(0, () => {
      const page = region.pageSize
      const add = (): void => void region.fetchAddSync(page, 1n)
      this.#report(rowFrom({ op: 'fetchAddSync, page here', ...this.#head(region) }, batches(add)))
      const length = page / 8
      const view = region.view(Float64Array, { byteOffset: page, length })
      const plain = new Float64Array(length)
      // Both are warm before either is measured, and they take turns: the engine and the processor treat them alike.
      for (let turn = 0; turn < 2000; turn += 1) sum(view) + sum(plain)
      const [ofView, ofPlain] = alternate(
        () => sum(view),
        () => sum(plain),
      )
      const plainHead = { ...this.#head(region), op: `sum of a plain Float64Array (${length})` }
      const viewHead = { ...this.#head(region), op: `sum of a page through a view (${length} float64)` }
      this.#report(rowFrom({ ...viewHead, baseline: nameOf(plainHead) }, ofView))
      this.#report(rowFrom(plainHead, ofPlain))
    })
  }

  #barriers(pageBytes: number): void {
    const samples = new Float64Array(this.#iterations)
    for (let index = 0; index < this.#iterations; index += 1) {
      const began = native.monotonicNs()
      this.#group.barrierSync()
      samples[index] = native.monotonicNs() - began
    }
    const first = Math.floor(this.#iterations * WARM_SHARE)
    const head = { op: 'barrierSync', coherence: 'none', ranks: this.#group.size, pageBytes }
    this.#report(rowFrom(head, samples.subarray(first)))
  }

  #head({ coherence, pageSize }: Region): Omit<RowHead, 'op'> {
    return { coherence, ranks: this.#group.size, pageBytes: pageSize }
  }

  #report(row: DsmRow): void {
    if (this.#group.rank === 0) process.stdout.write(`${JSON.stringify(row)}\n`)
  }
}

function sum(array: Float64Array): number {
  let total = 0
  for (let index = 0; index < array.length; index += 1) total += array[index]!
  return total
}

function batches(act: () => void): Float64Array {
  const samples = new Float64Array(200)
  for (let sample = -20; sample < samples.length; sample += 1) {
    const began = native.monotonicNs()
    for (let index = 0; index < BATCH; index += 1) act()
    if (sample >= 0) samples[sample] = (native.monotonicNs() - began) / BATCH
  }
  return samples
}

function alternate(first: () => number, second: () => number): [Float64Array, Float64Array] {
  const samples = [new Float64Array(400), new Float64Array(400)] as const
  for (let sample = 0; sample < 400; sample += 1) {
    for (const [which, act] of [first, second].entries()) {
      const began = native.monotonicNs()
      for (let index = 0; index < 8; index += 1) act()
      samples[which]![sample] = (native.monotonicNs() - began) / 8
    }
  }
  return [samples[0], samples[1]]
}

const plan = JSON.parse(process.argv[2]!) as DsmBenchPlan
// On a busy machine, a process that gets no CPU for long has not died.
const { spinMs } = plan
await using group = await join({ leaseMs: LEASE_MS, ...(spinMs !== undefined && { spinMs }) })
if (group.viewsRefused !== undefined) throw new Error(group.viewsRefused)
await using board = await group.openRegion('bench-board', {
  size: 4 * gridBoardWords(group.size),
  coherence: 'hardware',
})
const bench = new DsmBench(group, new Baton(board.int32, group.rank, group.size), plan)
for (const pageBytes of plan.pageBytes) {
  if (plan.traced !== true) await bench.runLocal(pageBytes)
  for (const coherence of plan.coherence as readonly CoherenceKind[])
    await (plan.traced === true ? bench.runTraced(coherence, pageBytes) : bench.run(coherence, pageBytes))
}
if (plan.cellMs > 0 && plan.traced !== true) {
  const grid = new Grid(group, board.int32, plan.cellMs, (row) => console.log(JSON.stringify(row)))
  for (const coherence of ['hardware', ...plan.coherence])
    await grid.run(coherence as CoherenceKind, plan.pageBytes[0]!)
}
