import { availableParallelism, release, totalmem } from 'node:os'
import process from 'node:process'
import type { DoorServices } from '../door-services.ts'
import { REDIS_VERSION } from '../protocol/redis-version.ts'
import { type DoorFigures, keyspaceLines } from './door-figures.ts'

type Lines = readonly (readonly [name: string, value: string | number])[]
type Section = (door: DoorServices, figures: DoorFigures) => Lines

/** As Redis shows bytes: 1.50K, 2.00M. */
export function shownBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`
  const power = Math.min(4, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(2)}${'BKMGT'[power]}`
}

const server: Section = ({ settings, sinceMs, runId, port }) => {
  const upSeconds = Math.floor((Date.now() - sinceMs) / 1000)
  return [
    ['redis_version', REDIS_VERSION],
    ['redis_git_sha1', '00000000'],
    ['redis_git_dirty', 0],
    ['redis_mode', settings.isCluster ? 'cluster' : 'standalone'],
    ['os', `${process.platform} ${release()} ${process.arch}`],
    ['arch_bits', 64],
    ['process_id', process.pid],
    ['run_id', runId],
    ['tcp_port', port],
    ['server_time_usec', Date.now() * 1000],
    ['uptime_in_seconds', upSeconds],
    ['uptime_in_days', Math.floor(upSeconds / 86_400)],
    ['hz', 10],
    ['executable', process.execPath],
    ['config_file', ''],
  ]
}

const clients: Section = ({ clients: all, parameters, pause, tracking }) => [
  ['connected_clients', all.size],
  ['cluster_connections', 0],
  ['maxclients', parameters.clientsMax],
  ['blocked_clients', pause.waiting + [...all].filter(({ blocked }) => blocked !== undefined).length],
  ['tracking_clients', tracking.figures.clients],
]

const memory: Section = ({ parameters, scripts }, { usedBytes, heldBytes }) => {
  const { rss } = process.memoryUsage()
  return [
    ['used_memory', usedBytes],
    ['used_memory_human', shownBytes(usedBytes)],
    ['used_memory_rss', rss],
    ['used_memory_rss_human', shownBytes(rss)],
    ['used_memory_dataset', usedBytes],
    ['allocator_allocated', heldBytes],
    ['total_system_memory', totalmem()],
    ['total_system_memory_human', shownBytes(totalmem())],
    ['maxmemory', parameters.get('maxmemory')!],
    ['maxmemory_human', shownBytes(Number(parameters.get('maxmemory')))],
    ['maxmemory_policy', parameters.get('maxmemory-policy')!],
    ['mem_fragmentation_ratio', (rss / Math.max(1, usedBytes)).toFixed(2)],
    ['mem_allocator', 'libc'],
    ['lazyfree_pending_objects', 0],
    ['number_of_cached_scripts', scripts.store.size],
  ]
}

/** With a directory, what was answered is on disks. */
const persistence: Section = ({ parameters, lastSaveMs }) => [
  ['loading', 0],
  ['async_loading', 0],
  ['rdb_changes_since_last_save', 0],
  ['rdb_bgsave_in_progress', 0],
  ['rdb_last_save_time', Math.floor(lastSaveMs / 1000)],
  ['rdb_last_bgsave_status', 'ok'],
  ['rdb_last_bgsave_time_sec', -1],
  ['aof_enabled', parameters.get('appendonly') === 'yes' ? 1 : 0],
  ['aof_rewrite_in_progress', 0],
  ['aof_rewrite_scheduled', 0],
  ['aof_last_bgrewrite_status', 'ok'],
  ['aof_last_write_status', 'ok'],
]

const stats: Section = ({ activity: { statistics }, publisher: { subscriptions }, tracking }, { evictedKeys }) => {
  const { keys: trackedKeys, items, prefixes } = tracking.figures
  const calls = statistics.commands.reduce((total, [, count]) => total + count.calls, 0)
  const errors = [...statistics.codes.values()].reduce((total, count) => total + count, 0)
  return [
    ['total_connections_received', statistics.connections],
    ['total_commands_processed', calls],
    ['total_net_input_bytes', statistics.receivedBytes],
    ['total_net_output_bytes', statistics.sentBytes],
    ['rejected_connections', statistics.refusedConnections],
    ['client_output_buffer_limit_disconnections', statistics.slowConnections],
    ['sync_full', 0],
    ['sync_partial_ok', 0],
    ['sync_partial_err', 0],
    ['evicted_keys', evictedKeys],
    ['evicted_clients', 0],
    ['pubsub_channels', [...subscriptions.names('channels')].length],
    ['pubsub_patterns', subscriptions.patternCount],
    ['pubsubshard_channels', [...subscriptions.names('shardChannels')].length],
    ['latest_fork_usec', 0],
    ['total_forks', 0],
    ['tracking_total_keys', trackedKeys],
    ['tracking_total_items', items],
    ['tracking_total_prefixes', prefixes],
    ['total_error_replies', errors],
  ]
}

