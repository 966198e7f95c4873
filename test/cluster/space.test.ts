import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { MEMBERS_MAX, reclaimSpaces } from '../../src/cluster/index.ts'
import { defineCounters } from '../../src/profiling/index.ts'
import { open, type Space, type SpaceEvent } from '../../src/public/index.ts'
import { descriptors, RemoteMember, rendezvousFiles, until, useRuntimeDirectory } from './support.ts'

const directory = useRuntimeDirectory()
const module = new URL('../../src/public/index.js', import.meta.url).href

/** The next `count` events, shortened. */
async function take(events: AsyncIterator<SpaceEvent>, count: number): Promise<readonly string[]> {
  const taken: string[] = []
  while (taken.length < count) {
    const { value, done } = await events.next()
    if (done === true) break
    taken.push(`${value.member.epoch} ${value.type}`)
  }
  return taken
}

/** Runs a program with the package imported as `aether`; its exit is the test. */
function runProgram(body: string): {
  readonly stdout: string
  readonly stderr: string
  readonly status: number | null
} {
  const program = `const aether = await import(${JSON.stringify(module)});${body}`
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: 30_000 })
}

test('the first to open makes the space, the next finds it, and the last to leave takes it away', async () => {
  const before = descriptors()
  await using a = await open('shop')
  await using b = await open('shop')
  assert.deepEqual(a.members(), [a.self, b.self])
  assert.deepEqual(a.members(), b.members())
  assert.notEqual(a.self.slot, b.self.slot)
  await a.close()
  assert.deepEqual(b.members(), [b.self])
  await b.close()
  assert.deepEqual(rendezvousFiles(directory), [])
  assert.deepEqual(descriptors(), before)
})

test('a space outlives the process that made it, and whoever comes later joins the members that are left', async () => {
  for (const end of ['close', 'kill'] as const) {
    await using maker = new RemoteMember()
    await maker.call('open', end)
    await using space = await open(end)
    // After `close` the process lives on, so its record could still be taken for that of a member.
    await (end === 'kill' ? maker.kill() : maker.call('close'))
    await using later = new RemoteMember()
    await later.call('open', end)
    const processes = async () => (await later.call<{ processId: number }[]>('members')).map((each) => each.processId)
    assert.deepEqual(await processes(), [process.pid, later.processId], end)
    assert.deepEqual(
      space.members().map(({ processId }) => processId),
      [process.pid, later.processId],
      end,
    )
  }
})

test('spaces of different names know nothing of each other', async () => {
  await using a = await open('one')
  await using b = await open('two')
  assert.deepEqual(a.members(), [a.self])
  assert.deepEqual(b.members(), [b.self])
})

test('close is idempotent, also at the same time, and everything after it is an error', async () => {
  await using space = await open('shop')
  await Promise.all([space.close(), space.close(), space[Symbol.asyncDispose]()])
  await space.close()
  assert.equal(space.closed, true)
  for (const use of [
    () => space.members(),
    () => space.events(),
    () => space.publish(new Uint8Array(1)),
    () => space.regions(),
  ]) {
    assert.throws(use, { code: 'ERR_AETHER_CLOSED', message: /space 'shop' is closed/ })
  }
  await assert.rejects(space.openRegion('x', { size: 4096 }), { code: 'ERR_AETHER_CLOSED' })
})

test('events tell who joined, left and died, in order, with what the dead had open', async () => {
  await using space = await open('shop')
  const events = space.events()
  await using leaver = new RemoteMember()
  await leaver.call('open', 'shop')
  assert.deepEqual(await take(events, 1), ['2 joined'])
  await leaver.call('close')
  assert.deepEqual(await take(events, 1), ['2 left'])
  await leaver.kill()
  await using victim = new RemoteMember()
  await victim.call('open', 'shop')
  await victim.call('openRegion', 'hits', { size: 4096 })
  await victim.call('openRegion', 'misses', { size: 4096 })
  assert.deepEqual(await take(events, 1), ['3 joined'])
  await victim.kill()
  const { value } = await events.next()
  assert.deepEqual(value, {
    type: 'died',
    member: { slot: value?.member.slot, epoch: 3, processId: victim.processId },
    regions: ['hits', 'misses'],
  })
  await events.return?.()
  assert.deepEqual(space.members(), [space.self])
})

