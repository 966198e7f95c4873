import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Block } from '../../src/arrays/blocks/block.ts'
import { fftfreq, rfftfreq } from '../../src/arrays/local/fft/frequencies.ts'
import { fftn, ifftn, irfftn, rfftn } from '../../src/arrays/local/fft/many-axes.ts'
import { fftshift, ifftshift } from '../../src/arrays/local/fft/shift.ts'
import { fft, hfft, ifft, ihfft, irfft, type Norm, rfft } from '../../src/arrays/local/fft/transforms.ts'
import { complex64, complex128, float32, float64, int32, int64 } from '../../src/arrays/types/dtype.ts'
import { assertBlock, block, scattered } from './support/blocks.ts'
import { type Numpy, startNumpy, withoutNumpy } from './support/numpy.ts'
import { randomBlock } from './support/random-block.ts'

/** A multiple of the rounding unit of the largest element: errors of a transform spread over all of its elements. */
const bound = { epsilons: 4, zerosEqual: true }
/** Every pass of its own, products of them, primes below and above the bound for a convolution, and a square of one. */
const LENGTHS = [
  1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 15, 16, 30, 31, 49, 60, 64, 97, 101, 210, 257, 360, 1009, 1024, 1331,
]
const NORMS: readonly Norm[] = ['backward', 'ortho', 'forward']

