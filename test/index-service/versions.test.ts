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

/** What is other in a release, in what a build has made of a room. */
interface Change {
  readonly room: string
  readonly find: RegExp
  readonly replace: string
}

/** A release of this package: what its processes run. */
function release(version: string, ...changes: readonly Change[]): URL {
  const place = join(folder, version)
  for (const part of ['src', 'test']) cpSync(join(root, 'dist', part), join(place, 'dist', part), { recursive: true })
  for (const part of ['native', 'node_modules']) symlinkSync(join(root, part), join(place, part))
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object
  writeFileSync(join(place, 'package.json'), JSON.stringify({ ...manifest, version }))
  for (const { room, find, replace } of changes) {
    const path = join(place, 'dist/src', room, 'room.js')
    const text = readFileSync(path, 'utf8')
    const changed = text.replace(find, replace)
    assert.notEqual(changed, text, `${room} has ${find}`)
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
    release('98.0.0', { room: 'rpc', find: /(version !== |word: |word = |this client )\d+/g, replace: '$199' }),
  )
  for (const where of [{}, { addresses: [`${address}:${port}`] }])
    await assert.rejects(
      client.call('connect', name, { timeoutMs: 5000, ...where }),
      /of another version: .* this client 99; install the same release/,
    )
  const member = start(
    release('97.0.0', { room: 'cluster', find: /(\[Word\$?\d*\.Version\] (?:!==|=|===) )\d+/g, replace: '$199' }),
  )
  await assert.rejects(member.call('join', { name }), /another version of Aether .*use the same version everywhere/)
  const other = start(present)
  await other.call('connect', name)
  assert.equal(await other.call('set', 'a', 'on'), true)
})

test('a command that only some releases know is refused by all nodes, until the last old one has gone for good', async () => {
  const name = `formats-${process.pid}`
  const options = { name, replicas: 3 }
  const next = release('96.0.0', {
    room: 'index-service',
    find: /\.\.\.slots(\$?\d*),?\n/,
    replace: "...slots$1, { ...strings.find(({ name }) => name === 'incr'), name: 'addone', since: 2 }\n",
  })
  const nodes: RankProcess[] = []
  const add = async (fixture: URL): Promise<RankProcess> => {
    const node = start(fixture)
    await node.call('join', { name })
    await node.call('open', options)
    return node
  }
  for (const node of [start(present), start(present), start(present)]) {
    await node.call('join', { name })
    nodes.push(node)
  }
  await Promise.all(nodes.map((node) => node.call('open', options)))
  const client = start(next)
  await client.call('connect', name)
  const replaceOne = async (): Promise<void> => {
    nodes.push(await add(next))
    const old = nodes.shift()!
    await old.call('closeGroup')
    await old.kill()
  }
  await replaceOne()
  // More than replicas decide before they compare what they have come to.
  for (let call = 0; call < 600; call += 1)
    await assert.rejects(client.call('call', 'ADDONE', 'counter'), { code: 'ERR_AETHER_INDEX_REFUSED' })
  for (const node of nodes) {
    const { deviating, applied } = await node.call<{ deviating: number[]; applied: number }>('status', 0)
    assert.deepEqual(deviating, [])
    assert.ok(applied > 600)
  }
  await replaceOne()
  await replaceOne()
  let counted: unknown
  for (let look = 0; counted === undefined; look += 1) {
    counted = await client.call('call', 'ADDONE', 'counter').catch((error: unknown) => {
      if (look > 600) throw error
    })
    await sleep(50)
  }
  assert.equal(counted, 1)
  await assert.rejects(
    add(present),
    /uses format 2 of its commands, and this release of Aether knows format 1; install/,
  )
  assert.equal(await client.call('call', 'ADDONE', 'counter'), 2)
  for (const node of nodes) assert.equal(await node.call('get', 'counter'), '2')
})
