import process from 'node:process'
import { DashboardServer, FollowedSpace } from '../dashboard/index.ts'
import type { Command } from './command.ts'
import { ExitCode } from './command.ts'
import { integerOption, parseOptions } from './options.ts'

const table = {
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '0' },
  token: { type: 'string' },
  'no-token': { type: 'boolean', default: false },
  name: { type: 'string', multiple: true },
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
  --name NAME      a name by which browsers may call it besides its address, as where a proxy stands before it; may be repeated

Examples:
  aether dashboard
  aether dashboard shop --port 7000
  aether dashboard --host 0.0.0.0 --name node1.example.org:7000 --port 7000`

/** `aether dashboard`. */
export const dashboardCommand: Command = {
  help,

  async run(args) {
    const { values, positionals } = parseOptions('dashboard', args, table, 1)
    const token = values['no-token'] ? null : values.token
    const source = new FollowedSpace(positionals[0])
    const server = await DashboardServer.start({
      source,
      metrics: () => source.metrics(),
      host: values.host,
      port: integerOption('dashboard', '--port', values.port, 0, 65_535),
      names: values.name ?? [],
      ...(token === undefined ? {} : { token }),
    })
    process.stdout.write(`Open ${server.url}\nCtrl-C ends it.\n`)
    await new Promise<void>((resolve) => {
      process.once('SIGINT', resolve)
      process.once('SIGTERM', resolve)
    })
    await server.close()
    return ExitCode.Done
  },
}
