import process from 'node:process'
import { DashboardServer, RecordedSession } from '../dashboard/index.ts'
import type { Command } from './command.ts'
import { ExitCode } from './command.ts'
import { recordChoice, recordLimitDefault } from './dashboard-record.ts'
import { FollowedDashboard } from './followed-dashboard.ts'
import { integerOption, parseOptions } from './options.ts'
import { UsageError } from './usage-error.ts'

const table = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '0' },
  token: { type: 'string' },
  'no-token': { type: 'boolean', default: false },
  name: { type: 'string', multiple: true },
  record: { type: 'string' },
  'record-limit': { type: 'string' },
  replay: { type: 'string' },
} as const

const help = `Usage: aether dashboard [SPACE] [options]

Serves a page that shows a running space or group of yours on this machine. The page shows nodes and the flow
between them, pages of coherent regions and their history, the protocol at work, latencies, and members.
Without a name it shows the space that is running, and waits while there is none.

The dashboard is not a member of the space. It reads shared memory, and you can start and stop it at any time.
It reads only while a page is open.

The address that it prints contains a token, because other users of this machine can reach loopback too. Requests
without the token are refused. The path /metrics has the figures of all members in the text format of Prometheus,
which sends the token as 'Authorization: Bearer TOKEN'.

Options:
  --host ADDRESS   the address to listen on (default 127.0.0.1, which only this machine reaches)
  --port PORT      the port (default: any free port)
  --token TOKEN    use this token instead of a random one: 8 to 200 letters, digits, dashes and underscores
  --no-token       let every user of this machine look; only on loopback
  --record FILE    record what the page shows in FILE, whether or not a page is open. FILE must not exist
  --record-limit SIZE
                   the maximum size of FILE (default ${recordLimitDefault}). The recording ends there, with a message
  --replay FILE    show a recording instead of a running space: play, pause, seek. No cluster is needed
  --name NAME      another host name that browsers may use, for example behind a proxy. May be repeated

Examples:
  aether dashboard
  aether dashboard shop --port 7000
  aether dashboard --record monday.session
  aether dashboard --replay monday.session
  aether dashboard --host 0.0.0.0 --name node1.example.org:7000 --port 7000`

/** `aether dashboard`. */
export const dashboardCommand: Command = {
  help,
  options: table,
  operands: ['space'],

  async run(args) {
    const { values, positionals } = parseOptions('dashboard', args, table, 1)
    const { replay, record, 'record-limit': limit } = values
    const token = values['no-token'] ? null : values.token
    const choice = recordChoice('dashboard', record, limit)
    const address = {
      host: values.host,
      port: integerOption('dashboard', '--port', values.port, 0, 65_535),
      names: values.name ?? [],
      ...(token === undefined ? {} : { token }),
    }
    if (replay === undefined) await untilEnded(await FollowedDashboard.start(positionals[0], choice, address))
    else if (choice !== undefined)
      throw new UsageError('--replay shows a recording and cannot make one: leave --record out', 'dashboard')
    else if (positionals[0] !== undefined)
      throw new UsageError(`--replay shows a file, not a space: leave '${positionals[0]}' out`, 'dashboard')
    else await untilEnded(await DashboardServer.start({ ...address, source: RecordedSession.open(replay) }))
    return ExitCode.Done
  },
}

/** Print the address, and close when SIGINT or SIGTERM arrives. */
async function untilEnded(shown: { readonly url: string; close(): Promise<void> }): Promise<void> {
  process.stdout.write(`Open ${shown.url}\nCtrl-C ends it.\n`)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await shown.close()
}
