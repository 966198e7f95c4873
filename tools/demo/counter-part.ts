import { setTimeout as sleep } from 'node:timers/promises'
import { open, type Space } from 'aether-dsm'
import { openStructures } from 'aether-dsm/structures'
import { type CountingWay, countsName, countsRegionBytes, noteIndex, pageCount } from './counter-messages.ts'
import { CountingProcess } from './counting-crew.ts'
import type { DemoRedis } from './demo-redis.ts'

/** How many processes count, and how many visits each of them. */
export interface CounterPlan {
  readonly processes: number
  readonly arrayVisits: number
  readonly mapVisits: number
  /** By messages and in Redis; fewer, since they take longer. */
  readonly singleVisits: number
  readonly batchedVisits: number
  /** Visits under way at once in a batch. */
  readonly batch: number
}

export const counterPlanDefault: CounterPlan = {
  processes: 4,
  arrayVisits: 1_000_000,
  mapVisits: 100_000,
  singleVisits: 500,
  batchedVisits: 6400,
  batch: 64,
}

/** One way of counting, measured: milliseconds a visit, of all processes together. */
interface CountingMeasure {
  readonly way: CountingWay
  readonly singleMs: number
  /** Undefined if a visit waits for no other process, so that a batch would gain nothing. */
  readonly batchedMs: number | undefined
}

/** What was found after one of the processes had been killed. */
interface KillOutcome {
  /** What each process had noted as done; the last is the one that was killed. */
  readonly noted: readonly number[]
  readonly counter: number
  /** How long after the signal the space reported the death, in milliseconds. */
  readonly reportedMs: number
}

/** Everything the first part measures. */
export interface CounterOutcome {
  readonly plan: CounterPlan
  readonly measures: readonly CountingMeasure[]
  /** The sum of the counts in the shared array after all had counted. */
  readonly counter: number
  readonly kill: KillOutcome
}

/** True if no visit was lost: the first count is exact, the second at most one ahead, which the signal left unnoted. */
export function isCounterOutcomeRight({ plan, counter, kill }: CounterOutcome): boolean {
  const ahead = kill.counter - sum(kill.noted)
  return counter === plan.processes * plan.arrayVisits && (ahead === 0 || ahead === 1)
}

/** Count in shared memory, by messages and in Redis; then count again and kill one of the processes. */
export async function runCounterPart(plan: CounterPlan, redis: DemoRedis | undefined): Promise<CounterOutcome> {
  await using space = await open(`aether-demo-${process.pid}`)
  await using region = await space.openRegion(countsName, { size: countsRegionBytes, coherence: 'hardware' })
  await using structures = await openStructures(space)
  const map = await structures.map<number>(countsName)
  const words = region.view(Int32Array)
  const crew = Array.from({ length: plan.processes }, () => new CountingProcess())
  const directory = redis?.directory
  try {
    const tasks = crew.map((member, index) =>
      member.perform({ kind: 'open', space: space.name, index, redis: directory }),
    )
    await Promise.all(tasks)
    const visit = (way: CountingWay, visits: number, batch = 1) => measure(crew, way, visits, batch)
    const waiting = async (way: CountingWay): Promise<CountingMeasure> => ({
      way,
      singleMs: await visit(way, plan.singleVisits),
      batchedMs: await visit(way, plan.batchedVisits, plan.batch),
    })
    const array = { way: 'array', singleMs: await visit('array', plan.arrayVisits), batchedMs: undefined } as const
    const counter = countsOf(words)
    const shared = { way: 'map', singleMs: await visit('map', plan.mapVisits), batchedMs: undefined } as const
    expectVisits('map', sum([...map.entriesSync()].map(([, count]) => count)), plan.processes * plan.mapVisits)
    const counted = keepCounts(crew)
    const messages = await waiting('messages')
    expectVisits('messages', sum(counted), plan.processes * (plan.singleVisits + plan.batchedVisits))
    const measures = [array, shared, messages, ...(redis === undefined ? [] : [await waiting('redis')])]
    const kill = await killOne(space, crew, words, plan.arrayVisits)
    return { plan, measures, counter, kill }
  } finally {
    for (const member of crew) member.dismiss()
    await Promise.all(crew.map((member) => member.ended))
  }
}

/** Have all count. Returns milliseconds a visit. */
async function measure(
  crew: readonly CountingProcess[],
  way: CountingWay,
  visits: number,
  batch: number,
): Promise<number> {
  const start = performance.now()
  await Promise.all(crew.map((member) => member.perform({ kind: 'count', way, visits, batch })))
  return (performance.now() - start) / (crew.length * visits)
}

/** Keep the counts in this process and answer messages. */
function keepCounts(crew: readonly CountingProcess[]): Uint32Array {
  const counts = new Uint32Array(pageCount)
  for (const member of crew) member.onVisits((pages) => member.answer(pages.map((page) => ++counts[page]!)))
  return counts
}

function expectVisits(way: CountingWay, counted: number, expected: number): void {
  if (counted !== expected) throw new Error(`${way}: ${counted} of ${expected} visits were counted`)
}

/**
 * All count and note. The last one would go on for ever; it is killed after a third of what the others count. The
 * shared memory then holds what it did up to its last instruction.
 */
async function killOne(
  space: Space,
  crew: readonly CountingProcess[],
  words: Int32Array,
  visits: number,
): Promise<KillOutcome> {
  const victim = crew.at(-1)!
  const survivors = crew.slice(0, -1)
  words.fill(0)
  // This task fails when the process is killed, as intended.
  victim.perform({ kind: 'countAndNote', visits: 2 ** 30 }).catch(() => {})
  const [killedAtMs, reportedAtMs] = await Promise.all([
    killAfter(victim, words, noteIndex(crew.length - 1), visits / 3),
    nextDeath(space, victim.pid),
    ...survivors.map((member) => member.perform({ kind: 'countAndNote', visits })),
  ])
  const noted = crew.map((_, index) => Atomics.load(words, noteIndex(index)))
  return { noted, counter: countsOf(words), reportedMs: reportedAtMs - killedAtMs }
}

/** Kill it once it has noted `visits`. Resolves when it has ended, with when it was killed, as a performance.now(). */
async function killAfter(victim: CountingProcess, words: Int32Array, note: number, visits: number): Promise<number> {
  let ended = false
  void victim.ended.then(() => {
    ended = true
  })
  while (!ended && Atomics.load(words, note) < visits) await sleep(1)
  const killedAtMs = performance.now()
  victim.kill('SIGKILL')
  await victim.ended
  return killedAtMs
}

/** When the space reports that the process died, as a performance.now(). */
async function nextDeath(space: Space, processId: number): Promise<number> {
  for await (const event of space.events()) {
    if (event.type === 'died' && event.member.processId === processId) return performance.now()
  }
  throw new Error('the space was closed before it reported a death')
}

function countsOf(words: Int32Array): number {
  return sum(words.subarray(0, pageCount))
}

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
