import {
  type NodeReads,
  type OpenReadLine,
  REQUESTS_MAX,
  type ReadContext,
  ReadLine,
  ShardRegions,
} from 'aether-dsm/internal/index-service'
import type { Stream } from 'aether-dsm/internal/providers'
import {
  Access,
  type CompletionChannel,
  type Device,
  type MemoryRegion,
  openDevice,
  type ProtectionDomain,
  type QueuePair,
} from 'aether-dsm/internal/verbs'
import type { SimulatedProgram } from './simulated-program.ts'

const WAY_NS_MIN = 50_000
const WAY_NS_MAX = 1_000_000
const AGAIN_NS = 2_000_000
/** After its end the other end of a connection knows of it. */
const LOST_NS_MAX = 20_000_000
const ADDRESS = '10.0.0.2'

/** A replica of a shard: its memory as it is. */
interface ReplicaMemory {
  readonly id: number
  readonly region: MemoryRegion
}

/** Connections for READs between programs, by their simulated devices. */
export class SimulatedReads {
  /** Called whenever a client READs. */
  onRead: () => void = () => undefined
  readonly #listeners: SimulatedReadListener[] = []
  readonly #contexts = new Map<SimulatedProgram, SimulatedContext>()

  /** `memoryOf`: what the process has of a shard. */
  listen(program: SimulatedProgram, memoryOf: (shard: number) => ReplicaMemory | undefined): NodeReads {
    const place = { address: ADDRESS, port: this.#listeners.length + 1 }
    const listener = new SimulatedReadListener(program, place, memoryOf)
    this.#listeners.push(listener)
    return listener
  }

  openerOf(program: SimulatedProgram): OpenReadLine {
    return async (place, signal) => {
      const listener = this.#listeners[place.port - 1]!
      const { kernel, network } = program.cluster
      const stream = kernel.stream('reads')
      const isCut = (): boolean => network.path(program.host.index, listener.program.host.index).cuts > 0
      await program.delay(stream.between(WAY_NS_MIN, WAY_NS_MAX))
      while (isCut()) {
        signal.throwIfAborted()
        await program.delay(AGAIN_NS)
      }
      signal.throwIfAborted()
      const context = this.#contextOf(program)
      return listener.accept(context, stream, this.onRead)
    }
  }

  /** Its process has ended. */
  ended(program: SimulatedProgram): void {
    for (const listener of this.#listeners) if (listener.program === program) listener.end()
  }

  #contextOf(program: SimulatedProgram): SimulatedContext {
    const known = this.#contexts.get(program)
    if (known !== undefined) return known
    const context = new SimulatedContext(program)
    this.#contexts.set(program, context)
    return context
  }
}

/** In the place of a `ReadListener`. */
class SimulatedReadListener implements NodeReads {
  readonly program: SimulatedProgram
  readonly place: NodeReads['place']
  readonly #device: Device
  readonly #domain: ProtectionDomain
  readonly #memoryOf: (shard: number) => ReplicaMemory | undefined
  readonly #pairs = new Map<QueuePair, () => void>()
  #isOver = false

  constructor(
    program: SimulatedProgram,
    place: NodeReads['place'],
    memoryOf: (shard: number) => ReplicaMemory | undefined,
  ) {
    this.program = program
    this.place = place
    this.#memoryOf = memoryOf
    this.#device = deviceOf(program)
    this.#domain = this.#device.createProtectionDomain()
  }

