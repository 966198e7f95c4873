import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '../../src/dsm/index.ts'
import { json, openStructures } from '../../src/structures/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { aether } from './command-line.ts'

useRuntimeDirectory()

function said(...words: string[]): string {
  const { status, stdout, stderr } = aether('jobs', ...words)
  assert.equal(status, 0, stderr)
  return stdout
}

/** Some thirty years. */
const RARELY_MS = 2 ** 40

test('jobs lists queues and jobs, whatever their codec, and retries, removes, pauses', async () => {
  await using space = await open('shop')
  await using shared = await openStructures(space, { size: '4MiB' })
  assert.match(said(), /^space 'shop' has no job queues; a program makes one/)
  const mails = await shared.jobs<unknown>('mails', { codec: json })
  const own = await shared.jobs<string>('own', {
    codec: { name: 'mine', encode: (text) => Buffer.from(text), decode: (bytes) => Buffer.from(bytes).toString() },
  })
  await own.add('é')
  for (const to of ['ada', 'eve', 'bob']) await mails.add({ to })
  await mails.add({ to: 'far' }, { delayMs: 3_600_000 })
  // Such times are whole multiples of the interval, and none comes while this runs.
  await mails.repeat('rarely', { everyMs: RARELY_MS }, { to: 'all' })
  for (let count = 0; count < 2; count += 1) await (await mails.take()).fail(new RangeError('no such\naddress'))
  // Structures of this process do not go on while a command runs here: it holds nothing then.
  await sleep(0)

  assert.match(said('shop'), /^ +queue +waiting +delayed +active +completed +failed +schedules/)
  assert.match(said('shop'), /^ +mails +1 +2 +0 +0 +2 +1$/m)
  const table = said('shop', 'mails', '--state', 'failed')
  assert.match(table, /^ +1 +failed +1 +\{ to: 'ada' \} +RangeError: no such\?address$/m)
  assert.match(said('shop', 'own'), /^ +1 +waiting +0 +.*195, 169/m)
  const document = JSON.parse(said('shop', 'mails', '--json', '--limit', '2'))
  assert.equal(document.jobs.length, 2)
  assert.deepEqual(document.schedules[0].rule, { everyMs: RARELY_MS })

  assert.equal(said('shop', 'mails', 'retry', '1'), 'job 1 is tried again\n')
  assert.equal(said('shop', 'mails', 'retry', 'failed'), '1 jobs are tried again\n')
  assert.equal(said('shop', 'mails', 'pause'), "'mails' is paused\n")
  assert.equal(await mails.tryTake(), undefined)
  assert.match(said('shop'), /^ +mails .* paused$/m)
  assert.equal(said('shop', 'mails', 'resume'), "'mails' goes on\n")
  assert.equal(said('shop', 'mails', 'remove', '3'), 'job 3 removed\n')
  assert.equal(said('shop', 'mails', 'clear', 'delayed'), '2 jobs removed\n')
  assert.equal(said('shop', 'mails', 'drain'), '2 jobs removed\n')
  assert.match(said('shop', 'mails'), /^'mails' has no jobs$/m)
  assert.equal(space.members().length, 1)
})

test('what is not there, or is not meant, is refused with what there is', async () => {
  await using space = await open('shop')
  const refused = (status: number, message: RegExp, ...words: string[]) => {
    const done = aether('jobs', ...words)
    assert.deepEqual([done.status, message.test(done.stderr)], [status, true], done.stderr)
  }
  refused(1, /no structures in a region 'structures'/, 'shop')
  await using shared = await openStructures(space, { size: '4MiB' })
  await shared.jobs('mails')
  refused(1, /no job queue 'mail' in space 'shop'; did you mean 'mails'/, 'shop', 'mail')
  refused(1, /space 'shopp'/, 'shopp')
  refused(1, /no job 7 in 'mails'/, 'shop', 'mails', 'retry', '7')
  refused(2, /ACTION takes retry or remove/, 'shop', 'mails', 'repeat')
  refused(2, /retry needs the id of a job/, 'shop', 'mails', 'retry')
  refused(2, /one argument too many/, 'shop', 'mails', 'pause', 'now')
  refused(2, /--state takes waiting or delayed/, 'shop', 'mails', '--state', 'lost')
  refused(2, /--limit takes an integer/, 'shop', 'mails', '--limit', '0')
})
