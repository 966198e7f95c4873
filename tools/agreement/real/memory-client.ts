import { connectEndpoint, type Endpoint, type Message, type RegisteredBuffer } from 'aether-dsm/internal/messaging'
import { AetherError } from 'aether-dsm/internal/native'
import type { MemoryAnswer, MemoryOperation } from '../model/memory.ts'
import type { Data, Register } from '../model/process.ts'
import type { PrivateKey } from './identity.ts'
import type { LaidRegion } from './memory-layout.ts'
import {
  decodeMessage,
  encodeMessage,
  MESSAGE_BYTES_MAX,
  type MemorySays,
  type ProcessSays,
  type RegionGrant,
  type RemoteRange,
} from './memory-messages.ts'
import type { Place } from './place.ts'
import { type CellLayout, encodeCell, HEAD_BYTES } from './register-cell.ts'
import { RegisterRead } from './register-read.ts'

/** How long it may take to be let in by a memory, or again after a refusal. A memory that takes longer has crashed. */
const CONNECT_MS_MAX = 60_000
/** How often one operation is tried, each time over a new connection. */
const TRIES_MAX = 5
/** Memory of this end to begin with. */
const LOCAL_BYTES = 64 << 10

/** A process as a memory gets to know it. */
export interface MemoryUser {
  readonly process: number
  readonly key: PrivateKey
}

interface UnderWay {
  readonly operation: MemoryOperation
  readonly number: number
  readonly done: (answer: MemoryAnswer) => void
}

/** A register at the memory. */
interface RemotePlace extends RemoteRange {
  readonly cell: CellLayout
}

interface Connection {
  readonly endpoint: Endpoint
  readonly messages: AsyncGenerator<Message, void, void>
  readonly grants: Map<string, RegionGrant>
  /** What was read, and what is to be written. */
  local: RegisteredBuffer
}

/**
 * A memory as a process reaches it: WRITE and READ one-sided, permissions and claims by message. Operations are carried
 * out one after the other.
 *
 * A WRITE without the right to it ends the connection. Then the memory is connected to again, and says what the process
 * may do by now. What was under way is done again, or is known to be refused. A memory that lets no one in has crashed:
 * its operations never end.
 */
export class MemoryClient implements Disposable {
  readonly #index: number
  readonly #place: Place
  readonly #layout: ReadonlyMap<string, LaidRegion>
  readonly #user: MemoryUser
  readonly #queue: UnderWay[] = []
  /** By register: the number of the newest value that is known to be there. */
  readonly #written = new Map<string, number>()
  /** Registers where a write may have been done or not. */
  readonly #doubtful = new Set<string>()
  /** Of the connection, also while it is being made. */
  #endpoint: Endpoint | undefined
  #connection: Connection | undefined
  #number = 0
  #isRunning = false
  #isOver = false

  constructor(index: number, place: Place, layout: ReadonlyMap<string, LaidRegion>, user: MemoryUser) {
    this.#index = index
    this.#place = place
    this.#layout = layout
    this.#user = user
  }

  /** Registers are counted through all rounds. `done` is called when the operation has ended; never, if it does not. */
  begin(operation: MemoryOperation, done: (answer: MemoryAnswer) => void): void {
    this.#number += 1
    this.#queue.push({ operation, number: this.#number, done })
    void this.#run()
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    this.#endpoint?.destroy()
  }

