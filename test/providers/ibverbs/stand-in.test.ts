/**
 * What the addon asks of libibverbs, seen by a library that records it: arguments, layouts, errors, life times. No RDMA
 * device is needed.
 */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { noStandIn, StandIn, type StandInRun } from '../../native/verbs-stand-in/stand-in.ts'

const skip = noStandIn

function printed<T>(run: StandInRun): T {
  assert.deepEqual([run.code, run.signal], [0, null], run.stderr)
  return JSON.parse(run.stdout) as T
}

test('devices are listed, and described as the library does', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ verbs, open }) => {
    const device = open('standin0')
    const { provider, linkLayer, maxReadAtomic, maxInitiatorReadAtomic, nodeGuid, completionVectors } =
      device.attributes
    const port = device.queryPort(1)
    console.log(
      JSON.stringify({
        names: verbs.deviceNames().filter((name) => !name.startsWith('tcp')),
        attributes: { provider, linkLayer, maxReadAtomic, maxInitiatorReadAtomic, nodeGuid, completionVectors },
        port: [port.state, port.activeMtu, port.gigabitsPerSecond, port.physicalState],
        gids: device.gids(1).map(({ index, type }) => [index, type]),
      }),
    )
  })
  assert.deepEqual(printed(run), {
    names: ['shm0', 'standin0', 'standin1'],
    attributes: {
      provider: 'ibverbs',
      linkLayer: 'ethernet',
      maxReadAtomic: 16,
      maxInitiatorReadAtomic: 8,
      nodeGuid: '5054000000000001',
      completionVectors: 2,
    },
    port: ['active', 1024, 100, 'LinkUp'],
    gids: [
      [0, 'roce-v1'],
      [1, 'roce-v2'],
      [3, 'roce-v2'],
      [4, 'roce-v1'],
      [5, 'roce-v2'],
      [6, 'roce-v2'],
    ],
  })
  assert.equal(run.log[0], 'ibv_fork_init', 'before anything is registered')
  assert.equal(run.log.at(-1), 'ibv_close_device')
})

test('the gid is chosen by score, and can be overridden', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ verbs, open }) => {
    const chosen = (options: object): string => {
      const device = open('standin0', options)
      return verbs.formatGid(device.gid)
    }
    console.log(JSON.stringify([chosen({}), chosen({ addressFamily: 'ipv6' }), chosen({ sourceGidIndex: 1 })]))
  })
  assert.deepEqual(printed(run), [
    '0000:0000:0000:0000:0000:ffff:0a00:0001',
    'fd00:0000:0000:0000:0000:0000:0000:0001',
    'fe80:0000:0000:0000:5054:0000:0000:0001',
  ])
})

test('on Ethernet a peer is addressed by gid, on InfiniBand by local identifier, with the gid where the subnet differs', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    for (const name of ['standin0', 'standin1']) {
      const device = open(name)
      const domain = device.createProtectionDomain()
      const queue = device.createCompletionQueue({ depth: 16 })
      const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      pair.connect(pair.endpoint)
      pair.toReset()
      pair.toInit()
      pair.toReadyToReceive({ remote: { ...pair.endpoint, gid: 0xfec0n << 112n } })
    }
  })
  assert.equal(run.code, 0, run.stderr)
  assert.deepEqual(
    run.log.filter((line) => line.startsWith('  vector')),
    [
      '  vector global=1 lid=0 gid=00000000000000000000ffff0a000001 sgid=5 hops=64 port=1',
      '  vector global=1 lid=0 gid=fec00000000000000000000000000000 sgid=5 hops=64 port=1',
      '  vector global=0 lid=7 gid=fe800000000000000002c90300000001 sgid=0 hops=64 port=1',
      '  vector global=1 lid=7 gid=fec00000000000000000000000000000 sgid=0 hops=64 port=1',
    ],
  )
})

