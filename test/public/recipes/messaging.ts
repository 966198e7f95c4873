import { setImmediate as turn } from 'node:timers/promises'
import * as door from '../../../src/public/messaging.ts'
import { Access, openDevice, type ProtectionDomain } from '../../../src/public/verbs.ts'
import type { Recipe, Recipes } from '../recipe.ts'

const SHORT_MS = 300
const place = { device: 'shm0', address: '127.0.0.1' } as const
/** Rings as short as they may be: many connections are made and lost. */
const small = { ringBytes: 4096, peerRingBytesMax: 4096, receives: 16, sends: 32 } as const
const ONLY_MAPPED = 'over shm, memory for atomics must be such that peers can map it'
const rights = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite
const threadModule = new URL('../../messaging/threads/fixtures/handlers.js', import.meta.url)

/** Endpoints, links and peers, each made again when a call breaks it. */
export async function messagingRecipes(): Promise<Recipes> {
  const device = openDevice('shm0', { physicalBytes: 65_536 })
  const domain = device.createProtectionDomain()
  const endpoints = await Endpoints.open(domain)
  const links = await Links.open()
  const peers = await TwoPeers.open()
  const physical = domain.registerPhysical(rights)
  return {
    module: door,
    objects: {},
    values: {
      lengthBytes: () => 64,
      length: () => 8,
      memory: () => new Uint8Array(64),
      bytes: () => 8,
      nowMs: () => performance.now(),
      data: () => new Uint8Array(8),
      immediate: () => 1,
      members: () => [peers.own.number],
      number: () => peers.other.number,
      message: () => new Uint8Array(8),
      onMessage: () => () => {},
      onEnd: () => () => {},
      handlers: () => ({}),
    },
    data: ['remote', 'local', 'range', 'data', 'input', 'output', 'buffer', 'addresses'],
    calls: {
      ...openingCalls(endpoints.port, links.port),
      ...endpointCalls(endpoints, physical.remoteKey),
      ...linkCalls(links),
      ...lendingCalls(links),
      ...peerCalls(peers, links),
      ...groupCalls(peers),
    },
    async close() {
      await peers.close()
      await links.close()
      await endpoints.close()
      device.close()
    },
  }
}

/** What the calls return must be closed, also where it cannot be disposed of. */
function opening(call: (options: never) => unknown, options: () => object, valuesMax?: number): Record<string, Recipe> {
  const { name } = call
  let made: unknown
  const self = {
    [name]: (...args: readonly unknown[]) => {
      made = undefined
      made = (call as (...args: readonly unknown[]) => unknown)(...args)
      return made
    },
  }
  const after = async (): Promise<void> => {
    const end = (await Promise.resolve(made).catch(() => undefined)) as { close?(): unknown } | undefined
    await end?.close?.()
  }
  return {
    [name]: { self: () => self, args: () => [options()], after, ...(valuesMax === undefined ? {} : { valuesMax }) },
  }
}

function openingCalls(endpointPort: number, linkPort: number): Record<string, Recipe> {
  const ending = { ...small, closeTimeoutMs: SHORT_MS }
  const client = { ...place, ...ending, connectTimeoutMs: SHORT_MS }
  const done = (): void => {}
  return {
    ...opening(door.connectEndpoint, () => ({ ...client, port: endpointPort }), 12),
    ...opening(door.connectLink, () => ({ ...client, port: linkPort }), 12),
    ...opening(door.keepConnected, () => ({ ...client, port: endpointPort, attemptsMax: 1, connected: done }), 8),
    ...opening(door.listenEndpoints, () => ({ ...place, accept: done }), 12),
    ...opening(door.listenLinks, () => ({ ...place, onLink: done }), 12),
    ...opening(door.listenEndpointsOnThreads, () => ({ ...place, threads: { module: threadModule, count: 1 } }), 1),
    ...opening(door.openPeers, () => ({ number: 9 })),
    'ThreadListener.close': { ...threadListener(), args: () => [{}] },
  }
}

/** One that listens until a call has closed it. */
function threadListener(): Recipe {
  let listener: door.ThreadListener | undefined
  return {
    self: async () => {
      if (listener === undefined || listener.closed)
        listener = await door.listenEndpointsOnThreads({ ...place, threads: { module: threadModule, count: 1 } })
      return listener
    },
    valuesMax: 3,
  }
}

