/** The other end of `aether bench rpc`, in a process of its own: a server of calls, a Unix socket and child_process messages, each giving back what comes. */
import { native } from '../../native/index.ts'
import { createServer } from '../../rpc/index.ts'
import { benchService } from './rpc-service.ts'
import { listenEcho } from './socket.ts'

const [device = 'shm0', address = '127.0.0.1', path = ''] = process.argv.slice(2)
/** Polls between two looks at whether the parent still lives. */
const PARENT_CHECK_POLLS = 1 << 16
const parent = process.ppid
let spinning = false

/** Look at what comes until somebody says that it is over. Blocks this thread. */
function spin(): void {
  for (let idle = 0; spinning; ) {
    idle = server.poll() === 0 ? idle + 1 : 0
    if (idle % PARENT_CHECK_POLLS === PARENT_CHECK_POLLS - 1 && process.ppid !== parent) process.exit(0)
  }
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
await listenEcho(path)
process.send?.(port)
process.on('message', (message) => process.send?.(message))
process.on('disconnect', () => process.exit(0))
