/** Reads of an index whose nodes are on other machines, as far as programs can tell: their programs take no part. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import process from 'node:process'
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

/** A node on each of the first machines, and a client on the last. */
async function indexOf(
  machines: Machines,
  name: string,
  options: object,
): Promise<{ readonly nodes: readonly RankProcess[]; readonly client: RankProcess }> {
  const addresses = machines.networks.addresses.slice(0, -1)
  const nodes = await Promise.all(
    addresses.map(async (address, machine) => {
      const node = await startOn(machines, machine)
      await node.call('join', { name, ...machines.joinOptions })
      await node.call('open', { name, listen: `${address}:7500`, timeoutMs: 60_000, ...options })
      return node
    }),
  )
  const client = await startOn(machines, addresses.length)
  await client.call('connect', name, { addresses: addresses.map((address) => `${address}:7500`) })
  return { nodes, client }
}

interface Posted {
  readonly reads: number
  readonly others: number
}

/** What a call posts. */
async function postedBy(client: RankProcess, call: () => Promise<unknown>): Promise<Posted> {
  const before = await client.call<Posted>('posted')
  await call()
  const after = await client.call<Posted>('posted')
  return { reads: after.reads - before.reads, others: after.others - before.others }
}

/** Until a read of the client asks no node. */
async function untilRead(client: RankProcess, call: () => Promise<unknown>): Promise<void> {
  for (let look = 0; ; look += 1) {
    const { reads, others } = await postedBy(client, call)
    if (reads > 0 && others === 0) return
    assert.ok(look < 1000, `reads ask a node: ${JSON.stringify({ reads, others })}`)
    await sleep(10)
  }
}

/** SIGSTOP or SIGCONT to the program itself. */
function signal(node: RankProcess, name: NodeJS.Signals): void {
  let processId = node.processId
  for (;;) {
    const child = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8').trim().split(' ')[0]!
    if (child === '') break
    processId = Number(child)
  }
  process.kill(processId, name)
}

test('a client of another machine reads in two round trips, in one if it has read the key before, and asks no node', {
  skip,
}, async () => {
  using machines = new Machines(4, 3)
  const { client } = await indexOf(machines, 'counted', { replicas: 3 })
  for (const key of ['a', 'b']) await client.call('set', key, `value of ${key}`)
  await client.call('setHash', 'hash', { field: 'of a field' })
  await untilRead(client, () => client.call('get', 'a'))
  const get = (key: string) => async (): Promise<void> =>
    assert.equal(await client.call('get', key), key === 'none' ? undefined : `value of ${key}`)
  // The heads of two voters, the header, the bucket between two READs of its version, the header; then the record and
  // the header.
  assert.deepEqual(await postedBy(client, get('b')), { reads: 9, others: 0 })
  // The heads, the header, the version, the bucket, the record, the header.
  assert.deepEqual(await postedBy(client, get('b')), { reads: 7, others: 0 })
  // The version again, in place of a record.
  assert.deepEqual(await postedBy(client, get('none')), { reads: 7, others: 0 })
  const field = async (): Promise<void> => assert.equal(await client.call('hash', 'hash', 'field'), 'of a field')
  await untilRead(client, field)
  // The version, the bucket and the record of the key, and those of the field.
  assert.deepEqual(await postedBy(client, field), { reads: 10, others: 0 })
})

/** The rank of the leader, as the nodes say. */
async function leaderOf(nodes: readonly RankProcess[]): Promise<number> {
  for (let look = 0; look < 3000; look += 1) {
    const leader = await nodes[0]!.call<number | undefined>('leader')
    if (leader !== undefined) return leader
    await sleep(10)
  }
  throw new Error('no one leads')
}