test('a device that talks through another port has its gid and local identifier, and its queue pairs are of that port', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ verbs, open }) => {
    const device = open('standin1', { port: 2 })
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = device.createProtectionDomain().createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    pair.connect(pair.endpoint)
    const { localIdentifier } = pair.endpoint
    const { port } = device
    console.log(
      JSON.stringify([port, verbs.formatGid(pair.endpoint.gid).slice(-4), localIdentifier, device.gids().length]),
    )
  })
  assert.deepEqual(printed(run), [2, '0002', 9, 1])
  assert.ok(
    run.log.some((line) => /^ibv_modify_qp .* state=1 port=2$/.test(line)),
    run.log.join('\n'),
  )
  assert.ok(
    run.log.some((line) => /^ {2}vector .* lid=9 .* port=2$/.test(line)),
    run.log.join('\n'),
  )
})

test('how much can be sent inline is found by making queue pairs, when somebody asks', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin0')
    const { appendFileSync } = process.getBuiltinModule('node:fs')
    appendFileSync(process.env['AETHER_STAND_IN_LOG']!, 'asked\n')
    console.log(JSON.stringify([device.attributes.maxInlineBytes, device.attributes.maxInlineBytes]))
    appendFileSync(process.env['AETHER_STAND_IN_LOG']!, 'answered\n')
  })
  assert.deepEqual(printed(run), [220, 220])
  const asked = run.log.slice(run.log.indexOf('asked'), run.log.indexOf('answered'))
  const made = asked.filter((line) => line.startsWith('ibv_create_qp'))
  assert.equal(made.length, run.log.filter((line) => line.startsWith('ibv_create_qp')).length, 'none before')
  assert.ok(made.length < 16, made.join('\n'))
  const granted = made.filter((line) => Number(/inline=(\d+)/.exec(line)?.[1]) <= 220)
  assert.equal(asked.filter((line) => line === 'ibv_destroy_qp').length, granted.length)
})

test('requests reach the library field by field, a batch in one chain', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ verbs, open }) => {
    const device = open('standin0')
    const domain = device.createProtectionDomain()
    const memory = domain.allocate(4096, 15)
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = domain.createQueuePair({
      type: 'rc',
      sendQueue: queue,
      receiveQueue: queue,
      maxSendSegments: 2,
      maxInlineBytes: 16,
    })
    pair.connect(pair.endpoint)
    const local = { address: 0x7000, length: 24, key: 0x11 }
    const remote = { address: 2 ** 52, key: 0xffffffff }
    pair.prepareWrite({ local: [local, { ...local, length: 1 }], remote, fence: true }).post(7)
    pair.prepareWrite({ local, remote, immediate: 0x89abcdef, signaled: false }).post(8)
    pair.prepareRead({ local, remote }).post(9)
    pair.prepareFetchAdd({ local, remote, add: 2n ** 64n - 1n }).post(10)
    pair.prepareCompareSwap({ local, remote, compare: 5n, swap: 2n ** 63n }).post(11)
    pair.prepareSend({ local: [Uint8Array.of(1, 2), Uint8Array.of(255)], inline: true, solicited: true }).post(12)
    pair.prepareSend({ local, immediate: 1 }).post(13)
    const first = pair.prepareSend({ local: Uint8Array.of(3), inline: true })
    const second = pair.prepareSend({ local: Uint8Array.of(4), inline: true })
    first.id = 14
    second.id = 15
    pair.postSendList([first, second])
    pair.prepareReceive({ local }).post(16)
    const batch = new verbs.CompletionBatch(16)
    const count = queue.poll(batch)
    console.log(
      JSON.stringify({ ids: [...batch.id.subarray(0, count)], opcodes: [...batch.opcode.subarray(0, count)] }),
    )
    memory.close()
  })
  assert.deepEqual(printed(run), { ids: [7, 9, 10, 11, 12, 13, 14, 15], opcodes: [1, 2, 4, 3, 0, 0, 0, 0] })
  assert.deepEqual(
    run.log.filter((line) => /^(wr| {2}|receive)/.test(line) && !line.startsWith('  vector')).map(withoutStaging),
    [
      'wr id=7 opcode=0 flags=3 segments=[0x7000+24:0x11 0x7000+1:0x11]',
      '  rdma remote=0x10000000000000 rkey=0xffffffff imm=0',
      'wr id=8 opcode=1 flags=0 segments=[0x7000+24:0x11]',
      '  rdma remote=0x10000000000000 rkey=0xffffffff imm=0x89abcdef',
      'wr id=9 opcode=4 flags=2 segments=[0x7000+24:0x11]',
      '  rdma remote=0x10000000000000 rkey=0xffffffff imm=0',
      'wr id=10 opcode=6 flags=2 segments=[0x7000+24:0x11]',
      '  atomic remote=0x10000000000000 rkey=0xffffffff compareAdd=0xffffffffffffffff swap=0',
      'wr id=11 opcode=5 flags=2 segments=[0x7000+24:0x11]',
      '  atomic remote=0x10000000000000 rkey=0xffffffff compareAdd=0x5 swap=0x8000000000000000',
      'wr id=12 opcode=2 flags=14 inline',
      '  inline=0102ff',
      'wr id=13 opcode=3 flags=2 segments=[0x7000+24:0x11]',
      '  imm=0x1',
      'wr id=14 opcode=2 flags=10 inline',
      '  inline=03',
      'wr id=15 opcode=2 flags=10 inline',
      '  inline=04',
      'receive id=16 segments=[0x7000+24:0x11]',
    ],
  )
})

