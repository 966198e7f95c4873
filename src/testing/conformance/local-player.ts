import { native } from '../../native/index.ts'
import {
  CompletionBatch,
  CompletionChannel,
  CompletionQueue,
  MemoryRegion,
  Opcode,
  type PairCapabilities,
  PreparedRequest,
  ProtectionDomain,
  QueuePair,
  type QueuePairAttributes,
} from '../../verbs/index.ts'
import { encodeMemoryFields } from './local-memory-player.ts'
import { LocalQueuePlayer } from './local-queue-player.ts'
import type { Player } from './player.ts'
import type {
  Completion,
  Handle,
  MemoryFacts,
  PairFacts,
  PairSpecification,
  ReceiveSpecification,
  RequestSpecification,
} from './player-data.ts'
import { attempt } from './player-nouns.ts'

/** What some cases need: the owner allows access to its address space and to some "physical" memory. */
const OPTIONS = { allowProcessCopy: true, physicalBytes: 1 << 16 }

/** A player in this process, over the public nouns. */
export class LocalPlayer extends LocalQueuePlayer implements Player {
  open(name: string): ReturnType<Player['open']> {
    return attempt(() => {
      const device = this.openDevice(name, OPTIONS)
      const { maxCompletions, maxRequests, maxSegments } = device.attributes
      return { gid: device.gid, maxCompletions, maxRequests, maxSegments }
    })
  }

  domain(): Promise<Handle> {
    return attempt(() => this.keep(this.device.createProtectionDomain()))
  }

  allocate(domain: Handle, bytes: number, access: number): Promise<MemoryFacts> {
    return attempt(() => this.keepMemory(this.get(domain, ProtectionDomain).allocate(bytes, access)))
  }

  register(domain: Handle, bytes: number, access: number): Promise<MemoryFacts> {
    return attempt(() => this.keepMemory(this.get(domain, ProtectionDomain).register(new ArrayBuffer(bytes), access)))
  }

  channel(): Promise<Handle> {
    return attempt(() => this.keep(this.device.createCompletionChannel()))
  }

  queue(depth: number, channel?: Handle): Promise<Handle> {
    return attempt(() => {
      const options = channel === undefined ? { depth } : { depth, channel: this.get(channel, CompletionChannel) }
      return this.keep(this.device.createCompletionQueue(options))
    })
  }

  depth(queue: Handle): Promise<number> {
    return attempt(() => this.get(queue, CompletionQueue).depth)
  }

  overrun(queue: Handle): Promise<boolean> {
    return attempt(() => this.get(queue, CompletionQueue).overrun)
  }

  pair(specification: PairSpecification): Promise<PairFacts> {
    return attempt(() => {
      const domain = this.get(specification.domain, ProtectionDomain)
      return this.keepPair(domain.createQueuePair(this.pairOptions(specification)))
    })
  }

  modify(pair: Handle, attributes: QueuePairAttributes): Promise<void> {
    return attempt(() => this.get(pair, QueuePair).modify(attributes))
  }

  query(pair: Handle): Promise<QueuePairAttributes> {
    return attempt(() => this.get(pair, QueuePair).query())
  }

  state(pair: Handle): Promise<number> {
    return attempt(() => this.get(pair, QueuePair).state)
  }

  capabilities(pair: Handle): Promise<PairCapabilities> {
    return attempt(() => this.get(pair, QueuePair).capabilities)
  }

  setRateLimit(pair: Handle, bytesPerSecond: number): Promise<void> {
    return attempt(() => this.get(pair, QueuePair).setRateLimit(bytesPerSecond))
  }

  rateLimit(pair: Handle): Promise<number> {
    return attempt(() => this.get(pair, QueuePair).rateLimit)
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
      this.get(pair, QueuePair).postSendList(prepared)
    })
  }

  receive(pair: Handle, request: ReceiveSpecification): Promise<void> {
    return attempt(() => this.get(pair, QueuePair).prepareReceive({ local: request.local }).post(request.id))
  }

  poll(queue: Handle, max: number): Promise<Completion[]> {
    return attempt(() => {
      const batch = new CompletionBatch(max)
      const count = this.get(queue, CompletionQueue).poll(batch)
      return Array.from({ length: count }, (_, row) => completionAt(batch, row))
    })
  }

  arm(queue: Handle, solicitedOnly = false): Promise<void> {
    return attempt(() => this.get(queue, CompletionQueue).arm({ solicitedOnly }))
  }

  drain(channel: Handle): Promise<Handle[]> {
    return attempt(() =>
      this.get(channel, CompletionChannel)
        .drain()
        .map((queue) => this.handleOf(queue)),
    )
  }

  readable(channel: Handle): Promise<boolean> {
    return attempt(() => {
      const { descriptor } = this.get(channel, CompletionChannel)
      return native.poll(Int32Array.of(descriptor), new Int32Array(1), 1, 0) > 0
    })
  }

  fill(memory: Handle, offset: number, bytes: Uint8Array): Promise<void> {
    return attempt(() => this.get(memory, MemoryRegion).bytes.set(bytes, offset))
  }

  read(memory: Handle, offset: number, length: number): Promise<Uint8Array> {
    return attempt(() => this.get(memory, MemoryRegion).bytes.slice(offset, offset + length))
  }

  #prepare(pair: Handle, request: RequestSpecification): PreparedRequest {
    const { opcode, local, bytes, remote, immediate, signaled, solicited, fence, compareAdd, swap } = request
    const prepared = new PreparedRequest(this.get(pair, QueuePair), opcode, {
      local: bytes ?? local ?? [],
      inline: bytes !== undefined,
      ...(remote === undefined ? {} : { remote }),
      ...(immediate === undefined ? {} : { immediate }),
      ...(signaled === undefined ? {} : { signaled }),
      ...(solicited === undefined ? {} : { solicited }),
      ...(fence === undefined ? {} : { fence }),
      ...this.destinationOf(request),
      ...(opcode === Opcode.CompareSwap || opcode === Opcode.MaskedCompareSwap
        ? { compare: compareAdd ?? 0n, swap: swap ?? 0n }
        : { add: compareAdd ?? 0n }),
    })
    encodeMemoryFields(prepared, request)
    return prepared
  }
}

function completionAt(batch: CompletionBatch, row: number): Completion {
  return {
    id: batch.id[row]!,
    status: batch.status[row]!,
    opcode: batch.opcode[row]!,
    byteLength: batch.byteLength[row]!,
    immediate: batch.immediate[row]!,
    flags: batch.flags[row]!,
    queuePairNumber: batch.queuePairNumber[row]!,
    sourceQueuePair: batch.sourceQueuePair[row]!,
  }
}
