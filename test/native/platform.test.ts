import assert from 'node:assert/strict'
import test from 'node:test'
import { whyUnsupported } from '../../src/native/platform.ts'

const here = { platform: 'linux', versions: { node: '24.0.0' }, mappedFiles: '' }
const mapped = (path: string) => `7f0000000000-7f0000001000 r-xp 00000000 08:01 42   ${path}\n`

test('Node.js on Linux with glibc is supported', () => {
  assert.equal(whyUnsupported(), undefined, 'this process')
  const mappedFiles = mapped('/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2')
  assert.equal(whyUnsupported({ ...here, mappedFiles }), undefined)
})

for (const [what, facts, sentence] of [
  ['another system', { platform: 'freebsd' }, /needs Linux .* this is freebsd/],
  ['Bun', { versions: { node: '24.0.0', bun: '1.4.5' } }, /needs Node\.js and this is Bun 1\.4\.5/],
  ['Deno', { versions: { node: '24.0.0', deno: '2.9.6' } }, /needs Node\.js and this is Deno 2\.9\.6/],
  ['musl', { mappedFiles: mapped('/lib/ld-musl-aarch64.so.1') }, /needs glibc .* musl \(Alpine Linux\)/],
] as const)
  test(`${what} is told in one sentence`, () => {
    const why = whyUnsupported({ ...here, ...facts })
    assert.match(why ?? '', sentence)
    assert.ok(!why?.includes('\n'))
  })
