/** A space in a directory that processes of several pid namespaces share, as containers have them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ARENA_VERSION } from '../../src/cluster/layout.ts'
import { native, processStatus } from '../../src/native/index.ts'
import { join as joinGroup, type Member, open, type SpaceEvent } from '../../src/public/index.ts'
import { connectEndpoint } from '../../src/public/messaging.ts'
import { openChannel } from '../../src/public/rpc.ts'
import { until, useRuntimeDirectory } from '../cluster/support.ts'
import { RankProcess } from '../support/rank-process.ts'
import { echo } from './fixtures/echo.ts'

const KILLS = Number(process.env['AETHER_TEST_KILLS'] ?? 4)
const ROUNDS = Number(process.env['AETHER_TEST_KILLS'] ?? 10)
const NAME = 'contained'
const BOOT_OFFSET = 1536
const VERSION_OFFSET = 4

useRuntimeDirectory()
const scratch = mkdtempSync('/dev/shm/aether-contained-')
after(() => rmSync(scratch, { recursive: true, force: true }))
let directories = 0
const newDirectory = (): string => join(scratch, `${++directories}`)

const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
const namespace = ['unshare', ...user, '--pid', '--fork', '--mount-proc', '--kill-child']
const probe = spawnSync(namespace[0]!, [...namespace.slice(1), 'true'], { encoding: 'utf8' })
const skip =
  probe.status === 0 ? false : `unshare --pid is not to be had: ${probe.stderr?.trim() || probe.error?.message}`

const childrenOf = (number: number): readonly number[] =>
  readFileSync(`/proc/${number}/task/${number}/children`, 'latin1').trim().split(' ').map(Number)

/** A process in a pid namespace of its own, where it is process 1. Its runtime directory is its own, too. */
class Contained extends RankProcess implements AsyncDisposable {
  constructor(under: readonly string[] = namespace, environment: Readonly<Record<string, string>> = {}) {
    const runtime = mkdtempSync(join(scratch, 'runtime-'))
    super(
      new URL('./fixtures/contained.js', import.meta.url),
      { AETHER_RUNTIME_DIRECTORY: runtime, ...environment },
      under,
    )
  }

  static async open(directory: string, under?: readonly string[]): Promise<Contained> {
    const made = new Contained(under)
    await made.call('open', directory)
    return made
  }

  /** The number that its Node.js has here. */
  get numberHere(): number {
    for (let number = this.processId; ; ) {
      if (readFileSync(`/proc/${number}/cmdline`, 'latin1').startsWith(`${process.execPath}\0`)) return number
      number = childrenOf(number)[0]!
    }
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.numberHere, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

/** Its process 1 is another, which stays. */
const underInit = [...namespace, 'sh', '-c', '"$@" & exec sleep infinity', 'sh']

const fifosIn = (directory: string): readonly string[] =>
  readdirSync(directory).filter((name) => name.startsWith('aether.member-'))

async function nextEvent(of: RankProcess, type: SpaceEvent['type']): Promise<SpaceEvent> {
  for (;;) {
    const event = await of.call<SpaceEvent>('nextEvent')
    if (event.type === type) return event
  }
}

const inContainers = (name: string, run: (t: TestContext) => Promise<void>): void => void test(name, { skip }, run)

inContainers(
  'containers that have the directory count in one counter and one map, though both are process 1',
  async () => {
    const directory = newDirectory()
    await using one = await Contained.open(directory)
    await using other = await Contained.open(directory)
    assert.deepEqual(await other.call('members'), [
      { slot: 0, epoch: 1, processId: 1, foreign: true },
      { slot: 1, epoch: 2, processId: 1 },
    ])
    assert.deepEqual(await nextEvent(one, 'joined'), {
      type: 'joined',
      member: { slot: 1, epoch: 2, processId: 1, foreign: true },
    })
    await Promise.all([one.call('add', 'hits', 2000), other.call('add', 'hits', 2000)])
    assert.deepEqual(await one.call('numbers', 'hits'), [4000, 4000])
    await other.call('close')
    assert.equal((await nextEvent(one, 'left')).member.epoch, 2)
    assert.equal(fifosIn(directory).length, 1)
  },
)

inContainers('who waits for a queue is woken from the other container', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using other = await Contained.open(directory)
  for (const pop of ['pop', 'popSync']) {
    const popped = one.call(pop)
    await sleep(20)
    await other.call('push', 7)
    assert.equal(await popped, 7)
  }
})

inContainers('a container is killed with all that is in it: its death is told, and its locks are free', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using other = await Contained.open(directory)
  await other.call('openRegion', 'mine')
  await other.call('lock', 10_000)
  await other.kill()
  const died = await nextEvent(one, 'died')
  assert.deepEqual(died.member, { slot: 1, epoch: 2, processId: 1, foreign: true })
  assert.deepEqual('regions' in died && died.regions, ['structures', 'mine'])
  assert.deepEqual(await one.call('lock', 10_000), { abandoned: true })
  assert.deepEqual(await one.call('members'), [{ slot: 0, epoch: 1, processId: 1 }])
})

