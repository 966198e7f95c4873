import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Frame } from '../../src/dashboard/index.ts'
import { open } from '../../src/dsm/index.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { aether } from './command-line.ts'

useRuntimeDirectory()
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

test('top shows the members and regions of the space that runs, as a table and as JSON', async () => {
  await using space = await open('shop')
  await using region = await space.openRegion('hits', { size: '64KiB' })
  assert.equal(region.size, 65_536)
  const shown = aether('top', '--once', '--interval', '0.2')
  assert.equal(shown.status, 0, shown.stderr)
  assert.match(shown.stdout, /^shop {2}1 member, epoch 1, 1 region/)
  assert.match(shown.stdout, new RegExp(`member 0 +${process.pid} +running`))
  assert.match(shown.stdout, /hits +hardware +64\.0 KiB +16 of 4\.00 KiB +0/)
  const json = aether('top', 'shop', '--once', '--json', '--interval', '0.2')
  const frame = JSON.parse(json.stdout) as Frame
  assert.equal(frame.space, 'shop')
  assert.deepEqual(
    frame.members.map(({ processId }) => processId),
    [process.pid],
  )
})

test('top in a pipe shows one picture after the other and ends with the space', async () => {
  const space = await open('short')
  const child = spawn(process.execPath, [main, 'top', 'short', '--interval', '0.2'])
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  await until(() => stdout.split('short  ').length > 2, 'two pictures')
  await space.close()
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 0)
  assert.match(stdout, /ended/)
})

test('top says what is wrong: no space, several, none of that name, a wrong interval', async () => {
  const none = aether('top')
  assert.equal(none.status, 2)
  assert.match(none.stderr, /no space of yours is running/)
  await using first = await open('first')
  await using second = await open('second')
  assert.equal(first.name + second.name, 'firstsecond')
  const several = aether('top')
  assert.equal(several.status, 2)
  assert.match(several.stderr, /which space\? These are running: first, second/)
  const missing = aether('top', 'third')
  assert.equal(missing.status, 1)
  assert.match(missing.stderr, /no process of yours is in a space 'third'/)
  const wrong = aether('top', 'first', '--interval', 'soon')
  assert.equal(wrong.status, 2)
  assert.match(wrong.stderr, /--interval takes a number of seconds from 0.1 to 60/)
})