function endpointCalls(endpoints: Endpoints, physicalKey: number): Record<string, Recipe> {
  const on = (...args: readonly unknown[]): Recipe => ({ self: () => endpoints.take(), args: () => args })
  /** With a range of memory of this end, and the memory of the other. */
  const withMemory = (make: (local: unknown, remote: unknown) => readonly unknown[]): Recipe => ({
    self: () => endpoints.take(),
    args: async () => {
      await endpoints.take()
      return make({ buffer: endpoints.memory, offset: 0, length: 8 }, endpoints.remote)
    },
  })
  const physical = (make: (local: unknown) => readonly unknown[]): Recipe => ({
    ...withMemory(make),
    self: async () => (await endpoints.take()).physicalPeer(physicalKey),
  })
  const wait = { timeoutMs: 1000 }
  return {
    'Endpoint.handlers =': on({}),
    'Endpoint.send': on(new Uint8Array(8), {}),
    'Endpoint.sendWithImmediate': on(new Uint8Array(8), 1, {}),
    'Endpoint.trySend': on(new Uint8Array(8), 1),
    'Endpoint.allocate': { ...on(64), valuesMax: 12 },
    'Endpoint.register': { ...on(new Uint8Array(64)), neverRight: ONLY_MAPPED },
    'Endpoint.physicalPeer': on(physicalKey),
    'Endpoint.write': withMemory((local, remote) => [local, remote]),
    'Endpoint.read': withMemory((local, remote) => [local, remote]),
    'Endpoint.writeWithImmediate': withMemory((local, remote) => [local, remote, 1]),
    'Endpoint.postWrite': withMemory((local, remote) => [1, local, remote]),
    'Endpoint.postRead': withMemory((local, remote) => [1, local, remote]),
    'Endpoint.writeSync': withMemory((local, remote) => [local, remote, wait]),
    'Endpoint.readSync': withMemory((local, remote) => [local, remote, wait]),
    'Endpoint.fetchAdd': withMemory((_, remote) => [remote, 1n]),
    'Endpoint.compareSwap': withMemory((_, remote) => [remote, { compare: 1n, swap: 1n }]),
    'Endpoint.maskedFetchAdd': withMemory((_, remote) => [remote, { add: 1n }]),
    'Endpoint.maskedCompareSwap': withMemory((_, remote) => [remote, { compare: 1n, swap: 1n }]),
    'EndpointPhysicalPeer.write': physical((local) => [local, 0]),
    'EndpointPhysicalPeer.read': physical((local) => [local, 0]),
    'EndpointPhysicalPeer.writeSync': physical((local) => [local, 0, wait]),
    'EndpointPhysicalPeer.readSync': physical((local) => [local, 0, wait]),
  }
}

function linkCalls(links: Links): Record<string, Recipe> {
  const self = (): Promise<door.VerbsLink> => links.take()
  const on = (...args: readonly unknown[]): Recipe => ({ self, args: () => args })
  const withMemory = async (): Promise<readonly unknown[]> => {
    await links.take()
    return [{ buffer: links.memory, offset: 0, length: 8 }, links.remote]
  }
  const reserved = async (): Promise<door.VerbsLink> => {
    const link = await links.take()
    link.flush()
    await link.writable(64)
    link.reserve(64)
    return link
  }
  return {
    'VerbsLink.close': { ...on(Promise.resolve()), valuesMax: 20 },
    'VerbsLink.allocate': { ...on(64), valuesMax: 12 },
    'VerbsLink.register': { ...on(new Uint8Array(64)), neverRight: ONLY_MAPPED },
    'VerbsLink.read': { self, args: withMemory },
    'VerbsLink.write': { self, args: withMemory },
    'VerbsLink.post': {
      self,
      args: async () => ['read', (await links.take()).pair.prepareRead({ local: [], remote: links.remote }), () => {}],
    },
    'VerbsLink.attend': on(performance.now()),
    'RingLink.reserve': on(64),
    'RingLink.commit': { self: reserved, args: () => [8, 1, 1] },
    'RingLink.charge': on(8),
    'RingLink.writable': on(8, new AbortController().signal),
    'RingLink.onMessage =': on(() => {}),
    'RingLink.onEnd =': on(() => {}),
    'RingLink.destroy': { ...on(new Error('a reason')), valuesMax: 20 },
  }
}

