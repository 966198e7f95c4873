import assert from 'node:assert/strict'
import test from 'node:test'
import { kernels } from '../../../../src/arrays/kernels/call.ts'
import { normalsNatively } from '../../../../src/arrays/kernels/native.ts'
import { fillNormal64 } from '../../../../src/arrays/local/random/normal.ts'
import { WordStream } from '../../../../src/arrays/local/random/word-stream.ts'

const skip = kernels() === undefined && 'there is no addon with kernels'

test('the kernel makes the bits of its twin and takes as many words, wherever a call begins and ends', { skip }, () => {
  for (const seed of [1, 2, 3]) {
    const streams = [new WordStream({ seed }), new WordStream({ seed })] as const
    let made = 0
    const counting: typeof normalsNatively = (layers, words, numbers, counts) => {
      const isDone = normalsNatively(layers, words, numbers, counts)
      made += counts[1]!
      return isDone
    }
    let count = 0
    for (const length of [0, 1, 2, 3, 1000, 4097, 20_000, 1, 7]) {
      const [native, twin] = [new Float64Array(length), new Float64Array(length)]
      fillNormal64(streams[0], native, counting)
      fillNormal64(streams[1], twin, () => false)
      assert.deepEqual(new BigUint64Array(native.buffer), new BigUint64Array(twin.buffer))
      assert.equal(streams[0].position, streams[1].position)
      count += length
    }
    assert.ok(made > 0.98 * count, `${made} of ${count} were made by the kernel`)
  }
})
