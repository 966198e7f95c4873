import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SETTING_NAMES, unknownSettings } from '../../src/native/settings.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { root } from '../repository/checkout.ts'

useRuntimeDirectory()

test('the settings are those of the guide', () => {
  const guide = readFileSync(join(root, 'docs/settings.md'), 'utf8')
  const described = new Set([...guide.matchAll(/`(AETHER_[A-Z_]+)(?==|`)/g)].map(([, name]) => name))
  assert.deepEqual([...SETTING_NAMES].sort(), [...described].sort())
})

test('a variable that looks like a setting and is none is told, with what was meant; names of others are left alone', () => {
  const told = (name: string) => unknownSettings({ [name]: '1', PATH: '/bin' })
  assert.deepEqual(told('AETHER_TRACE_FIEL'), [
    'there is no setting AETHER_TRACE_FIEL; did you mean AETHER_TRACE_FILE?',
  ])
  assert.match(
    told('AETHER_TRACE_FOO')[0]!,
    /there is no setting AETHER_TRACE_FOO; (did you mean|there are) AETHER_TRACE_/,
  )
  assert.deepEqual(told('AETHER_SECRET_KEYRING'), [
    'there is no setting AETHER_SECRET_KEYRING; there is AETHER_SECRET_FILE',
  ])
  for (const name of ['AETHER_HOME', 'AETHER_TOKEN_FOR_CI', 'AETHERNET', ...SETTING_NAMES])
    assert.deepEqual(told(name), [])
})

test('a program and a command that use the package warn of it once', () => {
  const environment = { ...process.env, AETHER_TRACE_FOO: '1' }
  const module = new URL('../../src/public/index.js', import.meta.url).href
  const program = `import { open } from '${module}'; for (const name of ['a', 'b']) await (await open(name)).close()`
  const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
  for (const words of [
    ['--input-type=module', '-e', program],
    [main, 'devices'],
  ]) {
    const { stderr } = spawnSync(process.execPath, words, { env: environment, encoding: 'utf8' })
    assert.equal(stderr.match(/AetherWarning: there is no setting AETHER_TRACE_FOO/g)?.length, 1, stderr)
  }
})
