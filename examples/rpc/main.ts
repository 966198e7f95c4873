/**
 * Remote procedure calls: the client of a library, which starts the server in another process and calls each kind of
 * method. Run it after `npm run build`, with an RDMA device and its address if you like:
 *
 *     node dist/examples/rpc/main.js [DEVICE ADDRESS]
 *
 * It prints the result of each call.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { openChannel } from 'aether-dsm/rpc'
import { library } from './contract.ts'

const [device = 'shm0', address = '127.0.0.1'] = process.argv.slice(2)
const script = fileURLToPath(new URL('server.js', import.meta.url))
const server = spawn(process.execPath, [script, device, address], { stdio: ['pipe', 'pipe', 'inherit'] })
const [line] = await once(server.stdout, 'data')

const channel = openChannel({ device, address, port: Number(String(line)) })
const client = channel.client(library)

console.log(await client.borrow({ title: 'Emma', reader: 'Ada' })) // prints { title: 'Emma', copies: 0 }
try {
  await client.borrow({ title: 'Emma', reader: 'Bob' }, { timeoutMs: 5000 })
} catch (error) {
  if (!library.isError(error, 'lent')) throw error
  console.log(`${error.message} before ${error.details.until}`) // prints no copy of Emma is here before Friday
}
console.log(
  await client.donate([
    { title: 'Emma', copies: 3 },
    { title: 'Ulysses', copies: 1 },
  ]),
) // prints 4
// prints Dune 2, then Emma 3, then Ulysses 1
for await (const { title, copies } of client.catalogue()) console.log(title, copies)
for await (const answer of client.ask(['Dune', 'Faust'])) console.log(answer) // prints Dune: 2, then Faust: unknown

// With an idempotency key the call runs once, even if the connection is lost and the call is sent again.
// prints { title: 'Dune', copies: 1 }
console.log(await client.borrow({ title: 'Dune', reader: 'Eve' }, { idempotencyKey: true }))
// A synchronous call: this thread blocks until the answer is here.
console.log(client.borrowSync({ title: 'Dune', reader: 'Kim' }).copies) // prints 0

// 1 MiB each way, directly between this buffer and the server's memory. The calls themselves carry only the title.
const pages = await channel.allocate(1 << 20)
pages.bytes.fill(7)
await client.keepScan({ title: 'Emma' }, { source: pages })
pages.bytes.fill(0)
const length = await client.fetchScan({ title: 'Emma' }, { target: pages })
console.log(length, pages.bytes[0], pages.bytes.at(-1)) // prints 1048576 7 7
await pages.release()

await channel.close()
server.stdin.end()
await once(server, 'exit')
