/** Memory of large results is used again, and never while anything can see it. */
import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, it } from 'node:test'
import { newResult } from '../../../src/arrays/blocks/block.ts'
import { openArrays } from '../../../src/arrays/index.ts'
import { kernels } from '../../../src/arrays/kernels/call.ts'
import { float64 } from '../../../src/arrays/types/dtype.ts'
import { native } from '../../../src/native/index.ts'

const LENGTH = 2 ** 17 // one MiB
const skip = kernels() === undefined ? 'there are no native kernels' : false

describe('memory of results', { skip }, () => {
  it('is used again in a loop without a turn of the event loop', () => {
    const addresses = new Set<number>()
    for (let round = 0; round < 400; round += 1) addresses.add(native.addressOf(newResult(float64, [LENGTH]).data))
    assert.ok(addresses.size < 200, `${addresses.size} places for 400 results`)
  })

  it('serves shorter results, too', () => {
    const place = (length: number): number => native.addressOf(newResult(float64, [length]).data)
    const known = new Set(Array.from({ length: 100 }, () => place(4 * LENGTH)))
    const shorter = Array.from({ length: 60 }, () => place(2 * LENGTH))
    assert.ok(shorter.some((address) => known.has(address)))
  })

  it('stays with an array, its views, and typed arrays of it', async () => {
    const xp = await openArrays()
    const x = xp.arange(LENGTH)
    const kept: { readonly round: number; readonly look: () => number }[] = []
    for (let round = 0; round < 300; round += 1) {
      const y = x.add(round).computeSync()
      const last = round + LENGTH - 1
      if (round % 8 === 0) kept.push({ round: last, look: () => y.get(LENGTH - 1) as number })
      if (round % 8 === 3) {
        const view = y.at([null, null, -1])
        kept.push({ round: last, look: () => view.get(0) as number })
      }
      if (round % 8 === 5) {
        const elements = (y.localParts()[0]!.data as Float64Array).subarray(-1)
        kept.push({ round: last, look: () => elements[0]! })
      }
    }
    for (const { round, look } of kept) assert.equal(look(), round)
  })

  it('stays with a buffer to which it was transferred', async (test) => {
    const transfer = (buffer: ArrayBufferLike): ArrayBuffer | undefined =>
      (buffer as unknown as { transfer?: () => ArrayBuffer }).transfer?.()
    if (transfer(new ArrayBuffer(8)) === undefined)
      return test.skip(`Node.js ${process.versions.node} has no transfer()`)
    const xp = await openArrays()
    const moved: Float64Array[] = []
    for (let round = 0; round < 300; round += 1) {
      const y = xp.full([LENGTH], round)
      if (round % 16 === 0) moved.push(new Float64Array(transfer(y.localParts()[0]!.data.buffer)!))
    }
    for (const [at, elements] of moved.entries()) assert.equal(elements[LENGTH - 1], 16 * at)
  })

  it('is zero where zeros are promised', async () => {
    const xp = await openArrays()
    for (let round = 0; round < 100; round += 1) {
      xp.full([LENGTH], 7)
      assert.equal(xp.zeros([LENGTH]).sum().item(), 0)
    }
  })

  it('is not what toTypedArray() gives: that is the caller’s own', async () => {
    const xp = await openArrays()
    const first = xp.full([LENGTH], 1).toTypedArray()
    for (let round = 0; round < 100; round += 1) xp.full([LENGTH], 2).toTypedArray()
    assert.equal(first[0], 1)
    assert.equal(structuredClone(first.buffer, { transfer: [first.buffer as ArrayBuffer] }).byteLength, 8 * LENGTH)
  })
})
