import { type CheckTask, collisionOdds, runTasks, type TaskResult, unusedCells } from '../../testing/index.ts'
import { ExitCode } from '../command.ts'
import { Screen } from '../output/screen.ts'
import { formatCount } from '../output/units.ts'

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

/** Explore, show, and tell whether all is well. */
export async function runChecks(tasks: readonly CheckTask[], json: boolean): Promise<number> {
  const screen = new Screen(json ? undefined : process.stdout)
  const results = await runTasks(tasks, {
    onProgress: ({ model }, states, depth) =>
      screen.progress(
        `${model.protocol.name}, ${model.nodes} nodes, ${model.pages} pages: ${formatCount(states)} states, depth ${depth} …`,
      ),
    onResult: ({ result }) => (result.violation === undefined ? undefined : 'stop'),
  })
  const unused = unusedCells(results)
  if (json)
    process.stdout.write(`${JSON.stringify({ checks: results.map((each) => plain(each)), unused }, undefined, 2)}\n`)
  show(screen, results, unused)
  const isWell = results.every(({ result }) => result.violation === undefined) && Object.keys(unused).length === 0
  return isWell ? ExitCode.Done : ExitCode.Failed
}

function show(
  screen: Screen,
  results: readonly TaskResult<CheckTask>[],
  unused: Readonly<Record<string, readonly string[]>>,
): void {
  screen.table(
    columns,
    results.map((result) => row(result)),
  )
  const states = results.reduce((sum, { result }) => sum + result.states, 0)
  const odds = results.reduce((sum, { result }) => sum + collisionOdds(result.states), 0)
  screen.line(
    `\n${formatCount(states)} states. Odds that two of one exploration fell together and something went unseen: below ${odds.toExponential(0)}.`,
  )
  for (const { task, result } of results) {
    if (result.violation === undefined) continue
    const { protocol, nodes, pages } = task.model
    screen.line(
      `\n${screen.paint('red', `${protocol.name}, ${nodes} nodes, ${pages} pages`)}: ${result.violation.what}\n`,
    )
    screen.line(result.violation.trace)
  }
  for (const [protocol, cells] of Object.entries(unused))
    screen.line(`\n${screen.paint('red', `${protocol}: cells that nothing leads to`)}: ${cells.join(', ')}`)
}

function row({ task, result, seconds }: TaskResult<CheckTask>): string[] {
  const { protocol, nodes, pages, homes, threads, refusals } = task.model
  return [
    protocol.name,
    String(nodes),
    String(pages),
    pages === 1 ? '-' : homes,
    threads,
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
  const beyond = walked === undefined ? '' : `; ${formatCount(walked)} steps at random`
  return `bounded, there are more states: every run of fewer than ${depth} steps${reduced}${beyond}`
}

function plain({ task, result, seconds }: TaskResult<CheckTask>): object {
  const { protocol, ...model } = task.model
  return { protocol: protocol.name, ...model, seconds, ...result }
}
