/** The TCP side of a ping-pong: both ends exchange their addresses and then close the connection. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { RemoteEndpoint } from 'aether-dsm/verbs'
import { ADDRESS_BYTES, decodeAddress, encodeAddress, FAREWELL } from './wire.ts'

/** Where the other end listens, or where to wait for it. */
export interface MeetingOptions {
  readonly server: string | undefined
  readonly port: number
  readonly signal: AbortSignal
  /** Called with the port when the server listens. */
  readonly onListening?: (port: number) => void
}

/**
 * Sends the addresses `own` and passes those of the other end to `connectPairs`. The server connects its queue pairs
 * before it answers, so the client may send at once.
 */
export async function meet(
  own: readonly RemoteEndpoint[],
  connectPairs: (remote: readonly RemoteEndpoint[]) => void,
  options: MeetingOptions,
): Promise<void> {
  const socket = options.server === undefined ? await accept(options) : await reach(options.server, options)
  const abort = (): void => {
    socket.destroy(options.signal.reason)
  }
  options.signal.addEventListener('abort', abort, { once: true })
  try {
    const introduction = Buffer.concat(own.map(encodeAddress))
    if (options.server !== undefined) socket.write(introduction)
    const answer = await readExactly(socket, own.length * ADDRESS_BYTES)
    connectPairs(decodeAll(answer))
    socket.write(options.server === undefined ? introduction : FAREWELL)
    if (options.server === undefined) await readExactly(socket, FAREWELL.length)
  } finally {
    options.signal.removeEventListener('abort', abort)
    socket.end()
  }
}

async function accept({ port, signal, onListening }: MeetingOptions): Promise<Socket> {
  const server = createServer().listen(port)
  try {
    await once(server, 'listening', { signal })
    const address = server.address()
    onListening?.(typeof address === 'object' && address !== null ? address.port : port)
    const [socket] = (await once(server, 'connection', { signal })) as [Socket]
    return socket
  } finally {
    server.close()
  }
}

async function reach(server: string, { port, signal }: MeetingOptions): Promise<Socket> {
  const socket = connect(port, server)
  await once(socket, 'connect', { signal })
  return socket
}

function decodeAll(bytes: Buffer): RemoteEndpoint[] {
  return Array.from({ length: bytes.length / ADDRESS_BYTES }, (_, index) =>
    decodeAddress(bytes.subarray(index * ADDRESS_BYTES, (index + 1) * ADDRESS_BYTES)),
  )
}

/** Rejects if the other end hangs up before `length` bytes have arrived. */
function readExactly(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0)
    const settle = (error?: Error): void => {
      socket.off('data', take).off('end', hangUp).off('error', settle).off('close', hangUp)
      if (error === undefined) resolve(bytes)
      else reject(error)
    }
    const take = (piece: Buffer): void => {
      bytes = Buffer.concat([bytes, piece])
      if (bytes.length >= length) settle()
    }
    const hangUp = (): void => settle(new Error('the other end hung up before it had sent its address'))
    socket.on('data', take).on('end', hangUp).on('error', settle).on('close', hangUp).resume()
  })
}