inContainers('processes are killed at any moment in either container, and nothing is left half done', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  for (let kill = 0; kill < KILLS; kill += 1) {
    // Its init goes, or one process while its init stays.
    await using other = await Contained.open(directory, kill % 2 === 0 ? namespace : underInit)
    await other.call('changeForEver')
    await sleep(Math.random() * 20)
    other.signal('SIGKILL')
    await nextEvent(one, 'died')
    await one.call('lock', 10_000)
    const [[left], [right]] = await Promise.all([
      one.call<number[]>('numbers', 'left'),
      one.call<number[]>('numbers', 'right'),
    ])
    // It may have been killed after the first of the two.
    assert.ok(left! - right! === 0 || left! - right! === 1, `${left} and ${right}`)
    await one.call('unlock')
  }
  // What the killed have left was cleared away by the next; the last may still be there.
  assert.ok(fifosIn(directory).length <= 2, String(fifosIn(directory)))
})

inContainers('a stopped container is not dead: what it holds stays its own until it goes on', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using other = await Contained.open(directory)
  await other.call('lock', 10_000)
  other.signal('SIGSTOP')
  await assert.rejects(one.call('lock', 1500), { code: 'ERR_AETHER_TIMEOUT' })
  assert.equal((await one.call<Member[]>('members')).length, 2)
  other.signal('SIGCONT')
  await other.call('unlock')
  assert.deepEqual(await one.call('lock', 10_000), { abandoned: false })
})

inContainers('a killed member is dead though its children live on', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using other = await Contained.open(directory, underInit)
  await other.call('startChildren')
  const init = childrenOf(other.processId)[0]!
  other.signal('SIGKILL')
  await nextEvent(one, 'died')
  // The member itself, for which its parent does not wait, and its children.
  await until(() => childrenOf(init).length === 3, 'its children to be orphans')
  const states = childrenOf(init).map((number) => processStatus(number)?.[0])
  assert.deepEqual(states.sort(), ['S', 'T', 'Z'])
})

inContainers('a Worker is a member of its own: it is dead once it is terminated', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using other = await Contained.open(directory)
  assert.equal(await other.call('startWorker', directory), 2)
  await other.call('terminateWorker')
  const { member } = await nextEvent(one, 'died')
  assert.equal(member.slot, 2)
  assert.equal((await one.call<Member[]>('members')).length, 2)
})

inContainers('all are killed at once: the next finds what there was, and clears away what they left', async () => {
  const directory = newDirectory()
  {
    await using one = await Contained.open(directory)
    await using other = await Contained.open(directory)
    await Promise.all([one.call('add', 'hits', 100), other.call('add', 'hits', 100)])
    await other.call('lock', 10_000)
  }
  assert.equal(fifosIn(directory).length, 2)
  await using next = await Contained.open(directory)
  assert.deepEqual(await next.call('members'), [{ slot: 2, epoch: 3, processId: 1 }])
  assert.deepEqual(await next.call('numbers', 'hits'), [200, 200])
  assert.deepEqual(await next.call('lock', 10_000), { abandoned: true })
  assert.equal(fifosIn(directory).length, 1)
})

