/** Clients of a memory that keep to nothing, as scripts: the memory lives on, and no one else notices. */
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { done, MemoryFixture, perform, readSlots, refused, slot, take, write } from './memory-fixture.ts'

const device = 'tcp-lo'
const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
const claim = (register: unknown, value: unknown) => ({
  say: 'do',
  number: 1,
  operation: { do: 'claim', register, value },
})
const permit = (region: unknown, writers: unknown) => ({
  say: 'do',
  number: 1,
  operation: { do: 'permit', region, writers },
})
const object = { region: 'object', index: 0 }

/** What the memory does not answer: it ends the connection. */
const nonsense: Readonly<Record<string, unknown>> = {
  'no JSON': '{',
  nothing: 'null',
  'a list': [],
  'what is nested thousands deep': deep,
  'the same value in another form': '{"say": "do"}',
  'no operation': { say: 'do', number: 1 },
  'an operation that is none': { say: 'do', number: 1, operation: null },
  'an operation of no kind': { say: 'do', number: 1, operation: { do: 'forget' } },
  'a number that is none': { ...permit('slots', [0]), number: '1' },
  'a READ by message': { say: 'do', number: 1, operation: { do: 'read' } },
  'a WRITE by message': { say: 'do', number: 1, operation: { do: 'write', register: slot(0), value: 'x' } },
  'a permission for no one': permit('slots', undefined),
  'a permission for what only looks like a list': permit('slots', { length: 1, 0: 0 }),
  'a permission for a text': permit('slots', ['0']),
  'a region that is a number': permit(1, [0]),
  'a claim of nothing': claim(object, undefined),
  'a claim of null': claim(object, null),
  'a claim of what no register holds': claim(object, 'x'.repeat(5000)),
  'a claim on no register': claim(null, 'x'),
  'a claim on half a register': claim({ region: 'object', index: 0.5 }, 'x'),
}

test('what has no meaning ends the connection of the one that says it, before it is let in and afterwards', async () => {
  await using fixture = await new MemoryFixture(device).listen()
  for (const [what, says] of Object.entries(nonsense)) {
    const stranger = await fixture.wire()
    stranger.say(says)
    await assert.rejects(
      stranger.hear().then(() => stranger.hear()),
      what,
    )
    const liar = await fixture.admitted(0)
    liar.say(says)
    await assert.rejects(liar.hear(), what)
  }
  assert.deepEqual(await perform(fixture.process(1), take(1)), done)
})

test('regions that are no regions are refused, whatever objects have by nature', async () => {
  await using fixture = await new MemoryFixture(device).listen()
  const liar = await fixture.admitted(0)
  for (const [at, name] of ['none', '__proto__', 'constructor', 'toString', ''].entries()) {
    liar.say({ ...permit(name, [0]), number: 2 * at })
    assert.deepEqual((await liar.hear()).answer, refused, name)
    liar.say({ ...claim({ region: name, index: 0 }, 'x'), number: 2 * at + 1 })
    assert.deepEqual((await liar.hear()).answer, refused, name)
  }
})

test('one is let in as itself alone, by a signature that was made for that connection', async () => {
  await using fixture = await new MemoryFixture(device).listen()
  const first = await fixture.wire()
  const { challenge } = await first.hear()
  const signature = fixture.keyOf(0).signConnection(String(challenge), 'memory 0')
  first.say({ say: 'me', process: 0, signature })
  assert.equal((await first.hear()).say, 'grants')
  const right = { say: 'me', process: 0, signature }
  const lies: readonly unknown[] = [
    right,
    { ...right, process: '0' },
    { ...right, process: [0] },
    { ...right, process: '__proto__' },
    { ...right, process: 'length' },
    { ...right, process: -1 },
    { ...right, signature: '' },
    { ...right, signature: 7 },
  ]
  for (const lie of lies) {
    const other = await fixture.wire()
    await other.hear()
    other.say(lie)
    await assert.rejects(other.hear(), JSON.stringify(lie))
  }
  // Its own key, as another name of itself: it would have two connections.
  for (const name of ['0', [0]]) {
    const other = await fixture.wire()
    const asked = await other.hear()
    other.say({
      say: 'me',
      process: name,
      signature: fixture.keyOf(0).signConnection(String(asked.challenge), 'memory 0'),
    })
    await assert.rejects(other.hear(), JSON.stringify(name))
  }
  first.say(permit('slots', [0]))
  assert.deepEqual((await first.hear()).answer, done)
})

test('a second connection takes the place of the first, whose requests are not carried out any more', async () => {
  await using fixture = await new MemoryFixture(device).listen()
  const first = await fixture.admitted(0)
  const second = await fixture.admitted(0)
  first.say(claim(object, 'first'))
  await assert.rejects(first.hear())
  second.say(claim(object, 'second'))
  assert.deepEqual((await second.hear()).answer, { ok: true, values: [null] })
})

test('a permission that is asked for again by its number is not taken again', async () => {
  await using fixture = await new MemoryFixture(device).listen()
  const liar = await fixture.admitted(0)
  const other = fixture.process(1)
  liar.say({ ...permit('slots', [0]), number: 7 })
  assert.deepEqual((await liar.hear()).answer, done)
  assert.deepEqual(await perform(other, take(1)), done)
  liar.say({ ...permit('slots', [0]), number: 7 })
  assert.deepEqual((await liar.hear()).answer, done)
  assert.deepEqual(await perform(other, write(0, 'a')), done)
  assert.deepEqual((await perform(other, readSlots)).values, ['a', null])
})

test('one that asks without waiting for answers loses its connection: the memory keeps nothing for it', async () => {
  await using fixture = await new MemoryFixture(device).listen()
  const liar = await fixture.admitted(0)
  for (let number = 0; number < 100; number += 1) liar.say({ ...permit('slots', [0]), number })
  await liar.endpoint.ended
  assert.deepEqual(await perform(fixture.process(1), take(1)), done)
})

for (const isReplaced of [false, true])
  test(`a writer that cannot be kept out${isReplaced ? ', whose connection was replaced,' : ''} ends the memory: nothing is answered after that`, async (t) => {
    await using fixture = await new MemoryFixture(device).listen()
    const lending = Object.getPrototypeOf((await fixture.wire()).endpoint.link.lending!)
    let stuck = 0
    const { lend } = lending
    // As on shm0, where one may be stopped in the middle of a copy.
    t.mock.method(lending, 'lend', function (this: unknown, ...args: unknown[]) {
      const loan = lend.apply(this, args)
      if (args[1] === 'write') {
        const { end } = loan
        loan.end = async (...how: unknown[]) => {
          stuck += 1
          await end.apply(loan, how)
          throw new Error('the peer cannot be kept out')
        }
      }
      return loan
    })
    const writer = await fixture.admitted(0)
    const [one, other] = [await fixture.admitted(1), await fixture.wire()]
    await other.hear()
    if (isReplaced) {
      const again = await fixture.wire()
      const { challenge } = await again.hear()
      again.say({ say: 'me', process: 0, signature: fixture.keyOf(0).signConnection(String(challenge), 'memory 0') })
      await assert.rejects(again.hear())
    } else {
      one.say(permit('slots', [1]))
      // Behind it, while that is under way.
      writer.say(claim(object, 'late'))
      await assert.rejects(one.hear())
    }
    await assert.rejects(other.hear())
    await assert.rejects(writer.hear())
    assert.ok(stuck > 0)
    assert.deepEqual(
      fixture.failures.splice(0).map((error) => (error as Error).message),
      ['the peer cannot be kept out'],
    )
  })