describe('fft', { skip: withoutNumpy }, () => {
  let numpy: Numpy
  before(async () => {
    numpy = await startNumpy()
  })
  after(() => numpy[Symbol.asyncDispose]())

  const agrees = async (actual: Block, expression: string, operand: Block): Promise<void> => {
    const [expected] = await numpy.call(expression, [operand])
    assertBlock(actual, expected!, bound, `${expression} of ${operand.dtype} (${operand.shape})`)
  }

  test('transforms of all lengths are those of NumPy', async () => {
    for (const n of LENGTHS) {
      const complex = randomBlock(complex128, [n], n)
      const real = randomBlock(float64, [n], n)
      await agrees(fft(complex), 'np.fft.fft(a)', complex)
      await agrees(ifft(complex), 'np.fft.ifft(a)', complex)
      await agrees(fft(real), 'np.fft.fft(a)', real)
      await agrees(ifft(real), 'np.fft.ifft(a)', real)
      await agrees(rfft(real), 'np.fft.rfft(a)', real)
      await agrees(ihfft(real), 'np.fft.ihfft(a)', real)
      await agrees(irfft(complex, { n }), `np.fft.irfft(a, n=${n})`, complex)
      await agrees(hfft(complex, { n }), `np.fft.hfft(a, n=${n})`, complex)
    }
  })

  test('float32 stays float32, and integers become float64', async () => {
    for (const dtype of [float32, complex64, int32, int64]) {
      const operand = randomBlock(dtype, [3, 20], 3)
      // NumPy before 2 has complex128 for every type.
      const complex = dtype === float32 || dtype === complex64 ? complex64 : complex128
      const [expected] = await numpy.call(`np.fft.fft(a).astype('${complex}')`, [operand])
      assertBlock(fft(operand), expected!, bound, `fft of ${dtype}`)
    }
    assert.equal(rfft(randomBlock(float32, [8], 1)).dtype, complex64)
    assert.equal(irfft(randomBlock(complex64, [5], 1)).dtype, float32)
  })

  test('axes, lengths and norms are those of NumPy, whatever the strides are', async () => {
    const operand = randomBlock(complex128, [4, 6, 5], 7)
    const view = scattered(operand)
    for (const norm of NORMS)
      for (const axis of [0, 1, -1])
        for (const n of [null, 3, 8]) {
          const text = `n=${n === null ? 'None' : n}, axis=${axis}, norm='${norm}'`
          await agrees(fft(view, { n, axis, norm }), `np.fft.fft(a, ${text})`, operand)
          await agrees(ifft(view, { n, axis, norm }), `np.fft.ifft(a, ${text})`, operand)
          await agrees(irfft(view, { n, axis, norm }), `np.fft.irfft(a, ${text})`, operand)
          await agrees(hfft(view, { n, axis, norm }), `np.fft.hfft(a, ${text})`, operand)
        }
    const real = randomBlock(float64, [4, 6, 5], 8)
    for (const norm of NORMS)
      for (const n of [null, 3, 8]) {
        const text = `n=${n === null ? 'None' : n}, axis=1, norm='${norm}'`
        await agrees(rfft(scattered(real), { n, axis: 1, norm }), `np.fft.rfft(a, ${text})`, real)
        await agrees(ihfft(scattered(real), { n, axis: 1, norm }), `np.fft.ihfft(a, ${text})`, real)
      }
  })

  test('several axes are transformed in the order of NumPy', async () => {
    const complex = randomBlock(complex128, [4, 6, 5], 9)
    const real = randomBlock(float64, [4, 6, 5], 10)
    const cases = [
      [{}, ''],
      [{ axes: [0, 2] }, ', axes=[0, 2]'],
      [{ axes: [-1, 0] }, ', axes=[-1, 0]'],
      [{ s: [3, 7], axes: [1, 2] }, ', s=[3, 7], axes=[1, 2]'],
      [{ s: [-1, 3], axes: [0, 1] }, ', s=[4, 3], axes=[0, 1]'], // NumPy before 2 has no -1
      [{ norm: 'ortho' as const }, ', norm="ortho"'],
    ] as const
    for (const [options, text] of cases) {
      await agrees(fftn(complex, options), `np.fft.fftn(a${text})`, complex)
      await agrees(ifftn(complex, options), `np.fft.ifftn(a${text})`, complex)
      await agrees(irfftn(complex, options), `np.fft.irfftn(a${text})`, complex)
      await agrees(rfftn(real, options), `np.fft.rfftn(a${text})`, real)
    }
    assert.equal(fftn(randomBlock(complex64, [4, 4], 1)).dtype, complex64)
  })

  test('frequencies and shifts are those of NumPy to the bit', async () => {
    for (const n of [1, 2, 5, 8]) {
      assertBlock(fftfreq(n, { d: 0.1 }), (await numpy.call(`np.fft.fftfreq(${n}, 0.1)`))[0]!)
      assertBlock(rfftfreq(n, { d: 0.1 }), (await numpy.call(`np.fft.rfftfreq(${n}, 0.1)`))[0]!)
      const x = scattered(randomBlock(int64, [n, 3, 4], n))
      assertBlock(fftshift(x), (await numpy.call('np.fft.fftshift(a)', [x]))[0]!)
      assertBlock(ifftshift(x, { axes: [0, -1] }), (await numpy.call('np.fft.ifftshift(a, [0, -1])', [x]))[0]!)
    }
  })
})

test('the transform of a long prime length returns the numbers it was made of', () => {
  const x = randomBlock(complex128, [10_007], 5)
  assertBlock(ifft(fft(x)), x, { epsilons: 16 })
})

test('nothing of an empty stack is transformed, and an empty line is an error', () => {
  assert.deepEqual(fft(randomBlock(complex128, [0, 4], 1)).shape, [0, 4])
  assert.throws(() => fft(randomBlock(complex128, [4, 0], 1)), /Invalid number of FFT data points \(0\) specified/)
})

test('what cannot be transformed is an error that says so', () => {
  const x = block(complex128, [{ re: 1, im: 1 }])
  assert.throws(() => rfft(x), { code: 'ERR_AETHER_ARRAY_TYPE' })
  assert.throws(() => fft(x, { axis: 1 }), /axis 1 is out of bounds for array of dimension 1/)
  assert.throws(() => fft(x, { norm: 'other' as Norm }), /Invalid norm value other/)
  assert.throws(() => fftn(x, { s: [1, 2], axes: [0] }), /Shape and axes have different lengths/)
})
