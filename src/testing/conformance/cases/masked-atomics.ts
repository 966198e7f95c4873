import { CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { assert, type Context, type End, Opcode, Success } from '../context.ts'

const SWAP = 'MLNX_OFED extended atomics: masked compare-and-swap; mlx5 opcode 0x14'
const ADD = 'MLNX_OFED extended atomics: masked fetch-and-add; mlx5 opcode 0x15'
const ALL = 2n ** 64n - 1n

async function compareSwap(
  a: End,
  b: End,
  operands: { compareAdd: bigint; compareMask: bigint; swap: bigint; swapMask: bigint },
): Promise<void> {
  await a.post({ id: 1, opcode: Opcode.MaskedCompareSwap, local: [a.segment(64, 8)], remote: b.target(0), ...operands })
  await a.sentWith(Success, 1)
}

async function add(a: End, b: End, compareAdd: bigint, boundaries: bigint): Promise<void> {
  const opcode = Opcode.MaskedFetchAdd
  await a.post({ id: 1, opcode, local: [a.segment(64, 8)], remote: b.target(0), compareAdd, boundaries })
  await a.sentWith(Success, 1)
}

/** Start with `before`, run the atomic, and expect `before` as its result and `after` in memory. */
async function changes(
  context: Context,
  before: bigint,
  after: bigint,
  act: (a: End, b: End) => Promise<void>,
): Promise<void> {
  const [a, b] = await context.connected()
  await b.setWord(0, before)
  await act(a, b)
  assert.deepEqual([await a.word(64), await b.word(0)], [before, after])
}

/** 64-bit atomics on parts of a word. */
export const maskedAtomicCases: readonly ConformanceCase[] = [
  rule('a masked compare-and-swap with full masks is an ordinary one', SWAP, (context) =>
    changes(context, 5n, 9n, (a, b) =>
      compareSwap(a, b, { compareAdd: 5n, compareMask: ALL, swap: 9n, swapMask: ALL }),
    ),
  ),
  rule('bits outside of the compare mask are not compared', SWAP, (context) =>
    changes(context, 0xab05n, 9n, (a, b) =>
      compareSwap(a, b, { compareAdd: 0xcd05n, compareMask: 0xffn, swap: 9n, swapMask: ALL }),
    ),
  ),
  rule('bits outside of the swap mask stay', SWAP, (context) =>
    changes(context, 0xff00_0000_0000_ab05n, 0xff00_0000_0000_ab77n, (a, b) =>
      compareSwap(a, b, { compareAdd: 0xab05n, compareMask: 0xffffn, swap: 0x1234_5677n, swapMask: 0xffn }),
    ),
  ),
  rule('one differing bit under the compare mask changes nothing', SWAP, (context) =>
    changes(context, 1n << 63n, 1n << 63n, (a, b) =>
      compareSwap(a, b, { compareAdd: 0n, compareMask: 1n << 63n, swap: 9n, swapMask: ALL }),
    ),
  ),
  rule('a compare mask of nothing swaps in any case', SWAP, (context) =>
    changes(context, 12345n, 2n ** 63n + 1n, (a, b) =>
      compareSwap(a, b, { compareAdd: ALL, compareMask: 0n, swap: 2n ** 63n + 1n, swapMask: ALL }),
    ),
  ),
  rule('a masked fetch-and-add without boundaries is an ordinary one', ADD, (context) =>
    changes(context, 0xffff_ffffn, 0x1_0000_0000n, (a, b) => add(a, b, 1n, 0n)),
  ),
  rule('no carry leaves a field', ADD, (context) =>
    changes(context, 0x0000_0001_ffff_ffffn, 0x0000_0003_0000_0001n, (a, b) =>
      add(a, b, 0x0000_0002_0000_0002n, 0x8000_0000_8000_0000n),
    ),
  ),
  rule('carries go on within a field', ADD, (context) =>
    changes(context, 0x00ff_00ffn, 0x0100_0100n, (a, b) => add(a, b, 0x0001_0001n, 0x8000_8000n)),
  ),
  rule('a field of one bit is changed as by exclusive or', ADD, (context) =>
    changes(context, 0b1100n, 0b0110n, (a, b) => add(a, b, 0b1010n, ALL)),
  ),
  rule('the highest field wraps', ADD, (context) =>
    changes(context, 0xffn << 56n, 0n, (a, b) => add(a, b, 1n << 56n, (1n << 63n) | (1n << 55n))),
  ),
  rule('masked atomics of two requesters on two fields of one word lose nothing', ADD, async (context) => {
    const [a, b] = await context.connected()
    const c = await context.end(0)
    const d = await context.end(1, { within: b })
    await c.connect(d.pair.endpoint)
    await d.connect(c.pair.endpoint)
    for (let round = 0; round < 8; round += 1) {
      await add(a, b, 1n, 1n << 31n)
      await add(c, b, 1n << 32n, 1n << 31n)
    }
    assert.equal(await b.word(0), (8n << 32n) | 8n)
  }),
  rule('masked atomics need RemoteAtomic', `${SWAP}; ibv_reg_mr(3)`, async (context) => {
    const [a, b] = await context.connected()
    const memory = await b.player.allocate(b.domain, 4096, 7)
    const opcode = Opcode.MaskedFetchAdd
    await a.post({
      id: 1,
      opcode,
      local: [a.segment(64, 8)],
      remote: b.target(0, memory),
      compareAdd: 1n,
      boundaries: 0n,
    })
    await a.sentWith(CompletionStatus.RemoteAccessError, 1)
    await b.untilState(6)
  }),
  rule(
    'masked atomics that are not at a multiple of eight are refused',
    `${SWAP}; IB specification C9-178`,
    async (context) => {
      const [a, b] = await context.connected()
      const operands = { compareAdd: 0n, compareMask: 0n, swap: 1n, swapMask: ALL }
      const opcode = Opcode.MaskedCompareSwap
      await a.post({ id: 1, opcode, local: [a.segment(64, 8)], remote: b.target(4), ...operands })
      await a.sentWith(CompletionStatus.RemoteInvalidRequest, 1)
    },
  ),
]