/** Where the bytes of inline requests were copied to is nobody's business. */
function withoutStaging(line: string): string {
  const flags = Number(/flags=(\d+)/.exec(line)?.[1] ?? 0)
  return (flags & 8) === 0 ? line : line.replace(/segments=.*/, 'inline')
}

test('an inline request is refused where its bytes are not at hand, and no address is believed', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin0')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue, maxInlineBytes: 16 })
    pair.connect(pair.endpoint)
    const refusals = [{ address: 1, length: 8, key: 0 }, new Uint8Array(17)].map((local) => {
      try {
        pair.prepareSend({ local, inline: true }).post(1)
        return 'taken'
      } catch (error) {
        return (error as { errnoName: string }).errnoName
      }
    })
    console.log(JSON.stringify(refusals))
  })
  assert.deepEqual(printed(run), ['EINVAL', 'EINVAL'])
})

test('of a list, what stands before the refused request is taken', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin0')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue, maxSendRequests: 2 })
    pair.connect(pair.endpoint)
    const requests = [1, 2, 3].map(() => pair.prepareSend({ local: { address: 64, length: 1, key: 1 } }))
    try {
      pair.postSendList(requests)
    } catch (error) {
      console.log(JSON.stringify((error as Error).message))
    }
  })
  assert.match(printed<string>(run), /ENOMEM.*2 of 3 requests were taken/)
})

test('each error says what mends it', { skip }, async () => {
  using standIn = new StandIn()
  const open = async (fail: Record<string, number>): Promise<string> => {
    const run = await standIn.run(
      ({ open }) => {
        try {
          const device = open('standin0')
          const domain = device.createProtectionDomain()
          domain.allocate(8192, 1)
          const queue = device.createCompletionQueue({ depth: 4 })
          const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
          pair.toInit()
          pair.toReadyToReceive({ remote: { ...pair.endpoint } })
          console.log(JSON.stringify('nothing failed'))
        } catch (error) {
          console.log(JSON.stringify(`${(error as Error).name}: ${(error as Error).message}`))
        }
      },
      { fail },
    )
    return printed<string>(run)
  }
  assert.equal(await open({}), 'nothing failed')
  assert.match(
    await open({ ibv_open_device: 13 }),
    /VerbsError: ibv_open_device: .*no permission to open standin0.*\/dev\/infiniband/,
  )
  assert.match(await open({ ibv_reg_mr: 12 }), /VerbsError: ibv_reg_mr: ENOMEM: 8192 bytes cannot be pinned/)
  assert.match(await open({ ibv_create_qp: 95 }), /UnsupportedError: ibv_create_qp: this device does not support it/)
  assert.match(await open({ ibv_modify_qp: 110 }), /VerbsError: ibv_modify_qp: ETIMEDOUT/)
  assert.match(await open({ ibv_create_cq: 12 }), /VerbsError: ibv_create_cq: ENOMEM/)
})

