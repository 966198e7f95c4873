/** A space in a directory that two containers of podman mount, each at a path of its own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, type TestContext, test } from 'node:test'
import { type Member, open, type SpaceEvent } from '../../src/public/index.ts'
import { openStructures } from '../../src/structures/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { root } from '../repository/checkout.ts'
import { RankProcess } from '../support/rank-process.ts'

const RUNTIMES = ['crun', 'runc']
const PROBE_MS_MAX = 60_000

useRuntimeDirectory()
const memory = mkdtempSync('/dev/shm/aether-podman-')
const scratch = mkdtempSync(join(tmpdir(), 'aether-podman-'))
/** The file system of the containers: empty, but for what they mount of this machine. */
const files = join(scratch, 'files')
const empty = join(scratch, 'empty')
for (const folder of [files, empty]) mkdirSync(folder)

/** All that podman keeps is in the temporary folder. */
const podman = [
  'podman',
  ...['--root', join(scratch, 'root'), '--runroot', join(scratch, 'run'), '--tmpdir', join(scratch, 'tmp')],
  ...['--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs', '--events-backend', 'none'],
]

const ownFiles = ['/bin', '/lib', '/lib64', '/usr', root, realpathSync(join(root, 'node_modules')), process.execPath]
const mounts = ownFiles.filter((path) => existsSync(path)).flatMap((path) => ['-v', `${path}:${path}:ro`])
const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024']

function containerOf(runtime: string, options: readonly string[]): readonly string[] {
  const settings = ['run', '--rm', '--network', 'none', '--log-driver', 'none', ...limits, ...mounts]
  return [...podman, '--runtime', runtime, ...settings, ...options, '--rootfs', files]
}

function told(words: readonly string[]): string | undefined {
  const [program = '', ...others] = words
  const { status, stderr, error } = spawnSync(program, others, { encoding: 'utf8', timeout: PROBE_MS_MAX })
  return status === 0 ? undefined : stderr?.trim() || (error?.message ?? `status ${status}`)
}

/** The first runtime by which a container runs here; otherwise what podman says. */
function findRuntime(): { readonly runtime: string } | { readonly reason: string } {
  const reasons: string[] = []
  for (const runtime of RUNTIMES) {
    const reason = told([...containerOf(runtime, []), process.execPath, '--version'])
    if (reason === undefined) return { runtime }
    reasons.push(reason)
  }
  return { reason: `podman runs no container here: ${[...new Set(reasons)].join('; ')}` }
}

const found = process.platform === 'linux' ? findRuntime() : { reason: 'shared memory needs Linux' }
const skip = 'reason' in found ? found.reason : false
after(() => {
  if (skip === false) told([...podman, 'rm', '--all', '--force', '--time', '0'])
  for (const folder of [memory, scratch]) rmSync(folder, { recursive: true, force: true })
})

let containers = 0

/** A container whose process does what the test says. */
class Container extends RankProcess implements AsyncDisposable {
  readonly #name: string

  private constructor(name: string, under: readonly string[]) {
    super(new URL('./fixtures/contained.js', import.meta.url), { AETHER_RUNTIME_DIRECTORY: '/run' }, under)
    this.#name = name
  }

  static async open(directory: string, place: string): Promise<Container> {
    const runtime = 'runtime' in found ? found.runtime : ''
    const name = `aether-${process.pid}-${++containers}`
    // The channel to this process is its descriptor 3.
    const options = ['--name', name, '--env-host', '--preserve-fds', '1', '-v', `${directory}:${place}`]
    const made = new Container(name, containerOf(runtime, [...options, '--tmpfs', '/run:mode=700']))
    await made.call('open', place)
    return made
  }

  podman(...words: readonly string[]): string | undefined {
    return told([...podman, ...words, this.#name])
  }

  /** As `podman kill` does: all its processes get SIGKILL. */
  async end(): Promise<void> {
    assert.equal(this.podman('kill'), undefined)
    await this.ended()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.podman('rm', '--force', '--time', '0')
    await this.kill()
  }
}

function newDirectory(): string {
  const directory = join(memory, `${containers}`)
  mkdirSync(directory, { mode: 0o700 })
  return directory
}

async function nextEvent(of: RankProcess, type: SpaceEvent['type']): Promise<SpaceEvent> {
  for (;;) {
    const event = await of.call<SpaceEvent>('nextEvent')
    if (event.type === type) return event
  }
}

const inPodman = (name: string, run: (t: TestContext) => Promise<void>): void => void test(name, { skip }, run)

inPodman('two containers share a map; one is killed by podman: its death is told, and its lock is free', async (t) => {
  const directory = newDirectory()
  await using one = await Container.open(directory, '/data')
  await using other = await Container.open(directory, '/srv/shop')
  assert.deepEqual(await other.call('members'), [
    { slot: 0, epoch: 1, processId: 1, foreign: true },
    { slot: 1, epoch: 2, processId: 1 },
  ])
  await Promise.all([one.call('add', 'hits', 1000), other.call('add', 'hits', 1000)])
  assert.deepEqual(await one.call('numbers', 'hits'), [2000, 2000])
  await other.call('lock', 10_000)
  await assert.rejects(one.call('lock', 200), { code: 'ERR_AETHER_TIMEOUT' })
  await other.end()
  assert.deepEqual((await nextEvent(one, 'died')).member, { slot: 1, epoch: 2, processId: 1, foreign: true })
  assert.deepEqual(await one.call('lock', 10_000), { abandoned: true })
  assert.equal((await one.call<Member[]>('members')).length, 1)
  t.diagnostic('runtime' in found ? found.runtime : '')
})

inPodman('a process outside the containers shares it with one; a container that is paused is not dead', async (t) => {
  const directory = newDirectory()
  await using space = await open('contained', { directory })
  await using shared = await openStructures(space, { size: '1MiB' })
  await using one = await Container.open(directory, '/data')
  await one.call('add', 'hits', 100)
  assert.equal((await shared.counter('hits')).getSync(), 100)
  await one.call('lock', 10_000)
  const mutex = await shared.mutex('mutex')
  const refusal = one.podman('pause')
  if (refusal === undefined) {
    assert.throws(() => mutex.lockSync({ timeoutMs: 500 }), { code: 'ERR_AETHER_TIMEOUT' })
    assert.equal(space.members().length, 2)
    assert.equal(one.podman('unpause'), undefined)
  } else t.diagnostic(`podman pauses no container here: ${refusal}`)
  await one.end()
  using hold = mutex.lockSync({ timeoutMs: 10_000 })
  assert.equal(hold.abandoned, true)
})
