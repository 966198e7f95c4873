/** Nodes and clients of two versions of the package beside each other: versions are copies of this one. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { assertLinearizable } from '../consensus/histories.ts'
import { RankProcess } from '../support/rank-process.ts'

useRuntimeDirectory()

const root = fileURLToPath(new URL('../../../', import.meta.url))
const fixturePath = 'dist/test/index-service/fixtures/index-process.js'
const folder = mkdtempSync(join(tmpdir(), 'aether-index-versions-'))
const started: RankProcess[] = []
after(async () => {
  await Promise.all(started.map((each) => each.kill()))
  rmSync(folder, { recursive: true, force: true })
})

/** How a room says which version of a protocol it speaks, in what a build has made of it. */
interface Protocol {
  readonly room: string
  readonly spoken: RegExp
  readonly version: number
}

/** A release of this package: what its processes run. `other`: a protocol of which it has another version. */
function release(version: string, other?: Protocol): URL {
  const place = join(folder, version)
  for (const part of ['src', 'test']) cpSync(join(root, 'dist', part), join(place, 'dist', part), { recursive: true })
  for (const part of ['native', 'node_modules']) symlinkSync(join(root, part), join(place, part))
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object
  writeFileSync(join(place, 'package.json'), JSON.stringify({ ...manifest, version }))
  if (other !== undefined) {
    const path = join(place, 'dist/src', other.room, 'room.js')
    const text = readFileSync(path, 'utf8')
    const changed = text.replace(other.spoken, `$1${other.version}`)
    assert.notEqual(changed, text, `${other.room} has a version`)
    writeFileSync(path, changed)
  }
  return pathToFileURL(join(place, fixturePath))
}

function start(fixture: URL): RankProcess {
  const each = new RankProcess(fixture, {})
  started.push(each)
  return each
}

const present = new URL('./fixtures/index-process.js', import.meta.url)

test('nodes are replaced one by one by those of another version while clients work: no call fails', async () => {
  const name = `versions-${process.pid}`
  const options = { name, replicas: 3 }
  const nodes = [start(present), start(present), start(present)]
  for (const each of nodes) await each.call('join', { name })
  await Promise.all(nodes.map((each) => each.call('open', options)))
  const client = start(present)
  await client.call('connect', name)
  await client.call('fill', 0, 200, 100)
  const path = join(folder, 'history')
  await client.call('begin', path, 1, 3, 4, 3)
  const next = release('99.0.0')
  for (const old of nodes.splice(0)) {
    const added = start(next)
    await added.call('join', { name })
    await added.call('open', options)
    nodes.push(added)
    await old.call('closeGroup')
    await old.kill()
    const before = await client.call<number>('returned')
    while ((await client.call<number>('returned')) < before + 20) await sleep(10)
  }
  await client.call('stop')
  assert.deepEqual(await client.call('failed'), [])
  assert.ok(assertLinearizable(path) > 60)
  assert.equal(await client.call('countKeys', 'filled', 200), 200)
})

test('a version with another protocol is refused, and told what to do', async () => {
  const name = `protocols-${process.pid}`
  const node = start(present)
  await node.call('join', { name })
  await node.call('open', { name, replicas: 1, listen: '127.0.0.1:0' })
  const { address, port } = await node.call<{ address: string; port: number }>('listens')
  const client = start(
    release('98.0.0', { room: 'rpc', spoken: /(version !== |word: |word = |this client )\d+/g, version: 99 }),
  )
  for (const where of [{}, { addresses: [`${address}:${port}`] }])
    await assert.rejects(
      client.call('connect', name, { timeoutMs: 5000, ...where }),
      /of another version: .* this client 99; install the same release/,
    )
  const member = start(
    release('97.0.0', { room: 'cluster', spoken: /(\[Word\$?\d*\.Version\] (?:!==|=|===) )\d+/g, version: 99 }),
  )
  await assert.rejects(member.call('join', { name }), /another version of Aether .*use the same version everywhere/)
  const other = start(present)
  await other.call('connect', name)
  assert.equal(await other.call('set', 'a', 'on'), true)
})
