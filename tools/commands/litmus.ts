import {
  type Command,
  ExitCode,
  formatCount,
  integerOption,
  parseOptions,
  Screen,
  UsageError,
  wordOption,
} from 'aether-dsm/internal/cli'
import {
  type Access,
  type Axis,
  accesses,
  axesFor,
  type LitmusResult,
  litmusKinds,
  runLitmus,
  shapes,
} from '../litmus/index.ts'

const roundsMax = 100_000_000
const table = {
  rounds: { type: 'string', default: '2000' },
  shape: { type: 'string', default: 'all' },
  ranks: { type: 'string', default: '2,3,4' },
  coherence: { type: 'string', default: 'all' },
  access: { type: 'string', default: 'atomics' },
  evictions: { type: 'string', default: 'both' },
  quick: { type: 'boolean', default: false },
  'page-size': { type: 'string', default: '4096' },
  seed: { type: 'string', default: '1' },
} as const

const help = `Usage: aether litmus [options]

Runs litmus tests with real processes. Each test is a few loads and stores of shared locations. It runs many times, and
every outcome is counted.

Outcomes that sequential consistency forbids are marked with '!', and there must be none. Plain elements only promise
coherence of each location. Outcomes that are allowed there, although not sequentially consistent, are marked with '~'.

A round counts as overlapped if its outcome is impossible when one process finishes before the next starts. The column
shows '-' if the shape has no such outcome.

An outcome reads '1|0 x=2': the results of each process's loads, then the final value of a location with several stores.

Options:
  --rounds N           rounds of each shape on each axis, rounded up to whole batches (default 2000: some minutes)
  --quick              200 rounds, and each shape only with its own number of processes: about a minute
  --shape LIST         ${shapes.map(({ name }) => name).join(', ')}, or all (default)
  --ranks LIST         numbers of processes, 2 ... 8 (default 2,3,4). Processes beyond those of the shape are homes, and
                       disturb
  --coherence LIST     ${litmusKinds.join(', ')}, or all (default)
  --access LIST        ${accesses.join(', ')}, or all (default atomics): views and explicit calls
  --evictions WHICH    with, without, or both (default): with so little room for copies that pages are evicted
                       during rounds
  --page-size BYTES    a multiple of 4096 (default 4096)
  --seed N             decides delays, and which process plays which part (default 1)

Exit status: 1 if a forbidden outcome was seen.

Examples:
  aether litmus --shape SB,MP --rounds 100000
  aether litmus --access all --coherence mesi,directory --rounds 10000`

/** `aether litmus`. */
export const litmusCommand: Command = {
  help,
  options: table,

  async run(args) {
    const { values } = parseOptions('litmus', args, table)
    const chosen = chosenShapes(values.shape)
    const axes = chosenAxes(values)
    const wanted = values.quick ? '200' : values.rounds
    const rounds = integerOption('litmus', '--rounds', wanted, 1, roundsMax)
    const pageSize = integerOption('litmus', '--page-size', values['page-size'], 4096, 2 ** 24)
    const seed = integerOption('litmus', '--seed', values.seed, 0, 2 ** 31 - 1)
    const screen = new Screen(process.stdout)
    const onResult = ({ shape, axis }: LitmusResult): void => screen.progress(`${shape}, ${describeAxis(axis)}`)
    const fewest = values.quick
    const results = await runLitmus({ shapes: chosen, axes, rounds, pageSize, seed, fewest, onResult })
    return show(screen, results)
  },
}

function chosenShapes(text: string): typeof shapes {
  if (text === 'all') return shapes
  return text.split(',').map((name) => {
    const shape = shapes.find((each) => each.name.toLowerCase() === name.trim().toLowerCase())
    if (shape !== undefined) return shape
    throw new UsageError(
      `there is no shape '${name}'; there are ${shapes.map((each) => each.name).join(', ')}`,
      'litmus',
    )
  })
}

interface AxisValues {
  readonly ranks: string
  readonly access: string
  readonly coherence: string
  readonly evictions: string
}

function chosenAxes(values: AxisValues): Axis[] {
  const kinds = values.coherence === 'all' ? litmusKinds : values.coherence.split(',').map(kindNamed)
  const wanted = values.access === 'all' ? accesses : values.access.split(',').map(accessNamed)
  const ranks = values.ranks.split(',').map((text) => integerOption('litmus', '--ranks', text, 2, 8))
  const which = wordOption('litmus', '--evictions', values.evictions, ['with', 'without', 'both'])
  const all = ranks.flatMap((count) => wanted.flatMap((access) => axesFor(count, access)))
  const hasEvictions = (axis: Axis): boolean => which === 'both' || axis.evictions === (which === 'with')
  return all.filter((axis) => kinds.includes(axis.coherence) && hasEvictions(axis))
}

function kindNamed(text: string): Axis['coherence'] {
  return wordOption('litmus', '--coherence', text, litmusKinds)
}

function accessNamed(text: string): Access {
  return wordOption('litmus', '--access', text, accesses)
}

function describeAxis({ coherence, ranks, pages, homes, access, evictions }: Axis): string {
  return `${coherence}, ${ranks} processes, ${pages} page, ${homes} home, ${access}${evictions ? ', evictions' : ''}`
}

const columns = [
  { title: 'shape', align: 'left' },
  { title: 'coherence', align: 'left' },
  { title: 'processes', align: 'right' },
  { title: 'page', align: 'left' },
  { title: 'home', align: 'left' },
  { title: 'access', align: 'left' },
  { title: 'evictions', align: 'right' },
  { title: 'rounds', align: 'right' },
  { title: 'seconds', align: 'right' },
  { title: 'overlapped', align: 'right' },
  { title: 'forbidden', align: 'right' },
  { title: 'outcomes', align: 'left' },
] as const

function show(screen: Screen, results: readonly LitmusResult[]): number {
  screen.table(
    columns,
    results.map((result) => row(result)),
  )
  for (const reason of new Set(results.flatMap(({ skipped }) => skipped ?? []))) screen.line(`skipped: ${reason}`)
  const rounds = results.reduce((sum, result) => sum + result.rounds, 0)
  const forbidden = results.reduce((sum, result) => sum + result.forbidden, 0)
  const verdict = forbidden === 0 ? 'no forbidden outcome' : `${formatCount(forbidden)} rounds with a forbidden outcome`
  screen.line(`\n${formatCount(rounds)} rounds: ${screen.paint(forbidden === 0 ? 'green' : 'red', verdict)}`)
  return forbidden === 0 ? ExitCode.Done : ExitCode.Failed
}

function row({
  shape,
  axis,
  rounds,
  seconds,
  overlapped,
  evicted,
  forbidden,
  outcomes,
  skipped,
}: LitmusResult): string[] {
  const { coherence, ranks, pages, homes, access, evictions } = axis
  const shown = outcomes.map(({ outcome, count, forbidden: isForbidden, weak }) => {
    const mark = isForbidden ? '!' : weak ? '~' : ''
    return `${outcome}: ${count}${mark}`
  })
  const text = skipped === undefined ? shown.join('  ') : 'skipped'
  return [
    shape,
    coherence,
    String(ranks),
    pages,
    coherence === 'hardware' ? '-' : homes,
    access,
    evictions ? formatCount(evicted) : '-',
    String(rounds),
    seconds.toFixed(1),
    overlapped === undefined ? '-' : String(overlapped),
    String(forbidden),
    text,
  ]
}
