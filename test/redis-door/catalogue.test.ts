/** What COMMAND says of commands is what they are, and what redis-server says of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandNamed, commandNames } from '../../src/index-service/index.ts'
import { entryNamed } from '../../src/redis-door/catalogue/catalogue.ts'
import { doorCommandNames } from '../../src/redis-door/commands/door-table.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { withoutRedis } from '../index-service/support/differential.ts'
import { openDoor, openRedis } from './support/door.ts'
import type { Answer } from './support/raw-client.ts'

useRuntimeDirectory()

const names = [...new Set([...commandNames(), ...doorCommandNames()])].sort()

test('each command of the index and of the door has an entry with its arity', () => {
  assert.deepEqual(
    names.filter((name) => entryNamed(name) === undefined),
    [],
  )
  for (const name of commandNames()) assert.equal(entryNamed(name)!.arity, commandNamed(name)!.arity, name)
})

test('flags of commands of the index say what they do', () => {
  for (const name of commandNames()) {
    const [entry, spec] = [entryNamed(name)!, commandNamed(name)!]
    // Those of a container are flags of its subcommands.
    if (entry.subcommands.length > 0) continue
    assert.equal(entry.flags.has('write'), spec.isWrite, name)
    if (spec.blocking !== undefined) assert.ok(entry.flags.has('blocking'), name)
  }
})

/** Without notes, which are for people, and without the order of lists that have none. */
function compared(answer: Answer): Answer {
  if (answer === null) return null
  const [name, arity, flags, first, last, step, categories, tips, keys, subcommands] = answer as Answer[]
  const sorted = (list: Answer): Answer => [...(Array.isArray(list) ? list : [])].sort()
  return {
    ...{ name: name!, arity: arity!, flags: sorted(flags!), first: first!, last: last!, step: step! },
    ...{ categories: sorted(categories!), tips: tips!, keys: (keys as Answer[]).map(withoutNotes) },
    subcommands: new Map((subcommands as Answer[]).map((each) => [(each as Answer[])[0], compared(each)])) as never,
  }
}

function withoutNotes(spec: Answer): Answer {
  const fields = spec as Answer[]
  const at = fields.indexOf('notes')
  return at < 0 ? fields : fields.filter((_, index) => index !== at && index !== at + 1)
}

test('COMMAND INFO is as that of redis-server', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  const owns = (await own.ask('COMMAND', 'INFO', ...names)) as Answer[]
  const others = (await theirs.ask('COMMAND', 'INFO', ...names)) as Answer[]
  for (const [at, name] of names.entries()) {
    assert.notEqual(owns[at], null, name)
    const [mine, other] = [compared(owns[at]!), compared(others[at]!)] as [never, never]
    // Subcommands that came with Redis 7.2.
    const { subcommands } = mine as { readonly subcommands: Map<string, Answer> }
    for (const later of ['client|setinfo', 'client|no-touch']) subcommands.delete(later)
    if (other !== null) assert.deepEqual(mine, other, name)
  }
})

/** Calls whose keys are looked for. */
const calls: readonly string[] = [
  'get a',
  'set a 1',
  'mset a 1 b 2',
  'sort a store b',
  'zunionstore to 2 a b',
  'xread count 1 streams a b 0 0',
  'lmpop 2 a b left',
  'eval return 1 a b',
  'object encoding a',
  'xgroup create a b $',
  'ping',
  'nonsense a',
  'get',
  'bitop and to a b',
  'blpop a b 0',
  'copy a b',
  'getex a',
  'zmpop 0 min',
]

test('COMMAND finds keys as redis-server does', { skip: withoutRedis }, async () => {
  await using door = await openDoor()
  await using redis = await openRedis()
  const [own, theirs] = [await door.connect(), await redis.connect()]
  for (const call of calls.filter((each) => names.includes(each.split(' ')[0]!) || each.startsWith('nonsense')))
    for (const subcommand of ['GETKEYS', 'GETKEYSANDFLAGS']) {
      const ask = ['COMMAND', subcommand, ...call.split(' ')]
      assert.deepEqual(await own.ask(...ask), await theirs.ask(...ask), ask.join(' '))
    }
})

test('COMMAND lists what exists, by categories and patterns', async () => {
  await using door = await openDoor()
  const client = await door.connect()
  assert.equal(await client.ask('COMMAND', 'COUNT'), names.length)
  assert.equal(((await client.ask('COMMAND')) as Answer[]).length, names.length)
  const listed = (await client.ask('COMMAND', 'LIST')) as string[]
  assert.deepEqual(listed.filter((name) => !name.includes('|')).sort(), names)
  const x = (await client.ask('COMMAND', 'LIST', 'FILTERBY', 'PATTERN', 'x*')) as string[]
  assert.ok(x.includes('xadd') && x.every((name) => name.startsWith('x')))
  const lists = (await client.ask('COMMAND', 'LIST', 'FILTERBY', 'ACLCAT', 'list')) as string[]
  assert.ok(lists.includes('lpush') && !lists.includes('sadd'))
  assert.deepEqual(await client.ask('COMMAND', 'LIST', 'FILTERBY', 'MODULE', 'x'), [])
  const docs = (await client.ask('COMMAND', 'DOCS', 'get')) as Answer[]
  assert.equal(docs[0], 'get')
  assert.deepEqual((docs[1] as Answer[]).slice(0, 2), ['summary', 'Gives the value of a string.'])
})

test('each summary is a sentence', () => {
  for (const name of names) {
    const { summary, subcommands } = entryNamed(name)!
    for (const text of [summary, ...subcommands.map((each) => each.summary)])
      assert.match(text, /^[A-Z].*\.$/, name)
  }
})
