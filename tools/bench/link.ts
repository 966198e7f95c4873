import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import {
  Access,
  CompletionBatch,
  type CompletionQueue,
  type Device,
  type MemoryRegion,
  openDevice,
  type QueuePair,
  type RegionToken,
  type RemoteEndpoint,
  statusName,
} from 'aether-dsm/internal/verbs'
import { DriveMark, type Driven, type FromPeer, RECEIVE_DEPTH, SEND_DEPTH, type ToPeer } from './messages.ts'
import { OtherEnd } from './other-end.ts'

const ALL = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic

/** This end of a benchmark: a device connected to one in a process of its own. */
export class BenchLink {
  readonly device: Device
  readonly memory: MemoryRegion
  readonly queue: CompletionQueue
  readonly pair: QueuePair
  readonly batch: CompletionBatch = new CompletionBatch(64)
  /** For who waits for it spinning. */
  readonly otherEnd: OtherEnd
  readonly #child: ChildProcess
  readonly #endpoint: RemoteEndpoint
  readonly remote: RegionToken

  private constructor(
    device: Device,
    bytes: number,
    child: ChildProcess,
    endpoint: RemoteEndpoint,
    remote: RegionToken,
  ) {
    this.device = device
    const domain = device.createProtectionDomain()
    this.memory = domain.allocate(2 * bytes, ALL)
    this.queue = device.createCompletionQueue({ depth: 4 * (RECEIVE_DEPTH + SEND_DEPTH) })
    this.pair = domain.createQueuePair({
      type: 'rc',
      sendQueue: this.queue,
      receiveQueue: this.queue,
      maxSendRequests: SEND_DEPTH,
      maxReceiveRequests: RECEIVE_DEPTH,
    })
    this.#child = child
    this.otherEnd = new OtherEnd(child.pid!)
    this.#endpoint = endpoint
    this.remote = remote
  }

  /** Start the other process and connect to it. `bytes` is the longest message. */
  static async open(deviceName: string, bytes: number): Promise<BenchLink> {
    const program = fileURLToPath(new URL('./peer-process.js', import.meta.url))
    const child = fork(program, { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const opened = await ask(child, { kind: 'open', device: deviceName, bytes }, 'opened')
    const link = new BenchLink(openDevice(deviceName), bytes, child, opened.endpoint, opened.token)
    await link.#connect()
    return link
  }

  async remoteCpuNs(): Promise<number> {
    return (await ask(this.#child, { kind: 'cpu' }, 'cpu')).ns
  }

  /** One round trip of a message by child_process IPC. */
  async ipc(payload: Uint8Array): Promise<void> {
    await ask(this.#child, { kind: 'ipc', payload }, 'ipc')
  }

  /**
   * Have the other end serve messages of `bytes` while `work` runs; it tells the processor time of the other end over
   * that while.
   */
  async serving<T>(
    kind: 'echo' | 'sink' | 'watch' | 'write-back',
    bytes: number,
    work: () => Promise<T>,
  ): Promise<{ readonly value: T; readonly remoteNs: number }> {
    const before = await this.remoteCpuNs()
    const { token } = this.memory
    const isTold = kind === 'watch' || kind === 'write-back'
    await ask(this.#child, isTold ? { kind, bytes, token } : { kind, bytes }, 'ready')
    const value = await work()
    // Without bytes it fits every receive.
    this.pair.prepareSend({ local: [], immediate: DriveMark.End }).post(0)
    const after = await this.remoteCpuNs()
    this.pair.toReset()
    await this.#connect()
    return { value, remoteNs: after - before }
  }

  /**
   * Have the other end post windows of the same while `work` runs, from and to the second halves of both memories.
   * `work` is given what sends a {@link DriveMark}: with `End` the other end has to be told that it is over.
   */
  async driving<T>(
    op: 'write' | 'read',
    bytes: number,
    work: (mark: (immediate: number) => void) => Promise<T>,
  ): Promise<{ readonly value: T; readonly driven: Driven }> {
    await ask(this.#child, { kind: 'drive', op, bytes, token: this.memory.token }, 'ready')
    const answered = answerOf(this.#child, 'driven')
    // Where the work fails first, that is told.
    answered.catch(() => {})
    const value = await work((immediate) => {
      this.pair.prepareSend({ local: this.memory.subarray(0, bytes), immediate }).post(0)
      this.finish(1)
    })
    const { driven } = await answered
    this.pair.toReset()
    await this.#connect()
    return { value, driven }
  }

  /** Poll until `count` completions have come. */
  finish(count: number): void {
    const { queue, batch, otherEnd } = this
    for (let left = count; left > 0; ) {
      const rows = queue.poll(batch)
      if (rows === 0) otherEnd.missed()
      for (let row = 0; row < rows; row += 1)
        if (batch.status[row] !== 0)
          throw new Error(`the benchmark's request ended with ${statusName(batch.status[row]!)}`)
      left -= rows
    }
  }

  close(): void {
    this.device.close()
    this.#child.kill('SIGKILL')
  }

  async #connect(): Promise<void> {
    const connected = ask(this.#child, { kind: 'connect', endpoint: this.pair.endpoint }, 'connected')
    this.pair.connect(this.#endpoint)
    await connected
  }
}

/** Send and wait for the answer of that kind. Rejects when the process ends instead. */
function ask<K extends FromPeer['kind']>(
  child: ChildProcess,
  message: ToPeer,
  kind: K,
): Promise<Extract<FromPeer, { kind: K }>> {
  const answer = answerOf(child, kind)
  child.send(message)
  return answer
}

/** The next answer of that kind. Rejects when the process ends instead. */
function answerOf<K extends FromPeer['kind']>(child: ChildProcess, kind: K): Promise<Extract<FromPeer, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      child.off('message', onMessage)
      child.off('exit', onExit)
    }
    const onMessage = (answer: FromPeer): void => {
      if (answer.kind !== kind) return
      settle()
      resolve(answer as Extract<FromPeer, { kind: K }>)
    }
    const onExit = (code: number | null, signal: string | null): void => {
      settle()
      reject(new Error(`the other process of the benchmark ended with ${signal ?? `status ${code}`}`))
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}
