import {
  type ClientLine,
  type ConnectLine,
  handlersOf,
  indexService,
  type NodeClient,
  type Place,
  type Served,
} from 'aether-dsm/internal/index-service'
import { type CallOutcome, RpcError, ServiceError } from 'aether-dsm/internal/rpc'
import type { SimulatedProgram } from './simulated-program.ts'

const WAY_NS_MIN = 20_000
const WAY_NS_MAX = 300_000
const LATE_NS_MAX = 20_000_000
const LATE = 0.01
const AGAIN_NS = 2_000_000
/** After its end the other end of a connection knows of it. */
const LOST_NS_MAX = 20_000_000
const ADDRESS = '10.0.0.1'

type Method = keyof (typeof indexService)['methods'] & string
type Handler = (request: unknown, context: unknown) => unknown
interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** A call that waits for its answer. */
interface OpenCall {
  readonly method: Method
  /** It is on its way. */
  isSent: boolean
  readonly end: (error: Error | undefined, answer?: Uint8Array) => void
}

interface SimulatedServer {
  readonly program: SimulatedProgram
  readonly handlers: Readonly<Record<string, Handler>>
  readonly lines: Set<SimulatedLine>
  isDraining: boolean
  calls: number
}

/** Connections between programs, by which nodes serve clients. */
export class SimulatedLines {
  /** Called with the method of each call. */
  onCall: (method: string) => void = () => undefined
  readonly #servers: SimulatedServer[] = []

  serve(program: SimulatedProgram, served: Served): { here: Place; beyond: Place; close(): Promise<void> } {
    const handlers = handlersOf(served) as unknown as Readonly<Record<string, Handler>>
    const server: SimulatedServer = { program, handlers, lines: new Set(), isDraining: false, calls: 0 }
    this.#servers.push(server)
    const place = { address: ADDRESS, port: this.#servers.length }
    const close = async (): Promise<void> => {
      server.isDraining = true
      for (let looks = 0; looks < 200 && server.calls > 0; looks += 1) await program.delay(10e6)
      for (const line of [...server.lines]) line.lose()
    }
    return { here: place, beyond: place, close }
  }

  connectorOf(program: SimulatedProgram): ConnectLine {
    return async (place, signal) => {
      const server = this.#servers[place.port - 1]!
      const line = new SimulatedLine(program, server, (method) => this.onCall(method))
      await new Promise<void>((resolve, reject) => {
        signal.throwIfAborted()
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        line.open(resolve, reject)
      })
      return line
    }
  }

  /** The process of a program has ended. */
  ended(program: SimulatedProgram): void {
    for (const server of this.#servers) {
      if (server.program === program) for (const line of [...server.lines]) line.lose(true)
      else for (const line of server.lines) if (line.isOf(program)) line.leave()
    }
  }
}

/** One connection. Messages keep their order, each way. */
class SimulatedLine implements ClientLine {
  readonly client: NodeClient
  readonly #client: SimulatedProgram
  readonly #server: SimulatedServer
  readonly #onCall: (method: Method) => void
  readonly #calls = new Set<OpenCall>()
  readonly #aborts = new Set<AbortController>()
  readonly #lastNs = { there: 0, back: 0 }
  #lost: Error | undefined
  #isClosing = false
  #isSilent = false

  constructor(client: SimulatedProgram, server: SimulatedServer, onCall: (method: Method) => void) {
    this.#client = client
    this.#onCall = onCall
    this.#server = server
    const methods = Object.keys(indexService.methods) as Method[]
    const call =
      (method: Method) =>
      (request: unknown, options: CallOptions = {}) =>
        this.#call(method, request, options)
    this.client = Object.fromEntries(methods.map((method) => [method, call(method)])) as unknown as NodeClient
  }

  isOf(program: SimulatedProgram): boolean {
    return this.#client === program
  }

