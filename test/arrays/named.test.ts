import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MeshArrays } from './support/mesh-arrays.ts'

/** The code and the message that a promise rejects with. */
async function refusal(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await promise.then(
    () => ({ code: 'nothing', message: '' }),
    (cause: unknown) => cause,
  )
  const { code, message } = error as { code: string; message: string }
  return { code: code.replace('ERR_AETHER_ARRAY_', ''), message }
}

test('ranks that give only a name are told what the array is, and all have parts of the one array', async () => {
  await using mesh = await MeshArrays.open(3, true)
  await mesh.all(async (xp, rank) => {
    const what = { shape: [7, 2], dtype: xp.float32, partition: 'block' } as const
    const x = rank === 1 ? await xp.named('grid', what) : await xp.named('grid')
    assert.deepEqual([x.shape, x.dtype, x.partition], [[7, 2], xp.float32, 'block x replicated'])
    x.localParts()[0]!.data.fill(rank as never)
    const again = await xp.named('grid')
    assert.deepEqual([...again.localParts()[0]!.data], [...x.localParts()[0]!.data])
    const other = await xp.named('other', { shape: 4 })
    assert.deepEqual([...other.toTypedArray()], [0, 0, 0, 0])
    // A name is free again when its array is gone.
    x[Symbol.dispose]()
    assert.equal((await refusal(xp.named('grid'))).code, 'VALUE')
    assert.deepEqual((await xp.named('grid', { shape: 2 })).shape, [2])
  })
})

test('what ranks say of an array must be the same: the error has both, at every rank', async () => {
  await using mesh = await MeshArrays.open(3, true)
  await mesh.all(async (xp, rank) => {
    const make = { shape: [6], partition: 'block' } as const
    await xp.named('x', make)
    const cases = [
      [{ shape: [5], partition: 'block' }, 'SHAPE', /has shape \(6,\) at rank 0, but rank 2 asks for shape \(5,\)/],
      [{ ...make, dtype: xp.int8 }, 'TYPE', /type float64 at rank 0, but rank 2 asks for type int8/],
      [{ ...make, partition: 'cyclic' }, 'PARTITION', /partition "block" .* partition "cyclic"/],
      [{ ...make, access: 'read' }, 'READ_ONLY', /access 'write' .* access 'read'/],
    ] as const
    for (const [options, kind, text] of cases) {
      const { code, message } = await refusal(rank === 2 ? xp.named('x', options) : xp.named('x'))
      assert.equal(code, kind)
      assert.match(message, text)
    }
    assert.equal((await refusal(xp.named('none'))).code, 'VALUE')
    const { code } = await refusal(xp.named(rank === 0 ? 'one' : 'another', make))
    assert.equal(code, 'ORDER')
    assert.deepEqual((await xp.named('x', make)).shape, [6])
  })
})
