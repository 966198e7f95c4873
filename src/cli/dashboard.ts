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

Serves a page that shows a running space or group of yours on this machine, live: nodes and what flows between them, the pages of coherent
regions and the history of each, the protocol at work, latencies, and who came and went. It is no member of the space: it reads shared memory
and may come and go as it likes. Without a name it shows whichever space runs, and waits while none does. It looks only while a page is open.

The address that it prints has a token in it, without which nothing is answered: others who use this machine can reach loopback too.
At /metrics are the figures of all members in the text format of Prometheus, which brings the token as 'Authorization: Bearer TOKEN'.

Options:
  --host ADDRESS   where it listens (default 127.0.0.1, which only this machine reaches)
  --port PORT      the port (default any that is free)
  --token TOKEN    in place of a random one: 8 to 200 letters, digits, dashes and underscores
  --no-token       everybody on this machine may look; on loopback only
  --record FILE    write what the page shows to FILE, which must not be there yet, whether or not a page is open
  --record-limit SIZE
                   the most that FILE may grow to (default ${recordLimitDefault}); the recording ends there, and says so
  --replay FILE    show a recording instead of a running space: play, pause, seek; no cluster is needed
  --name NAME      a name by which browsers may call it besides its address, as where a proxy stands before it; may be repeated

Examples:
  aether dashboard
  aether dashboard shop --port 7000
  aether dashboard --record monday.session
  aether dashboard --replay monday.session
  aether dashboard --host 0.0.0.0 --name node1.example.org:7000 --port 7000`

/** `aether dashboard`. */
export const dashboardCommand: Command = {
  help,

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
      throw new UsageError('--replay shows what was recorded: it records nothing', 'dashboard')
    else if (positionals[0] !== undefined)
      throw new UsageError(`--replay shows a file and no space: leave '${positionals[0]}' out`, 'dashboard')
    else await untilEnded(await DashboardServer.start({ ...address, source: RecordedSession.open(replay) }))
    return ExitCode.Done
  },
}

/** Until a signal says that it is enough. */
async function untilEnded(shown: { readonly url: string; close(): Promise<void> }): Promise<void> {
  process.stdout.write(`Open ${shown.url}\nCtrl-C ends it.\n`)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await shown.close()
}
