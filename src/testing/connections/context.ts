import { strict as assert } from 'node:assert'
import {
  type Connection,
  type ConnectionOptions,
  type ConnectionRequest,
  type ConnectOptions,
  connect,
  type Listener,
  type ListenOptions,
  listen,
} from '../../cm/index.ts'
import { Access, type MemoryRegion } from '../../verbs/index.ts'

/** What a carrier's test passes to the suite. */
export interface ConnectionSetup {
  /** `shm0`, or an RDMA device that can reach itself at `address`. */
  readonly device: string
  /** A numeric IPv4 address of that device. */
  readonly address: string
  /** An IPv6 address of it, if it has one. */
  readonly address6?: string
  /**
   * An unused address in the device's network: a connection attempt gets no answer. Absent if the carrier has no such
   * address.
   */
  readonly silentAddress?: string
  /** Names of cases that may be answered with Unsupported, and why. */
  readonly allowUnsupported?: Readonly<Record<string, string>>
  /** Run only cases whose name contains this. */
  readonly only?: string
}

/** One rule, shown by running it, with both ends in this process. */
export interface ConnectionCase {
  readonly name: string
  /** The source of the rule. */
  readonly rule: string
  /** What the setup must have. Otherwise the case is left out, and reported as such. */
  readonly needs?: 'address6' | 'silentAddress'
  run(context: ConnectionContext): Promise<void>
}

/** Long enough for an emulated processor. A case that takes longer has failed. */
const PATIENCE_MS = 60_000

/** What cases work with. Everything created through it is closed after the case. */
export class ConnectionContext {
  readonly setup: ConnectionSetup
  readonly #open: Disposable[] = []

  constructor(setup: ConnectionSetup) {
    this.setup = setup
  }

  async listen(options: ListenOptions = {}): Promise<Listener> {
    const { device, address } = this.setup
    return this.keep(await listen({ device, address, ...options }))
  }

  async connect(listener: Listener, options: Partial<ConnectOptions> = {}): Promise<Connection> {
    const { device, address } = this.setup
    const to = { device, address, port: listener.port, portSpace: listener.portSpace, timeoutMs: PATIENCE_MS }
    return this.keep(await connect({ ...to, ...options }))
  }

  async request(listener: Listener): Promise<ConnectionRequest> {
    const request = await listener.next({ timeoutMs: PATIENCE_MS })
    assert.ok(request)
    return request
  }

  async accept(listener: Listener, options: ConnectionOptions = {}): Promise<Connection> {
    const request = await this.request(listener)
    return this.keep(await request.accept({ timeoutMs: PATIENCE_MS, ...options }))
  }

  /** Both ends: first the one that connected, then the one that accepted. */
  async pair(
    asking: Partial<ConnectOptions> = {},
    answering: ConnectionOptions = {},
  ): Promise<readonly [Connection, Connection]> {
    const listener = await this.listen(asking.portSpace === undefined ? {} : { portSpace: asking.portSpace })
    const accepted = this.accept(listener, answering)
    const [connection, peer] = await Promise.all([this.connect(listener, asking), accepted])
    return [connection, peer]
  }

  keep<T extends Disposable>(thing: T): T {
    this.#open.push(thing)
    return thing
  }

  /** Close the last created first. If one refuses, the next call closes the others. */
  closeAll(): void {
    for (let thing = this.#open.pop(); thing !== undefined; thing = this.#open.pop()) thing[Symbol.dispose]()
  }
}

const ALL_RIGHTS: number = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic

/** Memory of the connection's domain that holds `text`. */
export function memoryWith(connection: Connection, text: string): MemoryRegion {
  const memory = connection.domain.allocate(4096, ALL_RIGHTS)
  memory.bytes.set(new TextEncoder().encode(text))
  return memory
}

export function textOf(bytes: Uint8Array, length: number): string {
  return new TextDecoder().decode(Uint8Array.from(bytes.subarray(0, length)))
}

/** Wait with the suite's time limit. The error names `what`. */
export async function soon<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${PATIENCE_MS} ms`)), PATIENCE_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** What `promise` rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail('it should have been refused, but was not')
}

/** Check, let the event loop turn, and check again. */
export async function until(predicate: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!predicate()) {
    assert.ok(performance.now() < deadline, `what the case waits for did not happen within ${PATIENCE_MS} ms`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
