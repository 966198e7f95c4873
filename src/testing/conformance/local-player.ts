import { native } from '../../native/index.ts'
import {
  CompletionBatch,
  CompletionChannel,
  CompletionQueue,
  type Device,
  MemoryRegion,
  Opcode,
  openDevice,
  PreparedRequest,
  ProtectionDomain,
  QueuePair,
  type QueuePairAttributes,
} from '../../verbs/index.ts'
import {
  type Completion,
  errorFacts,
  type Handle,
  type MemoryFacts,
  type PairFacts,
  type PairSpecification,
  type Player,
  PlayerError,
  type ReceiveSpecification,
  type RequestSpecification,
} from './player.ts'

type Noun = ProtectionDomain | MemoryRegion | CompletionChannel | CompletionQueue | QueuePair

/** A player in this process, over the public nouns. */
export class LocalPlayer implements Player {
  #device: Device | undefined
  #next = 1
  readonly #nouns = new Map<Handle, Noun>()
  readonly #handles = new Map<Noun, Handle>()

  open(name: string): ReturnType<Player['open']> {
    return attempt(() => {
      this.#device = openDevice(name)
      const { maxCompletions, maxRequests, maxSegments } = this.#device.attributes
      return { gid: this.#device.gid, maxCompletions, maxRequests, maxSegments }
    })
  }

  domain(): Promise<Handle> {
    return attempt(() => this.#keep(this.#opened().createProtectionDomain()))
  }

  allocate(domain: Handle, bytes: number, access: number): Promise<MemoryFacts> {
    return attempt(() => this.#memoryFacts(this.#get(domain, ProtectionDomain).allocate(bytes, access)))
  }

  register(domain: Handle, bytes: number, access: number): Promise<MemoryFacts> {
    return attempt(() =>
      this.#memoryFacts(this.#get(domain, ProtectionDomain).register(new ArrayBuffer(bytes), access)),
    )
  }

  channel(): Promise<Handle> {
    return attempt(() => this.#keep(this.#opened().createCompletionChannel()))
  }

  queue(depth: number, channel?: Handle): Promise<Handle> {
    return attempt(() => {
      const options = channel === undefined ? { depth } : { depth, channel: this.#get(channel, CompletionChannel) }
      return this.#keep(this.#opened().createCompletionQueue(options))
    })
  }

  depth(queue: Handle): Promise<number> {
    return attempt(() => this.#get(queue, CompletionQueue).depth)
  }

  overrun(queue: Handle): Promise<boolean> {
    return attempt(() => this.#get(queue, CompletionQueue).overrun)
  }

  pair(specification: PairSpecification): Promise<PairFacts> {
    return attempt(() => {
      const { domain, sendQueue, receiveQueue, type = 'rc', ...rest } = specification
      const pair = this.#get(domain, ProtectionDomain).createQueuePair({
        ...rest,
        type,
        sendQueue: this.#get(sendQueue, CompletionQueue),
        receiveQueue: this.#get(receiveQueue, CompletionQueue),
      })
      return { handle: this.#keep(pair), number: pair.number, endpoint: pair.endpoint, capacities: pair.capacities }
    })
  }

  modify(pair: Handle, attributes: QueuePairAttributes): Promise<void> {
    return attempt(() => this.#get(pair, QueuePair).modify(attributes))
  }

  query(pair: Handle): Promise<QueuePairAttributes> {
    return attempt(() => this.#get(pair, QueuePair).query())
  }

  state(pair: Handle): Promise<number> {
    return attempt(() => this.#get(pair, QueuePair).state)
  }

  post(pair: Handle, request: RequestSpecification): Promise<void> {
    return attempt(() => this.#prepare(pair, request).post(request.id))
  }

  postList(pair: Handle, requests: readonly RequestSpecification[]): Promise<void> {
    return attempt(() => {
      const prepared = requests.map((request) => {
        const made = this.#prepare(pair, request)
        made.id = request.id
        return made
      })
      this.#get(pair, QueuePair).postSendList(prepared)
    })
  }

  receive(pair: Handle, request: ReceiveSpecification): Promise<void> {
    return attempt(() => this.#get(pair, QueuePair).prepareReceive({ local: request.local }).post(request.id))
  }

  poll(queue: Handle, max: number): Promise<Completion[]> {
    return attempt(() => {
      const batch = new CompletionBatch(max)
      const count = this.#get(queue, CompletionQueue).poll(batch)
      return Array.from({ length: count }, (_, row) => completionAt(batch, row))
    })
  }

  arm(queue: Handle, solicitedOnly = false): Promise<void> {
    return attempt(() => this.#get(queue, CompletionQueue).arm({ solicitedOnly }))
  }

  drain(channel: Handle): Promise<Handle[]> {
    return attempt(() =>
      this.#get(channel, CompletionChannel)
        .drain()
        .map((queue) => this.#handles.get(queue) as Handle),
    )
  }

  readable(channel: Handle): Promise<boolean> {
    return attempt(() => {
      const { descriptor } = this.#get(channel, CompletionChannel)
      return native.poll(Int32Array.of(descriptor), new Int32Array(1), 1, 0) > 0
    })
  }

  fill(memory: Handle, offset: number, bytes: Uint8Array): Promise<void> {
    return attempt(() => this.#get(memory, MemoryRegion).bytes.set(bytes, offset))
  }

  read(memory: Handle, offset: number, length: number): Promise<Uint8Array> {
    return attempt(() => this.#get(memory, MemoryRegion).bytes.slice(offset, offset + length))
  }

  close(handle: Handle): Promise<void> {
    return attempt(() => this.#nouns.get(handle)?.close())
  }

  reset(): Promise<void> {
    return attempt(() => {
      this.#device?.close()
      this.#device = undefined
      this.#nouns.clear()
      this.#handles.clear()
    })
  }

  #prepare(pair: Handle, request: RequestSpecification): PreparedRequest {
    const { opcode, local, bytes, remote, immediate, signaled, solicited, compareAdd, swap } = request
    return new PreparedRequest(this.#get(pair, QueuePair), opcode, {
      local: bytes ?? local ?? [],
      inline: bytes !== undefined,
      ...(remote === undefined ? {} : { remote }),
      ...(immediate === undefined ? {} : { immediate }),
      ...(signaled === undefined ? {} : { signaled }),
      ...(solicited === undefined ? {} : { solicited }),
      ...(opcode === Opcode.CompareSwap ? { compare: compareAdd ?? 0n, swap: swap ?? 0n } : { add: compareAdd ?? 0n }),
    })
  }

  #opened(): Device {
    if (this.#device === undefined) throw new Error('the player has no open device')
    return this.#device
  }

  #keep(noun: Noun): Handle {
    const handle = this.#next
    this.#next += 1
    this.#nouns.set(handle, noun)
    this.#handles.set(noun, handle)
    return handle
  }

  #get<T extends Noun>(handle: Handle, kind: { readonly prototype: T; readonly name: string }): T {
    const noun = this.#nouns.get(handle)
    if (noun === undefined || !Object.prototype.isPrototypeOf.call(kind.prototype, noun))
      throw new Error(`handle ${handle} is no ${kind.name}`)
    return noun as T
  }

  #memoryFacts(memory: MemoryRegion): MemoryFacts {
    const { address, length, localKey, remoteKey } = memory
    return { handle: this.#keep(memory), address, length, localKey, remoteKey }
  }
}

function completionAt(batch: CompletionBatch, row: number): Completion {
  return {
    id: batch.id[row] as number,
    status: batch.status[row] as number,
    opcode: batch.opcode[row] as number,
    byteLength: batch.byteLength[row] as number,
    immediate: batch.immediate[row] as number,
    flags: batch.flags[row] as number,
    queuePairNumber: batch.queuePairNumber[row] as number,
    sourceQueuePair: batch.sourceQueuePair[row] as number,
  }
}

/** Run at once; failures become a PlayerError, as they do when they come from another process. */
async function attempt<T>(action: () => T): Promise<T> {
  try {
    return action()
  } catch (error) {
    throw new PlayerError(errorFacts(error))
  }
}
