import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { kernels } from '../../../src/arrays/kernels/call.ts'

const skip = kernels() === undefined && 'there is no addon with kernels'
const index = new URL('../../../src/arrays/index.js', import.meta.url).href

/** What a process that uses no better instructions computes: for each function and type a digest of all bits. */
function digestsWith(set: string): unknown {
  const program = `
    import { createHash } from 'node:crypto'
    import { openArrays } from ${JSON.stringify(index)}
    const xp = await openArrays()
    const special = [Infinity, -Infinity, NaN, 0, -0, 708, -708, 709.7, 710, -745, -746, 1e-320, 5e-324, 1e300]
    const digests = {}
    for (const name of 'exp expm1 log log1p log2 log10 sin cos tan atan sinh cosh tanh'.split(' '))
      for (const type of ['float32', 'float64']) {
        const hash = createHash('md5')
        const take = (x) => {
          const values = xp[name](x.astype(xp[type])).toTypedArray().map((value) => (Number.isNaN(value) ? 0 : value))
          hash.update(new Uint8Array(values.buffer))
        }
        take(xp.asarray(special))
        for (const length of [1, 7, 8, 9, 255, 256, 257, 5003])
          for (const reach of [1, 30, 750]) take(xp.linspace(-reach, reach, length))
        digests[name + ' of ' + type] = hash.digest('hex')
      }
    console.log(JSON.stringify(digests))`
  return resultWith(set, program)
}

function resultWith(set: string, program: string): unknown {
  // Several threads, whatever the machine has.
  const env = { ...process.env, AETHER_NATIVE_ARRAYS: set, AETHER_ARRAY_THREADS: '3' }
  const args = ['--input-type=module', '--eval', program]
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
}

/** Digests of transforms: of lengths with all passes, of lines anywhere in a block, and of some beyond the caches. */
function transformsWith(set: string): unknown {
  return resultWith(
    set,
    `
    import { createHash } from 'node:crypto'
    import { openArrays } from ${JSON.stringify(index)}
    const { fft, random, complex128, float32 } = await openArrays()
    const digests = {}
    const take = (name, x) => {
      const { buffer } = x.toTypedArray()
      digests[name] = createHash('md5').update(new Uint8Array(buffer)).digest('hex')
    }
    for (const n of [48, 60, 64, 75, 100, 125, 243, 250, 1000, 1024, 2187, 3125, 20736, 50000, 65536, 120000]) {
      const real = random.random(random.generator(n), 2 * n + 2)
      const x = real.subtract(0.5).astype(complex128).multiply({ re: 1, im: 0.25 })
      x.setAt('3:20', 0)
      const lines = { short: x.at([0, n - 7]), long: x.at([0, n + 5]), every: x.at([1, null, 2]), back: x.at([n, 0, -1]) }
      for (const [place, line] of Object.entries(lines))
        for (const name of ['fft', 'ifft']) take([n, place, name], fft[name](line, { n, norm: 'ortho' }))
      const half = real.at([0, n + 1])
      take([n, 'rfft'], fft.rfft(half, { n }))
      take([n, 'irfft'], fft.irfft(x.at([0, n + 1]), { n }))
      take([n, 'float32'], fft.fft(half.astype(float32), { n }))
    }
    const plane = random.random(random.generator(1), 60 * 100).reshape([60, 100]).astype(complex128)
    for (const axis of [0, 1]) take(['axis', axis], fft.fft(plane, { axis }))
    console.log(JSON.stringify(digests))`,
  )
}

test('every set of instructions computes the same bits, for vectors and what is left of them', { skip }, () => {
  const best = digestsWith('')
  for (const set of ['baseline', 'avx2']) assert.deepEqual(digestsWith(set), best, set)
})

test('transforms have the bits of the twin with every set of instructions', { skip }, () => {
  const twin = transformsWith('0')
  for (const set of ['', 'baseline', 'avx2']) assert.deepEqual(transformsWith(set), twin, set)
})