test('a process that exits without closing leaves in order; one that throws does too', async () => {
  await using space = await open('shop')
  const events = space.events()
  await using remote = new RemoteMember()
  await remote.call('open', 'shop')
  await remote.call('exit', 3)
  assert.deepEqual(await take(events, 2), ['2 joined', '2 left'])
  runProgram(`await aether.open('shop'); throw new Error('on purpose')`)
  assert.deepEqual(await take(events, 2), ['3 joined', '3 left'])
  await events.return?.()
})

test('an iteration ends with the space, by return, and by its signal with the reason', async () => {
  await using space = await open('shop')
  const byReturn = space.events()
  const waiting = byReturn.next()
  assert.deepEqual(await byReturn.return?.(), { done: true, value: undefined })
  assert.deepEqual(await waiting, { done: true, value: undefined })

  const controller = new AbortController()
  const bySignal = space.events({ signal: controller.signal })
  const aborted = assert.rejects(bySignal.next(), /enough/)
  controller.abort(new Error('enough'))
  await aborted
  assert.deepEqual(await bySignal.next(), { done: true, value: undefined })

  const before = space.events({ signal: AbortSignal.abort(new Error('too late')) })
  await assert.rejects(before.next(), /too late/)

  const byClose = space.events().next()
  await space.close()
  assert.deepEqual(await byClose, { done: true, value: undefined })
})

test('leaving a for await unsubscribes', async () => {
  await using space = await open('shop')
  setImmediate(() => void open('shop').then((other) => other.close()))
  for await (const event of space.events()) {
    assert.equal(event.type, 'joined')
    break
  }
})

test('several iterations each get everything, answers in the order of the questions', async () => {
  await using space = await open('shop')
  const [one, two] = [space.events(), space.events()]
  const answers = Promise.all([one.next(), one.next(), two.next()])
  await using other = await open('shop')
  await other.close()
  const [first, second, third] = await answers
  assert.deepEqual([first?.value?.type, second?.value?.type, third?.value?.type], ['joined', 'left', 'joined'])
  await Promise.all([one.return?.(), two.return?.()])
})

test('an open space does not keep the process alive, a pending event does', () => {
  const idle = runProgram(`await aether.open('idle'); console.log('end')`)
  assert.deepEqual([idle.stdout, idle.status], ['end\n', 0], idle.stderr)
  const waiting = runProgram(`
    const space = await aether.open('waiting')
    setTimeout(() => void space.close(), 300).unref()
    for await (const event of space.events({ signal: AbortSignal.timeout(20_000) })) console.log(event)
    console.log('ended with the space')`)
  assert.deepEqual([waiting.stdout, waiting.status], ['ended with the space\n', 0], waiting.stderr)
})

test('twelve processes that open one name at the same time are all members of one space', async () => {
  const remotes = Array.from({ length: 12 }, () => new RemoteMember())
  try {
    const selves = await Promise.all(
      remotes.map((remote) => remote.call<{ slot: number; epoch: number }>('open', 'crowd')),
    )
    assert.equal(new Set(selves.map((self) => self.slot)).size, 12)
    assert.deepEqual(
      selves.map((self) => self.epoch).sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, index) => index + 1),
    )
    const counts = await Promise.all(remotes.map(async (remote) => (await remote.call<unknown[]>('members')).length))
    assert.deepEqual(new Set(counts), new Set([12]))
  } finally {
    await Promise.all(remotes.map((remote) => remote.kill()))
  }
  reclaimSpaces()
  assert.deepEqual(rendezvousFiles(directory), [])
})

test('a full space is an error that says how many it holds, and a place is free again when one leaves', async (t) => {
  const before = descriptors()
  const members: Space[] = []
  const close = () => Promise.all(members.map((member) => member.close()))
  t.after(close)
  for (let i = 0; i < MEMBERS_MAX; i += 1) members.push(await open('full'))
  await assert.rejects(open('full'), { code: 'ERR_AETHER_SPACE_FULL', space: 'full', message: /256 members/ })
  await members[7]?.close()
  const again = await open('full')
  members.push(again)
  assert.equal(again.self.slot, 7)
  await close()
  assert.deepEqual(descriptors(), before)
})

