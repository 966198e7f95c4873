import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { AetherError } from 'aether-dsm/internal/native'
import { RedisServer, redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { IndexNodes } from './index-nodes.ts'
import { type IndexRow, memoryRow } from './index-row.ts'
import { DEFAULT_INDEX_TIME_MS, type SectionPlan } from './section.ts'

const run = promisify(execFile)

/** Commands, as `redis-benchmark -t` names them. */
const TESTS = ['set', 'get', 'incr', 'lpush', 'hset', 'zadd', 'mset'] as const
/** Connections, commands that each has under way, and commands in all for the default time. */
const LOADS = [
  { connections: 1, pipeline: 1, commands: 3000 },
  { connections: 50, pipeline: 1, commands: 20_000 },
  { connections: 1, pipeline: 16, commands: 20_000 },
  { connections: 50, pipeline: 16, commands: 100_000 },
] as const
/**
 * Each load is measured so often, by one target after the other, and the median counts. What comes before is not
 * measured: servers have been up for a while, and Node.js compiles what runs often.
 */
const TURNS = 3
const TURNS_BEFORE = 1
const BYTES = 100
const IDLE_CONNECTIONS = 1000
const NS_PER_MS = 1e6

interface Target {
  readonly provider: string
  readonly port: number
}

/** `redis-benchmark` on two doors of a node and on a Redis server, one after the other. All use TCP. */
export async function benchResp(plan: SectionPlan): Promise<void> {
  await using nodes = await IndexNodes.start({ replicas: 1, hasDoor: true })
  const ports = nodes.doorPorts!
  const own = [
    { provider: 'aether', port: ports.native },
    { provider: 'aether, by node:net', port: ports.node },
  ]
  await unlessMissing('Redis', plan.onMissing, async () => {
    if (!plan.peers.includes('Redis')) return await benchTargets(plan, own)
    using scratch = new ScratchDirectory()
    const port = await freePort()
    await using _server = await RedisServer.start(scratch.path, ['--port', String(port), '--bind', '127.0.0.1'])
    await benchTargets(plan, [...own, { provider: redisProvider(), port }])
  })
  plan.keep(await idleConnections(nodes, ports.native))
}

async function benchTargets({ timeMs, keep }: SectionPlan, targets: readonly Target[]): Promise<void> {
  for (const { connections, pipeline, commands } of LOADS)
    for (const test of TESTS) {
      const samples = Math.max(pipeline * connections, Math.ceil((commands * timeMs) / DEFAULT_INDEX_TIME_MS))
      const rows = targets.map((): IndexRow[] => [])
      for (let turn = -TURNS_BEFORE; turn < TURNS; turn += 1)
        for (const [at, { provider, port }] of targets.entries()) {
          const named = { op: pipeline === 1 ? test : `${test}, ${pipeline} a time`, provider, bytes: BYTES }
          const row = {
            ...named,
            clients: connections,
            ...(await measured(port, { test, connections, pipeline, samples })),
          }
          if (turn >= 0) rows[at]!.push(row)
        }
      for (const each of rows) keep(each.sort((one, other) => one.opsPerSec! - other.opsPerSec!)[TURNS >> 1]!)
    }
}

interface Load {
  readonly test: string
  readonly connections: number
  readonly pipeline: number
  readonly samples: number
}

type Measured = Omit<IndexRow, 'op' | 'provider' | 'bytes' | 'clients'>

/** What `redis-benchmark --csv` says: commands a second, and how long an answer took, in milliseconds. */
async function measured(port: number, { test, connections, pipeline, samples }: Load): Promise<Measured> {
  const words = ['-p', String(port), '-t', test, '-c', String(connections), '-P', String(pipeline)]
  const { stdout } = await run('redis-benchmark', [
    ...words,
    '-n',
    String(samples),
    '-d',
    String(BYTES),
    '--csv',
  ]).catch((cause: unknown) => {
    const what = 'redis-benchmark is not installed, or fails (on Debian: apt-get install redis-tools)'
    throw new AetherError('ERR_AETHER_BENCH', what, { cause })
  })
  const cells = stdout
    .trim()
    .split('\n')
    .at(-1)!
    .match(/"[^"]*"/g)!
  const [, perSecond, mean, , p50, , p99, max] = cells.map((cell) => Number(cell.slice(1, -1)))
  const times = { meanNs: mean! * NS_PER_MS, p50Ns: p50! * NS_PER_MS, p99Ns: p99! * NS_PER_MS, maxNs: max! * NS_PER_MS }
  const rest = { quantilesNs: null, keyBytes: null, baseline: null, ratio: null }
  return { samples, ...times, opsPerSec: Math.round(perSecond!), ...rest }
}

/** What a connection takes that asks for nothing. */
async function idleConnections(nodes: IndexNodes, port: number): Promise<IndexRow> {
  const before = await nodes.status()
  const sockets = Array.from({ length: IDLE_CONNECTIONS }, () => connect(port, '127.0.0.1'))
  try {
    for (const socket of sockets) {
      socket.write('PING\r\n')
      await once(socket, 'data')
    }
    await sleep(100)
    const after = await nodes.status()
    const bytes = Math.max(0, after.rssBytes - before.rssBytes) / IDLE_CONNECTIONS
    return memoryRow({ op: 'idle connection', provider: 'aether', bytes: 0, clients: IDLE_CONNECTIONS }, bytes)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** One that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
