/** An index over machines, as far as programs can tell: nodes and cables are lost, and others take their place. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertLinearizable } from '../consensus/histories.ts'
import { Machines } from '../support/machines.ts'
import { RankProcess } from '../support/rank-process.ts'

const skip = Machines.reasonAgainst()
const fixture = new URL('./fixtures/index-process.js', import.meta.url)
const PORT = 7500

const started = new Set<RankProcess>()
afterEach(async () => {
  await Promise.all([...started].map((each) => each.kill()))
  started.clear()
})

async function startOn(machines: Machines, machine: number): Promise<RankProcess> {
  const { environment, under } = await machines.place(machine)
  const begun = new RankProcess(fixture, { ...environment, AETHER_SECRET_FILE: machines.secretFile }, under)
  started.add(begun)
  return begun
}

/** A node on `machine`, with its files, that clients of other machines reach. */
async function nodeOn(machines: Machines, machine: number, name: string): Promise<RankProcess> {
  const node = await startOn(machines, machine)
  await node.call('join', { name, leaseMs: 2000, ...machines.joinOptions })
  const listen = `${machines.networks.addresses[machine]}:${PORT}`
  const directory = join(machines.folder, `log-${machine}`)
  await node.call('open', { name, replicas: 3, shards: 2, directory, listen, timeoutMs: 60_000 })
  return node
}

const holdsBoth = async (node: RankProcess): Promise<void> => {
  for (let look = 0; (await node.call<number[]>('holds')).length < 2; look += 1) {
    assert.ok(look < 3000, `it holds ${await node.call('holds')}`)
    await sleep(10)
  }
}

test('an index of three machines goes on without any of them, takes it back, and has all after all were killed', {
  skip,
}, async () => {
  using machines = new Machines(4, 3)
  const name = 'machines'
  const nodes = await Promise.all([0, 1, 2].map((machine) => nodeOn(machines, machine, name)))
  const client = await startOn(machines, 3)
  const addresses = machines.networks.addresses.slice(0, 3).map((address) => `${address}:${PORT}`)
  await client.call('connect', name, { addresses })
  const path = join(machines.folder, 'history')
  const goesOn = async (): Promise<void> => {
    const before = await client.call<number>('returned')
    for (let look = 0; (await client.call<number>('returned')) < before + 20; look += 1) {
      assert.ok(look < 3000, 'calls are not answered')
      await sleep(10)
    }
  }
  await client.call('fill', 0, 200, 100)
  await client.call('begin', path, 1, 2, 8, 2)
  await goesOn()
  await nodes[0]!.kill()
  await goesOn()
  nodes[0] = await nodeOn(machines, 0, name)
  await holdsBoth(nodes[0])
  machines.networks.unplug(1)
  assert.equal((await nodes[1]!.ended()).code, 72)
  await goesOn()
  machines.networks.plug(1)
  nodes[1] = await nodeOn(machines, 1, name)
  await holdsBoth(nodes[1])
  await client.call('stop')
  assert.ok(assertLinearizable(path) > 60)
  assert.equal(await client.call('set', 'last', 'written'), true)
  await Promise.all(nodes.map((node) => node.kill()))
  const again = await Promise.all([0, 1, 2].map((machine) => nodeOn(machines, machine, name)))
  assert.equal(await again[2]!.call('get', 'last'), 'written')
  assert.equal(await client.call('get', 'last'), 'written')
  assert.equal(await client.call('countKeys', 'filled', 200), 200)
})

test('nodes of several machines reach each other without being told where, for shards that they do not hold', {
  skip,
}, async () => {
  using machines = new Machines(4)
  const name = 'spread'
  const nodes = await Promise.all(
    [0, 1, 2, 3].map(async (machine) => {
      const node = await startOn(machines, machine)
      await node.call('join', { name, ...machines.joinOptions })
      await node.call('open', { name, replicas: 3, shards: 4, timeoutMs: 60_000 })
      return node
    }),
  )
  await nodes[0]!.call('fill', 0, 100, 100)
  for (const node of nodes) assert.equal(await node.call('countKeys', 'filled', 100), 100)
})

test('clients of other machines reach a node that listens at all addresses, or at what its name means to itself', {
  skip,
}, async () => {
  using machines = new Machines(2, 1)
  for (const [host, port] of [
    ['machine-0', 7500],
    ['0.0.0.0', 7501],
  ] as const) {
    const name = `listens-at-${port}`
    const node = await startOn(machines, 0)
    await node.call('join', { name, ...machines.joinOptions })
    await node.call('open', { name, replicas: 1, listen: `${host}:${port}`, timeoutMs: 60_000 })
    const client = await startOn(machines, 1)
    await client.call('connect', name, { addresses: [`machine-0:${port}`] })
    assert.equal(await client.call('set', 'a', 'from afar'), true)
    assert.equal(await node.call('get', 'a'), 'from afar')
    await Promise.all([client, node].map((each) => each.kill()))
  }
})
