import * as door from '../../../src/public/verbs.ts'
import { inLists, type Recipe, type Recipes } from '../recipe.ts'

const { LocalWrite, RemoteRead, RemoteWrite, RemoteAtomic, MemoryWindowBind } = door.Access
const EVERYTHING = LocalWrite | RemoteRead | RemoteWrite | RemoteAtomic | MemoryWindowBind

/** A device with one object of each kind, and a connected pair that is made again when a call breaks it. */
export async function verbsRecipes(): Promise<Recipes> {
  const device = door.openDevice('shm0', { physicalBytes: 65_536 })
  const domain = device.createProtectionDomain()
  const channel = device.createCompletionChannel()
  const queue = device.createCompletionQueue({ depth: 256, channel })
  const memory = domain.allocate(16_384, EVERYTHING)
  const options = { type: 'rc', sendQueue: queue, receiveQueue: queue, maxSendSegments: 4 } as const
  const idle = domain.createQueuePair(options)
  const shared = domain.createSharedReceiveQueue()
  const deviceMemory = device.allocateDeviceMemory(4096)
  const window = domain.createMemoryWindow(1)
  const key = domain.createIndirectKey({ maxPieces: 4 })
  const physical = domain.registerPhysical(EVERYTHING)
  const local = memory.subarray(0, 8)
  const remote = { address: memory.address, key: memory.remoteKey }
  const batch = new door.CompletionBatch(16)
  const pairs = new Pairs(domain, options)
  const atomics = { local, remote, compare: 1n, swap: 1n }
  const prepared = idle.prepareWrite({ local, remote })
  const onPair = (...args: readonly unknown[]): Recipe => ({ self: () => pairs.take(), args: () => args })
  const onNewPair = (...args: readonly unknown[]): Recipe => ({ self: () => pairs.make(), args: () => args })
  const wait = { timeoutMs: 100 }
  const both = (name: string, ...args: readonly unknown[]): Record<string, Recipe> => ({
    [`PairConveniences.${name}`]: onPair(...args, {}),
    [`PairConveniences.${name}Sync`]: onPair(...args, wait),
  })
  return {
    module: door,
    objects: inLists({
      Device: device,
      ProtectionDomain: domain,
      CompletionChannel: channel,
      CompletionQueue: queue,
      MemoryRegion: memory,
      QueuePair: idle,
      SharedReceiveQueue: shared,
      DeviceMemory: deviceMemory,
      MemoryWindow: window,
      IndirectKey: key,
      PhysicalPeer: idle.physicalPeer(physical.remoteKey),
      Request: prepared,
      PreparedRequest: prepared,
      PreparedMaskedCompareSwap: idle.prepareMaskedCompareSwap(atomics),
      PreparedMaskedFetchAdd: idle.prepareMaskedFetchAdd({ local, remote, add: 1n }),
      CompletionBatch: batch,
    }),
    values: {
      batch: () => batch,
      depth: () => 256,
      ready: () => () => {},
      lengthBytes: () => 4096,
      offset: () => 0,
      bytes: () => new Uint8Array(8),
      id: () => 1,
      local: () => local,
      index: () => 0,
      address: () => memory.address,
      length: () => 8,
      key: () => memory.localKey,
      attributes: () => ({}),
      fields: () => ({ local, remote }),
      requests: () => [],
      number: () => 1,
      access: () => EVERYTHING,
      gid: () => device.gid,
      remote: () => remote,
      immediate: () => 1,
      signaled: () => true,
      remoteAddress: () => memory.address,
      remoteKey: () => memory.remoteKey,
      add: () => 1n,
      compare: () => 1n,
      swap: () => 1n,
      compareMask: () => 1n,
      swapMask: () => 1n,
      boundaries: () => 1n,
      status: () => 0,
      type: () => 1,
      text: () => door.formatGid(device.gid),
      to: () => ({ number: 1 }),
      vector: () => ({ gid: device.gid }),
      source: () => batch,
      from: () => 0,
      buffer: () => new Uint8Array(64),
      memory: () => deviceMemory,
      name: () => 'shm0',
      capacity: () => 4,
    },
    data: ['remote', 'to', 'local', 'source', 'memory', 'batch', 'destination'],
    calls: {
      'Device.createCompletionQueue': { args: () => [{ depth: 8 }] },
      'Device.events': { waits: () => {} },
      'Device.openXrcDomain': { args: () => [{}] },
      'CompletionChannel.wait': { args: () => [{ timeoutMs: 5 }], waits: () => {}, neverRight: 'no event comes' },
      'CompletionChannel.whenReadable': { args: () => [() => {}, {}] },
      'CompletionBatch.copyRow': { args: () => [0, batch, 1] },
      'SharedReceiveQueue.prepareReceive': { args: () => [{ local }] },
      'QueuePair.prepareReceive': { args: () => [{ local }] },
      'SharedReceiveQueue.modify': { args: () => [{ limit: 0 }] },
      'PreparedReceive.post': { self: () => pairs.take().prepareReceive({ local }), args: () => [1] },
      'PreparedRequest.post': { self: () => pairs.take().prepareWrite({ local, remote }), args: () => [1] },
      'QueuePair.modify': { ...onNewPair({}), neverRight: 'it needs a state' },
      'QueuePair.toInit': onNewPair({}),
      'QueuePair.toReadyToReceive': { ...onNewPair({ remote: idle.endpoint }), neverRight: 'INIT comes first' },
      'QueuePair.toReadyToSend': { ...onNewPair({}), neverRight: 'RTR comes first' },
      'QueuePair.connect': onNewPair(idle.endpoint, {}),
      'QueuePair.connectAsync': onNewPair(idle.endpoint, {}),
      'QueuePair.setRateLimit': { args: () => [1e6], neverRight: 'on shm no device sends' },
      'QueuePair.attachMulticast': { args: () => [device.gid], neverRight: 'only type ud takes datagrams' },
      'QueuePair.detachMulticast': { args: () => [device.gid], neverRight: 'only type ud takes datagrams' },
      'QueuePair.prepareSend': { args: () => [{ local }] },
      'QueuePair.prepareFetchAdd': { args: () => [{ local, remote, add: 1n }] },
      'QueuePair.prepareCompareSwap': { args: () => [atomics] },
      'QueuePair.prepareMaskedCompareSwap': { args: () => [atomics] },
      'QueuePair.prepareMaskedFetchAdd': { args: () => [{ local, remote, add: 1n }] },
      'QueuePair.prepareBind': { args: () => [{ window, memory, access: RemoteRead }] },
      'QueuePair.prepareLocalInvalidate': { args: () => [{ key: memory.localKey }] },
      'QueuePair.prepareConfigureKey': { args: () => [key, { access: RemoteRead, pieces: [local] }] },
      'MemoryWindow.bind': { args: () => [pairs.take(), 1, { memory, access: RemoteRead }] },
      'QueuePair.swap': onPair({ remote, value: 1n }, {}),
      'QueuePair.swapSync': onPair({ remote, value: 1n }, wait),
      'QueuePair.physicalPeer': { args: () => [physical.remoteKey] },
      'PhysicalPeer.writeSignaled': physicalCall(pairs, physical.remoteKey, 1, { local, physicalAddress: 0 }),
      'PhysicalPeer.readSignaled': physicalCall(pairs, physical.remoteKey, 1, { local, physicalAddress: 0 }),
      'PhysicalPeer.writeSync': physicalCall(pairs, physical.remoteKey, { local, physicalAddress: 0 }, wait),
      'PhysicalPeer.readSync': physicalCall(pairs, physical.remoteKey, { local, physicalAddress: 0 }, wait),
      ...both('read', { local, remote }),
      'PairConveniences.write': { self: () => pairs.receiving(local), args: () => [{ local, remote }, {}] },
      'PairConveniences.writeSync': { self: () => pairs.receiving(local), args: () => [{ local, remote }, wait] },
      ...both('fetchAdd', { remote, add: 1n }),
      ...both('compareSwap', { remote, compare: 1n, swap: 1n }),
      ...both('maskedCompareSwap', { remote, compare: 1n, swap: 1n }),
      ...both('maskedFetchAdd', { remote, add: 1n }),
      ...both('bind', { window, memory, access: RemoteRead }),
      ...both('configureKey', key, { access: RemoteRead, pieces: [local] }),
      'PairConveniences.localInvalidate': { ...onPair(1, {}), neverRight: 'the key is not of a window of type 2' },
      'PairConveniences.localInvalidateSync': {
        ...onPair(1, wait),
        neverRight: 'the key is not of a window of type 2',
      },
      'PairConveniences.send': { self: () => pairs.receiving(local), args: () => [{ local }, {}], waits: () => {} },
      'PairConveniences.sendSync': { self: () => pairs.receiving(local), args: () => [{ local }, wait] },
      'PairConveniences.receive': { self: () => pairs.sending(local), args: () => [{ local }, {}], waits: () => {} },
      'PairConveniences.receiveSync': { self: () => pairs.sending(local), args: () => [{ local }, wait] },
      'MemoryRegion.reregister': { self: () => own(domain), args: () => [{ access: EVERYTHING }] },
      'ProtectionDomain.register': { args: () => [new Uint8Array(64), LocalWrite] },
      'ProtectionDomain.registerAsync': { args: () => [new Uint8Array(64), LocalWrite, {}] },
      'ProtectionDomain.registerDeviceMemory': { args: () => [deviceMemory, LocalWrite] },
      'ProtectionDomain.registerImplicit': {
        args: () => [LocalWrite],
        neverRight: 'it would open this process to others',
      },
      'ProtectionDomain.advise': { args: () => ['prefetch', []], neverRight: 'there is nothing on demand' },
      'ProtectionDomain.createMemoryWindow': { args: () => [1] },
      'ProtectionDomain.createIndirectKey': { args: () => [{ maxPieces: 4 }] },
      'ProtectionDomain.createQueuePair': { args: () => [options] },
      'ProtectionDomain.openQueuePair': {
        args: () => [device.openXrcDomain(), 1],
        neverRight: 'no other process has one',
      },
      'QueuePair.postSendList': { args: () => [[]] },
      'new Request': { args: () => [local, 4], neverRight: 'the class is abstract' },
      addressOf: { args: () => [idle.endpoint] },
      openDevice: { args: () => ['shm0', {}] },
    },
    async close() {
      device.close()
    },
  }
}

