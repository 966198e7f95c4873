import { ExitCode, formatCount, Screen } from 'aether-dsm/internal/cli'
import type { Protocol } from 'aether-dsm/internal/dsm'
import {
  type CheckTask,
  collisionOdds,
  comparePlays,
  type PlaysComparison,
  recordedPlays,
  runTasks,
  type TaskResult,
} from '../../modelcheck/index.ts'

const columns = [
  { title: 'protocol', align: 'left' },
  { title: 'nodes', align: 'right' },
  { title: 'pages', align: 'right' },
  { title: 'homes', align: 'left' },
  { title: 'threads', align: 'left' },
  { title: 'refusals', align: 'right' },
  { title: 'states', align: 'right' },
  { title: 'transitions', align: 'right' },
  { title: 'depth', align: 'right' },
  { title: 'seconds', align: 'right' },
  { title: '', align: 'left' },
] as const

/** Explore, show the results, and return the exit status. */
export async function runChecks(
  protocols: readonly Protocol[],
  tasks: readonly CheckTask[],
  json: boolean,
): Promise<number> {
  const screen = new Screen(json ? undefined : process.stdout)
  const results = await runTasks(tasks, {
    onProgress: ({ model }, states, depth) =>
      screen.progress(
        `${model.protocol.name}, ${model.nodes} nodes, ${model.pages} pages: ${formatCount(states)} states, depth ${depth} …`,
      ),
    onResult: ({ result }) => (result.violation === undefined ? undefined : 'stop'),
  })
  const records = protocols.map((protocol) => ({ protocol: protocol.name, ...compareWithRecord(protocol) }))
  if (json)
    process.stdout.write(`${JSON.stringify({ checks: results.map((each) => plain(each)), records }, undefined, 2)}\n`)
  show(screen, results)
  for (const record of records) showRecord(screen, record)
  const isWell =
    results.every(({ result }) => result.violation === undefined) &&
    records.every(({ differences, unplayed }) => differences.length === 0 && unplayed.length === 0)
  return isWell ? ExitCode.Done : ExitCode.Failed
}

interface RecordResult extends PlaysComparison {
  readonly protocol: string
  /** How many plays were played. */
  readonly plays: number
}

function compareWithRecord(protocol: Protocol): Omit<RecordResult, 'protocol'> {
  const plays = recordedPlays(protocol.name) ?? []
  return { plays: plays.length, ...comparePlays(protocol, plays) }
}

/** Of plays that differ, only the shortest is drawn, because others may be longer paths through the same cell. */
function showRecord(screen: Screen, { protocol, plays, differences, unplayed }: RecordResult): void {
  if (unplayed.length > 0)
    screen.line(`\n${screen.paint('red', `${protocol}: no recorded play reaches these cells`)}: ${unplayed.join(', ')}`)
  const [first] = differences
  if (first === undefined) {
    screen.line(`${protocol}: ${formatCount(plays)} recorded plays give the recorded result.`)
    return
  }
  const cells = [...new Set(differences.filter(({ isCutOff }) => !isCutOff).map(({ cell }) => cell))]
  screen.line(`\n${screen.paint('red', `${protocol}: ${first.cell} differs from the record`)}\n`)
  screen.line(first.trace)
  screen.line(`\n  recorded:\n${indented(first.recorded)}\n  now:\n${indented(first.now)}`)
  const all = `${differences.length} of ${formatCount(plays)} recorded plays give another result`
  screen.line(`\n${all}${cells.length === 0 ? ', cut off' : `; cells: ${cells.join(', ')}`}.`)
  screen.line('If that is intended, run node scripts/protocol-plays.mjs and review the difference.')
}

const indented = (lines: readonly string[]): string => lines.map((line) => `    ${line}`).join('\n')

function show(screen: Screen, results: readonly TaskResult<CheckTask>[]): void {
  screen.table(
    columns,
    results.map((result) => row(result)),
  )
  const states = results.reduce((sum, { result }) => sum + result.states, 0)
  const odds = results.reduce((sum, { result }) => sum + collisionOdds(result.states), 0)
  screen.line(
    `\n${formatCount(states)} states. Odds that two states of an exploration had the same fingerprint and one was missed: below ${odds.toExponential(0)}.`,
  )
  for (const { task, result } of results) {
    if (result.violation === undefined) continue
    const { protocol, nodes, pages } = task.model
    screen.line(
      `\n${screen.paint('red', `${protocol.name}, ${nodes} nodes, ${pages} pages`)}: ${result.violation.what}\n`,
    )
    screen.line(result.violation.trace)
  }
}

function row({ task, result, seconds }: TaskResult<CheckTask>): string[] {
  const { protocol, nodes, pages, homes, threads, refusals, pins } = task.model
  return [
    protocol.name,
    String(nodes),
    String(pages),
    pages === 1 ? '-' : homes,
    pins === true ? `${threads}, pins` : threads,
    String(refusals),
    formatCount(result.states),
    formatCount(result.transitions),
    String(result.depth),
    seconds.toFixed(1),
    verdict(result),
  ]
}

function verdict({ violation, exhaustive, depth, symmetry, walked }: TaskResult<CheckTask>['result']): string {
  if (violation !== undefined) return 'VIOLATION'
  const reduced = symmetry > 1 ? ', up to names' : ''
  if (exhaustive) return `exhaustive${reduced}`
  const beyond = walked === undefined ? '' : `; ${formatCount(walked)} random steps`
  return `bounded, there are more states: every run of fewer than ${depth} steps${reduced}${beyond}`
}

function plain({ task, result, seconds }: TaskResult<CheckTask>): object {
  const { protocol, ...model } = task.model
  return { protocol: protocol.name, ...model, seconds, ...result }
}