test('without a device, or with a library that is none, the reason stands in the error', { skip }, async () => {
  using standIn = new StandIn()
  const body = ({ verbs }: { readonly verbs: typeof import('../../../src/verbs/index.ts') }): void => {
    try {
      verbs.openDevice('mlx5_0')
    } catch (error) {
      console.log(JSON.stringify((error as Error).message))
    }
  }
  const empty = await standIn.run(body, { empty: true })
  assert.match(printed<string>(empty), /ENODEV.*"mlx5_0".*shm0.*; there is no RDMA device: .*rdma link add/)
  standIn.breakLibrary()
  const broken = await standIn.run(body)
  assert.match(printed<string>(broken), /ENODEV.*libibverbs cannot be opened .*apt-get install libibverbs1/)
})

test('an event is taken and acknowledged, and tells its queue', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(async ({ open }) => {
    const device = open('standin0')
    const domain = device.createProtectionDomain()
    const channel = device.createCompletionChannel()
    const [one, other] = [1, 2].map(() => device.createCompletionQueue({ depth: 8, channel }))
    if (one === undefined || other === undefined) return
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: other, receiveQueue: one })
    pair.connect(pair.endpoint)
    one.arm()
    other.arm()
    const waiting = channel.wait({ timeoutMs: 10_000 })
    pair.prepareSend({ local: { address: 64, length: 1, key: 1 } }).post(1)
    await waiting
    const fired = channel.drain()
    console.log(JSON.stringify([fired.length, fired[0] === other, channel.drain().length]))
  })
  assert.deepEqual(printed(run), [1, true, 0])
  assert.ok(run.log.includes('ibv_destroy_cq acknowledged=1'), run.log.join('\n'))
})

test('an overrun queue is told by the event, and its queue pairs end', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin0')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 1 })
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    pair.connect(pair.endpoint)
    for (const id of [1, 2]) pair.prepareSend({ local: { address: 64, length: 1, key: 1 } }).post(id)
    const overrun = queue.overrun
    const [event] = device.drainEvents()
    console.log(JSON.stringify([overrun, pair.state, event?.type, event?.completionQueue === queue]))
  })
  assert.deepEqual(printed(run), [true, 6, 0, true])
})

