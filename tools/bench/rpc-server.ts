/**
 * The other end of `aether bench rpc`, in a process of its own: a server of calls, a Unix socket and, where it is
 * installed, gRPC, each giving back what comes.
 */
import { native } from 'aether-dsm/internal/native'
import { createServer, type RdmaBuffer } from 'aether-dsm/internal/rpc'
import { echoSocketIn, grpcSocketIn } from './calls/call-meeting.ts'
import { endWithParent } from './ended-by-parent.ts'
import { serveGrpc } from './peers/grpc-package.ts'
import { benchService, FILLED } from './rpc-service.ts'
import { listenEcho } from './socket.ts'

const [device = 'shm0', address = '127.0.0.1', directory = ''] = process.argv.slice(2)
/** This many empty polls take longer than the time between two calls. */
const IDLE_POLLS = 4096
const parent = process.ppid
let spinning = false

/**
 * Handle calls until one says that the measurement is over, and block this thread. If no call comes for long, the event
 * loop runs, because an answer longer than the ring continues there.
 */
function spin(): void {
  for (let idle = 0; spinning && idle < IDLE_POLLS; ) idle = server.poll() === 0 ? idle + 1 : 0
  if (process.ppid !== parent) process.exit(0)
  if (spinning) setImmediate(spin)
}

/** Buffer for calls with buffers. It is registered once, and again if a call needs a longer one. */
let fetched: RdmaBuffer | undefined
let stored: RdmaBuffer | undefined
let given = new Uint8Array(0)

/** What is long enough. */
function room(
  earlier: RdmaBuffer | undefined,
  length: number,
  allocate: (lengthBytes: number) => RdmaBuffer,
): RdmaBuffer {
  if (earlier !== undefined && earlier.length >= length) return earlier
  void earlier?.release()
  const buffer = allocate(length)
  buffer.bytes.fill(FILLED)
  return buffer
}

const server = createServer().serve(benchService, {
  echo: (bytes) => bytes,
  sum: ({ count, price }) => count * price,
  spin: (on) => {
    spinning = on
    if (on) setImmediate(spin)
  },
  cpu: () => native.processorNs(true),
  async fetch(_, { source, allocate }) {
    fetched = room(fetched, source.length, allocate)
    await source.read({ buffer: fetched, length: source.length })
    return fetched.bytes[source.length - 1]!
  },
  async store(_, { target, allocate }) {
    stored = room(stored, target.length, allocate)
    await target.write({ buffer: stored, length: target.length })
  },
  take: (bytes) => bytes.slice(-1),
  give(wanted) {
    const length = Buffer.from(wanted).readUInt32LE()
    if (given.length < length) given = new Uint8Array(length).fill(FILLED)
    return given.subarray(0, length)
  },
})
const { port } = await server.listen({ device, address })
await listenEcho(echoSocketIn(directory))
// A client of it reports why it is missing.
await serveGrpc(grpcSocketIn(directory), () => {}).catch(() => {})
process.send?.(port)
endWithParent()
