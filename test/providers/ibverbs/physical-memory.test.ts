/**
 * Physical memory by the experimental verb of MLNX_OFED 4, as a stand-in that has its layout sees it. No machine of
 * ours has that library.
 */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { noStandIn, StandIn, type StandInRun, type StandInTools } from '../../native/verbs-stand-in/stand-in.ts'

const skip = noStandIn

function register({ open }: StandInTools): void {
  const domain = open('standin0').createProtectionDomain()
  try {
    const { address, localKey, remoteKey, bytes } = domain.registerPhysical(15)
    console.log(JSON.stringify({ address, keys: [localKey > 0, remoteKey > 0], bytes: bytes.length }))
  } catch (error) {
    console.log(JSON.stringify({ name: (error as Error).name, message: (error as Error).message }))
  }
}

function printed(run: StandInRun): Record<string, unknown> {
  assert.deepEqual([run.code, run.signal], [0, null], run.stderr)
  return JSON.parse(run.stdout)
}

test('all of the memory is registered, with the rights that were asked for', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(register, { experimental: 'all' })
  assert.deepEqual(printed(run), { address: 0, keys: [true, true], bytes: 0 })
  assert.deepEqual(
    run.log.filter((line) => /_reg_|_dereg_/.test(line)),
    ['ibv_exp_reg_mr address=(nil) length=0 access=0x100000000000f mask=0', 'ibv_dereg_mr'],
  )
})

test("a peer's physical memory is written and read by address and that key", { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(
    ({ open }) => {
      const device = open('standin0')
      const domain = device.createProtectionDomain()
      const queue = device.createCompletionQueue({ depth: 16 })
      const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
      pair.connect(pair.endpoint)
      const memory = domain.allocate(64, 1)
      const physical = domain.registerPhysical(15)
      const peer = pair.physicalPeer(physical.remoteKey)
      peer.writeSignaled(7, { local: memory.subarray(0, 8), physicalAddress: 0x12345000 })
      peer.readSync({ local: memory.subarray(8, 16), physicalAddress: 2 ** 40 })
    },
    { experimental: 'all' },
  )
  assert.equal(run.code, 0, run.stderr)
  const remotes = run.log.flatMap((line) => /rdma remote=\S+ rkey=\S+/.exec(line) ?? [])
  const key = /rkey=(\S+)/.exec(remotes[0] ?? '')?.[1]
  assert.deepEqual(remotes, [`rdma remote=0x12345000 rkey=${key}`, `rdma remote=0x10000000000 rkey=${key}`])
})

const absent = [
  ['a library without experimental verbs', undefined],
  ['a library whose table ends before the call', 28 * 8],
] as const
for (const [what, experimental] of absent) {
  test(`${what} makes it Unsupported, and the error names implicit on-demand paging`, { skip }, async () => {
    using standIn = new StandIn()
    const run = await standIn.run(register, experimental === undefined ? {} : { experimental })
    const { name, message } = printed(run)
    assert.equal(name, 'UnsupportedError')
    assert.match(String(message), /^ibv_exp_reg_mr: .*registerImplicit/)
    assert.ok(!run.log.some((line) => line.includes('ibv_exp_reg_mr')))
  })
}

test('what the kernel refuses is an error of the verb, and leaves nothing behind', { skip }, async () => {
  using standIn = new StandIn()
  const run = await standIn.run(register, { experimental: 'all', fail: { ibv_exp_reg_mr: 1 } })
  const { name, message } = printed(run)
  assert.equal(name, 'VerbsError')
  assert.match(String(message), /ibv_exp_reg_mr: EPERM/)
  assert.equal(run.log.at(-1), 'ibv_close_device')
})
