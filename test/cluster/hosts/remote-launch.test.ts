import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { Writable } from 'node:stream'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseHosts, placeRanks } from '../../../src/cluster/hosts/host-slots.ts'
import { type LaunchOptions, type LaunchResult, launch } from '../../../src/cluster/index.ts'
import { startTimeOf } from '../../../src/cluster/process-identity.ts'
import { ArgumentError } from '../../../src/native/index.ts'
import { until, useRuntimeDirectory } from '../support.ts'

useRuntimeDirectory()
const folder = mkdtempSync(join(tmpdir(), 'aether-test-remote-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const script = fileURLToPath(new URL('../fixtures/rank.js', import.meta.url))
const joining = fileURLToPath(new URL('./fixtures/joining-rank.js', import.meta.url))

/** Stands in for ssh: a host is a runtime directory of its own. Notes what it was called with. */
const ssh = join(folder, 'ssh.sh')
writeFileSync(
  ssh,
  `host="$1"; shift
if [ "$host" = nowhere ]; then echo "ssh: connect to host nowhere: no route" >&2; exit 255; fi
echo "$host $*" >> ${folder}/called
echo "welcome to $host"
export AETHER_RUNTIME_DIRECTORY=${folder}/$host AETHER_DEVICE=shm0
exec /bin/sh -c "$*"
`,
)

class Collector extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

/** Output and notes of one launch on hosts `a` and `b`. */
async function run(
  what: string,
  options: Partial<LaunchOptions> = {},
): Promise<LaunchResult & { out: string; err: string; notes: string }> {
  const notes = mkdtempSync(join(folder, 'notes-'))
  const [stdout, stderr] = [new Collector(), new Collector()]
  const result = await launch({
    script,
    args: [what, notes],
    ranks: 3,
    hosts: parseHosts('a:2,b'),
    ssh: ['/bin/sh', ssh],
    address: '127.0.0.1',
    graceMs: 300,
    stdout,
    stderr,
    ...options,
  })
  return { ...result, out: stdout.text, err: stderr.text, notes }
}

const isGone = (processId: number): boolean => startTimeOf(processId) === undefined

test('ranks on several hosts learn who they are; their lines come with the rank in front, and nothing secret is on a command line', async () => {
  const { status, out, notes } = await run('hello')
  assert.equal(status, 0, out)
  const lines = out.trimEnd().split('\n').sort()
  assert.equal(lines.length, 3)
  for (const [rank, line] of lines.entries())
    assert.match(
      line,
      new RegExp(`^\\[${rank}\\] hello from ${rank} of 3 at launcher:127\\.0\\.0\\.1:\\d+, arguments ${notes}$`),
    )
  const called = readFileSync(join(folder, 'called'), 'utf8').trimEnd().split('\n')
  assert.deepEqual(called.map((line) => line.split(' ')[0]).sort(), ['a', 'b'])
  for (const line of called) assert.match(line, /^[ab] exec '[^']+' '[^']+remote-helper\.js'$/)
  for (const host of ['a', 'b']) assert.deepEqual(readdirSync(join(folder, host, 'secrets')), [])
})

test('they form a group, whose pages go from host to host', async () => {
  const { status, out, err } = await run('', { script: joining, args: [] })
  assert.equal(status, 0, err)
  assert.deepEqual(out.trimEnd().split('\n').sort(), ['[0] 300', '[1] 300', '[2] 300'])
})

test('when one fails the others are stopped; the status and the words are of the one that failed', async () => {
  const { status, failures, err } = await run('fail')
  assert.equal(status, 3, err)
  assert.match(failures[0]?.message ?? '', /^rank 1 \(process \d+ on a\) exited with code 3$/)
  assert.equal(failures.length, 1)
})

test('a signal that ended a rank is told as on this machine', async () => {
  const { status, failures } = await run('crash')
  assert.equal(status, 137)
  assert.match(failures[0]?.message ?? '', /^rank 0 \(process \d+ on a\) was ended by SIGKILL$/)
})

test('with onFailure continue the others finish', async () => {
  const { status, out } = await run('failAlone', { onFailure: 'continue' })
  assert.equal(status, 3)
  assert.equal(out.trimEnd().split('\n').length, 2)
})

test('those that are deaf to signals are killed after the grace', async () => {
  const abort = new AbortController()
  const notes = mkdtempSync(join(folder, 'deaf-'))
  const running = run('stubborn', { args: ['stubborn', notes], signal: abort.signal })
  await until(() => readdirSync(notes).length === 3, 'all run')
  abort.abort()
  const { status } = await running
  assert.equal(status, 143)
  for (const name of readdirSync(notes)) {
    const processId = Number(readFileSync(join(notes, name), 'utf8'))
    await until(() => isGone(processId), `${name} is gone`)
  }
})

test('a host that cannot be reached is named, with what ssh said', async () => {
  const { status, failures, err } = await run('hello', { hosts: parseHosts('a,nowhere'), ranks: 2 })
  assert.equal(status, 255)
  assert.match(failures[0]?.message ?? '', /rank 1 could not be started: nowhere: the connection to it ended/)
  assert.match(err, /\[nowhere\] ssh: connect to host nowhere: no route/)
})

test('a command that is not there, and a helper that is not there, are told', async () => {
  const without = await run('hello', { ssh: ['/nowhere/ssh'] })
  assert.match(without.failures[0]?.message ?? '', /could not be started: .*\/nowhere\/ssh could not be started/)
  const wrong = await run('hello', { remoteNode: '/nowhere/node' })
  assert.equal(wrong.status, 255)
  assert.match(wrong.failures[0]?.message ?? '', /it said: welcome to [ab]/)
})

test('no rank outlives a launcher that is killed', async () => {
  const notes = mkdtempSync(join(folder, 'orphans-'))
  const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
  const args = ['run', '--hosts', 'a,b', '--ssh', `/bin/sh ${ssh}`, '--address', '127.0.0.1', script, 'stubborn', notes]
  const launcher = spawn(process.execPath, [main, ...args], { stdio: 'ignore' })
  await until(() => readdirSync(notes).length === 2, 'both run')
  launcher.kill('SIGKILL')
  await once(launcher, 'exit')
  for (const name of readdirSync(notes)) {
    const processId = Number(readFileSync(join(notes, name), 'utf8'))
    await until(() => isGone(processId), `${name} is gone`)
  }
})

test('ranks go to hosts in blocks', () => {
  const placed = (text: string, ranks: number) =>
    placeRanks(parseHosts(text), ranks).map(({ host, ranks: own }) => `${host} ${own.join()}`)
  assert.deepEqual(placed('a,b', 4), ['a 0,1', 'b 2,3'])
  assert.deepEqual(placed('a,b', 3), ['a 0,1', 'b 2'])
  assert.deepEqual(placed('a:3,b:3', 4), ['a 0,1,2', 'b 3'])
  assert.deepEqual(placed('a:1,b,c', 5), ['a 0', 'b 1,2', 'c 3,4'])
  assert.deepEqual(placed('a,b,c', 2), ['a 0', 'b 1'])
  assert.deepEqual(placed('user@a.example.org:2', 2), ['user@a.example.org 0,1'])
  assert.deepEqual(placed('[fe80::1]:2', 2), ['[fe80::1] 0,1'])
  assert.throws(() => placed('a:1,b:1', 3), /slots for 2 ranks, not for 3/)
  for (const wrong of ['', 'a,,b', '-oProxyCommand=x', 'a b', 'a:0', 'a:x', 'a,a', "a';x"])
    assert.throws(
      () => parseHosts(wrong),
      (error) => error instanceof ArgumentError && error.argument === 'hosts',
      wrong,
    )
})
