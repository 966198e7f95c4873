import {
  type Endpoint,
  type LinkListener,
  type Loan,
  listenEndpoints,
  type RegisteredBuffer,
} from 'aether-dsm/internal/messaging'
import { AetherError } from 'aether-dsm/internal/native'
import { Memory } from '../model/memory.ts'
import type { Data, Register } from '../model/process.ts'
import { newChallenge, type PublicKeys } from './identity.ts'
import type { LaidRegion } from './memory-layout.ts'
import {
  decodeProcessSays,
  encodeMessage,
  MESSAGE_BYTES_MAX,
  type MemorySays,
  type ProcessSays,
  type RegionGrant,
} from './memory-messages.ts'
import type { Place } from './place.ts'
import { encodeCell } from './register-cell.ts'

/** A process as the memory knows it. */
interface Client {
  readonly process: number
  readonly endpoint: Endpoint
  readonly reads: Map<string, Loan>
  readonly writes: Map<string, Loan>
  /** It waits for an answer. One that asks meanwhile does not keep to the protocol. */
  isAsking: boolean
}

/**
 * A memory that processes reach one-sided. It serves nothing but permissions and claims: for each process and region,
 * what that process may reach is lent to its connection. A change of permission takes the loans of others back. It is
 * answered when none of their operations can reach the memory any more.
 *
 * Some peers cannot be kept out: on `shm`, one that was stopped in the middle of a copy. Then the memory ends, as if it
 * had crashed, which is always safe. It answers no one any more, not even what was asked before.
 */
export class MemoryHost implements Disposable {
  readonly #index: number
  readonly #layout: ReadonlyMap<string, LaidRegion>
  readonly #keys: PublicKeys
  /** Who may do what. Its registers are used for claims alone. */
  readonly #rules: Memory
  readonly #buffers = new Map<string, RegisteredBuffer>()
  readonly #clients = new Map<number, Client>()
  /** Of all, also of those that have not been let in. */
  readonly #endpoints = new Set<Endpoint>()
  readonly #answered = new Map<number, { readonly number: number; readonly says: MemorySays }>()
  readonly #fail: (error: unknown) => void
  #listener: LinkListener | undefined
  /** Everything about permissions is done in turn. */
  #turn: Promise<void> = Promise.resolve()
  #isOver = false

  /** `fail` is called if the memory can go on no more. */
  constructor(
    index: number,
    layout: ReadonlyMap<string, LaidRegion>,
    keys: PublicKeys,
    fail: (error: unknown) => void,
  ) {
    this.#index = index
    this.#layout = layout
    this.#keys = keys
    this.#fail = fail
    this.#rules = new Memory([...layout.values()].map(({ rule }) => rule))
  }

