import { strict as assert } from 'node:assert'
import { connectEndpoint, type Endpoint, type Message } from '../../../../src/messaging/index.ts'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import type { MemoryAnswer, MemoryOperation, RegionRule } from '../../../../tools/agreement/model/memory.ts'
import type { Register } from '../../../../tools/agreement/model/process.ts'
import { makeKeys, PrivateKey, PublicKeys } from '../../../../tools/agreement/real/identity.ts'
import { MemoryClient } from '../../../../tools/agreement/real/memory-client.ts'
import { MemoryHost } from '../../../../tools/agreement/real/memory-host.ts'
import { memoryLayout } from '../../../../tools/agreement/real/memory-layout.ts'
import type { RegionGrant } from '../../../../tools/agreement/real/memory-messages.ts'
import { decodeCell, decodeHeads } from '../../../../tools/agreement/real/register-cell.ts'

const rules: readonly RegionRule[] = [
  { name: 'slots', registers: 2, writers: [0], changes: 'take' },
  { name: 'leader', registers: 1, writers: [0], changes: 'revoke' },
  { name: 'secret', registers: 1, writers: [0], readers: [0], changes: 'none' },
  { name: 'object', registers: 1, writers: [0, 1], changes: 'none' },
]
const setting = { processes: 2, memories: 1 }
const layout = memoryLayout({ failures: 'crash', regions: () => rules } as unknown as Algorithm, setting, 0, 1)

/** What a memory says, whatever it is. */
interface Said {
  readonly say?: string
  readonly challenge?: string
  readonly number?: number
  readonly answer?: MemoryAnswer
  readonly grants?: readonly RegionGrant[]
}

/** The other end of a connection to a memory. */
class Wire {
  readonly endpoint: Endpoint
  readonly #messages: AsyncGenerator<Message, void, void>

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint
    this.#messages = endpoint.messages()
  }

  /** A text is sent as it is. */
  say(what: unknown): void {
    const text = typeof what === 'string' ? what : JSON.stringify(what)
    this.endpoint.send(Buffer.from(text)).catch(() => undefined)
  }

  /** Rejects once the connection has ended. */
  async hear(): Promise<Said> {
    const { value } = await this.#messages.next()
    if (value === undefined) throw new Error('the connection was closed')
    return JSON.parse(Buffer.from(value.data).toString()) as Said
  }
}

/** A memory with its two processes; the third has the key of no one. */
export class MemoryFixture implements AsyncDisposable {
  readonly failures: unknown[] = []
  readonly #keys = [makeKeys(), makeKeys(), makeKeys()]
  readonly host: MemoryHost = new MemoryHost(
    0,
    layout,
    new PublicKeys(this.#keys.slice(0, 2).map(({ publicKey }) => publicKey)),
    (error) => this.failures.push(error),
  )
  readonly memories: MemoryClient[] = []
  readonly #wires: Wire[] = []
  readonly #device: string
  #port = 0

  constructor(device: string) {
    this.#device = device
  }

  async listen(): Promise<this> {
    this.#port = await this.host.listen({ device: this.#device, address: '127.0.0.1' })
    return this
  }

  process(number: number, keyOf: number = number): MemoryClient {
    const place = { device: this.#device, address: '127.0.0.1', port: this.#port }
    const key = new PrivateKey(this.#keys[keyOf]!.privateKey)
    const memory = new MemoryClient(0, place, layout, { process: number, key })
    this.memories.push(memory)
    return memory
  }

  /** Keys of that process, as it signs by them. */
  keyOf(number: number): PrivateKey {
    return new PrivateKey(this.#keys[number]!.privateKey)
  }

  /** A connection to the memory on which the test itself says everything. */
  async wire(): Promise<Wire> {
    const endpoint = await connectEndpoint({ device: this.#device, address: '127.0.0.1', port: this.#port })
    const wire = new Wire(endpoint)
    this.#wires.push(wire)
    return wire
  }

  /** One that has been let in as that process. */
  async admitted(process: number): Promise<Wire> {
    const wire = await this.wire()
    const { challenge } = await wire.hear()
    wire.say({ say: 'me', process, signature: this.keyOf(process).signConnection(String(challenge), 'memory 0') })
    assert.equal((await wire.hear()).say, 'grants')
    return wire
  }

  /** What the copies of a slot hold, the newer one first: only values that fit their heads. Read as process 1. */
  async copiesOf(index: number): Promise<unknown[]> {
    const wire = await this.wire()
    const { challenge } = await wire.hear()
    wire.say({ say: 'me', process: 1, signature: this.keyOf(1).signConnection(String(challenge), 'memory 0') })
    const { grants } = await wire.hear()
    const { address, key } = grants!.find(({ name }) => name === 'slots')!.read!
    const { cell } = layout.get('slots')!
    const local = wire.endpoint.allocate(cell.headsBytes)
    await wire.endpoint.read({ buffer: local }, { address: address + index * cell.bytes, key })
    return decodeHeads(Buffer.from(local.bytes), cell).map((head) => decodeCell(head, new Uint8Array(0)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const memory of this.memories) memory[Symbol.dispose]()
    for (const wire of this.#wires) wire.endpoint.destroy()
    this.host[Symbol.dispose]()
    assert.deepEqual(this.failures, [])
  }
}

export const perform = (memory: MemoryClient, operation: MemoryOperation): Promise<MemoryAnswer> =>
  new Promise((resolve) => memory.begin(operation, resolve))
export const slot = (index: number): Register => ({ region: 'slots', index })
export const write = (index: number, value: string): MemoryOperation => ({ do: 'write', register: slot(index), value })
export const readSlots: MemoryOperation = { do: 'read', registers: [slot(0), slot(1)] }
export const take = (process: number): MemoryOperation => ({ do: 'permit', region: 'slots', writers: [process] })
export const done: MemoryAnswer = { ok: true, values: [] }
export const refused: MemoryAnswer = { ok: false, values: [] }
