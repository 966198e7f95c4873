import { launch } from '../cluster/index.ts'
import type { Command } from './command.ts'
import { integerOption, parseOptions, wordOption } from './options.ts'
import { UsageError } from './usage-error.ts'

const ranksMax = 256

const table = {
  ranks: { type: 'string', short: 'n' },
  'on-failure': { type: 'string', default: 'stop' },
} as const

const help = `Usage: aether run -n N [options] script.js [arguments ...]

Starts N processes of a script, on this machine, as the ranks of a group; in each, 'await join()' says which it is.
Output comes line by line with the rank in front. SIGINT, SIGTERM and SIGHUP are passed on, and after a grace SIGKILL; no rank
outlives the command.

Options (before the script; what comes after it is the script's):
  -n, --ranks N            how many processes, 1 ... ${ranksMax}
  --on-failure stop        when a rank fails, end the others (default)
  --on-failure continue    when a rank fails, let the others go on

Exit status: 0 when every rank ended well; else that of the first rank that failed: its own, or 128 + the number of the
signal that ended it. 2 when the command line cannot be understood.

Examples:
  aether run -n 4 app.js
  aether run -n 2 --on-failure continue worker.js --verbose input.txt`

/** `aether run`. */
export const runCommand: Command = {
  help,

  async run(args) {
    const { own, script, scriptArguments } = splitAtScript(args)
    const { values } = parseOptions('run', own, table)
    const onFailure = wordOption('run', '--on-failure', values['on-failure'], ['stop', 'continue'])
    if (values.ranks === undefined) throw new UsageError('how many processes? -n N is missing', 'run')
    const ranks = integerOption('run', '-n', values.ranks, 1, ranksMax)
    if (script === undefined) throw new UsageError('which script? Its name is missing', 'run')
    const { status } = await launch({ script, args: scriptArguments, ranks, onFailure })
    return status
  },
}

/** Options of the command come before the script, everything behind it belongs to the script, whatever it looks like. */
function splitAtScript(args: readonly string[]): {
  readonly own: readonly string[]
  readonly script: string | undefined
  readonly scriptArguments: readonly string[]
} {
  let at = 0
  while (at < args.length && args[at]!.startsWith('-') && args[at] !== '--') at += takesNext(args[at]!) ? 2 : 1
  const script = args[at] === '--' ? at + 1 : at
  return { own: args.slice(0, at), script: args[script], scriptArguments: args.slice(script + 1) }
}

function takesNext(option: string): boolean {
  return ['-n', '--ranks', '--on-failure'].includes(option)
}