  /** Returns the port. */
  async listen({ device, address }: Omit<Place, 'port'>): Promise<number> {
    this.#listener = await listenEndpoints({
      device,
      address,
      messageBytesMax: MESSAGE_BYTES_MAX,
      accept: (endpoint) => this.#meet(endpoint),
    })
    return this.#listener.port
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    this.#listener?.close()
    for (const endpoint of this.#endpoints) endpoint.destroy()
    for (const buffer of this.#buffers.values()) buffer.close()
  }

  #meet(endpoint: Endpoint): void {
    this.#endpoints.add(endpoint)
    void endpoint.ended.then(() => this.#endpoints.delete(endpoint))
    const challenge = newChallenge()
    let client: Client | undefined
    endpoint.handlers = {
      receive: (data) => {
        const says = decodeProcessSays(data)
        if (says.say === 'do') {
          const asking = client
          if (asking === undefined || asking.isAsking) {
            endpoint.destroy()
            return
          }
          asking.isAsking = true
          this.#do(() => this.#answer(asking, says))
          return
        }
        const { process, signature } = says
        const isIt = this.#keys.verifyConnection(process, challenge, `memory ${this.#index}`, signature)
        if (client !== undefined || !isIt) {
          endpoint.destroy()
          return
        }
        const met: Client = { process, endpoint, reads: new Map(), writes: new Map(), isAsking: false }
        client = met
        this.#do(() => this.#admit(met))
      },
    }
    tell(endpoint, { say: 'who', challenge })
  }

  #do(work: () => void | Promise<void>): void {
    this.#turn = this.#turn
      .then(() => (this.#isOver ? undefined : work()))
      .catch((error) => {
        // At once: one that cannot be kept out may still write here, so no one may rely on this memory any more.
        this[Symbol.dispose]()
        this.#fail(error)
      })
  }

  async #admit(client: Client): Promise<void> {
    // A process has one connection: the one before has failed, by an operation that it had no right to, say.
    const before = this.#clients.get(client.process)
    this.#clients.set(client.process, client)
    if (before !== undefined) {
      before.endpoint.destroy()
      for (const loan of before.writes.values()) await loan.end(false)
    }
    serve(client, () => {
      const grants = [...this.#layout.keys()].map((name) => this.#grant(client, name))
      return { say: 'grants', grants }
    })
  }

  async #answer(client: Client, { number, operation }: Extract<ProcessSays, { say: 'do' }>): Promise<void> {
    // One that has connected again asks again there.
    if (this.#clients.get(client.process) !== client) return
    const last = this.#answered.get(client.process)
    if (last?.number === number) {
      // The grants of the connection say what holds by now.
      serve(client, () => last.says)
      return
    }
    if (operation.do === 'claim' && !this.#fits(operation)) {
      client.endpoint.destroy()
      return
    }
    const answer = this.#rules.perform(client.process, operation)
    const says = { say: 'answer', number, answer } as const
    this.#answered.set(client.process, { number, says })
    if (answer.ok && operation.do === 'permit') {
      await this.#revoke(operation.region)
      serve(client, () => ({ ...says, grant: this.#grant(client, operation.region) }))
      return
    }
    if (operation.do === 'claim' && answer.values[0] === null) this.#store(operation.register, operation.value)
    serve(client, () => says)
  }

  /** Takes back the right to write of all that have it no more. */
  async #revoke(region: string): Promise<void> {
    const writers = this.#rules.writers[region]!
    for (const { process, writes } of this.#clients.values()) {
      const loan = writes.get(region)
      if (loan === undefined || writers.includes(process)) continue
      writes.delete(region)
      await loan.end(false)
    }
  }

  /** Lends what the process may reach, unless it is lent to it already. */
  #grant({ process, endpoint, reads, writes }: Client, name: string): RegionGrant {
    const { readers } = this.#rules.rules[name]!
    const buffer = this.#bufferOf(name, endpoint)
    const lend = (loans: Map<string, Loan>, right: 'read' | 'write'): { address: number; key: number } => {
      let loan = loans.get(name)
      if (loan === undefined) {
        loan = endpoint.link.lending.lend({ buffer }, right)
        loans.set(name, loan)
      }
      return { address: loan.address, key: loan.key }
    }
    return {
      name,
      read: (readers?.includes(process) ?? true) ? lend(reads, 'read') : null,
      write: this.#rules.writers[name]!.includes(process) ? lend(writes, 'write') : null,
    }
  }

  /** Memory of the device is allocated through the first connection, and serves all. */
  #bufferOf(name: string, endpoint: Endpoint): RegisteredBuffer {
    let buffer = this.#buffers.get(name)
    if (buffer === undefined) {
      const { rule, cell } = this.#layout.get(name)!
      buffer = endpoint.link.lending.allocate(rule.registers * cell.bytes)
      this.#buffers.set(name, buffer)
    }
    return buffer
  }

  /** False for what no register of the region can hold. */
  #fits({ register, value }: { readonly register: Register; readonly value: Data }): boolean {
    const laid = this.#layout.get(register.region)
    return laid === undefined || encodeCell(value, 1, laid.cell) !== undefined
  }

  #store({ region, index }: Register, value: Data): void {
    const { cell } = this.#layout.get(region)!
    const encoded = encodeCell(value, 1, cell)!
    const { bytes } = this.#buffers.get(region)!
    bytes.set(encoded.rest, index * cell.bytes + cell.restAt(encoded.copy))
    bytes.set(encoded.head, index * cell.bytes + cell.headAt(encoded.copy))
  }
}

/** Lends and tells that, if the client is there to be told. */
function serve(client: Client, says: () => MemorySays): void {
  const { endpoint } = client
  client.isAsking = false
  if (!endpoint.open) return
  try {
    tell(endpoint, says())
  } catch (error) {
    // Nothing can be lent through a connection that ends meanwhile, or to one for which the device has no room.
    if (!(error instanceof AetherError)) throw error
    endpoint.destroy()
  }
}

function tell(endpoint: Endpoint, says: MemorySays): void {
  // One that has gone asks again over its next connection.
  endpoint.send(encodeMessage(says)).catch(() => undefined)
}
