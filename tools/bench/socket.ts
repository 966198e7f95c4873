import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/** A Unix socket at `path` that gives back whatever comes. */
export async function listenEcho(path: string): Promise<void> {
  const server = createServer((socket) => {
    socket.on('data', (data) => socket.write(data))
    socket.on('error', () => {})
  })
  rmSync(path, { force: true })
  await new Promise<void>((resolve) => server.listen(path, resolve))
}

/** The other end of it. */
export class EchoSocket {
  readonly #socket: Socket
  readonly #waiters: { left: number; readonly resolve: () => void }[] = []

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('data', (chunk) => this.#came(chunk.length))
  }

  static async open(path: string): Promise<EchoSocket> {
    const socket = connect(path)
    await once(socket, 'connect')
    return new EchoSocket(socket)
  }

  /** Resolves when as many bytes have come back. */
  exchange(data: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ left: data.length, resolve })
      this.#socket.write(data)
    })
  }

  #came(bytes: number): void {
    let rest = bytes
    for (let first = this.#waiters[0]; first !== undefined && rest > 0; first = this.#waiters[0]) {
      const taken = Math.min(rest, first.left)
      first.left -= taken
      rest -= taken
      if (first.left > 0) return
      this.#waiters.shift()
      first.resolve()
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}
