import { strict as assert } from 'node:assert'
import { connect, joinMulticast, type MulticastGroup, resolve } from '../../../cm/index.ts'
import { CompletionBatch, CompletionStatus, openDevice, QueuePairState } from '../../../verbs/index.ts'
import { type ConnectionCase, memoryWith, textOf, until } from '../context.ts'

const MAN = 'rdma_cm(7)'

/** Making connections, and what both ends agree on. */
export const connectingCases: readonly ConnectionCase[] = [
  {
    name: 'both ends have a queue pair in RTS that leads to the other',
    rule: MAN,
    async run(context) {
      const [a, b] = await context.pair()
      assert.deepEqual([a.state, b.state], ['connected', 'connected'])
      assert.deepEqual([a.pair.state, b.pair.state], [QueuePairState.ReadyToSend, QueuePairState.ReadyToSend])
      assert.equal(a.pair.query().destinationQueuePair, b.pair.number)
      assert.equal(b.pair.query().destinationQueuePair, a.pair.number)
    },
  },
  {
    name: 'messages and one-sided operations go both ways',
    rule: MAN,
    async run(context) {
      const [a, b] = await context.pair()
      const [from, to] = [memoryWith(a, 'from the asking end'), memoryWith(b, '')]
      const arrived = b.pair.receive({ local: to.subarray(0, 64) })
      await a.pair.send({ local: from.subarray(0, 19) })
      assert.equal((await arrived).byteLength, 19)
      assert.equal(textOf(to.bytes, 19), 'from the asking end')
      await b.pair.read({ local: to.subarray(100, 104), remote: { address: from.address + 9, key: from.remoteKey } })
      assert.equal(textOf(to.bytes.subarray(100), 4), 'aski')
      assert.equal(await a.pair.fetchAdd({ remote: { address: to.address + 512, key: to.remoteKey }, add: 3n }), 0n)
    },
  },
  {
    name: 'a receive posted while the queue pair is prepared gets the first message',
    rule: 'rdma_create_qp(3): ready to handle posting of receives',
    async run(context) {
      const listener = await context.listen()
      const device = context.keep(openDevice(context.setup.device))
      const domain = device.createProtectionDomain()
      const memory = domain.allocate(64, 1)
      let received: Promise<{ readonly byteLength: number }> | undefined
      const accepted = context.accept(listener, {
        domain,
        prepare: (pair) => {
          assert.equal(pair.state, QueuePairState.Init)
          received = pair.receive({ local: memory.subarray(0, 64) })
        },
      })
      const connection = await context.connect(listener, { rnrRetry: 0 })
      await connection.pair.send({ local: memoryWith(connection, 'early').subarray(0, 5) })
      await accepted
      assert.equal((await received)?.byteLength, 5)
    },
  },
  {
    name: 'private data arrives at both ends, filled up with zeros to the length of its field',
    rule: 'rdma_connect(3), rdma_accept(3): 56 and 196 bytes',
    async run(context) {
      const question = Uint8Array.from({ length: 56 }, (_, index) => index + 1)
      const answer = Uint8Array.from({ length: 196 }, (_, index) => 255 - index)
      const [a, b] = await context.pair({ privateData: question }, { privateData: answer })
      assert.deepEqual([...b.privateData], [...question])
      assert.deepEqual([...a.privateData], [...answer])
      const [c, d] = await context.pair({ privateData: Uint8Array.of(7) }, {})
      assert.equal(d.privateData.byteLength, 56)
      assert.deepEqual([...d.privateData.subarray(0, 3)], [7, 0, 0])
      assert.ok(c.privateData.every((byte) => byte === 0))
    },
  },
  {
    name: 'private data that is too long is refused before anything is sent',
    rule: 'rdma_connect(3), rdma_accept(3)',
    async run(context) {
      const listener = await context.listen()
      await assert.rejects(context.connect(listener, { privateData: new Uint8Array(57) }), {
        code: 'ERR_AETHER_INVALID_ARGUMENT',
      })
      const connecting = context.connect(listener)
      const request = await context.request(listener)
      await assert.rejects(request.accept({ privateData: new Uint8Array(197) }), {
        code: 'ERR_AETHER_INVALID_ARGUMENT',
      })
      assert.throws(() => request.reject(new Uint8Array(149)), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
      assert.equal(request.pending, true)
      context.keep(await request.accept())
      await connecting
    },
  },
  {
    name: 'the asking end learns what it may have under way from what the other takes, and the other way round',
    rule: 'rdma_connect(3), rdma_accept(3): responder_resources, initiator_depth',
    async run(context) {
      const [a, b] = await context.pair(
        { maxReadAtomic: 8, maxDestinationReadAtomic: 3 },
        { maxReadAtomic: 5, maxDestinationReadAtomic: 2 },
      )
      assert.deepEqual([a.maxReadAtomic, a.maxDestinationReadAtomic], [2, 3])
      assert.deepEqual([b.maxReadAtomic, b.maxDestinationReadAtomic], [3, 2])
      assert.equal(a.pair.query().maxReadAtomic, 2)
      assert.equal(b.pair.query().maxDestinationReadAtomic, 2)
    },
  },
  {
    name: 'by default both directions have what the device supports',
    rule: 'rdma_connect(3): max_qp_rd_atom',
    async run(context) {
      const [a, b] = await context.pair()
      const most = Math.min(a.device.attributes.maxReadAtomic, 254)
      assert.deepEqual([a.maxReadAtomic, a.maxDestinationReadAtomic], [most, most])
      assert.deepEqual([b.maxReadAtomic, b.maxDestinationReadAtomic], [most, most])
    },
  },
  {
    name: 'retry counts reach the queue pairs',
    rule: 'rdma_connect(3): retry_count, rnr_retry_count',
    async run(context) {
      const [a, b] = await context.pair({ retryCount: 3, rnrRetry: 2 }, { rnrRetry: 5 })
      assert.deepEqual([a.pair.query().retryCount, b.pair.query().retryCount], [3, 3])
      assert.deepEqual([a.pair.query().rnrRetry, b.pair.query().rnrRetry], [5, 2])
    },
  },
  {
    name: 'a request says who asks, at which address, and with which options',
    rule: 'rdma_get_cm_event(3)',
    async run(context) {
      const listener = await context.listen()
      const connecting = context.connect(listener, {
        maxReadAtomic: 4,
        maxDestinationReadAtomic: 2,
        retryCount: 2,
        flowControl: true,
      })
      const request = await context.request(listener)
      assert.equal(request.deviceName, context.setup.device)
      assert.equal(request.local?.port, listener.port)
      assert.equal(request.remote?.address, context.setup.address)
      assert.deepEqual([request.maxReadAtomic, request.maxDestinationReadAtomic], [2, 4])
      assert.deepEqual([request.retryCount, request.flowControl], [2, true])
      const peer = context.keep(await request.accept())
      const connection = await connecting
      assert.deepEqual(connection.remote, peer.local)
    },
  },
  {
    name: 'a queue pair, domain and queues of the program itself are used and left alone',
    rule: 'rdma_create_qp(3)',
    async run(context) {
      const device = context.keep(openDevice(context.setup.device))
      const domain = device.createProtectionDomain()
      const queue = device.createCompletionQueue({ depth: 32 })
      const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue, maxSendRequests: 8 })
      const [a, b] = await context.pair({ pair }, { domain, sendQueue: queue, receiveQueue: queue })
      assert.equal(a.pair, pair)
      assert.equal(b.pair.sendQueue, queue)
      assert.equal(b.domain, domain)
      a.close()
      assert.equal(pair.closed, false)
      assert.equal(pair.state, QueuePairState.Error)
      b.close()
      assert.equal(b.pair.closed, true)
      assert.equal(queue.closed, false)
    },
  },
  {
    name: 'a wildcard listener hears of every address',
    rule: 'rdma_bind_addr(3): wildcard values are permitted',
    async run(context) {
      const listener = await context.listen({ address: '0.0.0.0' })
      assert.ok(listener.port > 0)
      const accepted = context.accept(listener)
      await context.connect(listener)
      assert.equal((await accepted).local?.address, context.setup.address)
    },
  },
  {
    name: 'IPv6',
    rule: MAN,
    needs: 'address6',
    async run(context) {
      const address = context.setup.address6!
      const listener = await context.listen({ address })
      const accepted = context.accept(listener)
      const connection = await context.connect(listener, { address })
      assert.equal(connection.remote?.family, 6)
      assert.equal(connection.remote?.address, address)
      assert.equal((await accepted).remote?.address, address)
    },
  },
  {
    name: 'an address resolves to its device',
    rule: 'rdma_resolve_addr(3), rdma_resolve_route(3)',
    async run({ setup }) {
      const { deviceName, remote } = await resolve(setup.address, { device: setup.device, port: 7 })
      assert.equal(deviceName, setup.device)
      assert.deepEqual(remote, { address: setup.address, port: 7, family: 4 })
    },
  },
  {
    name: 'the two port spaces have ports of their own',
    rule: 'rdma_create_id(3)',
    async run(context) {
      const listener = await context.listen()
      const other = await context.listen({ portSpace: 'udp', port: listener.port })
      assert.equal(other.port, listener.port)
      const accepted = context.accept(listener)
      await context.connect(listener)
      await accepted
    },
  },
  {
    name: 'many at once',
    rule: MAN,
    async run(context) {
      const listener = await context.listen()
      const count = 16
      const accepting = Promise.all(Array.from({ length: count }, () => context.accept(listener)))
      const connections = await Promise.all(Array.from({ length: count }, () => context.connect(listener)))
      const accepted = await accepting
      assert.equal(new Set([...connections, ...accepted].map(({ pair }) => pair.number)).size, 2 * count)
      const numbers = accepted.map(({ pair }) => pair.number).sort()
      assert.deepEqual(connections.map(({ pair }) => pair.query().destinationQueuePair ?? 0).sort(), numbers)
    },
  },
  {
    name: 'a datagram service is found, with its queue pair and queue key',
    rule: 'rdma_connect(3): RDMA_PS_UDP; 180 and 136 bytes of private data',
    async run(context) {
      const privateData = Uint8Array.from({ length: 180 }, (_, index) => index)
      const answer = Uint8Array.from({ length: 136 }, (_, index) => 136 - index)
      const [a, b] = await context.pair({ portSpace: 'udp', privateData }, { privateData: answer })
      assert.deepEqual([a.pair.type, b.pair.type], ['ud', 'ud'])
      assert.deepEqual([a.pair.state, b.pair.state], [QueuePairState.ReadyToSend, QueuePairState.ReadyToSend])
      assert.equal(a.peer?.queuePairNumber, b.pair.number)
      assert.equal(a.peer?.queueKey, 0x01234567)
      assert.deepEqual([...b.privateData], [...privateData])
      assert.deepEqual([...a.privateData.subarray(0, 136)], [...answer])
    },
  },
  {
    name: 'datagrams reach the service, which learns from them where to answer',
    rule: 'ibv_create_ah(3), ibv_create_ah_from_wc(3)',
    async run(context) {
      const [a, b] = await context.pair({ portSpace: 'udp' })
      const [from, to] = [memoryWith(a, 'question'), memoryWith(b, '')]
      b.pair.prepareReceive({ local: to.subarray(0, 128) }).post(1)
      await a.pair.send({ local: from.subarray(0, 8), to: a.destination()! })
      const batch = new CompletionBatch(1)
      await until(() => b.receiveQueue.poll(batch) === 1)
      assert.deepEqual([batch.status[0], batch.byteLength[0]], [CompletionStatus.Success, 48])
      assert.equal(batch.sourceQueuePair[0], a.pair.number)
      assert.equal(textOf(to.bytes.subarray(40), 8), 'question')
    },
  },
  {
    name: 'what is sent to a multicast group reaches its other members, but none that has left',
    rule: 'rdma_join_multicast(3), rdma_leave_multicast(3)',
    async run(context) {
      const { device, address: source } = context.setup
      const join = async (): Promise<MulticastGroup> =>
        context.keep(await joinMulticast({ device, source, address: '239.1.2.3' }))
      const [a, b, c] = [await join(), await join(), await join()]
      assert.equal(a.peer.queuePairNumber, 0xffffff)
      const memories = [a, b, c].map(({ pair }) => pair.domain.allocate(256, 1))
      const batch = new CompletionBatch(1)
      for (const [member, memory] of [
        [b, memories[1]],
        [c, memories[2]],
      ] as const)
        member.pair.prepareReceive({ local: memory!.subarray(0, 256) }).post(1)
      await a.pair.send({ local: memories[0]!.subarray(0, 32), to: a.destination() })
      for (const { pair } of [b, c]) {
        await until(() => pair.receiveQueue.poll(batch) === 1)
        assert.deepEqual([batch.status[0], batch.byteLength[0]], [CompletionStatus.Success, 72])
      }
      b.pair.prepareReceive({ local: memories[1]!.subarray(0, 256) }).post(2)
      c.leave()
      assert.equal(c.pair.closed, true)
      await a.pair.send({ local: memories[0]!.subarray(0, 16), to: a.destination() })
      await until(() => b.pair.receiveQueue.poll(batch) === 1)
      assert.equal(batch.byteLength[0], 56)
      await assert.rejects(joinMulticast({ device, source, address: '10.1.2.3' }), { argument: 'address' })
    },
  },
  {
    name: 'arguments are checked before anything is taken',
    rule: "this project's contract",
    async run({ setup }) {
      const { device, address } = setup
      const wrong = [
        { port: 0 },
        { port: 65_536 },
        { retryCount: 8 },
        { rnrRetry: -1 },
        { maxReadAtomic: 255 },
        { timeoutMs: 0 },
      ]
      for (const each of wrong) {
        await assert.rejects(connect({ device, address, port: 7, ...each }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
      }
    },
  },
]
