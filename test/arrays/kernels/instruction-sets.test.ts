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
  const env = { ...process.env, AETHER_NATIVE_ARRAYS: set }
  const args = ['--input-type=module', '--eval', program]
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
}

test('every set of instructions computes the same bits, for vectors and what is left of them', { skip }, () => {
  const best = digestsWith('')
  for (const set of ['baseline', 'avx2']) assert.deepEqual(digestsWith(set), best, set)
})