/** To clients, each node is a master: it takes writes, wherever the leader is. */
const replication: Section = ({ runId }) => [
  ['role', 'master'],
  ['connected_slaves', 0],
  ['master_failover_state', 'no-failover'],
  ['master_replid', runId],
  ['master_replid2', '0'.repeat(40)],
  ['master_repl_offset', 0],
  ['second_repl_offset', -1],
  ['repl_backlog_active', 0],
]

const cpu: Section = () => {
  const { user, system } = process.cpuUsage()
  return [
    ['used_cpu_sys', (system / 1e6).toFixed(6)],
    ['used_cpu_user', (user / 1e6).toFixed(6)],
  ]
}

const commandstats: Section = ({ activity }) =>
  activity.statistics.commands.map(([name, { calls, usec, rejected, failed }]) => {
    const each = (usec / Math.max(1, calls)).toFixed(2)
    const counts = `calls=${calls},usec=${usec},usec_per_call=${each},rejected_calls=${rejected},failed_calls=${failed}`
    return [`cmdstat_${name}`, counts]
  })

const latencystats: Section = ({ activity, parameters }) =>
  activity.statistics.commands
    .filter(([, { times }]) => times.count > 0)
    .map(([name, { times }]) => [
      `latency_percentiles_usec_${name}`,
      parameters.percentiles.map((percent) => `p${percent}=${times.percentileUsec(percent).toFixed(3)}`).join(','),
    ])

const errorstats: Section = ({ activity }) =>
  [...activity.statistics.codes].map(([code, count]) => [`errorstat_${code}`, `count=${count}`])

const aether: Section = ({ node, settings }, { heldShards, ledShards, followers, heldBytes }) => [
  ['index', node.name],
  ['rank', node.rank],
  ['nodes', node.nodes.length],
  ['shards', node.shards],
  ['shards_held', heldShards],
  ['shards_led', ledShards],
  ['followers', followers],
  ['durable', settings.hasDirectory === true ? 1 : 0],
  ['shared_memory', heldBytes],
  ['processors', availableParallelism()],
]

interface Titled {
  readonly title: string
  readonly lines: Section
  /** Only if it is asked for, or all are. */
  readonly isMore?: true
}

const sections: ReadonlyMap<string, Titled> = new Map<string, Titled>([
  ['server', { title: 'Server', lines: server }],
  ['clients', { title: 'Clients', lines: clients }],
  ['memory', { title: 'Memory', lines: memory }],
  ['persistence', { title: 'Persistence', lines: persistence }],
  ['stats', { title: 'Stats', lines: stats }],
  ['replication', { title: 'Replication', lines: replication }],
  ['cpu', { title: 'CPU', lines: cpu }],
  ['commandstats', { title: 'Commandstats', lines: commandstats, isMore: true }],
  ['latencystats', { title: 'Latencystats', lines: latencystats, isMore: true }],
  ['errorstats', { title: 'Errorstats', lines: errorstats }],
  ['cluster', { title: 'Cluster', lines: ({ settings }) => [['cluster_enabled', settings.isCluster ? 1 : 0]] }],
  ['keyspace', { title: 'Keyspace', lines: (_door, figures) => keyspaceLines(figures) }],
  ['aether', { title: 'Aether', lines: aether }],
])

/** What INFO answers. Names of sections are in lower case; an unknown one adds nothing. */
export function information(door: DoorServices, figures: DoorFigures, asked: readonly string[]): string {
  const isAll = asked.includes('all') || asked.includes('everything')
  const isDefault = asked.length === 0 || asked.includes('default')
  const chosen = [...sections].filter(
    ([name, { isMore }]) => isAll || asked.includes(name) || (isDefault && isMore !== true),
  )
  return chosen
    .map(([, { title, lines }]) => {
      const shown = lines(door, figures).map(([name, value]) => `${name}:${value}\r\n`)
      return `# ${title}\r\n${shown.join('')}`
    })
    .join('\r\n')
}
