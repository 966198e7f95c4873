import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { Writable } from 'node:stream'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type LaunchOptions, type LaunchResult, launch } from '../../src/cluster/index.ts'
import { startTimeOf } from '../../src/cluster/process-identity.ts'
import { rendezvousFiles, until, useRuntimeDirectory } from './support.ts'

const runtime = useRuntimeDirectory()
const script = fileURLToPath(new URL('./fixtures/rank.js', import.meta.url))
const notes = mkdtempSync(join(tmpdir(), 'aether-test-notes-'))
after(() => rmSync(notes, { recursive: true, force: true }))

class Collector extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

/** Launches the fixture and collects what it says. */
async function run(
  what: string,
  options: Partial<LaunchOptions> = {},
): Promise<LaunchResult & { out: string; err: string }> {
  const [stdout, stderr] = [new Collector(), new Collector()]
  const result = await launch({ script, args: [what, notes], ranks: 3, graceMs: 300, stdout, stderr, ...options })
  return { ...result, out: stdout.text, err: stderr.text }
}

/** A launcher in its own process, whose output so far is in `said`. */
function startLauncher(what: string, ranks: number): { readonly child: ChildProcess; said(): string } {
  const fixture = fileURLToPath(new URL('./fixtures/launcher.js', import.meta.url))
  const child = spawn(process.execPath, [fixture, String(ranks), script, what, notes], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk))
  return { child, said: () => text }
}

function noted(name: string, ranks: number): readonly number[] {
  return Array.from({ length: ranks }, (_, rank) => Number(readFileSync(join(notes, `${name}-${rank}`), 'utf8')))
}

function clearNotes(): void {
  for (const name of readdirSync(notes)) rmSync(join(notes, name))
}

const isGone = (processId: number): boolean => startTimeOf(processId) === undefined

test('every rank learns its number, the size and one rendezvous; its lines come with the rank in front', async () => {
  const { status, failures, out, err } = await run('hello', { ranks: 12 })
  assert.deepEqual([status, failures], [0, []])
  const lines = out.trimEnd().split('\n').sort()
  assert.equal(lines.length, 12)
  const rendezvous = new Set<string>()
  for (const [rank, line] of lines.entries()) {
    const match = /^\[ ?(\d+)\] hello from (\d+) of 12 at (local:run-[0-9a-f]{16}), arguments (.*)$/.exec(line)
    assert.ok(match !== null, line)
    assert.deepEqual([match[1], match[2], match[4]], [String(rank), String(rank), notes])
    rendezvous.add(match[3]!)
  }
  assert.equal(rendezvous.size, 1)
  assert.deepEqual(
    err.trimEnd().split('\n').sort(),
    Array.from({ length: 12 }, (_, rank) => `[${String(rank).padStart(2)}] no line end`),
  )
})

test('when one fails the others are stopped; the status and the words are of the one that failed', async () => {
  const { status, failures, err } = await run('fail')
  assert.equal(status, 3)
  assert.equal(failures.length, 1)
  assert.deepEqual([failures[0]?.rank, failures[0]?.exitCode, failures[0]?.signal], [1, 3, null])
  assert.match(err, /^aether: rank 1 \(process \d+\) exited with code 3$/m)
})

test('with continue the others go on', async () => {
  const { status, failures, out } = await run('failAlone', { onFailure: 'continue' })
  assert.equal(status, 3)
  assert.equal(failures.length, 1)
  assert.deepEqual(out.trimEnd().split('\n').sort(), ['[0] finished', '[2] finished'])
})

test('a rank that a signal ended is named with it, and the status says which', async () => {
  const { status, failures, err } = await run('crash')
  assert.equal(status, 128 + 9)
  assert.equal(failures[0]?.signal, 'SIGKILL')
  assert.match(err, /^aether: rank 0 \(process \d+\) was ended by SIGKILL$/m)
})

test('status 70 is explained', async () => {
  const { status, err } = await run('agent', { ranks: 1 })
  assert.equal(status, 70)
  assert.match(err, /exited with code 70: its agent failed/)
})

test('an aborted signal stops the ranks; those that do not listen are killed after the grace and named', async () => {
  clearNotes()
  const controller = new AbortController()
  const running = run('stubborn', { signal: controller.signal })
  await until(() => [0, 1, 2].every((rank) => existsSync(join(notes, `process-${rank}`))), 'the ranks to be ready')
  controller.abort()
  const { status, failures, err } = await running
  assert.equal(status, 128 + 15)
  assert.deepEqual(failures, [])
  assert.match(err, /^aether: rank 2 did not end after SIGTERM and was killed$/m)
  assert.ok(noted('process', 3).every(isGone))
})

