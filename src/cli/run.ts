import { launch, parseHosts, slotsOf } from '../cluster/index.ts'
import type { Command } from './command.ts'
import { integerOption, parseOptions, wordOption } from './options.ts'
import { traceHelp, withTraceFile } from './trace-file.ts'
import { UsageError } from './usage-error.ts'

const ranksMax = 256

/** What `--ssh` stands in for. */
const SSH_VARIABLE = 'AETHER_SSH'

const table = {
  ranks: { type: 'string', short: 'n' },
  'on-failure': { type: 'string', default: 'stop' },
  hosts: { type: 'string' },
  ssh: { type: 'string' },
  'remote-node': { type: 'string' },
  address: { type: 'string' },
  port: { type: 'string', default: '0' },
  trace: { type: 'string' },
  dashboard: { type: 'boolean', default: false },
  record: { type: 'string' },
  'record-limit': { type: 'string' },
  advise: { type: 'boolean', default: false },
} as const

const help = `Usage: aether run -n N [options] script.js [arguments ...]
       aether run --hosts a,b:2 [-n N] [options] script.js [arguments ...]

Starts N processes of a script, on this machine or on others, as the ranks of a group; in each, 'await join()' says which it is.
Output comes line by line with the rank in front. SIGINT, SIGTERM and SIGHUP are passed on, and after a grace SIGKILL; no rank
outlives the command.

Options (before the script; what comes after it is the script's):
  -n, --ranks N            how many processes, 1 ... ${ranksMax}
  --on-failure stop        when a rank fails, end the others (default)
  --on-failure continue    when a rank fails, let the others go on
  ${traceHelp};
                           of one machine only
  --dashboard              serve the page of 'aether dashboard' until the ranks have ended; its address, which only this machine
                           reaches and which has a token in it, is said on standard error; of one machine only
  --record FILE            with --dashboard: write what the page shows to FILE, for 'aether dashboard --replay FILE'
  --record-limit SIZE      the most that FILE may grow to (default 256MiB)
  --advise                 say on standard error, when the ranks have ended, which pages of coherent regions went back and forth
                           between them, who wrote where in them, and what to do about it; of one machine only
  --hosts A,B:2,...        where they run: names as ssh takes them, each with how many; without a number they share evenly.
                           This package and the script have to be at the same paths there
  --ssh 'COMMAND ...'      reaches a host; its name and a command line for its shell follow (default ssh, which must not
                           ask for a password; ${SSH_VARIABLE} sets it too)
  --remote-node COMMAND    node on the hosts (default the path of this one)
  --address ADDRESS        this machine's address, where the ranks meet (default the one that each host sees ssh come from)
  --port PORT              the TCP port where they meet (default any that is free)

Exit status: 0 when every rank ended well; else that of the first rank that failed: its own, or 128 + the number of the
signal that ended it. 2 when the command line cannot be understood.

Examples:
  aether run -n 4 app.js
  aether run -n 4 --trace app.trace.json app.js
  aether run -n 4 --dashboard app.js
  aether run -n 4 --dashboard --record app.session app.js
  aether run -n 4 --advise app.js
  aether run -n 2 --on-failure continue worker.js --verbose input.txt
  aether run --hosts node1:2,node2:2 app.js`

/** `aether run`. */
export const runCommand: Command = {
  help,
  passesArguments: true,

  async run(args) {
    const { own, script, scriptArguments } = splitAtScript(args)
    const { values } = parseOptions('run', own, table)
    const onFailure = wordOption('run', '--on-failure', values['on-failure'], ['stop', 'continue'])
    const hosts = values.hosts === undefined ? undefined : parseHosts(values.hosts)
    if (values.ranks === undefined && hosts === undefined)
      throw new UsageError('how many processes? -n N is missing', 'run')
    const ranks = integerOption('run', '-n', values.ranks ?? String(slotsOf(hosts ?? [])), 1, ranksMax)
    const port = integerOption('run', '--port', values.port, 0, 65_535)
    if (script === undefined) throw new UsageError('which script? Its name is missing', 'run')
    const { address, 'remote-node': remoteNode, ssh = process.env[SSH_VARIABLE] } = values
    if (values.trace !== undefined && hosts !== undefined)
      throw new UsageError('--trace is for one machine: the clocks of several differ', 'run')
    if (values.dashboard && hosts !== undefined)
      throw new UsageError('--dashboard is for one machine: it reads the memory of its ranks', 'run')
    const { record: recordFile, 'record-limit': recordLimit } = values
    if (!values.dashboard && (recordFile ?? recordLimit) !== undefined)
      throw new UsageError('--record is for --dashboard: it writes down what that shows', 'run')
    if (values.advise && hosts !== undefined)
      throw new UsageError('--advise is for one machine: it reads files that its ranks write', 'run')
    const start = (space?: string) =>
      launch({
        script,
        args: scriptArguments,
        ranks,
        onFailure,
        port,
        ...(space && { space }),
        ...(hosts && { hosts }),
        ...(address && { address }),
        ...(remoteNode && { remoteNode }),
        ...(ssh && { ssh: ssh.trim().split(/\s+/) }),
      })
    // Who watches nothing does not load what watching needs.
    const watched = async () => (values.dashboard ? runWatched(start, recordFile, recordLimit) : start())
    const advised = async () => (values.advise ? (await import('./advice-report.ts')).withAdvice(watched) : watched())
    const { status } = await (hosts === undefined ? withTraceFile('run', values.trace, advised) : start())
    return status
  },
}

async function runWatched<T>(
  start: (space: string) => Promise<T>,
  file: string | undefined,
  limit: string | undefined,
): Promise<T> {
  const { recordChoice } = await import('./dashboard-record.ts')
  const { withDashboard } = await import('./dashboard-beside.ts')
  return withDashboard(start, recordChoice('run', file, limit))
}

/**
 * Options of the command come before the script, everything behind it belongs to the script, whatever it looks like.
 */
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
  const valued = Object.entries(table).filter(([, { type }]) => type === 'string')
  return ['-n', ...valued.map(([name]) => `--${name}`)].includes(option)
}
