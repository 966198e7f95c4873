import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Channel, type Client, openChannel } from '../../rpc/index.ts'
import { openDevice } from '../../verbs/index.ts'
import { addressOf } from './device-address.ts'
import { benchService } from './rpc-service.ts'

/** The server's process, and the ways to it. */
export class RpcPeer {
  /** One a connection. */
  readonly clients: readonly Client<typeof benchService>[]
  readonly socket: EchoSocket
  readonly provider: string
  readonly #channels: readonly Channel[]
  readonly #child: ChildProcess
  readonly #died: Promise<never>
  readonly #ipcWaiters: (() => void)[] = []

  private constructor(
    provider: string,
    channels: readonly Channel[],
    socket: EchoSocket,
    child: ChildProcess,
    died: Promise<never>,
  ) {
    this.provider = provider
    this.#channels = channels
    this.clients = channels.map((channel) => channel.client(benchService))
    this.socket = socket
    this.#child = child
    this.#died = died
    child.on('message', () => this.#ipcWaiters.shift()?.())
  }

  static async start(device: string, connections: number): Promise<RpcPeer> {
    const provider = providerOf(device)
    const address = addressOf(device)
    const folder = mkdtempSync(join(tmpdir(), 'aether-bench-'))
    const path = join(folder, 'socket')
    const program = fileURLToPath(new URL('./rpc-server.js', import.meta.url))
    const child = fork(program, [device, address, path], { serialization: 'advanced' })
    const died = once(child, 'exit').then((): never => {
      throw new Error('the other process of the benchmark ended')
    })
    died.catch(() => {})
    try {
      const [port] = (await Promise.race([once(child, 'message'), died])) as [number]
      const channels = Array.from({ length: connections }, () => openChannel({ device, address, port }))
      await Promise.race([Promise.all(channels.map((channel) => channel.ready())), died])
      return new RpcPeer(provider, channels, await EchoSocket.open(path), child, died)
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    } finally {
      // The socket is connected, so its name is not needed any more.
      rmSync(folder, { recursive: true, force: true })
    }
  }

  /** The same, but it rejects when the other process ends first. */
  alive<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#died])
  }

  /** Have the server spin while `work` runs. */
  async spinning<T>(work: () => Promise<T>): Promise<T> {
    const [client] = this.clients
    await client!.spin(true)
    try {
      return await work()
    } finally {
      await client!.spin(false)
    }
  }

  remoteCpuNs(): Promise<number> {
    return this.clients[0]!.cpu()
  }

  /** One message by child_process there and back. */
  ipc(data: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#ipcWaiters.push(resolve)
      this.#child.send(data)
    })
  }

  async close(): Promise<void> {
    this.socket.close()
    await Promise.all(this.#channels.map((channel) => channel.close()))
    this.#child.kill('SIGKILL')
  }
}

/** A Unix socket whose other end gives back what comes. */
class EchoSocket {
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

function providerOf(device: string): string {
  const opened = openDevice(device)
  try {
    return opened.attributes.provider
  } finally {
    opened.close()
  }
}
