import { native } from 'aether-dsm/internal/native'
import { type Lane, laneRow, runLanes, warmLanes } from '../lanes.ts'
import type { BenchOptions } from '../latency.ts'
import { oneSidedRequest } from '../latency.ts'
import { BenchLink } from '../link.ts'
import { measure } from '../measure.ts'
import { EtcdCluster, etcdProvider } from '../peers/etcd-cluster.ts'
import { type OnMissing, type PeerName, peerNames } from '../peers/peer-name.ts'
import { processorNsOfAll } from '../peers/processor-time.ts'
import { RedisReplicas } from '../peers/redis-replicas.ts'
import { redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { type BenchRow, rowOf, withBaselines } from '../row.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { failOvers, type TimedFailOver } from './fail-overs.ts'
import { Replicas, type ReplicasOptions } from './replicas.ts'

export interface ReplicateBenchOptions extends BenchOptions {
  /** Numbers of replicas; default 3 and 5. */
  readonly processes?: readonly number[]
  readonly peers?: readonly PeerName[]
  readonly onMissing?: OnMissing
  /** Kill this number of leaders instead, and tell how long it took until others led. */
  readonly kills?: number | undefined
}

export const defaultReplicas: readonly number[] = [3, 5]
export const defaultReplicateSizes: readonly number[] = [64, 1024]
/** Proposals under way for the second row of each. */
const DEPTH = 64
const DEFAULT_TIME_MS = 500
/** How long threads spin for `spinning`, in milliseconds. */
const SPIN_MS = 1

/**
 * Replicated state machines in the memory of several processes, or on their disks, and what stores a value at a
 * majority of them otherwise.
 *
 * - `one-N`: one proposal after the other, with N replicas.
 * - `many-N`: 64 under way.
 * - `fail-over-N`: with `kills`, from one leader to the next.
 */
export async function benchReplicate(options: ReplicateBenchOptions = {}): Promise<BenchRow[]> {
  const { timeMs = DEFAULT_TIME_MS, sizes = defaultReplicateSizes, processes = defaultReplicas } = options
  const { peers = peerNames, onMissing, onRow } = options
  const rows: BenchRow[] = []
  const keep = (row: BenchRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  if (options.kills !== undefined) {
    for (const count of processes) for (const bytes of sizes) await benchFailOvers(count, bytes, options.kills, keep)
    return rows
  }
  for (const count of processes) {
    const plan: Plan = { count, sizes, timeMs, keep }
    await benchReplicas(plan, 'aether', {})
    await benchReplicas(plan, 'aether spinning', { spinMs: SPIN_MS })
    await benchReplicas(plan, 'aether in the program', { thread: 'program' })
    await benchOnDisk(plan)
    await benchWrite(plan)
    if (peers.includes('Redis')) await unlessMissing('Redis', onMissing, () => benchRedis(plan))
    if (peers.includes('etcd'))
      await unlessMissing('etcd', onMissing, async () => {
        await benchEtcd(plan, 'in memory', '/dev/shm')
        await benchEtcd(plan, 'on disk')
      })
  }
  return withBaselines(rows, 'aether')
}

interface Plan {
  readonly count: number
  readonly sizes: readonly number[]
  readonly timeMs: number
  readonly keep: (row: BenchRow) => void
}

/** What is told of fail-overs, and when it is over. All but the first two count from when the new leader saw none. */
const failOverTimes: Readonly<Record<string, (timed: TimedFailOver) => number>> = {
  'last answer to first': ({ answersNs }) => answersNs,
  'SIGKILL to first answer': ({ killNs }) => killNs,
  'until candidate': ({ stages }) => stages.campaignMs * 1e6,
  'until promised': ({ stages }) => stages.promisedMs * 1e6,
  'until caught up': ({ stages }) => stages.caughtUpMs * 1e6,
  'until decided': ({ stages }) => stages.decidedMs * 1e6,
}

async function benchFailOvers(count: number, bytes: number, kills: number, keep: Plan['keep']): Promise<void> {
  const timed: TimedFailOver[] = []
  for await (const each of failOvers(count, bytes, kills)) timed.push(each)
  for (const [provider, timeOf] of Object.entries(failOverTimes)) {
    const samples = Float64Array.from(timed, timeOf)
    const tookNs = samples.reduce((sum, ns) => sum + ns, 0)
    keep(laneRow({ op: `fail-over-${count}`, provider, bytes }, [{ samples, count: kills, tookNs }], Number.NaN))
  }
}

const opOf = (depth: number, count: number): string => `${depth === 1 ? 'one' : 'many'}-${count}`

/** Each answer waits until a majority has the command on its disks. */
async function benchOnDisk(plan: Plan): Promise<void> {
  using scratch = new ScratchDirectory()
  await benchReplicas(plan, 'aether on disk', { directory: scratch.path })
}

async function benchReplicas(
  { count, sizes, timeMs, keep }: Plan,
  provider: string,
  options: Omit<ReplicasOptions, 'replicas'>,
): Promise<void> {
  await using replicas = await Replicas.start({ replicas: count, ...options })
  for (const bytes of sizes)
    for (const depth of [1, DEPTH]) {
      const { run, cpuNs } = await replicas.propose(bytes, depth, timeMs)
      keep(laneRow({ op: opOf(depth, count), provider, bytes }, [run], cpuNs))
    }
}

/** WRITEs of the value to all others, until each has it. */
async function benchWrite({ count, sizes, timeMs, keep }: Plan): Promise<void> {
  const links: BenchLink[] = []
  try {
    for (let other = 1; other < count; other += 1) links.push(await BenchLink.open('shm0', Math.max(...sizes)))
    for (const bytes of sizes) {
      const requests = links.map((link) => oneSidedRequest('write', link, bytes))
      const write = (times: number): void => {
        for (let time = 0; time < times; time += 1) {
          for (const request of requests) request.post(0)
          for (const link of links) link.finish(1)
        }
      }
      const measured = await measure(write, timeMs, async () => 0)
      keep(rowOf(opOf(1, count), 'bare WRITE', bytes, measured))
    }
  } finally {
    for (const link of links) link.close()
  }
}

async function benchRedis({ count, sizes, timeMs, keep }: Plan): Promise<void> {
  using scratch = new ScratchDirectory()
  await using redis = await RedisReplicas.start(scratch.path, count, DEPTH)
  const provider = `${redisProvider()} with WAIT`
  for (const bytes of sizes) {
    const value = Buffer.alloc(bytes, 1)
    const lanes = Array.from(
      { length: DEPTH },
      (_, index): Lane =>
        () =>
          redis.put(index, value),
    )
    for (const depth of [1, DEPTH])
      keep(await measured({ op: opOf(depth, count), provider, bytes }, lanes.slice(0, depth), redis.pids, timeMs))
  }
}

/** etcd is asked at the member that answers fastest, which is its leader. Its files are in `parent`. */
async function benchEtcd({ count, sizes, timeMs, keep }: Plan, where: string, parent?: string): Promise<void> {
  using scratch = new ScratchDirectory(parent)
  await using etcd = await EtcdCluster.start(scratch.path, count)
  const key = Buffer.from('bench')
  const provider = `${etcdProvider()} ${where}`
  const means: number[] = []
  for (const client of etcd.clients) {
    const put = (): Promise<void> => client.put(key, Buffer.alloc(64))
    await put()
    const began = native.monotonicNs()
    for (let time = 0; time < 50; time += 1) await put()
    means.push(native.monotonicNs() - began)
  }
  const client = etcd.clients[means.indexOf(Math.min(...means))]!
  for (const bytes of sizes) {
    const value = Buffer.alloc(bytes, 1)
    const lanes = new Array<Lane>(DEPTH).fill(() => client.put(key, value))
    for (const depth of [1, DEPTH])
      keep(await measured({ op: opOf(depth, count), provider, bytes }, lanes.slice(0, depth), etcd.pids, timeMs))
  }
}

/** Of this process and the servers. */
async function measured(
  row: Pick<BenchRow, 'op' | 'provider' | 'bytes'>,
  lanes: readonly Lane[],
  pids: readonly number[],
  timeMs: number,
): Promise<BenchRow> {
  await warmLanes(lanes, timeMs)
  const all = (): number => native.processorNs(true) + processorNsOfAll(pids)
  const before = all()
  const run = await runLanes(lanes, timeMs)
  return laneRow(row, [run], all() - before)
}
