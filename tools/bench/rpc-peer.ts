import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Channel, type Client, openChannel, type RdmaBuffer } from 'aether-dsm/internal/rpc'
import { openDevice } from 'aether-dsm/internal/verbs'
import type { CallMeeting } from './calls/call-meeting.ts'
import { addressOf } from './device-address.ts'
import { benchService } from './rpc-service.ts'

/** The server's process, and a channel to it. */
export class RpcPeer {
  readonly client: Client<typeof benchService>
  readonly provider: string
  /** Where others may call it. The folder belongs to the process that made it. */
  readonly meeting: CallMeeting
  readonly #channel: Channel
  readonly #child: ChildProcess
  readonly #died: Promise<never>

  private constructor(meeting: CallMeeting, channel: Channel, child: ChildProcess, died: Promise<never>) {
    this.provider = providerOf(meeting.device)
    this.meeting = meeting
    this.#channel = channel
    this.client = channel.client(benchService)
    this.#child = child
    this.#died = died
  }

  /** Its sockets are in `directory`. */
  static async start(device: string, directory: string): Promise<RpcPeer> {
    const address = addressOf(device)
    const program = fileURLToPath(new URL('./rpc-server.js', import.meta.url))
    const child = fork(program, [device, address, directory], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const died = once(child, 'exit').then((): never => {
      throw new Error('the other process of the benchmark ended')
    })
    died.catch(() => {})
    try {
      const [port] = (await Promise.race([once(child, 'message'), died])) as [number]
      const channel = openChannel({ device, address, port })
      await Promise.race([channel.ready(), died])
      return new RpcPeer({ device, address, port, directory }, channel, child, died)
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** The same, but it rejects when the other process ends first. */
  alive<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#died])
  }

  /** Have the server spin while `work` runs. */
  async spinning<T>(work: () => Promise<T>): Promise<T> {
    await this.client.spin(true)
    try {
      return await work()
    } finally {
      await this.client.spin(false)
    }
  }

  /** A channel of its own that looks in each turn: while it is open this process spins. */
  async polling(): Promise<Channel> {
    const { device, address, port } = this.meeting
    const channel = openChannel({ device, address, port, completion: 'polling' })
    await this.alive(channel.ready())
    return channel
  }

  /** Memory of this process to lend in calls. */
  allocate(lengthBytes: number): Promise<RdmaBuffer> {
    return this.#channel.allocate(lengthBytes)
  }

  remoteCpuNs(): Promise<number> {
    return this.client.cpu()
  }

  async close(): Promise<void> {
    await this.#channel.close()
    this.#child.kill('SIGKILL')
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