function lendingCalls(links: Links): Record<string, Recipe> {
  const lending = async (): Promise<object> => (await links.take()).lending
  let lent: door.RegisteredBuffer | undefined
  let loan: ReturnType<door.VerbsLink['lending']['lend']> | undefined
  const take = async (): Promise<door.RegisteredBuffer> => {
    lent = (await links.take()).lending.allocate(64)
    return lent
  }
  const after = (): void => lent?.close()
  const endLoan = async (): Promise<void> => {
    await loan?.end(true)
    loan = undefined
    lent?.close()
  }
  const on = (...args: readonly unknown[]): Recipe => ({ self: lending, args: () => args })
  const done = (): void => {}
  return {
    'MemoryLending.allocate': { ...on(64), valuesMax: 12 },
    'MemoryLending.register': on(new Uint8Array(64)),
    'MemoryLending.take': { ...on(64), valuesMax: 12 },
    'MemoryLending.giveBack': { self: lending, args: async () => [(await links.take()).lending.take(64)] },
    'MemoryLending.read': {
      self: lending,
      args: async () => [{ buffer: await take(), offset: 0, length: 8 }, links.remote, done],
      after,
    },
    'MemoryLending.fenceReads': on(done),
    'MemoryLending.accepts': { self: lending, args: async () => [await take()], after },
    'MemoryLending.lend': {
      self: async () => {
        const { lending } = await links.take()
        const lend: typeof lending.lend = (range, right) => {
          loan = lending.lend(range, right)
          return loan
        }
        return { lend }
      },
      args: async () => [{ buffer: await take(), offset: 0, length: 8 }, 'read'],
      after: endLoan,
    },
    'Loan.end': {
      self: async () => {
        loan = (await links.take()).lending.lend({ buffer: await take() }, 'read')
        return loan
      },
      args: () => [true, true],
      after: endLoan,
    },
  }
}

function peerCalls(peers: TwoPeers, links: Links): Record<string, Recipe> {
  const byte = new Uint8Array(1)
  const wait = { timeoutMs: SHORT_MS }
  const { peer, back } = peers
  const tell = (): Promise<void> => back.send(byte)
  const own = (number: number): Pick<Recipe, 'self' | 'after'> & { close(): Promise<void> } => {
    let made: door.Peers | undefined
    const close = async (): Promise<void> => made?.close()
    const self = (): door.Peers => {
      made = door.openPeers({ number, link: small })
      return made
    }
    return { self, after: close, close }
  }
  const accepting = own(1)
  let attached: readonly door.VerbsLink[] = []
  const attaching = own(1)
  return {
    'Peers.get': { self: () => peers.own },
    'Peers.group': { self: () => peers.own },
    'Peers.listen': { ...own(1), args: () => [{ address: '127.0.0.1', port: 0 }] },
    'Peers.connect': { ...own(1), args: () => [{ ...peers.address, ...wait }], valuesMax: 20 },
    'Peers.accept': { ...accepting, args: () => [{}], waits: () => accepting.close() },
    'Peers.connectAll': { ...own(1), args: () => [[peers.address, peers.address], wait] },
    'Peers.attach': {
      ...attaching,
      valuesMax: 12,
      args: async () => {
        attached = await links.make()
        void peers.other.attach(attached[1]!, SHORT_MS).catch(() => {})
        return [attached[0], SHORT_MS]
      },
      after: async () => {
        await attaching.close()
        for (const link of attached) link.destroy()
      },
    },
    'Peer.send': { self: () => peer },
    'Peer.sendSync': { self: () => peer, args: () => [byte, wait] },
    'Peer.receive': { self: () => peer, args: () => [{}], waits: tell },
    'Peer.messages': { self: () => peer, args: () => [{}], waits: tell },
    'Peer.receiveSync': {
      self: () => peer,
      args: async () => {
        if (peer.waiting === 0) await tell()
        while (peer.waiting === 0) await turn()
        return [wait]
      },
    },
  }
}

function groupCalls(peers: TwoPeers): Record<string, Recipe> {
  const self = (): door.PeerGroup => peers.group()
  const array = (): Float64Array => new Float64Array(2)
  const calls: Record<string, () => readonly unknown[]> = {
    broadcast: () => [array(), {}],
    scatter: () => [array(), array(), {}],
    gather: () => [array(), array(), {}],
    allGather: () => [array(), array(), {}],
    reduce: () => [array(), 'sum', array(), {}],
    allReduce: () => [array(), 'sum', array(), {}],
    reduceScatter: () => [array(), 'sum', array(), {}],
    scan: () => [array(), 'sum', array(), {}],
    exclusiveScan: () => [array(), 'sum', array(), {}],
    allToAll: () => [array(), array(), {}],
    allToAllV: () => [array(), array(), { sendCounts: [2], receiveCounts: [2] }, {}],
    barrier: () => [{}],
    shrink: () => [{}],
  }
  const ofPeers = ['barrier', 'shrink']
  return Object.fromEntries(
    Object.entries(calls).flatMap(([name, args]) => {
      const owner = ofPeers.includes(name) ? 'PeerGroup' : 'Collectives'
      return [
        [`${owner}.${name}`, { self, args }],
        [`${owner}.${name}Sync`, { self, args }],
      ]
    }),
  )
}

