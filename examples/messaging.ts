/**
 * A server and two clients with callbacks, as C programs of RDMA write them: each message is a WRITE with immediate
 * into a ring in the receiver's memory, and the server reads a client's buffer by itself. Run it: node
 * dist/examples/messaging.js
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectEndpoint, listenEndpoints } from 'aether-dsm/messaging'

const program = fileURLToPath(import.meta.url)
const where = { device: 'shm0', address: '127.0.0.1' }

/** What immediates mean to these two programs. */
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
          lines.push(`read ${copy.bytes.reduce((sum, byte) => sum + byte, 0)} from client ${id}`)
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
  // prints read 1024 from client 1
  // prints read 2048 from client 2
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
