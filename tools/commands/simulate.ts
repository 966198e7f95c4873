import type { Command } from 'aether-dsm/internal/cli'
import { formatTable, integerOption, ProgressLine, parseOptions, UsageError } from 'aether-dsm/internal/cli'
import { protocols } from 'aether-dsm/internal/dsm'
import { type PlanOptions, planSimulation, runSeeds, type SeedReport, shorten, simulate } from '../simulation/index.ts'
import { simulateManyReplicas, simulateOneOfReplicas } from './simulate-replicas.ts'
import { simulateManyShards, simulateOneOfShards } from './simulate-shards.ts'

const seedMax = 2 ** 48
const seedsMax = 10_000_000
const threadsMax = 256
const table = {
  seeds: { type: 'string', default: '200' },
  first: { type: 'string', default: '1' },
  seed: { type: 'string' },
  hazards: { type: 'string' },
  protocol: { type: 'string', default: 'all' },
  threads: { type: 'string' },
  disks: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether simulate [options]
       aether simulate replicas [options]
       aether simulate index [options]

Runs clusters of coherent memory in virtual time, one for each seed. A cluster has 2 to 5 processes with the parts of a
real agent: membership, connections, page words, coherence, caches, replicas. They run over simulated devices, frames
and page tables. Packets, lines of memory, completions and wake-ups may be late, lost, duplicated or out of order.
Programs load, store and add on pages that they share, by explicit calls and through views, give pages up, and fence.

The seed also decides the placement of the pages, the bound of the cache, the replicas, and the hazards of a run.
Hazards are losses, cuts, links that heal, pauses, slow adapters, torn lines and completions before visibility.
Processes may die: they crash, with or without late writes, or pause for longer than the lease.

These must hold whenever anything happens:
  - A page has one writer or many readers, by its word and by the mmu.
  - A program that may read a page sees what was stored last, byte by byte. With replicas, a page whose holders have
    died may go back, but not behind what was fenced or shown to others.
  - A page that is reported as lost is at no process, was at no survivor, and stays lost.
At the end these must hold:
  - Every access of a live process was made, or failed because of a lost page.
  - The live processes agree on who is alive, everything is at rest, homes know every holder, and all can leave.
  - For a history of up to 64 accesses, there is one order that explains all of them (sequential consistency).
Now and then a seed runs twice, and must take the same course.

replicas: a replicated log and its clients. Replicas that lead crash, pause, are cut off or let others lead, and others
join. No two replicas decide differently, a leader has all that was decided, and no answer is lost. One order explains
all calls. The options are --seeds, --first, --seed, --threads, --disks and --json.

index: nodes of an index whose shards move, and clients that look for them. Nodes come, close, crash, pause, stall and
are cut off, most of them at a step of a move. Clients READ the memory of nodes, by adapters that tear. One order
explains the calls of each key, and each key is in its shard alone. All moves end. The options are --seeds, --first,
--seed, --threads, --disks and --json.

Options:
  --seeds N          the number of seeds (default 200)
  --first S          the first seed (default 1)
  --seed S           run only this seed and print details. If it fails, find the fewest hazards that make it fail
  --hazards LIST     with --seed: only these of its hazards, by number; 'none' for none
  --protocol LIST    ${[...protocols.keys()].join(', ')}, or all (default)
  --threads N        threads to run in (default: one for each CPU)
  --disks            replicas and nodes keep their logs on disks, are killed and begin again, all of them at once, too
  --json             print the results as JSON

Exit status: 1 if a check failed. The command that runs it again is printed.

Examples:
  aether simulate --seeds 2000
  aether simulate --seed 17 --hazards 0,2
  aether simulate replicas --seeds 2000
  aether simulate replicas --disks --seeds 2000
  aether simulate index --seeds 200`

/** `aether simulate`. */
export const simulateCommand: Command = {
  help,
  options: table,
  operands: [['replicas', 'index']],

  async run(args) {
    const { values, positionals } = parseOptions('simulate', args, table, 1)
    const [what] = positionals
    if (what !== undefined && what !== 'replicas' && what !== 'index')
      throw new UsageError(`simulate takes 'replicas', 'index' or nothing, not '${what}'`, 'simulate')
    const chosen = chosenProtocols(values.protocol)
    if (values.seed !== undefined) {
      const seed = integerOption('simulate', '--seed', values.seed, 0, seedMax)
      if (what === 'replicas') return simulateOneOfReplicas(seed, values.json, values.disks)
      if (what === 'index') return await simulateOneOfShards(seed, values.json, values.disks)
      return playOne(seed, { ...chosen, ...chosenHazards(values.hazards) }, values.json)
    }
    const first = integerOption('simulate', '--first', values.first, 0, seedMax)
    const seeds = integerOption('simulate', '--seeds', values.seeds, 1, seedsMax)
    const threads =
      values.threads === undefined
        ? {}
        : { threads: integerOption('simulate', '--threads', values.threads, 1, threadsMax) }
    if (what === 'replicas')
      return simulateManyReplicas({ first, seeds, threads: threads.threads, json: values.json, disks: values.disks })
    if (what === 'index')
      return simulateManyShards({ first, seeds, threads: threads.threads, json: values.json, disks: values.disks })
    return playMany(first, seeds, { ...chosen, ...threads }, values.json)
  },
}

function chosenProtocols(text: string): PlanOptions {
  if (text === 'all') return {}
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !protocols.has(name))
  if (unknown !== undefined)
    throw new UsageError(`there is no protocol '${unknown}'; there are ${[...protocols.keys()].join(', ')}`, 'simulate')
  return { protocols: names }
}

function chosenHazards(text: string | undefined): PlanOptions {
  if (text === undefined) return {}
  if (text === 'none') return { hazards: [] }
  return { hazards: text.split(',').map((each) => integerOption('simulate', '--hazards', each.trim(), 0, 100)) }
}

async function playMany(
  first: number,
  seeds: number,
  options: PlanOptions & { readonly threads?: number },
  json: boolean,
): Promise<number> {
  const progress = new ProgressLine(process.stderr)
  const startedMs = performance.now()
  let done = 0
  let failed = 0
  const onReport = (report: SeedReport): undefined => {
    done += 1
    if (report.violation !== undefined) failed += 1
    progress.show(`${done} of ${seeds} seeds, ${failed} failed`)
  }
  const reports = await runSeeds({ first, seeds, ...options, onReport })
  progress.clear()
  const seconds = (performance.now() - startedMs) / 1000
  const failures = reports
    .filter(({ violation }) => violation !== undefined)
    .sort((one, other) => one.seed - other.seed)
  if (json) console.log(JSON.stringify({ seeds, seconds, failures, summary: summaryOf(reports) }))
  else for (const line of [...tableOf(reports), `${seeds} seeds in ${seconds.toFixed(1)} s`]) console.log(line)
  if (!json) for (const { seed, violation } of failures.slice(0, FAILURES_TOLD)) tellFailure(seed, violation!, options)
  return failures.length === 0 ? 0 : 1
}

/** The maximum number printed, because one bug shows in many seeds. */
const FAILURES_TOLD = 5

function playOne(seed: number, options: PlanOptions, json: boolean): number {
  const plan = planSimulation(seed, options)
  const result = simulate(plan)
  if (json) console.log(JSON.stringify(result))
  else {
    console.log(
      `seed ${seed}: ${plan.protocol}, ${plan.nodes} nodes × ${plan.threads} threads × ${plan.accesses} accesses, ${plan.pages} pages`,
    )
    for (const { text } of plan.hazards) console.log(`  hazard: ${text}`)
    console.log(
      `  ${result.events} events, ${(result.virtualNs / 1e6).toFixed(3)} simulated ms, ${result.accesses} accesses, course ${result.traceHash}`,
    )
  }
  if (result.violation === undefined) return 0
  if (!json) tellFailure(seed, result.violation, options)
  return 1
}

function tellFailure(seed: number, violation: string, options: PlanOptions): void {
  console.log(`\nseed ${seed}: ${violation}`)
  const { hazards, result } = shorten(seed, options)
  if (result.violation === undefined) return
  const names = options.protocols === undefined ? '' : ` --protocol ${options.protocols.join()}`
  const command = `npm run simulate -- --seed ${seed}${names} --hazards ${hazards.length === 0 ? 'none' : hazards.join()}`
  console.log(`  shortened to ${hazards.length} hazards: ${result.violation}`)
  for (const { text } of result.plan.hazards) console.log(`    ${text}`)
  console.log(`  run it again: ${command}`)
}

interface Summary {
  readonly protocol: string
  readonly seeds: number
  readonly failed: number
  readonly accesses: number
  readonly events: number
  readonly searched: number
  readonly deaths: number
  readonly lost: number
  readonly restored: number
  readonly simulatedSeconds: number
}

function summaryOf(reports: readonly SeedReport[]): Summary[] {
  const names = [...new Set(reports.map(({ protocol }) => protocol))].sort()
  return names.map((protocol) => {
    const own = reports.filter((report) => report.protocol === protocol)
    const sum = (of: (report: SeedReport) => number): number => own.reduce((total, report) => total + of(report), 0)
    return {
      protocol,
      seeds: own.length,
      failed: sum(({ violation }) => (violation === undefined ? 0 : 1)),
      accesses: sum(({ accesses }) => accesses),
      events: sum(({ events }) => events),
      searched: sum(({ searched }) => (searched ? 1 : 0)),
      deaths: sum(({ deaths }) => deaths),
      lost: sum(({ lost }) => lost),
      restored: sum(({ restored }) => restored),
      simulatedSeconds: sum(({ virtualNs }) => virtualNs) / 1e9,
    }
  })
}

function tableOf(reports: readonly SeedReport[]): string[] {
  const titles = [
    'seeds',
    'failed',
    'accesses',
    'events',
    'orders searched',
    'deaths',
    'pages lost',
    'restored',
    'simulated s',
  ]
  const columns = [
    { title: 'protocol', align: 'left' as const },
    ...titles.map((title) => ({ title, align: 'right' as const })),
  ]
  const rows = summaryOf(reports).map(({ protocol, simulatedSeconds, ...counts }) => {
    const { seeds, failed, accesses, events, searched, deaths, lost, restored } = counts
    const columnsOf = [seeds, failed, accesses, events, searched, deaths, lost, restored].map((value) =>
      value.toLocaleString('en'),
    )
    return [protocol, ...columnsOf, simulatedSeconds.toFixed(1)]
  })
  return formatTable(columns, rows)
}
