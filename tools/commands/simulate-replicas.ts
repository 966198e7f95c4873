import { formatTable, ProgressLine } from 'aether-dsm/internal/cli'
import {
  planReplicas,
  planWithDisks,
  type ReplicaRunResult,
  runReplicaSeeds,
  shortenReplicas,
  simulateReplicas,
} from '../simulation/replicas/index.ts'

export interface SimulateReplicasOptions {
  readonly first: number
  readonly seeds: number
  readonly threads: number | undefined
  readonly json: boolean
  readonly disks: boolean
}

const planOf = (seed: number, disks: boolean) => (disks ? planWithDisks : planReplicas)(seed)

/** The maximum number printed, because one bug shows in many seeds. */
const FAILURES_TOLD = 5

/** `aether simulate replicas`. */
export async function simulateManyReplicas(options: SimulateReplicasOptions): Promise<number> {
  const { first, seeds, threads, json, disks } = options
  const progress = new ProgressLine(process.stderr)
  const startedMs = performance.now()
  let done = 0
  let failed = 0
  const onReport = ({ violation }: ReplicaRunResult): undefined => {
    done += 1
    if (violation !== undefined) failed += 1
    progress.show(`${done} of ${seeds} seeds, ${failed} failed`)
  }
  const results = await runReplicaSeeds({ first, seeds, threads, hasDisks: disks, onReport })
  progress.clear()
  const seconds = (performance.now() - startedMs) / 1000
  const failures = results
    .filter(({ violation }) => violation !== undefined)
    .map(({ plan, violation }) => ({ seed: plan.seed, violation: violation! }))
    .sort((one, other) => one.seed - other.seed)
  const marks = marksOf(results)
  if (json) console.log(JSON.stringify({ seeds, seconds, failures, marks: Object.fromEntries(marks) }))
  else {
    for (const line of tableOf(marks)) console.log(line)
    console.log(`${seeds} seeds in ${seconds.toFixed(1)} s, ${failures.length} failed`)
    for (const { seed } of failures.slice(0, FAILURES_TOLD)) tellFailure(seed, disks)
  }
  return failures.length === 0 ? 0 : 1
}

/** `aether simulate replicas --seed S`. */
export function simulateOneOfReplicas(seed: number, json: boolean, disks: boolean): number {
  const result = simulateReplicas(planOf(seed, disks))
  const { plan, violation, events, virtualNs, calls, entries, terms, traceHash } = result
  if (json) console.log(JSON.stringify({ ...result, marks: Object.fromEntries(result.marks) }))
  else {
    console.log(`seed ${seed}: ${plan.replicas} replicas × ${plan.clients} clients × ${plan.calls} calls`)
    tellPlan(plan)
    console.log(
      `  ${events} events, ${(virtualNs / 1e6).toFixed(3)} simulated ms, ${calls} calls, ${entries} entries, ${terms} terms, course ${traceHash}`,
    )
    if (violation !== undefined) tellFailure(seed, disks)
  }
  return violation === undefined ? 0 : 1
}

function tellFailure(seed: number, disks: boolean): void {
  const { plan, violation } = shortenReplicas(planOf(seed, disks))
  console.log(`\nseed ${seed}: ${violation ?? 'it took two courses'}`)
  tellPlan(plan)
  console.log(`  run it again: npm run simulate -- replicas${disks ? ' --disks' : ''} --seed ${seed}`)
}

function tellPlan({ hazards, strikes, joins }: ReturnType<typeof planReplicas>): void {
  for (const { text } of hazards) console.log(`  hazard: ${text}`)
  for (const strike of strikes) console.log(`  strike: ${JSON.stringify(strike)}`)
  for (const atNs of joins) console.log(`  another replica comes after ${(atNs / 1e6).toFixed(3)} ms`)
}

function marksOf(results: readonly ReplicaRunResult[]): Map<string, { times: number; seeds: number }> {
  const all = new Map<string, { times: number; seeds: number }>()
  for (const { marks } of results)
    for (const [name, times] of marks) {
      const sum = all.get(name) ?? { times: 0, seeds: 0 }
      all.set(name, { times: sum.times + times, seeds: sum.seeds + 1 })
    }
  return new Map([...all].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function tableOf(marks: ReturnType<typeof marksOf>): string[] {
  const columns = [
    { title: 'what happened', align: 'left' as const },
    ...['times', 'in seeds'].map((title) => ({ title, align: 'right' as const })),
  ]
  const rows = [...marks].map(([name, { times, seeds }]) =>
    [name, times, seeds].map((each) => each.toLocaleString('en')),
  )
  return formatTable(columns, rows)
}