for (const [what, thread] of [
  ['program', 'program'],
  ['process', 'own'],
] as const)
  test(`a leader whose ${what} is stopped is read no more once another has answered a write`, { skip }, async () => {
    using machines = new Machines(4, 3)
    const { nodes, client } = await indexOf(machines, `stopped-${what}`, { replicas: 3, thread })
    await client.call('set', 'a', 'old')
    await untilRead(client, () => client.call('get', 'a'))
    const ranks = await Promise.all(nodes.map((node) => node.call<number>('rank')))
    const leader = nodes[ranks.indexOf(await leaderOf(nodes))]!
    const other = nodes.find((node) => node !== leader)!
    // The device of a program that computes goes on to answer READs.
    const blocked = what === 'program' ? leader.call('block', 6000) : undefined
    if (what === 'process') signal(leader, 'SIGSTOP')
    const seen: string[] = []
    let isOver = false
    const reading = (async (): Promise<void> => {
      while (!isOver) seen.push(await client.call<string>('getWithin', 'a', 2000))
    })()
    for (let tries = 0; ; tries += 1) {
      const code = await other.call<string>('codeOfSet', 'a', { timeoutMs: 5000 })
      if (code === 'stored') break
      assert.ok(tries < 10, code)
    }
    // A read that begins from here on has to see it.
    const later = await Promise.all(Array.from({ length: 20 }, () => client.call<string>('getWithin', 'a', 20_000)))
    assert.deepEqual([...new Set(later)], ['late'])
    isOver = true
    await reading
    if (what === 'process') signal(leader, 'SIGCONT')
    await blocked
    for (let read = 0; read < 200; read += 1) assert.equal(await client.call('getWithin', 'a', 20_000), 'late')
    const firstNew = seen.indexOf('late')
    assert.ok(firstNew < 0 || !seen.slice(firstNew).includes('old'), 'a value came back')
    await untilRead(client, () => client.call('get', 'a'))
    assert.equal(await client.call('get', 'a'), 'late')
  })

test('reads go on in memory that is taken later, and after a kill', { skip }, async () => {
  using machines = new Machines(4, 3)
  const { nodes, client } = await indexOf(machines, 'grows', { replicas: 3, shards: 2, memoryBytes: 2 ** 28 })
  // More than one piece of memory, in each shard.
  await nodes[0]!.call('fill', 0, 5000, 10_000)
  for (const key of ['filled 1', 'filled 4321', 'filled 4999']) await untilRead(client, () => client.call('get', key))
  await nodes[1]!.kill()
  assert.equal(await client.call('countKeys', 'filled', 900), 900)
  for (const key of ['filled 1', 'filled 4321', 'filled 4999']) await untilRead(client, () => client.call('get', key))
})

test('no value is torn or older than one before while it is written', { skip }, async () => {
  using machines = new Machines(2, 1)
  const { nodes, client } = await indexOf(machines, 'torn', { replicas: 1, memoryBytes: 2 ** 24 })
  await client.call('set', 'a', '0 ')
  await untilRead(client, () => client.call('get', 'a'))
  const writing = nodes[0]!.call('writeOften', 'a', 4000)
  const before = await client.call<Posted>('posted')
  const found = await client.call<{ torn: number; back: number; reads: number }>('readUntil', 'a', 4000)
  const after = await client.call<Posted>('posted')
  await writing
  assert.deepEqual([found.torn, found.back], [0, 0])
  assert.ok(after.reads - before.reads > 200, `${after.reads - before.reads} READs in ${found.reads} reads`)
})

test('a program READs a value itself at the place that locate tells', { skip }, async () => {
  using machines = new Machines(2, 1)
  const { client } = await indexOf(machines, 'located', { replicas: 1 })
  await client.call('set', 'a', 'a value')
  await client.call('setHash', 'hash', { field: 'of a field' })
  assert.equal(await client.call('readAt', 'a'), 'a value')
  assert.equal(await client.call('readAt', 'a', undefined, 'another'), undefined)
  assert.equal(await client.call('readAt', 'a'), 'another')
  assert.equal(await client.call('readAt', 'hash', 'field'), 'of a field')
})

test('no key is missed while shards move to other nodes, and a node that begins again is read again', {
  skip,
}, async () => {
  using machines = new Machines(5, 4)
  const name = 'moves'
  const options = { replicas: 3, shards: 4 }
  const { nodes, client } = await indexOf(machines, name, options)
  await nodes[0]!.call('fill', 0, 300, 100)
  for (let key = 0; key < 8; key += 1) await untilRead(client, () => client.call('get', `filled ${key}`))
  let isOver = false
  const counts = new Set<number>()
  const counting = (async (): Promise<void> => {
    while (!isOver) counts.add(await client.call<number>('countKeys', 'filled', 300))
  })()
  await nodes[3]!.call('closeGroup')
  for (const node of nodes.slice(0, 3))
    for (let look = 0; (await node.call<number[]>('holds')).length < 4; look += 1) {
      assert.ok(look < 3000)
      await sleep(10)
    }
  await nodes[3]!.kill()
  const again = await startOn(machines, 3)
  await again.call('join', { name, ...machines.joinOptions })
  const listen = `${machines.networks.addresses[3]}:7500`
  await again.call('open', { name, listen, timeoutMs: 60_000, ...options })
  for (let look = 0; (await again.call<number[]>('holds')).length === 0; look += 1) {
    assert.ok(look < 3000)
    await sleep(10)
  }
  isOver = true
  await counting
  assert.deepEqual([...counts], [300])
  for (let key = 0; key < 8; key += 1) await untilRead(client, () => client.call('get', `filled ${key}`))
})
