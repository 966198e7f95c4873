import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import type { MemoryAnswer, MemoryOperation, RegionRule } from '../../../../tools/agreement/model/memory.ts'
import { makeKeys, PrivateKey, PublicKeys } from '../../../../tools/agreement/real/identity.ts'
import { MemoryClient } from '../../../../tools/agreement/real/memory-client.ts'
import { MemoryHost } from '../../../../tools/agreement/real/memory-host.ts'
import { memoryLayout } from '../../../../tools/agreement/real/memory-layout.ts'

const rules: readonly RegionRule[] = [
  { name: 'slots', registers: 2, writers: [0], changes: 'take' },
  { name: 'leader', registers: 1, writers: [0], changes: 'revoke' },
  { name: 'secret', registers: 1, writers: [0], readers: [0], changes: 'none' },
  { name: 'object', registers: 1, writers: [0, 1], changes: 'none' },
]
const setting = { processes: 2, memories: 1 }
const layout = memoryLayout({ failures: 'crash', regions: () => rules } as unknown as Algorithm, setting, 0, 1)

/** A memory with its two processes; the third has the key of no one. */
class Fixture implements AsyncDisposable {
  readonly failures: unknown[] = []
  readonly #keys = [makeKeys(), makeKeys(), makeKeys()]
  readonly host: MemoryHost = new MemoryHost(
    0,
    layout,
    new PublicKeys(this.#keys.slice(0, 2).map(({ publicKey }) => publicKey)),
    (error) => this.failures.push(error),
  )
  readonly memories: MemoryClient[] = []
  readonly #device: string
  #port = 0

  constructor(device: string) {
    this.#device = device
  }

  async listen(): Promise<this> {
    this.#port = await this.host.listen({ device: this.#device, address: '127.0.0.1' })
    return this
  }

  process(number: number, keyOf: number = number): MemoryClient {
    const place = { device: this.#device, address: '127.0.0.1', port: this.#port }
    const key = new PrivateKey(this.#keys[keyOf]!.privateKey)
    const memory = new MemoryClient(0, place, layout, { process: number, key })
    this.memories.push(memory)
    return memory
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const memory of this.memories) memory[Symbol.dispose]()
    this.host[Symbol.dispose]()
    assert.deepEqual(this.failures, [])
  }
}

const perform = (memory: MemoryClient, operation: MemoryOperation): Promise<MemoryAnswer> =>
  new Promise((resolve) => memory.begin(operation, resolve))
const slot = (index: number) => ({ region: 'slots', index })
const write = (index: number, value: string): MemoryOperation => ({ do: 'write', register: slot(index), value })
const readSlots: MemoryOperation = { do: 'read', registers: [slot(0), slot(1)] }
const take = (process: number): MemoryOperation => ({ do: 'permit', region: 'slots', writers: [process] })
const done: MemoryAnswer = { ok: true, values: [] }
const refused: MemoryAnswer = { ok: false, values: [] }

for (const device of ['shm0', 'tcp-lo']) {
  test(`${device}: a process writes while it may; after another has taken the right it is refused, and reads on`, async () => {
    await using fixture = await new Fixture(device).listen()
    const [first, second] = [fixture.process(0), fixture.process(1)]
    assert.deepEqual(await perform(second, write(1, 'too early')), refused)
    assert.deepEqual(await perform(first, write(0, 'a')), done)
    assert.deepEqual(await perform(second, take(1)), done)
    // It does not know yet: the operation itself fails, and its connection with it.
    assert.deepEqual(await perform(first, write(0, 'b')), refused)
    assert.deepEqual(await perform(second, write(1, 'c'.repeat(1000))), done)
    assert.deepEqual((await perform(first, readSlots)).values, ['a', 'c'.repeat(1000)])
    assert.deepEqual(await perform(first, take(0)), done)
    assert.deepEqual(await perform(first, write(0, 'd')), done)
    assert.deepEqual((await perform(second, readSlots)).values, ['d', 'c'.repeat(1000)])
  })

  test(`${device}: changes of permission that the rules do not name are refused, and so is what is not there`, async () => {
    await using fixture = await new Fixture(device).listen()
    const [first, second] = [fixture.process(0), fixture.process(1)]
    assert.deepEqual(await perform(second, take(0)), refused)
    const leader = { region: 'leader', index: 0 }
    assert.deepEqual(await perform(second, { do: 'permit', region: 'leader', writers: [1] }), refused)
    assert.deepEqual(await perform(second, { do: 'permit', region: 'leader', writers: [] }), done)
    assert.deepEqual(await perform(first, { do: 'write', register: leader, value: 'x' }), refused)
    assert.deepEqual(await perform(second, { do: 'read', registers: [{ region: 'secret', index: 0 }] }), refused)
    for (const register of [slot(2), slot(-1), slot(0.5), { region: 'none', index: 0 }])
      assert.deepEqual(await perform(first, { do: 'write', register, value: 'x' }), refused)
    assert.deepEqual(await perform(first, write(0, 'x'.repeat(5000))), refused)
    assert.deepEqual(await perform(first, write(0, 'x')), done)
  })

  test(`${device}: the first claim stays, and one that has no right to claim changes nothing`, async () => {
    await using fixture = await new Fixture(device).listen()
    const [first, second] = [fixture.process(0), fixture.process(1)]
    const register = { region: 'object', index: 0 }
    const claim = (value: string): MemoryOperation => ({ do: 'claim', register, value })
    assert.deepEqual(await perform(first, claim('a')), { ok: true, values: [null] })
    assert.deepEqual(await perform(second, claim('b')), { ok: true, values: ['a'] })
    assert.deepEqual(await perform(second, { do: 'read', registers: [register] }), { ok: true, values: ['a'] })
    assert.deepEqual(await perform(second, { do: 'claim', register: slot(1), value: 'b' }), refused)
  })
}

test('one that cannot sign for a process is not let in, nor is one that has connected and gone on with it', async () => {
  await using fixture = await new Fixture('shm0').listen()
  await assert.rejects(fixture.process(0, 2).connect(), { code: 'ERR_AETHER_LINK' })
  await assert.rejects(fixture.process(2, 2).connect(), { code: 'ERR_AETHER_LINK' })
  const right = fixture.process(0)
  assert.deepEqual(await perform(right, write(0, 'a')), done)
})

test('a process that connects again has the rights of now, and its connection of before has none', async () => {
  await using fixture = await new Fixture('shm0').listen()
  const before = fixture.process(0)
  assert.deepEqual(await perform(before, write(0, 'a')), done)
  const now = fixture.process(0)
  assert.deepEqual(await perform(now, write(0, 'b')), done)
  assert.deepEqual((await perform(now, readSlots)).values, ['b', null])
})
