import { ArrayCrew } from '../arrays/array-crew.ts'
import { fitted } from '../arrays/arrays.ts'
import { benchCalls } from '../calls/call-rows.ts'
import { type BenchOptions, DEFAULT_TIME_MS } from '../latency.ts'
import { packageVersion } from '../peers/optional-package.ts'
import { type OnMissing, type PeerName, peerNames } from '../peers/peer-name.ts'
import { RedisServer, redisProvider } from '../peers/redis-server.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { type BenchRow, withBaselines } from '../row.ts'
import { RpcPeer } from '../rpc-peer.ts'
import { ScratchDirectory } from '../scratch-directory.ts'
import { type RegionName, regionNames } from '../structures/bench-store.ts'
import { Crew } from '../structures/crew.ts'
import type { Job } from '../structures/job.ts'
import { opsRow } from './ops-row.ts'

export interface OpsBenchOptions extends BenchOptions {
  /** That work at the same time; default 2 and 4. */
  readonly processes?: readonly number[]
  /** Of these Redis and lmdb are measured; default both. */
  readonly peers?: readonly PeerName[]
  /** Called with a peer that is not here; the others are measured all the same. */
  readonly onMissing?: OnMissing
}

/** Of values and calls, in bytes. */
export const defaultOpsSizes: readonly number[] = [64]
export const defaultOpsProcesses: readonly number[] = [2, 4]

type Keep = (row: BenchRow) => void
type Store = RegionName | 'Redis' | 'lmdb'

/**
 * Operations per second of several processes together, all at the same time.
 *
 * - `reads-N`, `writes-N`: N processes read or write random values of a common set, in a region of coherent memory.
 *   `hardware` is memory of one machine. `directory` is the protocol between machines, with its messages through shared
 *   memory here. Compared with GET and SET of Redis, and get and put of lmdb.
 * - `array-gets-N`, `array-sets-N`: N ranks read or write elements of an array that lies in parts over them.
 * - `calls-N`: N clients with 16 calls in progress each call one server. Compared with ECHO of Redis.
 */
export async function benchOps(options: OpsBenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultOpsSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const { processes = defaultOpsProcesses, peers = peerNames, onMissing } = options
  const stores: BenchRow[] = []
  const calls: BenchRow[] = []
  const keepIn =
    (rows: BenchRow[]) =>
    (row: BenchRow): void => {
      rows.push(row)
      onRow?.(row)
    }
  using scratch = new ScratchDirectory()
  const directory = scratch.path
  await using server = peers.includes('Redis')
    ? await unlessMissing('Redis', onMissing, () => RedisServer.start(directory))
    : undefined
  const plan = { directory, sizes, processes, timeMs }
  for (const kind of regionNames) await benchStore(kind, kind, plan, keepIn(stores))
  if (server !== undefined)
    await unlessMissing('Redis', onMissing, () => benchStore('Redis', redisProvider(), plan, keepIn(stores)))
  if (peers.includes('lmdb')) {
    const provider = `lmdb ${packageVersion('lmdb')}`.trimEnd()
    await unlessMissing('lmdb', onMissing, () => benchStore('lmdb', provider, plan, keepIn(stores)))
  }
  const arrays: BenchRow[] = []
  for (const count of processes) await benchElements(count, timeMs, keepIn(arrays))
  const own = await benchServer(device, plan, server, onMissing, keepIn(calls))
  return [...withBaselines(stores, 'hardware'), ...arrays, ...withBaselines(calls, own)]
}

interface OpsPlan {
  /** Of sockets and files. */
  readonly directory: string
  readonly sizes: readonly number[]
  readonly processes: readonly number[]
  readonly timeMs: number
}

let crews = 0

/** Reads, then writes, by each number of processes. */
async function benchStore(store: Store, provider: string, plan: OpsPlan, keep: Keep): Promise<void> {
  const { directory, sizes, processes, timeMs } = plan
  for (const count of processes) {
    for (const bytes of sizes) {
      crews += 1
      const meeting = { space: `bench-ops-${process.pid}-${crews}`, directory, processes: count, bytes }
      await using crew = await Crew.start(store, count, meeting)
      await crew.fill(bytes)
      for (const [op, writes] of [
        [`reads-${count}`, 0],
        [`writes-${count}`, 100],
      ] as const) {
        const job: Job = { work: { kind: 'get, set', keys: 'uniform', writes }, bytes, timeMs }
        keep(opsRow({ op, provider, bytes }, (await crew.measure(job)).flat()))
      }
    }
  }
}

const ARRAY_ELEMENTS = 1e6
const ELEMENT_BYTES = 8

/** Elements of an array in parts, one at a time, those of all ranks in turn. */
async function benchElements(ranks: number, timeMs: number, keep: Keep): Promise<void> {
  await using crew = await ArrayCrew.start({ ranks, threads: 1 })
  for (const what of ['get', 'set'] as const) {
    const array = { op: `${what}, any rank`, elements: ARRAY_ELEMENTS }
    const order = await fitted(async (each) => (await crew.measure({ ...each, ...array })).ns, timeMs)
    const found = (await crew.measureEach({ ...order, ...array })).map(({ ns }) => ({
      op: what,
      ns: Float64Array.from(ns),
      operations: order.samples * order.batch,
      totalNs: order.batch * ns.reduce((sum, each) => sum + each, 0),
    }))
    keep(opsRow({ op: `array-${what}s-${ranks}`, provider: 'arrays', bytes: ELEMENT_BYTES }, found))
  }
}

/** Calls of one server; gives the name of the device's provider. */
async function benchServer(
  device: string,
  { directory, sizes, processes, timeMs }: OpsPlan,
  redis: RedisServer | undefined,
  onMissing: OnMissing | undefined,
  keep: Keep,
): Promise<string> {
  const named = (row: BenchRow): void => keep({ ...row, op: row.op.replace('clients-', 'calls-') })
  const peer = await RpcPeer.start(device, directory)
  const { provider, meeting } = peer
  try {
    const plan = { meeting, sizes, depths: [], clients: processes, timeMs }
    await peer.alive(benchCalls({ ...plan, way: 'aether', provider, serverPids: [peer.pid] }, named))
    if (redis !== undefined) {
      const beside = { way: 'Redis', provider: redisProvider(), serverPids: [redis.pid] } as const
      await unlessMissing('Redis', onMissing, () => benchCalls({ ...plan, ...beside }, named))
    }
  } finally {
    await peer.close()
  }
  return provider
}
