import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { staleAddon } from '../../native/stale-addon.ts'

const call = new URL('../../../src/arrays/kernels/call.js', import.meta.url).href

/** What another process with this addon finds: whether there are kernels, or the code of the error. */
function foundWith(addon: string): unknown {
  const program = `import(${JSON.stringify(call)}).then(({ kernels }) => {
    try { console.log(JSON.stringify(kernels() !== undefined)) } catch ({ code }) { console.log(JSON.stringify(code)) }
  })`
  const env = { ...process.env, AETHER_NATIVE: addon, AETHER_NATIVE_ARRAYS: '' }
  return JSON.parse(execFileSync(process.execPath, ['--eval', program], { env, encoding: 'utf8' }))
}

test('without an addon there are no kernels, and the twins compute', () => {
  assert.equal(foundWith('/nowhere/aether.node'), false)
})

test('an addon that does not fit is an error, and not a slow computation', () => {
  using stale = staleAddon('sortArray')
  assert.equal(foundWith(stale.path), 'ERR_AETHER_NATIVE_MISMATCH')
})