test('the other objects are made, used and given back', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ verbs, open }) => {
    const device = open('standin0')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 16, vector: 1 })
    const both = { sendQueue: queue, receiveQueue: queue }
    const memory = domain.allocate(4096, 15 | verbs.Access.MemoryWindowBind)
    const shared = domain.createSharedReceiveQueue({ maxRequests: 32, maxSegments: 2, limit: 3 })
    shared.prepareReceive({ local: memory.subarray(0, 8) }).post(1)
    domain.createQueuePair({ type: 'rc', ...both, sharedReceiveQueue: shared })
    const datagrams = domain.createQueuePair({ type: 'ud', ...both })
    datagrams.toInit()
    datagrams.toReadyToReceive()
    datagrams.toReadyToSend()
    const address = domain.createAddressHandle({ gid: device.gid, serviceLevel: 3 })
    datagrams.attachMulticast(0xffn << 120n)
    datagrams.detachMulticast(0xffn << 120n)
    datagrams
      .prepareSend({ local: memory.subarray(0, 8), to: { addressHandle: address, number: 0x123, queueKey: 0x456 } })
      .post(2)
    const pair = domain.createQueuePair({ type: 'rc', ...both })
    pair.connect(pair.endpoint)
    const window = domain.createMemoryWindow(2)
    const before = window.remoteKey
    pair.prepareBind({ window, memory, offset: 64, length: 128, access: verbs.Access.RemoteRead }).post(3)
    pair.prepareLocalInvalidate({ key: window.remoteKey }).post(4)
    const changed = window.remoteKey - before
    domain.createMemoryWindow(1).bind(pair, 5, { memory, access: verbs.Access.RemoteRead })
    memory.reregister({ access: 1 })
    const thread = device.createThreadDomain()
    domain.createParentDomain(thread)
    const xrc = device.openXrcDomain()
    domain.createSharedReceiveQueue({
      maxRequests: 4,
      maxSegments: 1,
      limit: 0,
      xrcDomain: xrc,
      completionQueue: queue,
    })
    domain.createQueuePair({ type: 'xrc-receive', xrcDomain: xrc })
    const onDevice = device.allocateDeviceMemory(256)
    onDevice.write(4, Uint8Array.of(1, 2, 3, 4))
    const back = new Uint8Array(4)
    onDevice.read(4, back)
    domain.registerDeviceMemory(onDevice, 1)
    domain.registerImplicit(1)
    const [limit] = device.drainEvents()
    console.log(JSON.stringify([changed, [...back], limit?.sharedReceiveQueue === shared]))
  })
  assert.deepEqual(printed(run), [1, [1, 2, 3, 4], true])
  const expected = [
    'ibv_create_cq depth=16 vector=1',
    'ibv_create_srq maxRequests=32 maxSegments=2',
    'ibv_modify_srq mask=0x2 maxRequests=0 limit=3',
    '  ud qpn=0x123 qkey=0x456',
    'ibv_attach_mcast first=0xff lid=0',
    'ibv_alloc_mw type=2',
    'ibv_rereg_mr flags=0x4 hasDomain=0 hasAddress=0 length=0 access=0x1',
    'ibv_alloc_parent_domain hasThread=1',
    'ibv_open_xrcd hasFile=0 flags=0x40',
    'ibv_create_srq_ex type=1 mask=0xf maxRequests=4',
    'ibv_create_qp_ex type=10 mask=0x2',
    'ibv_alloc_dm length=256 alignment=0',
    'ibv_reg_dm_mr offset=0 length=256 access=0x21',
    'ibv_close_device',
  ]
  for (const line of expected) assert.ok(run.log.includes(line), `${line}\nis not in\n${run.log.join('\n')}`)
})

test('a limit is passed on in kilobits, rounded up, and one that no device can count is refused', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin0')
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = device.createProtectionDomain().createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    const refusal = (limit: number): unknown => {
      try {
        pair.setRateLimit(limit)
        return pair.rateLimit
      } catch (error) {
        return [(error as Error).name, (error as { errnoName?: string }).errnoName]
      }
    }
    const early = refusal(1)
    pair.connect(pair.endpoint)
    console.log(JSON.stringify([early, refusal(1001), refusal(1e12), pair.rateLimit]))
    pair.setRateLimit(Number.POSITIVE_INFINITY)
  })
  assert.deepEqual(printed(run), [['VerbsError', 'EINVAL'], 1001, ['VerbsError', 'EINVAL'], 1001])
  assert.deepEqual(
    run.log.filter((line) => line.startsWith('ibv_modify_qp_rate_limit')),
    ['ibv_modify_qp_rate_limit kilobits=9 burst=0 packet=0', 'ibv_modify_qp_rate_limit kilobits=0 burst=0 packet=0'],
  )
})

test('an environment that ends gives back what it had', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(async ({ verbs }) => {
    const { Worker } = await import('node:worker_threads')
    const names = JSON.stringify(verbs.deviceNames())
    // What the worker makes it never closes.
    const program = `import(${JSON.stringify(process.env['AETHER_TEST_VERBS'] ?? '')}).then((verbs) => {
      const device = verbs.openDevice('standin0')
      const domain = device.createProtectionDomain()
      const memory = domain.allocate(4096, 1)
      const queue = device.createCompletionQueue({ depth: 4 })
      globalThis.kept = [domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue }), memory]
    })`
    await new Promise((resolve) => new Worker(program, { eval: true }).once('exit', resolve))
    console.log(names)
  })
  assert.equal(run.code, 0, run.stderr)
  for (const line of ['ibv_destroy_qp', 'ibv_dereg_mr', 'ibv_close_device'])
    assert.ok(run.log.includes(line), run.log.join('\n'))
})
