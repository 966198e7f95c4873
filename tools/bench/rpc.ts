import { native } from 'aether-dsm/internal/native'
import { values } from 'aether-dsm/internal/rpc'
import { benchMemcpy } from './baselines.ts'
import { benchCalls, type CallPlan } from './calls/call-rows.ts'
import { type Lane, laneRow, runLanes, warmLanes } from './lanes.ts'
import { type BenchOptions, DEFAULT_TIME_MS, sendAndReturn, writeAndReturn } from './latency.ts'
import { BenchLink } from './link.ts'
import { measure } from './measure.ts'
import { type OnMissing, type PeerName, peerNames, type WayName } from './peers/peer-name.ts'
import { providerOfWay } from './peers/provider-name.ts'
import { RedisServer } from './peers/redis-server.ts'
import { unlessMissing } from './peers/unless-missing.ts'
import { benchRendezvous, defaultRendezvousSizes, RENDEZVOUS_BYTES_MIN, rendezvousBaselines } from './rendezvous.ts'
import { type BenchRow, rowOf, withBaselines } from './row.ts'
import { RpcPeer } from './rpc-peer.ts'
import { benchService, type Order } from './rpc-service.ts'
import { ScratchDirectory } from './scratch-directory.ts'

/** Payloads unless others are asked for, in bytes. */
export const defaultRpcSizes: readonly number[] = [8, 512, 4096, 65_536, 1_048_576]
/** Calls under way at a time. */
export const defaultDepths: readonly number[] = [1, 4, 16, 64]
/** Processes that call one server. */
export const defaultClients: readonly number[] = [1, 2, 4]
const OBJECT_DEPTH = 64
const ORDER: Order = { item: 'lamp', count: 3, price: 12.5 }
/** As it travels. */
const ORDER_BYTES = values.encode(ORDER).length
/** Other ways to call, in the order of the table. */
const others = ['child_process', 'socket', 'gRPC', 'Redis'] as const satisfies readonly WayName[]

export interface RpcBenchOptions extends BenchOptions {
  /** Of calls with buffers; default those of `sizes` from 64 KiB on, or, without `sizes`, 64 KiB to 4 MiB. */
  readonly rendezvousSizes?: readonly number[]
  readonly depths?: readonly number[]
  readonly clients?: readonly number[]
  /** Unless told otherwise, all; UCX, libfabric and lmdb have no calls. */
  readonly peers?: readonly PeerName[]
  /** Called with a peer that is not here; the others are measured all the same. */
  readonly onMissing?: OnMissing
}

/**
 * Round trips of calls between processes.
 *
 * - `call-sync`: blocking, both ends spinning.
 * - `call-D`: D calls in progress of one client, both ends in their event loops.
 * - `clients-N`: N client processes with 16 calls in progress each.
 * - `object-sync`, `object-64`: an object of three properties and a number in the default codec, instead of bytes.
 * - `rdma-source`, `rdma-target`, `body-request`, `body-answer`: see {@link benchRendezvous}.
 * - `send-return`: a bare SEND and one back, both ends spinning, right after the `call-sync` of that length. It is the
 *   baseline of `call-sync`.
 * - `write-return`: the same with a WRITE with immediate, which carries calls.
 *
 * Compared in the same run, with as many in progress, with child_process messages, a Unix socket, a unary call of gRPC
 * and ECHO of Redis. Also compared with memcpy.
 */
