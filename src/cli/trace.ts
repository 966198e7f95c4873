import { resolve } from 'node:path'
import process from 'node:process'
import { ArgumentError } from '../native/index.ts'
import { checkTraceFile, mergeTrace, type TraceSummary, traceParts } from '../profiling/index.ts'
import { type Command, ExitCode } from './command.ts'
import { parseOptions } from './options.ts'
import { Screen } from './output/screen.ts'
import { formatCount } from './output/units.ts'
import { crowdedInWords, inWords } from './trace-file.ts'
import { UsageError } from './usage-error.ts'

const table = { json: { type: 'boolean', default: false } } as const

const help = `Usage: aether trace [options] FILE

Merges the parts, if any, that processes wrote because AETHER_TRACE_FILE=FILE was set. (At their end
'aether run', 'aether demo' and 'aether bench dsm' do that by themselves.) Then it checks the
file against the Trace Event Format and prints a summary.

Open the file at ui.perfetto.dev (which does not upload it) or chrome://tracing.

Options:
  --json       print the summary as one JSON document

Exit status: 0 the file is valid; 1 it breaks a rule, or it does not exist.

Examples:
  aether trace app.trace.json      (after AETHER_TRACE_FILE=app.trace.json node app.js)
  aether trace --json app.trace.json`

function readSummary(path: string): TraceSummary {
  try {
    return checkTraceFile(path)
  } catch (cause) {
    throw new ArgumentError('FILE', `${path} cannot be read as a trace: ${(cause as Error).message}`, { cause })
  }
}

/** `aether trace`. */
export const traceCommand: Command = {
  help,
  options: table,
  operands: ['file'],

  async run(args) {
    const { values, positionals } = parseOptions('trace', args, table, 1)
    if (positionals[0] === undefined) throw new UsageError('trace takes the file of a trace', 'trace')
    const path = resolve(positionals[0])
    const screen = new Screen(values.json ? undefined : process.stdout)
    if (traceParts(path).length > 0) screen.line(inWords(path, mergeTrace(path)))
    const summary = readSummary(path)
    if (values.json) process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`)
    const { processes, events, flows, unfinished, dropped, crowded, faults } = summary
    screen.line(`${formatCount(events)} events of ${processes.join(', ')}`)
    screen.line(
      `${formatCount(flows)} flows, ${formatCount(unfinished)} slices without an end, ${formatCount(dropped)} events that did not fit`,
    )
    if (crowded > 0) screen.line(crowdedInWords(crowded))
    for (const fault of faults) screen.line(fault)
    return faults.length === 0 ? ExitCode.Done : ExitCode.Failed
  },
}