test('a Worker is a member of its own: it leaves when it exits, and one that is terminated is noticed', async (t) => {
  await using space = await open('shop')
  const events = space.events()
  const source = (then: string) => `
    import(${JSON.stringify(module)}).then(({ open }) => open('shop')).then(() => {
      ${then}
    })`
  const started = (then: string): Worker => {
    const worker = new Worker(source(then), { eval: true })
    t.after(() => worker.terminate())
    return worker
  }
  const leaver = started('process.exit(0)')
  assert.deepEqual(await take(events, 2), ['2 joined', '2 left'])
  await leaver.terminate()
  const before = descriptors()
  const victim = started(`require('node:worker_threads').parentPort.on('message', () => {})`)
  assert.deepEqual(await take(events, 1), ['3 joined'])
  await victim.terminate()
  assert.deepEqual(await take(events, 1), ['3 died'])
  await until(() => descriptors().length <= before.length, `descriptors ${descriptors()} of a Worker to be closed`)
  await events.return?.()
})

test('a lock held by a stopped process is a bounded error that names it and what to do', async () => {
  await using space = await open('shop')
  await using remote = new RemoteMember()
  await remote.call('stopWithLock', 'shop')
  await until(() => /^\d+ .*\) T /.test(readFileSync(`/proc/${remote.processId}/stat`, 'latin1')), 'the holder to stop')
  await assert.rejects(open('shop', { lockTimeoutMs: 100 }), (error: NodeJS.ErrnoException) => {
    assert.equal(error.code, 'ERR_AETHER_TIMEOUT')
    assert.match(error.message, new RegExp(`space 'shop' .* process ${remote.processId} \\(.*\\), which is stopped`))
    assert.match(error.message, new RegExp(`kill -CONT ${remote.processId}`))
    return true
  })
  const controller = new AbortController()
  const waiting = assert.rejects(open('shop', { signal: controller.signal }), /changed my mind/)
  controller.abort(new Error('changed my mind'))
  await waiting
  await remote.kill()
  await using other = await open('shop')
  assert.equal(other.members().length, 2)
  assert.equal(space.members().length, 2)
})

test('closing does not wait for ever for a stopped holder of the lock, and others see the leave', async () => {
  await using space = await open('shop')
  await using other = await open('shop')
  await using remote = new RemoteMember()
  await remote.call('stopWithLock', 'shop')
  await until(() => /^\d+ .*\) T /.test(readFileSync(`/proc/${remote.processId}/stat`, 'latin1')), 'the holder to stop')
  await space.close()
  assert.deepEqual(other.members(), [other.self])
  await remote.kill()
  await other.close()
})

test('a card is read by others until its owner ends', async () => {
  await using space = await open('shop')
  await using remote = new RemoteMember()
  const member = await remote.call<{ slot: number; epoch: number; processId: number }>('open', 'shop')
  assert.equal(space.card(member), undefined)
  await remote.call('publish', Uint8Array.of(1, 2, 3))
  assert.deepEqual(space.card(member), Uint8Array.of(1, 2, 3))
  await remote.call('close')
  assert.equal(space.card(member), undefined)
})

test('what a member counts is read by another', async () => {
  await using a = await open('shop')
  await using b = await open('shop')
  a.profiling.counters(defineCounters('test.space', ['things'])).add('things', 7)
  assert.equal(b.profile(a.self)?.total('test.space', 'things'), 7)
  assert.equal(b.profile(b.self)?.total('test.space', 'things'), 0)
})

test('counting after the space was closed is harmless', async () => {
  const layout = defineCounters('test.late', ['things'])
  const space = await open('shop')
  const counters = space.profiling.counters(layout)
  await space.close()
  counters.add('things', 1)
  const late = space.profiling.counters(layout)
  late.add('things', 1)
  assert.deepEqual([late.shared, late.get('things')], [false, 1])
})

test('off Linux open says in one sentence what is missing', () => {
  const { stdout } = runProgram(`
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    await aether.open('shop').catch((error) => console.log(error.code, error.message))`)
  assert.match(stdout, /^ERR_AETHER_UNSUPPORTED a space needs Linux[^.]*this is darwin\n$/)
})