inContainers('they open it at the same moment, again and again: it is one space', async () => {
  await using one = new Contained()
  await using other = new Contained()
  await Promise.all([one.call('processId'), other.call('processId')])
  for (let round = 0; round < ROUNDS; round += 1) {
    const directory = newDirectory()
    const at = native.monotonicNs() + 5e6
    const both = await Promise.all([one, other].map((each) => each.call<Member>('openAt', directory, at)))
    assert.deepEqual(both.map(({ epoch }) => epoch).sort(), [1, 2])
    await Promise.all([one.call('close'), other.call('close')])
    assert.deepEqual(readdirSync(directory), ['aether.arena'])
    rmSync(directory, { recursive: true })
  }
})

inContainers(
  'who watches from another container sees all members, and looks at no process that is not here',
  async () => {
    const all = newDirectory()
    const directory = join(all, NAME)
    await using one = await Contained.open(directory)
    await using other = await Contained.open(directory)
    await using watcher = new Contained(namespace, { AETHER_DIRECTORY: all })
    type Seen = { running: string[]; members: (Member & { startTime: number })[] }
    const seen = await watcher.call<Seen>('observe')
    assert.deepEqual(seen.running, [NAME])
    assert.deepEqual(
      seen.members.map(({ slot, foreign }) => [slot, foreign]),
      [
        [0, true],
        [1, true],
      ],
    )
    const top = spawnSync(
      process.execPath,
      [join(import.meta.dirname, '../../../bin/aether.js'), 'top', NAME, '--once'],
      {
        encoding: 'utf8',
        env: { ...process.env, AETHER_DIRECTORY: all },
      },
    )
    assert.match(top.stdout, /member 0 +1 elsewhere/, top.stderr)
    await other.kill()
    await nextEvent(one, 'died')
    assert.equal((await watcher.call<Seen>('observe')).members.length, 1)
  },
)

inContainers('a container in a user namespace shares it with one that is in none', async (t) => {
  const mapped = ['unshare', '--user', '--map-root-user', ...namespace.slice(1).filter((word) => !user.includes(word))]
  const { status, stderr } = spawnSync(mapped[0]!, [...mapped.slice(1), 'true'], { encoding: 'utf8' })
  if (status !== 0) return t.skip(`unshare --user is not to be had: ${stderr.trim()}`)
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using other = await Contained.open(directory, mapped)
  await Promise.all([one.call('add', 'hits', 100), other.call('add', 'hits', 100)])
  assert.deepEqual(await one.call('numbers', 'hits'), [200, 200])
  await other.kill()
  assert.equal((await nextEvent(one, 'died')).member.epoch, 2)
})

inContainers('a directory that is removed under its processes does not make them dead for each other', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using other = await Contained.open(directory)
  // A look at the table is not enough: they have to have seen each other.
  await nextEvent(one, 'joined')
  await other.call('lock', 10_000)
  rmSync(directory, { recursive: true })
  await assert.rejects(one.call('lock', 300), { code: 'ERR_AETHER_TIMEOUT' })
  await other.kill()
  assert.equal((await nextEvent(one, 'died')).member.epoch, 2)
  assert.deepEqual(await one.call('lock', 10_000), { abandoned: true })
})

/** Run one line of code in a mount namespace of its own, after a command. */
function inMountNamespace(command: string, program: string): string {
  const index = new URL('../../src/public/index.js', import.meta.url)
  const source = `import { open } from '${index}'; ${program}`
  const words = [
    ...user,
    '--mount',
    'sh',
    '-c',
    `${command} && exec "$0" --input-type=module -e "$1"`,
    process.execPath,
    source,
  ]
  return spawnSync('unshare', words, { encoding: 'utf8', timeout: 60_000 }).stderr
}

