import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Endpoint, listenEndpoints } from 'aether-dsm/internal/messaging'
import { benchMemcpy } from './baselines.ts'
import { addressOf } from './device-address.ts'
import { type BenchOptions, DEFAULT_TIME_MS, defaultSizes, pingPong } from './latency.ts'
import { BenchLink } from './link.ts'
import { measure, noRemote } from './measure.ts'
import { Mark, PEER_OPTIONS } from './messaging-marks.ts'
import { RENDEZVOUS_MESSAGE_BYTES_MIN, RENDEZVOUS_RING_BYTES, rendezvousRows } from './messaging-rendezvous.ts'
import { OtherEnd } from './other-end.ts'
import { libfabricProvider, libfabricRow } from './peers/fi-pingpong.ts'
import { type OnMissing, type PeerName, peerNames, type WayName } from './peers/peer-name.ts'
import { providerOfWay } from './peers/provider-name.ts'
import { RedisServer } from './peers/redis-server.ts'
import { ucxProvider } from './peers/ucx-perftest.ts'
import { ucxRow } from './peers/ucx-row.ts'
import { unlessMissing } from './peers/unless-missing.ts'
import type { PipeMeeting } from './pipes/pipe.ts'
import { PipePair } from './pipes/pipe-pair.ts'
import { loopRow, streamRow } from './pipes/pipe-rows.ts'
import { type BenchRow, rowOf, withBaselines } from './row.ts'
import { ScratchDirectory } from './scratch-directory.ts'

/** Messages of a stream that share a WRITE. */
const FLUSH_EVERY = 16
/** Peers in their event loops, in the order of the table. */
const ways: readonly WayName[] = ['aether', 'child_process', 'socket', 'gRPC', 'Redis']

export interface MessagingBenchOptions extends BenchOptions {
  /** Unless told otherwise, all. */
  readonly peers?: readonly PeerName[]
  /** Called with a peer that is not here; the others are measured all the same. */
  readonly onMissing?: OnMissing
}

/**
 * Messages between two processes.
 *
 * - `message`, `message-loop`: half of a round trip, both ends spinning or in their event loops.
 * - `message-stream`, `stream-loop`: messages one way, as fast as they are taken.
 * - `rendezvous`, `rendezvous-placed`: from 64 KiB, messages too long for the ring.
 *
 * Spinning, compared in the same run with bare SEND, UCX and libfabric. In event loops, compared with child_process, a
 * Unix socket, a stream of gRPC and PUBLISH of Redis. Also compared with memcpy.
 */
export async function benchMessaging(options: MessagingBenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const { peers = peerNames, onMissing } = options
  const rows: BenchRow[] = []
  const keep = async (row: Promise<BenchRow>): Promise<void> => {
    rows.push(await row)
    onRow?.(rows.at(-1)!)
  }
  const own = await benchSpinning(device, sizes, timeMs, keep)
  const long = sizes.filter((bytes) => bytes >= RENDEZVOUS_MESSAGE_BYTES_MIN)
  if (long.length > 0) await benchRendezvous(device, long, timeMs, keep)
  if (peers.includes('UCX')) {
    await unlessMissing('UCX', onMissing, async () => {
      const provider = await ucxProvider()
      for (const bytes of sizes) await keep(ucxRow('message', provider, 'tag_lat', bytes, timeMs))
      for (const bytes of sizes) await keep(ucxRow('message-stream', provider, 'tag_bw', bytes, timeMs))
    })
  }
  if (peers.includes('libfabric')) {
    await unlessMissing('libfabric', onMissing, async () => {
      const provider = await libfabricProvider()
      for (const bytes of sizes) await keep(libfabricRow('message', provider, bytes, timeMs))
    })
  }
  await benchWays(device, own, sizes, timeMs, peers, onMissing, keep)
  for (const bytes of sizes) await keep(benchMemcpy(bytes, timeMs))
  return withBaselines(rows, own, { send: 'message', memcpy: 'message-stream', 'rendezvous-placed': 'rendezvous' })
}

type Keep = (row: Promise<BenchRow>) => Promise<void>

/** Both ends spinning; gives the name of the device's provider. */
async function benchSpinning(device: string, sizes: readonly number[], timeMs: number, keep: Keep): Promise<string> {
  const peer = await MessagingPeer.start(device)
  try {
    for (const bytes of sizes) await keep(peer.spinning(() => roundTrip(peer, bytes, timeMs)))
    for (const bytes of sizes) await keep(peer.spinning(() => stream(peer, bytes, timeMs)))
  } finally {
    await peer.close()
  }
  const link = await BenchLink.open(device, Math.max(...sizes))
  try {
    for (const bytes of sizes) await keep(pingPong(link, bytes, timeMs))
    return link.device.attributes.provider
  } finally {
    link.close()
  }
}

/** Messages that the ring does not take. */
async function benchRendezvous(device: string, sizes: readonly number[], timeMs: number, keep: Keep): Promise<void> {
  const peer = await MessagingPeer.start(device, RENDEZVOUS_RING_BYTES)
  const { endpoint, pid } = peer
  const provider = providerOf(endpoint)
  try {
    for (const bytes of sizes)
      for (const row of await rendezvousRows({ endpoint, provider, bytes, timeMs, pid }))
        await keep(Promise.resolve(row))
  } finally {
    await peer.close()
  }
}

