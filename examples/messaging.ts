/**
 * A server and two clients that use callbacks, as RDMA programs in C do. Each message is a WRITE with immediate into a
 * ring in the receiver's memory. A client sends only the address and key of its buffer. The server then reads the
 * buffer with a READ, in which the client takes no part. Run it after `npm run build`:
 *
 *     node dist/examples/messaging.js
 *
 * The server greets each client, prints the sum of the bytes that it has read, and notes when a client leaves. The
 * lines are sorted, because the clients run at the same time.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectEndpoint, listenEndpoints } from 'aether-dsm/messaging'

const program = fileURLToPath(import.meta.url)
const where = { device: 'shm0', address: '127.0.0.1' }

/** The meaning of a message's immediate value. */
const Say = { Hello: 1, BufferAt: 2, Done: 3 } as const

if (process.argv[2] === undefined) {
  const lines: string[] = []
  const listener = await listenEndpoints({
    ...where,
    accept: (endpoint) => {
      const copy = endpoint.allocate(1024)
      endpoint.handlers = {
        receive: (data, immediate) => {
          if (immediate === Say.Hello) lines.push(`hello from client ${data[0]}`)
          if (immediate !== Say.BufferAt) return
          const token = new DataView(data.buffer, data.byteOffset, data.length)
          endpoint.postRead(
            token.getUint32(12),
            { buffer: copy },
            { address: token.getFloat64(0), key: token.getUint32(8) },
          )
        },
        readDone: (id, error) => {
          if (error !== undefined) throw error
          lines.push(`the bytes of client ${id} add up to ${copy.bytes.reduce((sum, byte) => sum + byte, 0)}`)
          endpoint.trySend(new Uint8Array(0), Say.Done)
        },
        disconnected: () => lines.push('a client has left'),
      }
    },
  })
  const clients = [1, 2].map((number) => fork(program, [String(listener.port), String(number)]))
  await Promise.all(clients.map((client) => once(client, 'exit')))
  while (lines.length < 6) await new Promise((resolve) => setTimeout(resolve, 1))
  listener.close()
  for (const line of lines.sort()) console.log(line)
  // prints a client has left
  // prints a client has left
  // prints hello from client 1
  // prints hello from client 2
  // prints the bytes of client 1 add up to 1024
  // prints the bytes of client 2 add up to 2048
} else {
  const [port, number] = process.argv.slice(2).map(Number) as [number, number]
  const endpoint = await connectEndpoint({ ...where, port })
  const buffer = endpoint.allocate(1024)
  buffer.bytes.fill(number)
  const token = new DataView(new ArrayBuffer(16))
  token.setFloat64(0, buffer.address)
  token.setUint32(8, buffer.key)
  token.setUint32(12, number)
  await endpoint.sendWithImmediate(Uint8Array.of(number), Say.Hello)
  await endpoint.sendWithImmediate(new Uint8Array(token.buffer), Say.BufferAt)
  for await (const { immediate } of endpoint) if (immediate === Say.Done) break
  await endpoint.close()
}
