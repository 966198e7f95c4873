import { bytesOf, CommandFault, latin1Of } from '../../index-service/index.ts'
import type { CommandTimes } from '../activity/command-times.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { integerOf } from './arguments.ts'
import type { DoorCommand } from './door-command.ts'
import { type RunSubcommand, withSubcommands } from './subcommands.ts'

const SLOW_SHOWN = 10
const TOO_FEW = 'count should be greater than or equal to -1'

const slowGet: RunSubcommand = ({ activity }, _client, args): DoorReply => {
  const count = args.length === 0 ? SLOW_SHOWN : integerOf(args[0]!, TOO_FEW)
  if (count < -1) throw new CommandFault(TOO_FEW)
  const { entries } = activity.slowLog
  const list = (count === -1 ? entries : entries.slice(0, count)).map(
    ({ id, timeMs, usec, args: shown, address, clientName }): DoorReply => [
      ...[id, Math.floor(timeMs / 1000), usec, shown, bytesOf(address), bytesOf(clientName)],
    ],
  )
  return { list }
}

const slowLog = withSubcommands({
  name: 'slowlog',
  subcommands: {
    get: slowGet,
    len: ({ activity }) => activity.slowLog.entries.length,
    reset({ activity }) {
      activity.slowLog.reset()
      return 'OK'
    },
  },
})

const latest: RunSubcommand = ({ activity }): DoorReply => {
  const events = [...activity.latency.events].map(([event, { samples, maxMs }]): DoorReply => {
    const { second, ms } = samples.at(-1)!
    return [bytesOf(event), second, ms, Math.floor(maxMs)]
  })
  return { list: events }
}

const history: RunSubcommand = ({ activity }, _client, args) => {
  const samples = activity.latency.events.get(latin1Of(args[0]!))?.samples ?? []
  return samples.map(({ second, ms }) => [second, ms])
}

const doctor: RunSubcommand = ({ activity, parameters }) => {
  if (parameters.latencyThresholdMs === 0)
    return { verbatim: 'Nothing is measured. Begin with CONFIG SET latency-monitor-threshold MILLISECONDS.' }
  const events = [...activity.latency.events]
  if (events.length === 0) return { verbatim: `Nothing took ${parameters.latencyThresholdMs} ms or longer.` }
  const lines = events.map(([event, { samples, maxMs }]) => {
    const sum = samples.reduce((total, { ms }) => total + ms, 0)
    return `${event}: ${samples.length} times, ${Math.round(sum / samples.length)} ms on average, ${maxMs} ms at most.`
  })
  return { verbatim: lines.join('\n') }
}

/** Of all commands, or of those that are named; with a command come its subcommands. */
const histogram: RunSubcommand = ({ activity }, _client, args): DoorReply => {
  const measured = activity.statistics.commands.filter(([, { times }]) => times.count > 0)
  const asked = [...new Set(args.map((name) => latin1Of(name).toLowerCase()))]
  const known =
    asked.length === 0
      ? measured
      : asked.flatMap((wanted) => measured.filter(([name]) => name === wanted || name.startsWith(`${wanted}|`)))
  return { table: known.flatMap(([name, { times }]) => [bytesOf(name), { table: aboutTimes(times) }]) }
}

function aboutTimes(times: CommandTimes): readonly DoorReply[] {
  return [bytesOf('calls'), times.count, bytesOf('histogram_usec'), { table: times.powers().flat() }]
}

const latency = withSubcommands({
  name: 'latency',
  subcommands: {
    latest,
    history,
    doctor,
    histogram,
    reset: ({ activity }, _client, args) => activity.latency.reset(args.map(latin1Of)),
    graph() {
      throw new CommandFault('LATENCY GRAPH is not supported: use LATENCY HISTORY')
    },
  },
})

const monitor: DoorCommand['run'] = ({ activity }, client) => {
  client.isMonitor = true
  activity.monitors.add(client)
  return 'OK'
}

/** What was done, and how long it took. */
export const logCommands: readonly DoorCommand[] = [
  slowLog,
  latency,
  { name: 'monitor', arity: 1, inTransaction: 'refused', run: monitor },
]