/** A listener and a client of it, connected again when a wrong call has broken the connection. */
class Endpoints {
  readonly #domain: ProtectionDomain
  #listener!: door.LinkListener
  #client: door.Endpoint | undefined
  #server: door.Endpoint | undefined
  memory!: door.RegisteredBuffer
  #lent!: door.RegisteredBuffer

  private constructor(domain: ProtectionDomain) {
    this.#domain = domain
  }

  static async open(domain: ProtectionDomain): Promise<Endpoints> {
    const endpoints = new Endpoints(domain)
    endpoints.#listener = await door.listenEndpoints({
      ...place,
      ...small,
      domain,
      accept: (endpoint) => {
        endpoints.#server = endpoint
        endpoint.handlers = { receive: () => {} }
      },
    })
    return endpoints
  }

  get port(): number {
    return this.#listener.port
  }

  /** Memory of the other end. */
  get remote(): door.RemoteAddress {
    return { address: this.#lent.address, key: this.#lent.key }
  }

  async take(): Promise<door.Endpoint> {
    if (this.#client?.open === true && this.#server?.open === true) return this.#client
    this.#client?.destroy()
    this.#server?.destroy()
    const client = await door.connectEndpoint({ ...place, ...small, domain: this.#domain, port: this.port })
    while (this.#server?.open !== true) await new Promise((resolve) => setTimeout(resolve, 1))
    this.#client = client
    this.memory = client.allocate(64)
    this.#lent = this.#server.allocate(64)
    return client
  }

  async close(): Promise<void> {
    this.#client?.destroy()
    this.#server?.destroy()
    this.#listener.close()
  }
}

/** The same with links. */
class Links {
  #listener!: door.LinkListener
  #pair: readonly [door.VerbsLink, door.VerbsLink] | undefined
  #arrived: door.VerbsLink | undefined
  memory!: door.RegisteredBuffer
  #lent!: door.RegisteredBuffer

  static async open(): Promise<Links> {
    const links = new Links()
    links.#listener = await door.listenLinks({
      ...place,
      ...small,
      onLink: (link) => {
        links.#arrived = link
      },
    })
    return links
  }

  get port(): number {
    return this.#listener.port
  }

  get remote(): door.RemoteAddress {
    return { address: this.#lent.address, key: this.#lent.key }
  }

  /** Both ends of a new one. */
  async make(): Promise<readonly [door.VerbsLink, door.VerbsLink]> {
    this.#arrived = undefined
    const client = await door.connectLink({ ...place, ...small, port: this.port, closeTimeoutMs: SHORT_MS })
    while (this.#arrived === undefined) await new Promise((resolve) => setTimeout(resolve, 1))
    return [client, this.#arrived]
  }

  async take(): Promise<door.VerbsLink> {
    const [one, other] = this.#pair ?? []
    if (one?.canSend === true && other?.canSend === true) return one
    one?.destroy()
    other?.destroy()
    this.#pair = await this.make()
    const [client, server] = this.#pair
    server.onMessage = () => {}
    this.memory = client.allocate(64)
    this.#lent = server.allocate(64)
    return client
  }

  async close(): Promise<void> {
    for (const link of this.#pair ?? []) link.destroy()
    this.#listener.close()
  }
}

/** Two connected contexts of peers, of which the one receives what the other sends. */
class TwoPeers {
  readonly own = door.openPeers({ number: 2, device: 'shm0', link: small })
  readonly other = door.openPeers({ number: 0, device: 'shm0', link: small })
  address!: door.PeerAddress
  peer!: door.Peer
  back!: door.Peer
  #group: door.PeerGroup | undefined

  static async open(): Promise<TwoPeers> {
    const peers = new TwoPeers()
    peers.address = await peers.other.listen({ address: place.address })
    peers.peer = await peers.own.connect(peers.address)
    peers.back = await peers.other.accept()
    void peers.#receive()
    return peers
  }

  /** Of one rank, so that no call waits for another; made again when a wrong call has ended it. */
  group(): door.PeerGroup {
    if (this.#group === undefined || this.#group.failure !== undefined) this.#group = this.own.group([2])
    return this.#group
  }

  async close(): Promise<void> {
    await this.own.close()
    await this.other.close()
  }

  async #receive(): Promise<void> {
    for await (const _message of this.back.messages());
  }
}
