/** The other end of `aether bench rpc`, in a process of its own: a server of calls, a Unix socket and, where it is installed, gRPC, each giving back what comes. */
import { native } from '../../native/index.ts'
import { createServer } from '../../rpc/index.ts'
import { echoSocketIn, grpcSocketIn } from './calls/call-meeting.ts'
import { serveGrpc } from './peers/grpc-package.ts'
import { benchService } from './rpc-service.ts'
import { listenEcho } from './socket.ts'

const [device = 'shm0', address = '127.0.0.1', directory = ''] = process.argv.slice(2)
/** So many empty polls are more than the time between two calls. */
const IDLE_POLLS = 4096
const parent = process.ppid
let spinning = false

/**
 * Look at what comes until somebody says that it is over, blocking this thread; only where nothing comes for long the event loop has its turn: an answer that is longer than the ring goes on
 * from there.
 */
function spin(): void {
  for (let idle = 0; spinning && idle < IDLE_POLLS; ) idle = server.poll() === 0 ? idle + 1 : 0
  if (process.ppid !== parent) process.exit(0)
  if (spinning) setImmediate(spin)
}

const server = createServer().serve(benchService, {
  echo: (bytes) => bytes,
  sum: ({ count, price }) => count * price,
  spin: (on) => {
    spinning = on
    if (on) setImmediate(spin)
  },
  cpu: () => native.processorNs(true),
})
const { port } = await server.listen({ device, address })
await listenEcho(echoSocketIn(directory))
// Who calls by it finds out why it is not there.
await serveGrpc(grpcSocketIn(directory), () => {}).catch(() => {})
process.send?.(port)
process.on('disconnect', () => process.exit(0))
