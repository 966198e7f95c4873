import process from 'node:process'
import { createInterface } from 'node:readline'
import { describeSaid, Replay, type ReplayedStep, readRecording } from '../dsm/index.ts'
import { type Command, ExitCode } from './command.ts'
import { integerOption, parseOptions } from './options.ts'
import { Screen } from './output/screen.ts'
import { formatCount } from './output/units.ts'
import { describeInput } from './replay/describe-input.ts'
import { UsageError } from './usage-error.ts'

const INDEX_MAX = Number.MAX_SAFE_INTEGER
/** How many steps are shown before a step that went wrong. */
const SHOWN_BEFORE = 10

const table = {
  from: { type: 'string' },
  to: { type: 'string' },
  page: { type: 'string' },
  step: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether replay [options] FILE

Steps through a recording of one member's part of a region. Each recorded event runs again through the same code,
so the same file gives the same steps on every machine. Without options it runs the whole file, and shows a step
that went wrong and the steps before it.

Members record if AETHER_RECORD names a directory: files of at most 16 MiB for each region and rank, of which they
keep the latest four.

Options:
  --from N     show steps from N on, counted from 0. Earlier steps run but are not shown
  --to N       stop after step N
  --page P     show only the steps about page P
  --step       one step at a time: Enter takes the next, a number runs to that step, p shows all pages, q ends
  --json       print each step as a line of JSON

Exit status: 1 if an assertion is violated, or if the replay differs from the recording, which another version of
Aether may have written.

Examples:
  aether replay /tmp/recording/ranks-rank-0-4711.0.jsonl
    (after AETHER_RECORD=/tmp/recording aether run -n 2 app.js)
  aether replay --page 17 --from 5000 --to 5100 FILE`

/** Which steps to show. */
interface Choice {
  readonly from: number
  readonly to: number
  readonly page: number | undefined
  /** Whether any of these options was given. */
  readonly asked: boolean
}

/** `aether replay`. */
export const replayCommand: Command = {
  help,
  options: table,
  operands: ['file'],

  async run(args) {
    const { values, positionals } = parseOptions('replay', args, table, 1)
    const [path] = positionals
    if (path === undefined) throw new UsageError('replay takes the file of a recording', 'replay')
    const choice = choiceOf(values)
    const replay = new Replay(readRecording(path))
    if (values.json) return printJson(replay, choice)
    const screen = new Screen(process.stdout)
    showHeader(screen, replay)
    return values.step ? await stepThrough(screen, replay) : runThrough(screen, replay, choice)
  },
}

function choiceOf({ from, to, page }: { from?: string; to?: string; page?: string }): Choice {
  const index = (option: string, text: string | undefined): number | undefined =>
    text === undefined ? undefined : integerOption('replay', option, text, 0, INDEX_MAX)
  return {
    from: index('--from', from) ?? 0,
    to: index('--to', to) ?? INDEX_MAX,
    page: index('--page', page),
    asked: from !== undefined || to !== undefined || page !== undefined,
  }
}

/** Takes the steps up to `to`, one by one. */
function* taken(replay: Replay, to: number): Generator<ReplayedStep> {
  while (replay.position <= to) {
    const step = replay.next()
    if (step === undefined) return
    yield step
  }
}

function printJson(replay: Replay, { from, to, page }: Choice): number {
  let status: number = ExitCode.Done
  for (const step of taken(replay, to)) {
    if (isWrong(step)) status = ExitCode.Failed
    if (isShown(step, from, page)) process.stdout.write(`${JSON.stringify(step)}\n`)
  }
  return status
}

function runThrough(screen: Screen, replay: Replay, { from, to, page, asked }: Choice): number {
  const before: ReplayedStep[] = []
  for (const step of taken(replay, to)) {
    const shown = asked && isShown(step, from, page)
    if (shown) showStep(screen, step)
    if (isWrong(step)) {
      if (!shown) for (const each of [...before, step]) showStep(screen, each)
      return ExitCode.Failed
    }
    before.push(step)
    if (before.length > SHOWN_BEFORE) before.shift()
  }
  showPages(screen, replay)
  screen.line(`\n${formatCount(replay.position)} steps, each as it was recorded.`)
  return ExitCode.Done
}

async function stepThrough(screen: Screen, replay: Replay): Promise<number> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const ask = (): void => {
    lines.setPrompt(`step ${replay.position}> `)
    lines.prompt()
  }
  ask()
  for await (const line of lines) {
    const answer = line.trim()
    if (answer === 'q') break
    if (answer === 'p') {
      showPages(screen, replay)
    } else {
      const last = runTo(screen, replay, answer)
      if (last !== undefined && isWrong(last)) return ExitCode.Failed
      if (replay.position >= replay.recording.steps.length) break
    }
    ask()
  }
  lines.close()
  return ExitCode.Done
}

/** Runs to the step with this number, or one step further, and shows it. A replay cannot go back. */
function runTo(screen: Screen, replay: Replay, answer: string): ReplayedStep | undefined {
  const to = /^\d+$/.test(answer) ? Number(answer) : replay.position
  if (to < replay.position) screen.line('That step is over: a replay goes forwards only.')
  let last: ReplayedStep | undefined
  for (const step of taken(replay, to)) {
    last = step
    if (isWrong(step)) break
  }
  if (last !== undefined) showStep(screen, last)
  return last
}

function showHeader(screen: Screen, { recording }: Replay): void {
  const { header, steps, cutOff } = recording
  const { region, protocol, rank, ranks, part, state } = header
  screen.line(
    `Region '${region}', ${protocol}, rank ${rank} of ${ranks}; part ${part}, which starts with ${state.copies.length} copies: ${formatCount(steps.length)} steps in ${((steps.at(-1)?.atNs ?? 0) / 1e9).toFixed(3)} s.`,
  )
  if (cutOff) screen.line('The last line was cut off: the member was killed while it wrote.')
}

function showStep(screen: Screen, replayed: ReplayedStep): void {
  const { index, step, cells, said, copy, directory, violation, divergence } = replayed
  const { paint } = screen
  screen.line(`${paint('bold', `${index}`)}  ${(step.atNs / 1e6).toFixed(3)} ms  ${describeInput(step)}`)
  for (const cell of cells) screen.line(`      ${paint('dim', cell)}`)
  for (const each of said) screen.line(`      ${describeSaid(each)}`)
  if (copy !== undefined) screen.line(`      ${paint('dim', `copy ${copy}, directory ${directory}`)}`)
  if (violation !== undefined) screen.line(`      ${paint('red', `violated: ${violation}`)}`)
  if (divergence !== undefined) screen.line(`      ${paint('red', `differs from the recording: ${divergence}`)}`)
}

const columns = [
  { title: 'page', align: 'right' },
  { title: 'copy', align: 'left' },
  { title: 'directory', align: 'left' },
  { title: 'owner', align: 'right' },
  { title: 'sharers', align: 'left' },
] as const

/** Directory columns are meaningful only at the page's home; elsewhere the entry is in its initial state. */
function showPages(screen: Screen, replay: Replay): void {
  const rows = replay.pages().map((page) => {
    const { copy, directory } = replay.page(page)
    const { state, owner, sharers } = directory
    return [String(page), copy, state, owner < 0 ? '-' : String(owner), sharers.join(' ') || '-']
  })
  screen.table(columns, rows)
}

function isWrong({ violation, divergence }: ReplayedStep): boolean {
  return violation !== undefined || divergence !== undefined
}

function isShown(step: ReplayedStep, from: number, page: number | undefined): boolean {
  return step.index >= from && (page === undefined || step.page === undefined || step.page === page)
}