test('SIGINT to the launcher is passed on, and a rank may end well of it', async () => {
  const { child, said } = startLauncher('polite', 2)
  await until(() => said().match(/ready/g)?.length === 2, 'the ranks to be ready')
  child.kill('SIGINT')
  const [code] = await once(child, 'close')
  assert.equal(code, 128 + 2)
  assert.equal(said().match(/^\[[01]\] got SIGINT$/gm)?.length, 2)
})

test('a second signal kills at once', async () => {
  clearNotes()
  const { child, said } = startLauncher('stubborn', 2)
  await until(() => said().match(/ready/g)?.length === 2, 'the ranks to be ready')
  child.kill('SIGTERM')
  await until(() => said().match(/ignores SIGTERM/g)?.length === 2, 'the ranks to have ignored it')
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  assert.equal(code, 128 + 15)
  assert.ok(noted('process', 2).every(isGone))
})

test('no rank outlives a launcher that is killed, not even one that never gets to its event loop', async () => {
  for (const what of ['stubborn', 'spin']) {
    clearNotes()
    const { child } = startLauncher(what, 3)
    await until(() => [0, 1, 2].every((rank) => existsSync(join(notes, `process-${rank}`))), 'the ranks to run')
    const ranks = noted('process', 3)
    child.kill('SIGKILL')
    await until(() => ranks.every(isGone), `ranks ${ranks} to end with their launcher`)
  }
})

test('what a rank started and left is ended with it and does not hold the launcher up', async () => {
  clearNotes()
  const { status } = await run('grandchild', { ranks: 2 })
  assert.equal(status, 0)
  await until(() => noted('grandchild', 2).every(isGone), 'the grandchildren to end')
})

test('no line is lost or mixed up, however much comes at a time', async () => {
  const { out } = await run('chatter')
  const lines = out.trimEnd().split('\n')
  assert.equal(lines.length, 6000)
  const next = [0, 0, 0]
  for (const line of lines) {
    const match = /^\[(\d)\] (\d):(\d+):x{100}$/.exec(line)
    assert.ok(match !== null && match[1] === match[2], line)
    const rank = Number(match[1])
    assert.equal(Number(match[3]), next[rank])
    next[rank] = Number(match[3]) + 1
  }
})

test('what cannot be right is refused before anything starts', async () => {
  const directory = join(notes, 'nothing')
  const cases: readonly (readonly [Partial<LaunchOptions>, string, RegExp])[] = [
    [{ script: directory }, 'script', /there is no script .*nothing/],
    [{ script: notes }, 'script', /is not a file/],
    [{ ranks: 0 }, 'ranks', /1 to 256/],
    [{ ranks: 1.5 }, 'ranks', /whole number/],
    [{ ranks: Number.NaN }, 'ranks', /whole number/],
    [{ ranks: 257 }, 'ranks', /1 to 256/],
    [{ onFailure: 'panic' as 'stop' }, 'onFailure', /'stop' or 'continue'/],
    [{ graceMs: -1 }, 'graceMs', /graceMs/],
  ]
  for (const [options, argument, message] of cases) {
    await assert.rejects(launch({ script, ranks: 1, ...options }), {
      code: 'ERR_AETHER_INVALID_ARGUMENT',
      argument,
      message,
    })
  }
})

test('a script that may not be read is refused with the reason', async () => {
  const path = join(notes, 'secret.js')
  writeFileSync(path, '', { mode: 0 })
  chmodSync(notes, 0o755)
  const module = new URL('../../src/cluster/index.js', import.meta.url).href
  // Root may read everything, so it becomes somebody else; after the import, since the checkout may be closed to
  // others.
  const program = `
    const { launch } = await import(${JSON.stringify(module)})
    if (process.geteuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534) }
    await launch({ script: ${JSON.stringify(path)}, ranks: 1 }).catch((error) => console.log(error.argument, error.message))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.match(stdout, /^script the script .* cannot be read \(EACCES/, stderr)
})

test('nothing is left in the runtime directory', () => {
  assert.deepEqual(rendezvousFiles(runtime), [])
})