  /** @throws AetherError if the memory does not let this process in. */
  async connect(): Promise<void> {
    const { device, address, port } = this.#place
    const connectTimeoutMs = CONNECT_MS_MAX
    const endpoint = await connectEndpoint({
      device,
      address,
      port,
      connectTimeoutMs,
      messageBytesMax: MESSAGE_BYTES_MAX,
    })
    this.#endpoint = endpoint
    if (this.#isOver) endpoint.destroy()
    const timer = setTimeout(() => endpoint.destroy(), CONNECT_MS_MAX)
    try {
      const messages = endpoint.messages()
      const who = await nextOf(messages, 'who')
      const signature = this.#user.key.signConnection(who.challenge, `memory ${this.#index}`)
      await say(endpoint, { say: 'me', process: this.#user.process, signature })
      const { grants } = await nextOf(messages, 'grants')
      const local = endpoint.allocate(LOCAL_BYTES)
      this.#connection = { endpoint, messages, local, grants: new Map(grants.map((grant) => [grant.name, grant])) }
    } catch (error) {
      endpoint.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    let tries = 0
    for (let next = this.#queue[0]; next !== undefined && !this.#isOver; next = this.#queue[0]) {
      let answer: MemoryAnswer
      try {
        if (this.#connection === undefined) await this.connect()
        answer = await this.#perform(this.#connection!, next)
      } catch (error) {
        if (!(error instanceof AetherError)) throw error
        tries += 1
        if (next.operation.do === 'write') this.#doubtful.add(nameOf(next.operation.register))
        // It has crashed: nothing that is asked of it ever ends.
        if (this.#connection === undefined || tries === TRIES_MAX) return
        this.#connection.endpoint.destroy()
        this.#connection = undefined
        continue
      }
      tries = 0
      this.#queue.shift()
      next.done(answer)
    }
    this.#isRunning = false
  }

  #perform(connection: Connection, { operation, number }: UnderWay): Promise<MemoryAnswer> {
    switch (operation.do) {
      case 'write':
        return this.#write(connection, operation.register, operation.value)
      case 'read':
        return this.#read(connection, operation.registers)
      case 'claim':
      case 'permit':
        return this.#ask(connection, { say: 'do', number, operation })
    }
  }

  async #ask(
    { endpoint, messages, grants }: Connection,
    asked: Extract<ProcessSays, { say: 'do' }>,
  ): Promise<MemoryAnswer> {
    await say(endpoint, asked)
    const { number, answer, grant } = await nextOf(messages, 'answer')
    if (number !== asked.number) throw new AetherError('ERR_AETHER_LINK', 'the memory has answered something else')
    if (grant !== undefined) grants.set(grant.name, grant)
    return answer
  }

  async #write(connection: Connection, register: Register, value: Data): Promise<MemoryAnswer> {
    const place = this.#placeOf(connection, register, 'write')
    // Only what is there counts, as the other copy is written next: not what was refused.
    const number = (await this.#newest(connection, register)) + 1
    const encoded = place === undefined ? undefined : encodeCell(value, number, place.cell)
    if (place === undefined || encoded === undefined) return { ok: false, values: [] }
    const { cell, address, key } = place
    const { copy, head, rest } = encoded
    const local = roomFor(connection, HEAD_BYTES + rest.length)
    local.bytes.set(head, 0)
    local.bytes.set(rest, HEAD_BYTES)
    const { endpoint } = connection
    const put = (offset: number, length: number, at: number): Promise<void> =>
      endpoint.write({ buffer: local, offset, length }, { address: address + at, key })
    // In this order: a head shows what is there in full.
    await Promise.all([
      ...(rest.length > 0 ? [put(HEAD_BYTES, rest.length, cell.restAt(copy))] : []),
      put(0, head.length, cell.headAt(copy)),
    ])
    this.#written.set(nameOf(register), number)
    this.#doubtful.delete(nameOf(register))
    return { ok: true, values: [] }
  }

  /** The number of the newest value that is whole. After a write that may have been done it is looked up. */
  async #newest(connection: Connection, register: Register): Promise<number> {
    const name = nameOf(register)
    const known = this.#written.get(name) ?? 0
    // One that its writer may not read is written once more as it was: no one takes the right to that away.
    const place = this.#doubtful.has(name) ? this.#placeOf(connection, register, 'read') : undefined
    if (place === undefined) return known
    const local = roomFor(connection, place.cell.bytes)
    const newest = await new RegisterRead(connection.endpoint, local, 0, place, place.cell).number()
    this.#written.set(name, newest)
    this.#doubtful.delete(name)
    return newest
  }

  async #read(connection: Connection, registers: readonly Register[]): Promise<MemoryAnswer> {
    const places = registers.map((register) => this.#placeOf(connection, register, 'read'))
    let bytes = 0
    const offsets = places.map((place) => {
      const offset = bytes
      bytes += place?.cell.bytes ?? 0
      return offset
    })
    const local = roomFor(connection, bytes)
    const reads: RegisterRead[] = []
    for (const [which, place] of places.entries()) {
      if (place === undefined) return { ok: false, values: [] }
      reads.push(new RegisterRead(connection.endpoint, local, offsets[which]!, place, place.cell))
    }
    return { ok: true, values: await Promise.all(reads.map((read) => read.value())) }
  }

  /** Where the register is; undefined if there is none, or the process may not do that to it. */
  #placeOf({ grants }: Connection, { region, index }: Register, right: 'read' | 'write'): RemotePlace | undefined {
    const laid = this.#layout.get(region)
    const range = grants.get(region)?.[right] ?? null
    const exists = laid !== undefined && Number.isSafeInteger(index) && index >= 0 && index < laid.rule.registers
    if (!exists || range === null) return undefined
    return { cell: laid.cell, address: range.address + index * laid.cell.bytes, key: range.key }
  }
}

/** Memory of this end for that many bytes, to be used until the next call. */
function roomFor(connection: Connection, bytes: number): RegisteredBuffer {
  if (connection.local.bytes.length < bytes) {
    connection.local.close()
    connection.local = connection.endpoint.allocate(bytes)
  }
  return connection.local
}

const nameOf = ({ region, index }: Register): string => `${region}[${index}]`

const say = (endpoint: Endpoint, says: ProcessSays): Promise<void> => endpoint.send(encodeMessage(says))

/** What the memory says next, which has to be that. */
async function nextOf<S extends MemorySays['say']>(
  messages: Connection['messages'],
  what: S,
): Promise<Extract<MemorySays, { say: S }>> {
  const { value } = await messages.next()
  const says = value === undefined ? undefined : (decodeMessage(value.data) as unknown as MemorySays)
  if (says?.say !== what) throw new AetherError('ERR_AETHER_LINK', `the memory has not said '${what}'`)
  return says as Extract<MemorySays, { say: S }>
}
