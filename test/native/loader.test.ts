import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { type Body, inChild } from './elsewhere.ts'
import { staleAddon } from './stale-addon.ts'

/** Prints the error of the first use, as it is thrown. */
const firstUse: Body<void> = ({ aether }) => {
  const imported = typeof aether.native === 'object'
  try {
    aether.native.monotonicNs()
  } catch (error) {
    if (!(error instanceof aether.AetherError)) throw error
    const tried = error instanceof aether.NativeMissingError ? error.tried : []
    console.log(JSON.stringify({ imported, name: error.name, code: error.code, message: error.message, tried }))
  }
}

interface Report {
  readonly imported: boolean
  readonly name: string
  readonly code: string
  readonly message: string
  readonly tried: readonly string[]
}

async function report(options: Parameters<typeof inChild>[2]): Promise<Report> {
  const outcome = await inChild(firstUse, undefined, options)
  assert.equal(outcome.code, 0, outcome.stderr)
  return JSON.parse(outcome.stdout) as Report
}

test('an addon that is not there: importing works, the first use says where it was looked for and how to build it', async () => {
  const { imported, name, code, message, tried } = await report({
    environment: { AETHER_NATIVE: '/nowhere/aether.node' },
  })
  assert.equal(imported, true)
  assert.deepEqual([name, code], ['NativeMissingError', 'ERR_AETHER_NATIVE_MISSING'])
  assert.deepEqual(tried, ['/nowhere/aether.node: there is no such file'])
  assert.match(message, /Build it with: node .*native\/build\.mjs/)
})

test('an addon that is garbage: the reason of the system is passed on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aether-loader-'))
  const path = join(folder, 'aether.node')
  writeFileSync(path, 'this is no shared object')
  const { name, tried } = await report({ environment: { AETHER_NATIVE: path } })
  rmSync(folder, { recursive: true })
  assert.equal(name, 'NativeMissingError')
  assert.equal(tried.length, 1)
  assert.match(tried[0] ?? '', /aether\.node: .*(file too short|invalid ELF header)/)
})

test('an addon of an older version is refused at the first use, whatever is used: the missing functions are named', async () => {
  using stale = staleAddon('multiplyMatrices')
  const { name, code, message } = await report({ environment: { AETHER_NATIVE: stale.path } })
  assert.deepEqual([name, code], ['AetherError', 'ERR_AETHER_NATIVE_MISMATCH'])
  assert.match(message, /it has no multiplyMatrices; build it again: node .*native\/build\.mjs$/)
})

for (const platform of ['darwin', 'win32'])
  test(`on ${platform} importing works, and the first use says in one sentence what is missing`, async () => {
    const pretence = `data:text/javascript,Object.defineProperty(process,'platform',{value:'${platform}'})`
    const { imported, name, code, message } = await report({ flags: ['--import', pretence] })
    assert.equal(imported, true)
    assert.deepEqual([name, code], ['UnsupportedError', 'ERR_AETHER_UNSUPPORTED'])
    assert.match(message, new RegExp(`^aether-dsm needs Linux .* and this is ${platform}.*$`))
    assert.ok(!message.includes('\n'))
  })

test('every function that the contract names is there, as a plain property once one was used', async () => {
  const outcome = await inChild(({ aether: { native } }) => {
    native.monotonicNs()
    const names = Object.keys(native)
    const wrong = names.filter((name) => typeof Object.getOwnPropertyDescriptor(native, name)?.value !== 'function')
    console.log(JSON.stringify({ count: names.length, wrong }))
  }, undefined)
  const { count, wrong } = JSON.parse(outcome.stdout) as { count: number; wrong: string[] }
  assert.deepEqual(wrong, [])
  assert.ok(count >= 43, `${count} functions`)
})
