import * as door from '../../../src/public/rpc.ts'
import { threaded } from '../../rpc/fixtures/threaded.ts'
import { memoryLinks } from '../../support/memory-links.ts'
import type { Callable, Place } from '../callables.ts'
import { inLists, type Recipes } from '../recipe.ts'

/** Where nothing listens, a channel tries again for so long. */
const READY_MS = 50

const place = { device: 'shm0', address: '127.0.0.1' }
const threadModule = new URL('../../rpc/fixtures/threaded.js', import.meta.url)

const anything = { request: door.type<unknown>(), response: door.type<unknown>() }
const methods = {
  echo: door.unary(anything),
  count: door.serverStream(anything),
  sum: door.clientStream(anything),
  both: door.bidirectional(anything),
  lend: door.rdmaCall({ buffers: 'both', ...anything }),
  hold: door.rdmaCall({ buffers: 'both', ...anything }),
}
const service = door.defineService({ name: 'bad-arguments', methods, errors: { full: door.type<number>() } })

/** A server and a channel to it over a device, and a call with buffers whose handler is not done. */
export async function rpcRecipes(): Promise<Recipes> {
  const held = new Held()
  const server = door.createServer().serve(service, held.handlers())
  const { port } = await server.listen(place)
  rightSource = { ...place, port }
  const channel = door.openChannel({ ...place, port })
  const client = channel.client(service)
  await channel.ready()
  const threads = await door.serveOnThreads(onThreads())
  const threadChannel = door.openChannel({ ...place, port: threads.port })
  await threadChannel.ready()
  const [source, target] = [await channel.allocate(64), await channel.allocate(64)]
  const holding = client.hold(undefined, { source, target, timeoutMs: Infinity })
  const context = await held.context
  const own = context.allocate(64)
  return {
    module: { ...door, openChannel: openReady },
    objects: inLists({
      readonly: anything.request['~standard'],
      Service: service,
      Channel: channel,
      Client: client,
      ThreadClient: threadChannel.client(threaded),
      RemoteSource: context.source,
      RemoteTarget: context.target,
      RdmaCallContext: context,
    }),
    values: {
      service: () => service,
      lengthBytes: () => 64,
      bytes: () => new Uint8Array(64),
      reason: () => 'full',
      details: () => 1,
      error: () => service.error('full', 1),
      request: () => 1,
      requests: () => [1],
    },
    calls: {
      'readonly.validate': { args: () => [1] },
      'RpcCodec.encode': [
        { self: () => door.values, args: () => [1] },
        { self: () => door.json, args: () => [1] },
        { self: () => door.bytes, args: () => [new Uint8Array(1)] },
        { self: () => door.borrowedBytes, args: () => [new Uint8Array(1)] },
      ],
      'Server.serve': { self: () => door.createServer(), args: () => [service, held.handlers()] },
      'Server.listen': { self: () => server, args: () => [place] },
      'Server.accept': { self: () => server, args: () => [memoryLinks()[1]] },
      'Server.drain': { self: () => door.createServer() },
      createServer: {},
      defineService: { args: () => [{ name: 'other', methods }] },
      openChannel: { args: () => [rightSource], valuesMax: 8 },
      rdmaCall: { args: () => [{ buffers: 'source' }] },
      unary: { args: () => [{}] },
      serverStream: { args: () => [{}] },
      clientStream: { args: () => [{}] },
      bidirectional: { args: () => [{}] },
      serveOnThreads: { args: () => [onThreads()], valuesMax: 1 },
      'Client.lend': { args: () => [1, { source, target }] },
      'RemoteSource.read': { args: () => [own, 0, 8] },
      'RemoteTarget.write': { args: () => [own, 0, 8] },
    },
    data: ['metadata'],
    more: [...clientCallables, blockingCallable, ...memoryCallables],
    async close() {
      held.end()
      await holding
      await channel.close()
      await threadChannel.close()
      await threads.close()
      await server.close()
      await Promise.all([source, target, own].map((buffer) => buffer.release()))
    },
  }
}

const onThreads = () => ({
  ...place,
  threads: { module: threadModule, count: 1, data: new SharedArrayBuffer(8) },
})

/** Of the server of the recipes. */
let rightSource: { readonly port: number } | undefined

/** A channel says when it is used what is wrong with its source. */
async function openReady(...args: Parameters<typeof door.openChannel>): Promise<door.Channel> {
  const channel = door.openChannel(...args)
  const isRight = args[0] === rightSource && args[1] === undefined
  try {
    await channel.ready(isRight ? {} : { timeoutMs: READY_MS })
    return channel
  } catch (error) {
    await channel.close()
    throw error
  }
}

/** A call that runs until `end`. */
class Held {
  readonly context: Promise<door.RdmaCallContext<'both'>>
  end!: () => void
  #begin!: (context: door.RdmaCallContext<'both'>) => void
  readonly #ended: Promise<void>

  constructor() {
    this.context = new Promise((resolve) => {
      this.#begin = resolve
    })
    this.#ended = new Promise((resolve) => {
      this.end = resolve
    })
  }

  handlers(): door.Handlers<typeof service> {
    return {
      echo: (value) => value,
      async *count(value) {
        yield value
      },
      async sum(values) {
        let count = 0
        for await (const _ of values) count += 1
        return count
      },
      async *both(values) {
        yield* values
      },
      lend: () => undefined,
      hold: async (_, context) => {
        this.#begin(context)
        await this.#ended
      },
    }
  }
}

const named = (name: string, isOptional = true, properties: readonly Place[] = []): Place => ({
  name,
  isOptional,
  properties,
})
const syncOptions = [named('timeoutMs'), named('metadata'), named('onMetadata')]
const streamOptions = [...syncOptions, named('signal')]
const range = [named('buffer', false), named('offset'), named('length')]
const lent = [named('source', false, range), named('target', false, range)]

/** The methods of a client. The compiler lists none, since their types are made from those of the contract. */
const clientCallables = [
  method('Client', 'echo', named('request'), named('options', true, [...streamOptions, named('idempotencyKey')])),
  method('Client', 'count', named('request'), named('options', true, streamOptions)),
  method('Client', 'sum', named('requests', false), named('options', true, streamOptions)),
  method('Client', 'both', named('requests', false), named('options', true, streamOptions)),
  method('Client', 'lend', named('request', false), named('options', false, [...streamOptions, ...lent])),
]

/** It is answered in another thread, since it blocks this one. */
const blockingCallable = method('ThreadClient', 'whereSync', named('request'), named('options', true, syncOptions))

/** What a handler is given beside its request; the types of contexts are made from contracts, too. */
const memoryCallables = [
  method('RemoteSource', 'read', named('into', false, range), named('offset'), named('length')),
  method('RemoteTarget', 'write', named('from', false, range), named('offset'), named('length')),
  method('RdmaCallContext', 'allocate', named('lengthBytes', false)),
  method('RdmaCallContext', 'register', named('bytes', false)),
]

function method(owner: string, member: string, ...places: readonly Place[]): Callable {
  return { name: `${owner}.${member}`, door: './rpc', owner, member, kind: 'method', places }
}