export async function benchRpc(options: RpcBenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultRpcSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const {
    rendezvousSizes = options.sizes?.filter((bytes) => bytes >= RENDEZVOUS_BYTES_MIN) ?? defaultRendezvousSizes,
  } = options
  const { depths = defaultDepths, clients = defaultClients, peers = peerNames, onMissing } = options
  const rows: BenchRow[] = []
  const keep = (row: BenchRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  using scratch = new ScratchDirectory()
  const peer = await RpcPeer.start(device, scratch.path)
  const { provider, meeting } = peer
  try {
    const link = await BenchLink.open(device, Math.max(...sizes))
    try {
      await peer.alive(benchOwn(peer, link, sizes, timeMs, keep))
    } finally {
      link.close()
    }
    await peer.alive(benchRendezvous(peer, rendezvousSizes, timeMs, keep))
    const plan = { meeting, sizes, depths, clients, timeMs }
    await peer.alive(benchCalls({ ...plan, way: 'aether', provider, serverPids: [peer.pid] }, keep))
    for (const way of others.filter((each) => peers.includes(each)))
      await peer.alive(unlessMissing(way, onMissing, () => benchOther(way, peer, plan, keep)))
  } finally {
    await peer.close()
  }
  for (const bytes of new Set([...sizes, ...rendezvousSizes])) keep(await benchMemcpy(bytes, timeMs))
  return withBaselines(rows, provider, {
    'call-sync': 'send-return',
    'write-return': 'send-return',
    memcpy: 'call-1',
    ...rendezvousBaselines,
  })
}

/**
 * What only this package's calls can do: block, and carry objects. After each blocking call over `link` what it is made
 * of, without the call.
 */
async function benchOwn(
  peer: RpcPeer,
  link: BenchLink,
  sizes: readonly number[],
  timeMs: number,
  keep: (row: BenchRow) => void,
): Promise<void> {
  const { client, provider } = peer
  await benchBlocking(peer, link, sizes, timeMs, keep)
  const lanes = new Array<Lane>(OBJECT_DEPTH).fill(() => client.sum(ORDER))
  await warmLanes(lanes, timeMs)
  const cpuBefore = native.processorNs(true) + (await peer.remoteCpuNs())
  const run = await runLanes(lanes, timeMs)
  const cpuNs = native.processorNs(true) + (await peer.remoteCpuNs()) - cpuBefore
  keep(laneRow({ op: `object-${OBJECT_DEPTH}`, provider, bytes: ORDER_BYTES }, [run], cpuNs))
}

/**
 * Calls of a thread that has a processor to itself, as SENDs and WRITEs beside them have: no answer finds it asleep.
 */
async function benchBlocking(
  peer: RpcPeer,
  link: BenchLink,
  sizes: readonly number[],
  timeMs: number,
  keep: (row: BenchRow) => void,
): Promise<void> {
  await using channel = await peer.polling()
  const { echoSync, sumSync } = channel.client(benchService)
  for (const bytes of sizes) {
    keep(await blocking('call-sync', peer, bytes, timeMs, echoed(bytes, echoSync)))
    keep(await sendAndReturn(link, bytes, timeMs))
    keep(await writeAndReturn(link, bytes, timeMs))
  }
  keep(await blocking('object-sync', peer, ORDER_BYTES, timeMs, () => sumSync(ORDER)))
}

async function benchOther(
  way: (typeof others)[number],
  peer: RpcPeer,
  plan: Omit<CallPlan, 'way' | 'provider' | 'serverPids'>,
  keep: (row: BenchRow) => void,
): Promise<void> {
  await using server = way === 'Redis' ? await RedisServer.start(plan.meeting.directory) : undefined
  // Those that come by child_process are served by this one.
  const pid = server?.pid ?? (way === 'child_process' ? process.pid : peer.pid)
  await benchCalls({ ...plan, way, provider: await providerOfWay(way), serverPids: [pid] }, keep)
}

/** A call that gives back what is sent. @throws Error where it does not. */
function echoed(bytes: number, echo: (data: Uint8Array) => Uint8Array): () => void {
  const data = new Uint8Array(bytes).fill(1)
  return () => {
    if (echo(data).length !== bytes) throw new Error('the call gave back something else')
  }
}

async function blocking(
  op: string,
  peer: RpcPeer,
  bytes: number,
  timeMs: number,
  call: () => unknown,
): Promise<BenchRow> {
  const operations = (count: number): void => {
    for (let index = 0; index < count; index += 1) call()
  }
  const measurement = await peer.spinning(() => measure(operations, timeMs, () => peer.remoteCpuNs()))
  return rowOf(op, peer.provider, bytes, measurement)
}