function physicalCall(pairs: Pairs, key: number, ...args: readonly unknown[]): Recipe {
  return { self: () => pairs.take().physicalPeer(key), args: () => args }
}

/** Memory that no other call uses; the domain frees it. */
function own(domain: door.ProtectionDomain): door.MemoryRegion {
  return domain.allocate(4096, LocalWrite)
}

/** A pair that is connected with itself, until a wrong call moves it to the error state. */
class Pairs {
  readonly #domain: door.ProtectionDomain
  readonly #options: door.QueuePairOptions
  readonly #made: door.QueuePair[] = []
  #pair: door.QueuePair | undefined

  constructor(domain: door.ProtectionDomain, options: door.QueuePairOptions) {
    this.#domain = domain
    this.#options = options
  }

  take(): door.QueuePair {
    const batch = new door.CompletionBatch(64)
    while (this.#options.sendQueue!.poll(batch) > 0);
    if (this.#pair?.state === door.QueuePairState.ReadyToSend) return this.#pair
    this.drop()
    this.#pair = this.#domain.createQueuePair(this.#options)
    this.#pair.connect(this.#pair.endpoint)
    return this.#pair
  }

  drop(): void {
    this.#pair?.close()
    this.#pair = undefined
  }

  /** One that has posted a receive. */
  receiving(local: door.Segment): door.QueuePair {
    this.drop()
    const pair = this.take()
    pair.prepareReceive({ local }).post(1)
    return pair
  }

  /** One that has sent a message to itself, which waits for a receive. */
  sending(local: door.Segment): door.QueuePair {
    this.drop()
    const pair = this.take()
    pair.prepareSend({ local, signaled: false }).post(1)
    return pair
  }

  /** One that is in RESET. The one before it has served. */
  make(): door.QueuePair {
    this.#made.pop()?.close()
    const pair = this.#domain.createQueuePair(this.#options)
    this.#made.push(pair)
    return pair
  }
}
