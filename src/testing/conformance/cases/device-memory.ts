import { Access, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, type Context, type End, Opcode, Success } from '../context.ts'
import type { Handle, MemoryFacts } from '../player-data.ts'

const DEVICE = 'ibv_alloc_dm(3)'
const REGISTER = 'ibv_alloc_dm(3), Device memory registration; pyverbs test_dm'
const BYTES = 4096

interface OnDevice {
  readonly memory: Handle
  readonly region: MemoryFacts
}

async function registered(b: End, offset = 0, length = BYTES, access: number = ALL_ACCESS): Promise<OnDevice> {
  const memory = await b.player.deviceMemory(BYTES)
  return { memory, region: await b.player.registerDevice(b.domain, memory, offset, length, access) }
}

/** The player of the first end, with device memory. */
async function alone(context: Context): Promise<readonly [End['player'], Handle]> {
  const player = context.players[0]
  return [player, await player.deviceMemory(BYTES)]
}

/** Memory of the device itself. */
export const deviceMemoryCases: readonly ConformanceCase[] = [
  rule('what was copied to a device comes back', DEVICE, async (context) => {
    const [player, memory] = await alone(context)
    await player.copyToDevice(memory, 8, Uint8Array.of(1, 2, 3, 4))
    assert.deepEqual([...(await player.copyFromDevice(memory, 8, 4))], [1, 2, 3, 4])
  }),
  rule('the last four bytes of device memory can be copied', DEVICE, async (context) => {
    const [player, memory] = await alone(context)
    await player.copyToDevice(memory, BYTES - 4, Uint8Array.of(5, 6, 7, 8))
    assert.deepEqual([...(await player.copyFromDevice(memory, BYTES - 4, 4))], [5, 6, 7, 8])
  }),
  rule('a copy beyond device memory is refused', `${DEVICE}; providers/mlx5: EFAULT`, async (context) => {
    const [player, memory] = await alone(context)
    await context.refusedWith(['EFAULT', 'EINVAL'], player.copyToDevice(memory, BYTES - 4, new Uint8Array(8)))
    await context.refusedWith(['EFAULT', 'EINVAL'], player.copyFromDevice(memory, BYTES, 4))
  }),
  rule(
    'a copy that is not at a multiple of four is refused',
    'providers/mlx5/verbs.c mlx5_access_dm',
    async (context) => {
      const [player, memory] = await alone(context)
      await context.refused('EINVAL', player.copyToDevice(memory, 2, new Uint8Array(4)))
      await context.refused('EINVAL', player.copyFromDevice(memory, 0, 6))
    },
  ),
  rule('a region on device memory is zero-based', REGISTER, async (context) => {
    const [a, b] = await context.connected()
    const { memory, region } = await registered(b)
    assert.equal(region.address, 0)
    await a.fill(0, [9, 8, 7, 6])
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: b.target(16, region) })
    await a.sentWith(Success, 1)
    assert.deepEqual([...(await b.player.copyFromDevice(memory, 16, 4))], [9, 8, 7, 6])
  }),
  rule('a region on a part of device memory begins there', REGISTER, async (context) => {
    const [a, b] = await context.connected()
    const { memory, region } = await registered(b, 1024, 512)
    await b.player.copyToDevice(memory, 1024, Uint8Array.of(1, 2, 3, 4))
    await a.post({ id: 1, opcode: Opcode.Read, local: [a.segment(64, 4)], remote: b.target(0, region) })
    await a.sentWith(Success, 1)
    assert.deepEqual(await a.bytes(64, 4), [1, 2, 3, 4])
    await a.post({ id: 2, opcode: Opcode.Read, local: [a.segment(64, 4)], remote: b.target(509, region) })
    await a.sentWith(CompletionStatus.RemoteAccessError, 2)
  }),
  rule('a region beyond device memory is refused', `${REGISTER}_bad_registration`, async (context) => {
    const [player, memory] = await alone(context)
    const domain = await player.domain()
    await context.refused('EINVAL', player.registerDevice(domain, memory, 4, BYTES, ALL_ACCESS))
  }),
  rule('atomics work on device memory', REGISTER, async (context) => {
    const [a, b] = await context.connected()
    const { memory, region } = await registered(b)
    await b.player.copyToDevice(memory, 64, Uint8Array.of(40, 0, 0, 0, 0, 0, 0, 0))
    const remote = b.target(64, region)
    await a.post({ id: 1, opcode: Opcode.FetchAdd, local: [a.segment(0, 8)], remote, compareAdd: 2n })
    await a.sentWith(Success, 1)
    assert.equal(await a.word(0), 40n)
    assert.equal((await b.player.copyFromDevice(memory, 64, 4))[0], 42)
  }),
  rule('messages are sent from and received into device memory', REGISTER, async (context) => {
    const [a, b] = await context.connected()
    const from = await registered(a)
    const to = await registered(b)
    await a.player.copyToDevice(from.memory, 0, Uint8Array.of(1, 3, 5, 7))
    await b.receiveInto({ id: 5, local: [b.segment(32, 16, to.region)] })
    await a.post({ id: 1, opcode: Opcode.Send, local: [a.segment(0, 4, from.region)] })
    await b.receivedWith(Success, 5)
    assert.deepEqual([...(await b.player.copyFromDevice(to.memory, 32, 4))], [1, 3, 5, 7])
  }),
  rule('rights of a region on device memory hold', REGISTER, async (context) => {
    const [a, b] = await context.connected()
    const { region } = await registered(b, 0, BYTES, Access.LocalWrite | Access.RemoteRead)
    await a.post({ id: 1, opcode: Opcode.Write, local: [a.segment(0, 4)], remote: b.target(0, region) })
    await a.sentWith(CompletionStatus.RemoteAccessError, 1)
  }),
  rule('device memory that is registered stays', `${DEVICE}, NOTES`, async (context) => {
    const [, b] = await context.connected()
    const { memory, region } = await registered(b)
    await context.refused('EBUSY', b.player.close(memory))
    await b.player.close(region.handle)
    await b.player.close(memory)
  }),
]
