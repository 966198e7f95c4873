/** Reads of an index whose nodes are on other machines, as far as programs can tell: without their programs. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Machines } from '../support/machines.ts'
import { RankProcess } from '../support/rank-process.ts'

const skip = Machines.reasonAgainst()
const fixture = new URL('./fixtures/index-process.js', import.meta.url)

const started = new Set<RankProcess>()
afterEach(async () => {
  await Promise.all([...started].map((each) => each.kill()))
  started.clear()
})

async function startOn(machines: Machines, machine: number): Promise<RankProcess> {
  const { environment, under } = await machines.place(machine)
  const settings = { ...environment, AETHER_SECRET_FILE: machines.secretFile, AETHER_PROFILE: '1' }
  const begun = new RankProcess(fixture, settings, under)
  started.add(begun)
  return begun
}

interface Posted {
  readonly reads: number
  readonly others: number
}

/** What one call posts. */
async function postedBy(client: RankProcess, call: () => Promise<unknown>): Promise<Posted> {
  const before = await client.call<Posted>('posted')
  await call()
  const after = await client.call<Posted>('posted')
  return { reads: after.reads - before.reads, others: after.others - before.others }
}

/** Until reads of the client ask no node. */
async function untilRead(client: RankProcess, key: string): Promise<void> {
  for (let look = 0; ; look += 1) {
    const { reads, others } = await postedBy(client, () => client.call('get', key))
    if (reads > 0 && others === 0) return
    assert.ok(look < 300, `reads ask a node: ${JSON.stringify({ reads, others })}`)
    await sleep(20)
  }
}

test('a client of another machine reads strings and fields without asking a node', { skip }, async () => {
  using machines = new Machines(2, 1)
  const name = 'read-one'
  const node = await startOn(machines, 0)
  await node.call('join', { name, ...machines.joinOptions })
  await node.call('open', { name, replicas: 1, listen: `${machines.networks.addresses[0]}:7500`, timeoutMs: 60_000 })
  const client = await startOn(machines, 1)
  await client.call('connect', name, { addresses: [`${machines.networks.addresses[0]}:7500`] })
  await client.call('set', 'a', 'value')
  await untilRead(client, 'a')
  console.log(await postedBy(client, () => client.call('get', 'a')))
  console.log(await postedBy(client, () => client.call('get', 'none')))
})
