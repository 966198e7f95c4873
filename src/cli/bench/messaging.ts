import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Endpoint, listenEndpoints } from '../../messaging/index.ts'
import { native } from '../../native/index.ts'
import { benchIpc } from './baselines.ts'
import { addressOf } from './device-address.ts'
import { type BenchOptions, DEFAULT_TIME_MS, defaultSizes, pingPong } from './latency.ts'
import { BenchLink } from './link.ts'
import { measure, noRemote } from './measure.ts'
import { Mark, PEER_OPTIONS } from './messaging-marks.ts'
import { type BenchRow, rowOf } from './row.ts'

const SAMPLES_MIN = 20
/** Messages of a stream that share a WRITE. */
const FLUSH_EVERY = 16

/**
 * Half of a round trip of a message between two processes: `message`, both ends spinning; `message-loop`, both in their event loops; and how fast messages of a
 * stream go (`message-stream`). Beside them, in the same run: bare SEND (both spinning), child_process IPC and a Unix socket (both in their event loops).
 */
export async function benchMessaging(options: BenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const rows: BenchRow[] = []
  const keep = async (row: Promise<BenchRow>): Promise<void> => {
    rows.push(await row)
    onRow?.(rows.at(-1) as BenchRow)
  }
  const folder = mkdtempSync(join(tmpdir(), 'aether-bench-'))
  const peer = await MessagingPeer.start(device, join(folder, 'socket'))
  try {
    for (const bytes of sizes) await keep(peer.spinning(() => roundTrip(peer.endpoint, bytes, timeMs)))
    for (const bytes of sizes) await keep(peer.spinning(() => stream(peer.endpoint, bytes, timeMs)))
    for (const bytes of sizes) await keep(eventLoopRoundTrip(peer.endpoint, bytes, timeMs))
    for (const bytes of sizes) await keep(socketRoundTrip(peer.socket, bytes, timeMs))
  } finally {
    await peer.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const link = await BenchLink.open(device, Math.max(...sizes))
  try {
    for (const bytes of sizes) await keep(pingPong(link, bytes, timeMs))
    for (const bytes of sizes) await keep(benchIpc(link, bytes, timeMs))
  } finally {
    link.close()
  }
  return rows
}

/** The other process, and both ways to it. */
class MessagingPeer {
  readonly endpoint: Endpoint
  readonly socket: Socket
  readonly #child: ReturnType<typeof fork>

  private constructor(endpoint: Endpoint, socket: Socket, child: ReturnType<typeof fork>) {
    this.endpoint = endpoint
    this.socket = socket
    this.#child = child
  }

  static async start(device: string, path: string): Promise<MessagingPeer> {
    const address = addressOf(device)
    let arrived!: (endpoint: Endpoint) => void
    const accepted = new Promise<Endpoint>((resolve) => {
      arrived = resolve
    })
    const listener = await listenEndpoints({ ...PEER_OPTIONS, device, address, accept: arrived })
    const program = fileURLToPath(new URL('./messaging-peer.js', import.meta.url))
    const child = fork(program, [device, address, String(listener.port), path])
    const failed = once(child, 'exit').then(() => {
      throw new Error('the other process of the benchmark ended')
    })
    const [endpoint] = await Promise.race([Promise.all([accepted, once(child, 'message')]), failed])
    failed.catch(() => {})
    listener.close()
    const socket = connect(path)
    await once(socket, 'connect')
    return new MessagingPeer(endpoint, socket, child)
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

  async close(): Promise<void> {
    this.socket.destroy()
    await this.endpoint.close()
    this.#child.kill('SIGKILL')
  }
}

function providerOf(endpoint: Endpoint): string {
  return endpoint.link.pair.domain.device.attributes.provider
}

async function roundTrip(endpoint: Endpoint, bytes: number, timeMs: number): Promise<BenchRow> {
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
      put(endpoint, data, Mark.Echo)
      endpoint.link.flush()
      while (received === before) endpoint.poll()
    }
  }
  return rowOf('message', providerOf(endpoint), bytes, withPeer(await measure(operations, timeMs, noRemote)), 2)
}

/** Each batch ends with a question, which is answered while the next batch runs: at most one batch is under way when the clock is read. */
async function stream(endpoint: Endpoint, bytes: number, timeMs: number): Promise<BenchRow> {
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
      put(endpoint, data, undefined)
      if (index % FLUSH_EVERY === 0) endpoint.link.flush()
    }
    put(endpoint, nothing, Mark.Ask)
    endpoint.link.flush()
    asked += 1
    while (seen < asked - 1) endpoint.poll()
  }
  const measurement = withPeer(await measure(operations, timeMs, noRemote))
  while (seen < asked) endpoint.poll()
  return rowOf('message-stream', providerOf(endpoint), bytes, measurement)
}

function put(endpoint: Endpoint, data: Uint8Array, immediate: number | undefined): void {
  while (!endpoint.trySend(data, immediate)) {
    if (!endpoint.open) throw new Error('the other end of the benchmark has gone')
    endpoint.poll()
  }
}

/** The other end spins, so it takes as much processor time as has gone by. */
function withPeer<T extends { readonly batchNs: Float64Array; readonly cpuNs: number }>(measurement: T): T {
  return { ...measurement, cpuNs: measurement.cpuNs + measurement.batchNs.reduce((sum, ns) => sum + ns, 0) }
}

async function eventLoopRoundTrip(endpoint: Endpoint, bytes: number, timeMs: number): Promise<BenchRow> {
  const data = new Uint8Array(bytes).fill(1)
  let came = (): void => {}
  endpoint.handlers = { receive: () => came() }
  const once = (): Promise<void> =>
    new Promise((resolve) => {
      came = resolve
      void endpoint.sendWithImmediate(data, Mark.Echo)
    })
  return rowOf('message-loop', providerOf(endpoint), bytes, await repeat(once, timeMs), 2)
}

async function socketRoundTrip(socket: Socket, bytes: number, timeMs: number): Promise<BenchRow> {
  const data = new Uint8Array(bytes).fill(1)
  let left = 0
  let came = (): void => {}
  const take = (chunk: Buffer): void => {
    left -= chunk.length
    if (left === 0) came()
  }
  socket.on('data', take)
  const once = (): Promise<void> =>
    new Promise((resolve) => {
      left = bytes
      came = resolve
      socket.write(data)
    })
  const measurement = await repeat(once, timeMs)
  socket.off('data', take)
  return rowOf('socket', 'unix socket', bytes, measurement, 2)
}

/** One after the other from the event loop; processor time is this end's. */
async function repeat(
  operation: () => Promise<void>,
  timeMs: number,
): Promise<{ batchSize: number; batchNs: Float64Array; cpuNs: number }> {
  for (let index = 0; index < SAMPLES_MIN; index += 1) await operation()
  const batchNs: number[] = []
  const cpuBefore = native.processorNs(true)
  const until = native.monotonicNs() + timeMs * 1e6
  for (let began = native.monotonicNs(); batchNs.length < SAMPLES_MIN || began < until; ) {
    await operation()
    const ended = native.monotonicNs()
    batchNs.push(ended - began)
    began = ended
  }
  return { batchSize: 1, batchNs: Float64Array.from(batchNs), cpuNs: native.processorNs(true) - cpuBefore }
}
