import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { MemoryOperation } from '../../../../tools/agreement/model/memory.ts'
import { done, MemoryFixture, perform, readSlots, refused, slot, take, write } from './memory-fixture.ts'

for (const device of ['shm0', 'tcp-lo']) {
  test(`${device}: a process writes while it may; after another has taken the right it is refused, and reads on`, async () => {
    await using fixture = await new MemoryFixture(device).listen()
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

  test(`${device}: a write never goes over the only copy that is whole, also after refusals`, async () => {
    await using fixture = await new MemoryFixture(device).listen()
    const [first, second] = [fixture.process(0), fixture.process(1)]
    const lastWritten: string[] = []
    for (const [round, value] of ['a', 'b', 'c', 'd'].entries()) {
      assert.deepEqual(await perform(first, write(0, value)), done)
      lastWritten.unshift(value)
      assert.deepEqual(await fixture.copiesOf(0), lastWritten.slice(0, 2))
      assert.deepEqual(await perform(second, take(1)), done)
      // Once through a connection that does not know of it, and then by one that does.
      for (let time = 0; time <= round; time += 1) assert.deepEqual(await perform(first, write(0, 'no')), refused)
      assert.deepEqual(await perform(first, take(0)), done)
    }
  })

  test(`${device}: changes of permission that the rules do not name are refused, and so is what is not there`, async () => {
    await using fixture = await new MemoryFixture(device).listen()
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
    await using fixture = await new MemoryFixture(device).listen()
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
  await using fixture = await new MemoryFixture('shm0').listen()
  await assert.rejects(fixture.process(0, 2).connect(), { code: 'ERR_AETHER_LINK' })
  await assert.rejects(fixture.process(2, 2).connect(), { code: 'ERR_AETHER_LINK' })
  const right = fixture.process(0)
  assert.deepEqual(await perform(right, write(0, 'a')), done)
})

test('a process that connects again has the rights of now, and its connection of before has none', async () => {
  await using fixture = await new MemoryFixture('shm0').listen()
  const before = fixture.process(0)
  assert.deepEqual(await perform(before, write(0, 'a')), done)
  const now = fixture.process(0)
  assert.deepEqual(await perform(now, write(0, 'b')), done)
  assert.deepEqual((await perform(now, readSlots)).values, ['b', null])
})