inContainers('a read-only mount, and one without room for a FIFO, are refused with what to do', async () => {
  const directory = newDirectory()
  const opens = `await open('${NAME}', { directory: '${directory}' })`
  await (await open(NAME, { directory })).close()
  const bind = `mount --bind ${directory} ${directory} && mount -o remount,bind,ro ${directory}`
  assert.match(
    inMountNamespace(bind, opens),
    /AccessError: .*the file system is mounted read-only; mount it for writing/,
  )
  // The directory and the arena are two.
  const small = `mount -t tmpfs -o mode=700,nr_inodes=2 none ${directory}`
  assert.match(
    inMountNamespace(small, opens),
    /SpaceError: .*no FIFO can be made in it \(mkfifo: ENOSPC.*free some space/,
  )
})

inContainers('another start of the machine and another version are refused while processes have it', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  const file = openSync(join(directory, 'aether.arena'), 'r+')
  try {
    writeSync(file, 'ffffffff', BOOT_OFFSET + 1, 'latin1')
    await assert.rejects(open(NAME, { directory }), {
      code: 'ERR_AETHER_SPACE_DIRECTORY',
      message: /its processes count another start of this machine; end them first/,
    })
    // An older version holds the lock of the file for as long as it runs.
    writeSync(file, String.fromCharCode(ARENA_VERSION - 1), VERSION_OFFSET, 'latin1')
    assert.equal(native.lockFile(file, false), true)
    await assert.rejects(open(NAME, { directory }), { code: 'ERR_AETHER_SPACE_VERSION' })
  } finally {
    closeSync(file)
  }
  assert.equal((await one.call<Member[]>('members')).length, 1)
})

test('ranks of a group do not meet in a space that has a directory', async () => {
  const directory = newDirectory()
  await using _space = await open(NAME, { directory })
  await assert.rejects(joinGroup({ rank: 0, size: 1, rendezvous: `local:${NAME}` }), {
    code: 'ERR_AETHER_JOIN',
    message: /is in .*, where processes of several containers meet.*choose another rendezvous/,
  })
})

inContainers('messages and calls over shared memory are refused, with why and what to do', async () => {
  const directory = newDirectory()
  await using one = await Contained.open(directory)
  await using space = await open(NAME, { directory })
  assert.equal(space.members().length, 2, 'both are in the space')
  const [messages = 0, calls = 0] = await one.call<readonly number[]>('serve')
  const at = { device: 'shm0', address: '127.0.0.1' }
  const why = /one pid namespace/
  const chain = (error: unknown): readonly Error[] => (error instanceof Error ? [error, ...chain(error.cause)] : [])
  const isRefusal = (error: unknown): true => {
    const [first, ...causes] = chain(error)
    assert.match(String((first as { code?: string }).code), /^ERR_AETHER_/)
    assert.ok(
      [first, ...causes].some((each) => why.test(each!.message)),
      String(first?.stack),
    )
    return true
  }
  await assert.rejects(connectEndpoint({ ...at, port: messages }), isRefusal)
  await using channel = openChannel({ ...at, port: calls })
  await assert.rejects(channel.client(echo).echo(1, { timeoutMs: 2000 }), isRefusal)
  // Structures go on.
  await one.call('add', 'hits', 3)
  assert.deepEqual(await one.call('numbers', 'hits'), [3, 3])
})

test('a member has one FIFO, open for reading by it alone, and takes it away when it leaves', async () => {
  const directory = newDirectory()
  const one = await open(NAME, { directory })
  const other = await open(NAME, { directory })
  const [fifo = ''] = fifosIn(directory)
  assert.equal(fifosIn(directory).length, 2)
  closeSync(openSync(join(directory, fifo), constants.O_WRONLY | constants.O_NONBLOCK))
  await one.close()
  await other.close()
  assert.deepEqual(fifosIn(directory), [])
  assert.equal(existsSync(join(directory, 'aether.arena')), true)
})
