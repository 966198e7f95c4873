import { formatTable, ProgressLine } from 'aether-dsm/internal/cli'
import { planShards, runShardSeeds, type ShardsRunResult, simulateShards } from '../simulation/shards/index.ts'

export interface SimulateShardsOptions {
  readonly first: number
  readonly seeds: number
  readonly disks: boolean
  readonly threads: number | undefined
  readonly json: boolean
}

/** The maximum number printed, because one bug shows in many seeds. */
const FAILURES_TOLD = 5

/** `aether simulate index`. */
export async function simulateManyShards({
  first,
  seeds,
  disks,
  threads,
  json,
}: SimulateShardsOptions): Promise<number> {
  const progress = new ProgressLine(process.stderr)
  const startedMs = performance.now()
  let done = 0
  let failed = 0
  const onReport = ({ violation }: ShardsRunResult): undefined => {
    done += 1
    if (violation !== undefined) failed += 1
    progress.show(`${done} of ${seeds} seeds, ${failed} failed`)
  }
  const results = await runShardSeeds({ first, seeds, disks, threads, onReport })
  progress.clear()
  const seconds = (performance.now() - startedMs) / 1000
  const failures = results
    .filter(({ violation }) => violation !== undefined)
    .map(({ plan, violation }) => ({ seed: plan.seed, violation: violation! }))
    .sort((one, other) => one.seed - other.seed)
  const marks = marksOf(results)
  if (json) console.log(JSON.stringify({ seeds, seconds, failures, marks: Object.fromEntries(marks) }))
  else {
    const columns = [
      { title: 'what happened', align: 'left' as const },
      { title: 'times', align: 'right' as const },
    ]
    const rows = [...marks].map(([name, times]) => [name, times.toLocaleString('en')])
    for (const line of formatTable(columns, rows)) console.log(line)
    console.log(`${seeds} seeds in ${seconds.toFixed(1)} s, ${failures.length} failed`)
    for (const { seed, violation } of failures.slice(0, FAILURES_TOLD)) tellFailure(seed, disks, violation)
  }
  return failures.length === 0 ? 0 : 1
}

/** `aether simulate index --seed S`. */
export async function simulateOneOfShards(seed: number, json: boolean, disks: boolean): Promise<number> {
  const result = await simulateShards(planShards(seed, {}, disks))
  const { plan, violation, events, virtualNs, calls, traceHash } = result
  if (json) console.log(JSON.stringify({ ...result, marks: Object.fromEntries(result.marks) }))
  else {
    console.log(
      `seed ${seed}: ${plan.nodes} nodes, ${plan.shards} shards, ${plan.clients} clients × ${plan.calls} calls`,
    )
    for (const atMs of plan.joins) console.log(`  a node comes after ${atMs} ms`)
    for (const atMs of plan.closes) console.log(`  a node closes after ${atMs} ms`)
    for (const strike of plan.strikes) console.log(`  strike: ${JSON.stringify(strike)}`)
    console.log(`  ${events} events, ${(virtualNs / 1e6).toFixed(0)} simulated ms, ${calls} calls, course ${traceHash}`)
    if (violation !== undefined) tellFailure(seed, disks, violation)
  }
  return violation === undefined ? 0 : 1
}

function tellFailure(seed: number, disks: boolean, violation: string): void {
  console.log(`\nseed ${seed}: ${violation}`)
  console.log(`  run it again: npm run simulate -- index --seed ${seed}${disks ? ' --disks' : ''}`)
}

function marksOf(results: readonly ShardsRunResult[]): Map<string, number> {
  const all = new Map<string, number>()
  for (const { marks } of results) for (const [name, times] of marks) all.set(name, (all.get(name) ?? 0) + times)
  return new Map([...all].sort(([one], [other]) => (one < other ? -1 : 1)))
}