  regions(shard: number): ReturnType<NodeReads['regions']> {
    const tables = new ShardRegions(this.#domain)
    const heads = new Map<MemoryRegion, MemoryRegion>()
    return {
      told: (table, readers) => {
        const told = tables.told(table, { ...readers, sights: [] })
        const replica = this.#memoryOf(shard)
        if (replica === undefined) return told
        const { id, region } = replica
        const own = heads.get(region) ?? this.#domain.register(region.bytes, Access.RemoteRead)
        heads.set(region, own)
        return { ...told, heads: [{ id, address: own.address, key: own.remoteKey }] }
      },
      close: () => {
        tables.close()
        for (const own of heads.values()) own.close()
      },
    }
  }

  /** Rejects if no one listens there. */
  accept(context: SimulatedContext, stream: Stream, onRead: () => void): ReadLine {
    if (this.#isOver) throw new Error('no one listens')
    const queue = context.newQueue()
    const own = this.#device.createCompletionQueue({ depth: 2 })
    const sizes = { type: 'rc', maxReceiveRequests: 1 } as const
    const queues = { sendQueue: queue, receiveQueue: queue }
    const pair = context.domain.createQueuePair({ ...sizes, ...queues, maxSendRequests: REQUESTS_MAX })
    const served = this.#domain.createQueuePair({ ...sizes, sendQueue: own, receiveQueue: own, maxSendRequests: 1 })
    pair.connect(served.endpoint, { access: 0 })
    served.connect(pair.endpoint, { access: Access.RemoteRead })
    let end: () => void = () => undefined
    const closed = new Promise<void>((resolve) => {
      end = () => context.program.after(stream.below(LOST_NS_MAX), resolve)
    })
    this.#pairs.set(served, end)
    const close = (): void => {
      pair.close()
      if (!this.#pairs.delete(served) || !this.program.isLive) return
      served.close()
      own.close()
    }
    return new SimulatedLine(context, queue, { pair, closed, unref: () => undefined, close } as never, onRead)
  }

  end(): void {
    this.#isOver = true
    for (const end of this.#pairs.values()) end()
    this.#pairs.clear()
  }

  close(): void {
    if (this.#isOver) return
    this.end()
    this.#device.close()
  }
}

/** Counts. */
class SimulatedLine extends ReadLine {
  readonly #onRead: () => void

  constructor(...parts: [...ConstructorParameters<typeof ReadLine>, () => void]) {
    const [context, queue, connection, onRead] = parts
    super(context, queue, connection)
    this.#onRead = onRead
  }

  override read(...given: Parameters<ReadLine['read']>): Promise<boolean> {
    this.#onRead()
    return super.read(...given)
  }
}

type Progressing = Parameters<ReadContext['loop']['add']>[0]

/** What all lines of a program share. Its event loop looks after them. */
class SimulatedContext implements ReadContext {
  readonly program: SimulatedProgram
  readonly domain: ProtectionDomain
  readonly loop: ReadContext['loop']
  readonly #device: Device
  readonly #channel: CompletionChannel
  readonly #lines = new Set<Progressing>()
  #isWoken = false
  #cancel: () => void = () => undefined

  constructor(program: SimulatedProgram) {
    this.program = program
    this.#device = deviceOf(program)
    this.domain = this.#device.createProtectionDomain()
    this.#channel = this.#device.createCompletionChannel()
    this.loop = {
      add: (line) => {
        this.#lines.add(line)
        this.#wake()
      },
      wake: () => this.#wake(),
      remove: (line) => this.#lines.delete(line),
    }
  }

  newQueue(): ReturnType<Device['createCompletionQueue']> {
    return this.#device.createCompletionQueue({ depth: REQUESTS_MAX + 1, channel: this.#channel })
  }

  release(): void {
    return
  }

  #wake(): void {
    if (this.#isWoken) return
    this.#isWoken = true
    this.program.run(() => this.#turn())
  }

  #turn(): void {
    this.#isWoken = false
    this.#cancel()
    this.#cancel = () => undefined
    this.#channel.drain()
    for (const line of [...this.#lines]) {
      while (line.advance() > 0);
      if (!this.#lines.has(line)) continue
      line.queue.arm()
      while (line.advance() > 0);
    }
    if (this.#lines.size > 0)
      this.#cancel = this.program.host.whenReadable(this.#channel.descriptor, () => this.#wake())
  }
}

function deviceOf({ cluster, host }: SimulatedProgram): Device {
  return openDevice(`${cluster.device}/${host.index}`)
}