/** All that connect programs in their event loops. */
async function benchWays(
  device: string,
  own: string,
  sizes: readonly number[],
  timeMs: number,
  peers: readonly PeerName[],
  onMissing: OnMissing | undefined,
  keep: Keep,
): Promise<void> {
  using scratch = new ScratchDirectory()
  const meeting = { device, address: addressOf(device), directory: scratch.path }
  for (const way of ways) {
    if (way !== 'aether' && !peers.includes(way)) continue
    const measured = benchWay(way, own, meeting, sizes, timeMs, keep)
    if (way === 'aether') await measured
    else await unlessMissing(way, onMissing, () => measured)
  }
}

/** Both ends in their event loops. */
async function benchWay(
  way: WayName,
  own: string,
  meeting: PipeMeeting,
  sizes: readonly number[],
  timeMs: number,
  keep: Keep,
): Promise<void> {
  await using server = way === 'Redis' ? await RedisServer.start(meeting.directory) : undefined
  await using pair = await PipePair.start(way, meeting)
  const provider = way === 'aether' ? own : await providerOfWay(way)
  const pids = server === undefined ? [pair.pid] : [pair.pid, server.pid]
  for (const bytes of sizes) await keep(loopRow({ pair, provider, bytes, timeMs, pids }))
  for (const bytes of sizes) await keep(streamRow({ pair, provider, bytes, timeMs, pids }))
}

/** The other process, which spins when it is told to. */
class MessagingPeer {
  readonly endpoint: Endpoint
  readonly otherEnd: OtherEnd
  readonly #child: ReturnType<typeof fork>

  private constructor(endpoint: Endpoint, child: ReturnType<typeof fork>) {
    this.endpoint = endpoint
    this.otherEnd = new OtherEnd(child.pid!)
    this.#child = child
  }

  /** `ringBytes`: of the other end's ring. */
  static async start(device: string, ringBytes: number = PEER_OPTIONS.ringBytes): Promise<MessagingPeer> {
    const address = addressOf(device)
    let arrived!: (endpoint: Endpoint) => void
    const accepted = new Promise<Endpoint>((resolve) => {
      arrived = resolve
    })
    const listener = await listenEndpoints({ ...PEER_OPTIONS, device, address, accept: arrived })
    const program = fileURLToPath(new URL('./messaging-peer.js', import.meta.url))
    const child = fork(program, [device, address, String(listener.port), String(ringBytes)])
    const failed = once(child, 'exit').then(() => {
      throw new Error('the other process of the benchmark ended')
    })
    const [endpoint] = await Promise.race([Promise.all([accepted, once(child, 'message')]), failed])
    failed.catch(() => {})
    listener.close()
    return new MessagingPeer(endpoint, child)
  }

  /** Have the other end spin while `work` runs. */
  async spinning<T>(work: () => Promise<T>): Promise<T> {
    await this.endpoint.sendWithImmediate(new Uint8Array(0), Mark.Spin)
    try {
      return await work()
    } finally {
      await this.endpoint.sendWithImmediate(new Uint8Array(0), Mark.Rest)
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async close(): Promise<void> {
    await this.endpoint.close()
    this.#child.kill('SIGKILL')
  }
}

function providerOf(endpoint: Endpoint): string {
  return endpoint.link.pair.domain.device.attributes.provider
}

async function roundTrip({ endpoint, otherEnd }: MessagingPeer, bytes: number, timeMs: number): Promise<BenchRow> {
  const data = new Uint8Array(bytes).fill(1)
  let received = 0
  endpoint.handlers = {
    receive: () => {
      received += 1
    },
  }
  const operations = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const before = received
      put(endpoint, otherEnd, data, Mark.Echo)
      endpoint.link.flush()
      while (received === before) if (endpoint.poll() === 0) otherEnd.missed()
    }
  }
  return rowOf('message', providerOf(endpoint), bytes, withPeer(await measure(operations, timeMs, noRemote)), 2)
}

/**
 * Each batch ends with a question, which is answered while the next batch runs: at most one batch is under way when the
 * clock is read.
 */
async function stream({ endpoint, otherEnd }: MessagingPeer, bytes: number, timeMs: number): Promise<BenchRow> {
  const data = new Uint8Array(bytes).fill(1)
  const nothing = new Uint8Array(0)
  let asked = 0
  let seen = 0
  endpoint.handlers = {
    receive: () => {
      seen += 1
    },
  }
  const operations = (count: number): void => {
    for (let index = 1; index <= count; index += 1) {
      put(endpoint, otherEnd, data, undefined)
      if (index % FLUSH_EVERY === 0) endpoint.link.flush()
    }
    put(endpoint, otherEnd, nothing, Mark.Ask)
    endpoint.link.flush()
    asked += 1
    while (seen < asked - 1) if (endpoint.poll() === 0) otherEnd.missed()
  }
  const measurement = withPeer(await measure(operations, timeMs, noRemote))
  while (seen < asked) if (endpoint.poll() === 0) otherEnd.missed()
  return rowOf('message-stream', providerOf(endpoint), bytes, measurement)
}

function put(endpoint: Endpoint, otherEnd: OtherEnd, data: Uint8Array, immediate: number | undefined): void {
  while (!endpoint.trySend(data, immediate)) {
    if (!endpoint.open) throw new Error('the other end of the benchmark has gone')
    if (endpoint.poll() === 0) otherEnd.missed()
  }
}

/** The other end spins, so it takes as much processor time as has gone by. */
function withPeer<T extends { readonly batchNs: Float64Array; readonly cpuNs: number }>(measurement: T): T {
  return { ...measurement, cpuNs: measurement.cpuNs + measurement.batchNs.reduce((sum, ns) => sum + ns, 0) }
}
