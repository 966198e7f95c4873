/**
 * What the addon asks of mlx5's direct verbs, seen by a library that records it. None of this has been run on hardware
 * by us.
 */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { noStandIn, StandIn } from '../../native/verbs-stand-in/stand-in.ts'

const skip = noStandIn

test('an indirect key is made, laid out as a list and interleaved, and given back', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ verbs, open }) => {
    const device = open('standin1')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    pair.connect(pair.endpoint)
    const key = domain.createIndirectKey({ maxPieces: 4 })
    const pieces = [
      { address: 0x1000, length: 64, key: 1 },
      { address: 0x9000, length: 32, key: 2 },
    ]
    pair.prepareConfigureKey(key, { access: 7, pieces }).post(5)
    const interleaved = pieces.map((piece, index) => ({ ...piece, skip: index + 3 }))
    pair.prepareConfigureKey(key, { access: 1, interleaved, repeat: 9 }).post(6)
    const batch = new verbs.CompletionBatch(4)
    console.log(
      JSON.stringify([queue.poll(batch), batch.id[0], batch.opcode[0] === verbs.CompletionOpcode.ConfigureIndirectKey]),
    )
  })
  assert.equal(run.stdout.trim(), '[2,5,true]', run.stderr)
  const expected = [
    'mlx5dv_create_qp type=0x2 mask=0x41 operations=0x3ff own mask=0x4 operations=0xb',
    'mlx5dv_create_mkey flags=0x1 entries=4',
    'mlx5dv_wr_mr_list key=0x5500 access=0x7 pieces=[0x1000+64:0x1 0x9000+32:0x2]',
    'mlx5dv_wr_mr_interleaved key=0x5500 access=0x1 repeat=9 count=2 first=0x1000+64 skip=3 last=0x9000+32 skip=4',
    'mlx5dv_destroy_mkey',
  ]
  for (const line of expected) assert.ok(run.log.includes(line), `${line}\nis not in\n${run.log.join('\n')}`)
})

test('masked atomics are elements of the work queue, big-endian, with the masks behind the operands', {
  skip,
}, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin1')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    pair.connect(pair.endpoint)
    const local = { address: 0x7000, length: 8, key: 0x11 }
    const remote = { address: 0x123456789, key: 0xabcdef }
    const swap = { compare: 1n, swap: 2n, compareMask: 0xffn, swapMask: 0xff00n }
    pair.prepareMaskedCompareSwap({ local, remote, ...swap }).post(1)
    pair.prepareMaskedFetchAdd({ local, remote, add: 5n, boundaries: 2n ** 63n }).post(2)
  })
  assert.equal(run.code, 0, run.stderr)
  const elements = run.log
    .filter((line) => line.startsWith('mlx5dv_wr_raw_wqe'))
    .map((line) => line.split(' ').slice(1))
  const [swap = [], add = []] = elements
  // control: modifier, index, opcode | queue pair, sixteenths | signature …, flags | immediate
  assert.match(swap[0] ?? '', /^08000014.{6}05$/)
  assert.equal(swap[1], '0000000800000000')
  assert.deepEqual(swap.slice(2), [
    '0000000123456789',
    '00abcdef00000000',
    '0000000000000002',
    '0000000000000001',
    '000000000000ff00',
    '00000000000000ff',
    '0000000800000011',
    '0000000000007000',
  ])
  assert.match(add[0] ?? '', /^08000015.{6}04$/)
  assert.deepEqual(add.slice(4, 6), ['0000000000000005', '8000000000000000'])
})

test('the ends of a dynamic connection are made and posted by mlx5 verbs', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin1')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 16 })
    const shared = domain.createSharedReceiveQueue({ maxRequests: 4, maxSegments: 1 })
    domain.createQueuePair({
      type: 'dct',
      receiveQueue: queue,
      sharedReceiveQueue: shared,
      dcAccessKey: 2n ** 63n + 7n,
    })
    const pair = domain.createQueuePair({ type: 'dci', sendQueue: queue })
    const addressHandle = domain.createAddressHandle({ gid: device.gid, localIdentifier: 7, global: false })
    const to = { addressHandle, number: 0x321, accessKey: 2n ** 63n + 7n }
    const remote = { address: 0x2000, key: 9 }
    pair.prepareWrite({ local: { address: 0x7000, length: 8, key: 3 }, remote, to }).post(4)
  })
  assert.equal(run.code, 0, run.stderr)
  const expected = [
    '  dc type=1 key=0x8000000000000007 shared=1 queues=2',
    '  dc type=2 key=0 shared=0 queues=2',
    'ibv_create_ah global=0 lid=7 sgid=0 sl=0',
    'ibv_wr_rdma_write id=4 flags=2 rkey=0x9 remote=0x2000',
    '  dc target=0x321 key=0x8000000000000007',
    '  sge=[0x7000+8:0x3]',
    'ibv_wr_complete',
  ]
  for (const line of expected) assert.ok(run.log.includes(line), `${line}\nis not in\n${run.log.join('\n')}`)
})

test('elsewhere these are Unsupported, and a reliable connection is an ordinary one', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(({ open }) => {
    const device = open('standin0')
    const domain = device.createProtectionDomain()
    const queue = device.createCompletionQueue({ depth: 16 })
    const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
    pair.connect(pair.endpoint)
    const name = (call: () => unknown): string => {
      try {
        call()
        return 'taken'
      } catch (error) {
        return (error as Error).name
      }
    }
    const local = { address: 64, length: 8, key: 1 }
    const remote = { address: 64, key: 1 }
    console.log(
      JSON.stringify([
        name(() => domain.createIndirectKey({ maxPieces: 4 })),
        name(() => domain.createQueuePair({ type: 'dci', sendQueue: queue })),
        name(() => pair.prepareMaskedFetchAdd({ local, remote, add: 1n }).post(1)),
        name(() => domain.registerPhysical(1)),
      ]),
    )
  })
  assert.deepEqual(JSON.parse(run.stdout), [
    'UnsupportedError',
    'UnsupportedError',
    'UnsupportedError',
    'UnsupportedError',
  ])
  assert.ok(run.log.some((line) => line.startsWith('ibv_create_qp type=2 ')))
})
