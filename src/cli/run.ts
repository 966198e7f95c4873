import { launch, slotsOf } from '../cluster/index.ts'
import type { Command } from './command.ts'
import { hostsOption } from './hosts-option.ts'
import { integerOption, parseOptions, wordOption } from './options.ts'
import { traceHelp, withTraceFile } from './trace-file.ts'
import { UsageError } from './usage-error.ts'

const ranksMax = 256

/** The variable that `--ssh` overrides. */
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

Starts N processes of a script as the ranks of a group, on this machine or on others. In each process,
'await join()' returns the group and the process's rank.

Output is printed line by line, prefixed with the rank. SIGINT, SIGTERM and SIGHUP are passed on to the ranks;
ranks that do not end within a grace period are killed. No rank outlives the command.

Options (before the script; arguments after it belong to the script):
  -n, --ranks N            the number of processes, 1 ... ${ranksMax}
  --on-failure stop        if a rank fails, end the others (default)
  --on-failure continue    if a rank fails, let the others go on
  ${traceHelp}.
                           Only on one machine
  --dashboard              serve the page of 'aether dashboard' until the ranks have ended. Its address is
                           printed on standard error; it contains a token, and only this machine reaches it. Only
                           on one machine
  --record FILE            with --dashboard: record what the page shows, for 'aether dashboard --replay FILE'
  --record-limit SIZE      the maximum size of FILE (default 256MiB)
  --advise                 report on standard error, when the ranks have ended, which pages of coherent regions bounced
                           between them, which rank wrote which bytes, and a remedy. Only on one machine
  --hosts A,B:2,...        the hosts, named as for ssh, each with its number of ranks. Without a number the ranks are
                           spread evenly. This package and the script must be at the same paths on every host
  --ssh 'COMMAND ...'      the command that reaches a host: it is called with the host's name and a command line for the
                           shell there. Default ssh, which must not ask for a password; ${SSH_VARIABLE} sets it too
  --remote-node COMMAND    the node command on the hosts (default: the path of this one)
  --address ADDRESS        the address of this machine where the ranks meet (default: the source address of ssh, as each
                           host sees it)
  --port PORT              the TCP port where the ranks meet (default: any free port)

Exit status: 0 if every rank succeeded. Otherwise the status of the first rank that failed, or 128 + the number of the
signal that ended it. If the command line is invalid, 2.

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
  options: table,
  operands: ['file'],
  passesArguments: true,

  async run(args) {
    const { own, script, scriptArguments } = splitAtScript(args)
    if (own.includes('-np')) throw new UsageError("there is no option '-np', as mpirun has it; write -n N", 'run')
    const { values } = parseOptions('run', own, table)
    const onFailure = wordOption('run', '--on-failure', values['on-failure'], ['stop', 'continue'])
    const hosts = values.hosts === undefined ? undefined : hostsOption('run', values.hosts)
    if (values.ranks === undefined && hosts === undefined)
      throw new UsageError('the number of processes is missing: -n N', 'run')
    const ranks = integerOption('run', '-n', values.ranks ?? String(slotsOf(hosts ?? [])), 1, ranksMax)
    const port = integerOption('run', '--port', values.port, 0, 65_535)
    if (script === undefined) throw new UsageError('the name of the script is missing', 'run')
    const { address, 'remote-node': remoteNode, ssh = process.env[SSH_VARIABLE] } = values
    if (values.trace !== undefined && hosts !== undefined)
      throw new UsageError('--trace is for one machine, because the clocks of several machines differ', 'run')
    if (values.dashboard && hosts !== undefined)
      throw new UsageError('--dashboard is for one machine, because it reads the memory of its ranks', 'run')
    const { record: recordFile, 'record-limit': recordLimit } = values
    if (!values.dashboard && (recordFile ?? recordLimit) !== undefined)
      throw new UsageError('--record and --record-limit need --dashboard', 'run')
    if (values.advise && hosts !== undefined)
      throw new UsageError('--advise is for one machine, because it reads files that its ranks write', 'run')
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
    // Without --dashboard and --advise, their modules are not loaded.
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
 * The command's options come before the script. Everything after the script belongs to it, even if it looks like an
 * option.
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
