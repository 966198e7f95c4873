import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { latin1Of } from '../../../src/index-service/values/latin1.ts'
import { callOf, LoneMachine } from '../support/differential.ts'
import { Picker } from '../support/program-parts.ts'
import { drawCommand, drawDatabase } from '../support/programs.ts'

const DATABASES = 16

interface Told {
  /** Undefined: any key may have changed. */
  readonly key: string | undefined
  readonly origin: number | undefined
}

function machineThatTells(): { readonly lone: LoneMachine; readonly told: Told[] } {
  const told: Told[] = []
  const lone = new LoneMachine({
    onChange: (key, origin) => told.push({ key: key && latin1Of(key), origin }),
  })
  return { lone, told }
}

/** What each key holds, of all databases, and when it expires. */
function everything({ machine, timeMs }: LoneMachine): ReadonlyMap<string, string> {
  const all = new Map<string, string>()
  for (let db = 0; db < DATABASES; db += 1) {
    const [keys] = machine.read([{ ...callOf(['KEYS', '*']), db }], timeMs)
    for (const key of keys as readonly Uint8Array[]) {
      const calls = ['DUMP', 'PEXPIRETIME'].map((name) => ({ name, args: [key], db }))
      const [dump, expiry] = machine.read(calls, timeMs) as [Uint8Array, Reply]
      all.set(`${db}:${latin1Of(key)}`, `${latin1Of(dump)} ${String(expiry)}`)
    }
  }
  return all
}

for (const seed of [1, 2, 3])
  test(`seed ${seed}: whatever a command changes is told, and with its origin`, () => {
    const { lone, told } = machineThatTells()
    const pick = new Picker(seed)
    let before = everything(lone)
    for (let at = 1; at <= 600; at += 1) {
      const [db, command] = [drawDatabase(pick), drawCommand(pick)]
      lone.apply({ calls: [{ ...callOf(command), db, origin: at }] })
      const after = everything(lone)
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
        (name) => before.get(name) !== after.get(name),
      )
      const names = new Set(told.map(({ key }) => key))
      for (const name of changed)
        assert.ok(
          names.has(undefined) || names.has(name.slice(name.indexOf(':') + 1)),
          `${name} by ${JSON.stringify(command)}`,
        )
      for (const { origin } of told.splice(0)) assert.ok(origin === at || origin === undefined)
      before = after
    }
  })

test('a command that changes nothing tells nothing', () => {
  const { lone, told } = machineThatTells()
  lone.run('SET', 'a', '1')
  lone.run('SADD', 's', 'x')
  told.length = 0
  for (const command of [
    'GET a',
    'SADD s x',
    'DEL none',
    'EXPIRE none 5',
    'LPOP none',
    'SETNX a 2',
    'LPUSH a x',
    'PERSIST a',
  ])
    lone.run(...command.split(' '))
  assert.deepEqual(told, [])
})

test('a key that expires is told without an origin, and a snapshot as a whole', () => {
  const { lone, told } = machineThatTells()
  lone.run('SET', 'a', '1', 'PX', '10')
  lone.run('SET', 'b', '1', 'PX', '10')
  told.length = 0
  lone.timeMs += 10
  lone.apply({ calls: [{ ...callOf(['SET', 'a', '2']), origin: 5 }] })
  lone.apply({ expire: true })
  assert.deepEqual(told, [
    { key: 'a', origin: undefined },
    { key: 'a', origin: 5 },
    { key: 'b', origin: undefined },
  ])
  told.length = 0
  lone.machine.restore(lone.snapshot())
  assert.ok(told.some(({ key }) => key === undefined))
})

test('what a call that waited changes has its origin', () => {
  const { lone, told } = machineThatTells()
  lone.apply({ calls: [{ ...callOf(['BLMOVE', 'a', 'b', 'LEFT', 'RIGHT', '0']), origin: 3 }], waiter: 1 })
  lone.apply({ calls: [{ ...callOf(['LPUSH', 'a', 'x']), origin: 4 }] })
  assert.deepEqual(told.find(({ key }) => key === 'a')?.origin, 4)
  assert.deepEqual(told.find(({ key }) => key === 'b')?.origin, 3)
})