  open(opened: () => void, failed: (error: Error) => void): void {
    const { program, isDraining } = this.#server
    const refused = (): void => failed(new RpcError('ERR_AETHER_RPC_UNAVAILABLE', 'not-sent', '', 'no one listens'))
    this.#carry('there', () => {
      if (!program.isLive || isDraining) {
        this.#carry('back', () => this.#client.run(refused))
        return
      }
      program.run(() => {
        this.#server.lines.add(this)
        this.#carry('back', () => this.#client.run(opened))
      })
    })
  }

  poll(): void {
    return
  }

  destroy(error: Error): void {
    this.#lost ??= error
    this.leave()
    for (const call of [...this.#calls]) call.end(lost(call))
  }

  async close(): Promise<void> {
    this.#isClosing = true
    while (this.#calls.size > 0) await this.#client.delay(AGAIN_NS)
    this.leave()
  }

  /** The server's end is gone, and the client's hears of it. */
  lose(isSudden = false): void {
    const { kernel } = this.#client.cluster
    this.leave()
    // What is on the way back may be lost with it.
    this.#isSilent = isSudden && kernel.stream('lines').chance(0.5)
    this.#client.after(kernel.stream('lines').below(LOST_NS_MAX), () =>
      this.destroy(new RpcError('ERR_AETHER_RPC_CONNECTION_LOST', 'unknown', '', 'the node has ended')),
    )
  }

  /** The client's end is gone: no one waits for what the server does for it. */
  leave(): void {
    this.#server.lines.delete(this)
    for (const abort of this.#aborts) this.#server.program.run(() => abort.abort())
  }

  #call(method: Method, request: unknown, { timeoutMs, signal }: CallOptions): Promise<unknown> {
    const { codec } = indexService.methods[method]
    this.#onCall(method)
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      if (this.#lost !== undefined || this.#isClosing) throw lost({ method, isSent: false })
      const bytes = Buffer.from(codec.encode(request))
      const call: OpenCall = {
        method,
        isSent: false,
        end: (error, answer) => {
          if (!this.#calls.delete(call)) return
          clearTimeout(timer)
          signal?.removeEventListener('abort', aborted)
          if (error === undefined) resolve(codec.decode(answer!))
          else reject(error)
        },
      }
      this.#calls.add(call)
      const aborted = (): void => call.end(signal!.reason as Error)
      signal?.addEventListener('abort', aborted, { once: true })
      const late = (): void =>
        call.end(new RpcError('ERR_AETHER_RPC_DEADLINE', 'unknown', method, 'no answer came in time'))
      const timer = Number.isFinite(timeoutMs) ? setTimeout(late, timeoutMs) : undefined
      call.isSent = true
      this.#carry('there', () => this.#server.program.run(() => this.#serve(call, bytes, timeoutMs)))
    })
  }

  #serve(call: OpenCall, bytes: Uint8Array, timeoutMs = Number.POSITIVE_INFINITY): void {
    if (!this.#server.lines.has(this)) return
    const { method } = call
    const { codec } = indexService.methods[method]
    if (this.#server.isDraining) {
      this.#answer(call, new RpcError('ERR_AETHER_RPC_DRAINING', 'refused', method, 'it is closed'))
      return
    }
    const abort = new AbortController()
    this.#aborts.add(abort)
    this.#server.calls += 1
    const context = { method, session: 1, signal: abort.signal, remainingMs: timeoutMs }
    const work = async (): Promise<Uint8Array> =>
      Buffer.from(codec.encode(await this.#server.handlers[method]!(codec.decode(bytes), context)))
    work()
      .then(
        (answer) => this.#answer(call, undefined, answer),
        (error: unknown) => this.#answer(call, toldError(method, error)),
      )
      .finally(() => {
        this.#aborts.delete(abort)
        this.#server.calls -= 1
      })
  }

  #answer(call: OpenCall, error: Error | undefined, answer?: Uint8Array): void {
    this.#carry('back', () => {
      if (!this.#isSilent) this.#client.run(() => call.end(error, answer))
    })
  }

  #carry(way: 'there' | 'back', what: () => void): void {
    const ends = [this.#client.host.index, this.#server.program.host.index] as const
    const [from, to] = way === 'there' ? ends : [ends[1], ends[0]]
    const { kernel, network } = this.#client.cluster
    const stream = kernel.stream('lines')
    const ns = stream.between(WAY_NS_MIN, stream.chance(LATE) ? LATE_NS_MAX : WAY_NS_MAX)
    const atNs = Math.max(kernel.nowNs + ns, this.#lastNs[way] + 1)
    this.#lastNs[way] = atNs
    const arrive = (): void => {
      if (network.path(from, to).cuts > 0) kernel.after(AGAIN_NS, arrive)
      else what()
    }
    kernel.at(atNs, arrive)
  }
}

function lost({ method, isSent }: Pick<OpenCall, 'method' | 'isSent'>): RpcError {
  const outcome: CallOutcome = isSent ? 'unknown' : 'not-sent'
  return new RpcError('ERR_AETHER_RPC_CONNECTION_LOST', outcome, method, 'the connection has ended')
}

function toldError(method: string, error: unknown): Error {
  if (error instanceof ServiceError) return new ServiceError(error.reason, error.details, error.message)
  return new RpcError('ERR_AETHER_RPC_HANDLER', 'failed', method, String(error))
}
