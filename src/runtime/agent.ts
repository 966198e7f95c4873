import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { AetherError, ClosedError, native, systemFailure, TimeoutError } from '../native/index.ts'
import { type AgentMessage, type AgentStart, AgentState, AgentWord, type CommandMessage } from './agent-contract.ts'
import { offExit, onExit } from './exit-hook.ts'
import { KeepAlive } from './keep-alive.ts'

export interface AgentOptions {
  /** The module that exports `createMachine`. */
  readonly machine: URL
  /** Passed to `createMachine` by structured clone; SharedArrayBuffers are shared. */
  readonly data: unknown
  /** Ports in `data` that become the machine's. */
  readonly transferList?: readonly MessagePort[]
  readonly spinNs: number
  readonly seed: number
  /** Receives the machine's unsolicited notes. */
  readonly onNote: (note: unknown) => void
}

interface Pending {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** How long the exit handler waits for the agent to take its guard off. */
const leaveMsMax = 2000

/** The main thread's side of the agent: starts it, talks to it, ends it. */
export class Agent {
  readonly #worker: Worker
  readonly #words: Int32Array
  readonly #doorbell: readonly [number, number]
  readonly #syncPort: MessagePort
  readonly #pending = new Map<number, Pending>()
  readonly #keepAlive = new KeepAlive()
  readonly #onExit = (code: number): void => this.#leave(code)
  #nextId = 1
  #closed = false

  private constructor(options: AgentOptions) {
    const shared = new SharedArrayBuffer(4 * AgentWord.Count)
    this.#words = new Int32Array(shared)
    this.#doorbell = native.createPipe()
    const { machine, data, spinNs, seed } = options
    const { port1, port2: syncPort } = new MessageChannel()
    this.#syncPort = port1
    this.#syncPort.unref()
    const start: AgentStart = {
      machineUrl: machine.href,
      machineData: data,
      words: shared,
      doorbell: this.#doorbell[0],
      spinNs,
      seed,
      syncPort,
    }
    // The parent's flags (an inspector, a loader) are not for this thread.
    this.#worker = new Worker(new URL('./agent-worker.js', import.meta.url), {
      workerData: start,
      transferList: [syncPort, ...(options.transferList ?? [])],
      execArgv: [],
      name: 'aether-agent',
    })
    this.#worker.unref()
    onExit(this.#onExit)
    this.#worker.on('message', (message: AgentMessage) => this.#receive(message, options.onNote))
    this.#worker.once('error', (error) => this.#failed(error))
  }

  /** Start an agent; resolves when its machine runs. */
  static async start(options: AgentOptions): Promise<Agent> {
    const agent = new Agent(options)
    await agent.#whenUp()
    return agent
  }

  #whenUp(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.set(0, { resolve: () => resolve(), reject })
      this.#keepAlive.hold()
    })
  }

  #receive(message: AgentMessage, onNote: (note: unknown) => void): void {
    if (message.kind === 'note') {
      onNote(message.note)
      return
    }
    const id = message.kind === 'up' ? 0 : message.id
    if (id === 0 && message.kind === 'error') {
      this.#failed(new AetherError(message.code, message.message))
      return
    }
    // Once more: what Node has made of the Worker while it started would keep the process alive.
    if (message.kind === 'up') this.#worker.unref()
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    this.#keepAlive.release()
    if (message.kind === 'error') pending.reject(new AetherError(message.code, message.message))
    else pending.resolve(message.kind === 'reply' ? message.value : undefined)
  }

  /** The thread has ended with an error. While it starts, as where a limit is met, that is the caller's to handle. */
  #failed(error: Error): void {
    const starting = this.#pending.get(0)
    if (starting === undefined) throw error
    this.#pending.clear()
    this.#keepAlive.release()
    this.#closed = true
    offExit(this.#onExit)
    this.#release()
    starting.reject(systemFailure(error))
  }

  #release(): void {
    this.#syncPort.close()
    for (const end of this.#doorbell) native.closeDescriptor(end)
  }

  /** Tell the agent that there is something for it in shared memory. Costs a system call only if it sleeps. */
  ring(): void {
    Atomics.add(this.#words, AgentWord.Bell, 1)
    if (Atomics.load(this.#words, AgentWord.Asleep) === 1) native.ringPipe(this.#doorbell[1])
  }

  /** Send the machine a command, off the hot path. */
  command(name: string, payload: unknown, transferList: readonly ArrayBuffer[] = []): Promise<unknown> {
    if (this.#closed) return Promise.reject(new ClosedError('the agent'))
    const id = this.#nextId++
    const message: CommandMessage = { id, name, payload, sync: false }
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#keepAlive.hold()
      this.#worker.postMessage(message, transferList)
      this.ring()
    })
  }

  /** Do {@link command}, blocking the thread. @throws TimeoutError */
  commandSync(name: string, payload: unknown, timeoutMs: number): unknown {
    if (this.#closed) throw new ClosedError('the agent')
    const message: CommandMessage = { id: this.#nextId++, name, payload, sync: true }
    this.#worker.postMessage(message)
    this.ring()
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const replies = Atomics.load(this.#words, AgentWord.SyncReplies)
      const received = receiveMessageOnPort(this.#syncPort)?.message as AgentMessage | undefined
      // An answer to an earlier command that was given up is passed over.
      if (received?.kind === 'reply' && received.id === message.id) return received.value
      if (received?.kind === 'error' && received.id === message.id)
        throw new AetherError(received.code, received.message)
      if (received !== undefined) continue
      const leftMs = deadline - performance.now()
      if (leftMs <= 0)
        throw new TimeoutError(
          `the agent did not answer '${name}' within ${timeoutMs} ms; the machine may be overloaded`,
        )
      Atomics.wait(this.#words, AgentWord.SyncReplies, replies, leftMs)
    }
  }

  /** End the agent gracefully. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    offExit(this.#onExit)
    this.#keepAlive.hold()
    await this.#endWorker()
    this.#keepAlive.release()
    for (const pending of this.#pending.values()) {
      this.#keepAlive.release()
      pending.reject(new ClosedError('the agent'))
    }
    this.#pending.clear()
    this.#release()
  }

  async #endWorker(): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve))
    Atomics.store(this.#words, AgentWord.State, AgentState.Closing)
    this.ring()
    // Its loop ends by itself; termination is for the environment that is left. It must not come before the guard is
    // off.
    while (Atomics.load(this.#words, AgentWord.State) !== AgentState.Closed) {
      const waited = Atomics.waitAsync(this.#words, AgentWord.State, AgentState.Closing, leaveMsMax)
      if ((await waited.value) === 'timed-out') {
        throw new AetherError('ERR_AETHER_AGENT', `the agent did not end within ${leaveMsMax} ms; end the process`)
      }
    }
    await Promise.all([ended, this.#worker.terminate()])
  }

  /** The process ends without `close()`, with `code`: the agent serves until Node takes it down. */
  #leave(code: number): void {
    this.#closed = true
    Atomics.store(this.#words, AgentWord.ExitCode, code)
    Atomics.store(this.#words, AgentWord.State, AgentState.Leaving)
    this.ring()
    Atomics.wait(this.#words, AgentWord.State, AgentState.Leaving, leaveMsMax)
  }
}
