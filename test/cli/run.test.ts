import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { aether } from './command-line.ts'

const script = fileURLToPath(new URL('./fixtures/ending-rank.js', import.meta.url))

test('starts N ranks of a script, its arguments untouched, the rank before each line', () => {
  const { status, stdout } = aether('run', '-n', '2', script, 'none', '', '', '-n', '--help', 'x y')
  assert.equal(status, 0)
  const lines = stdout.trimEnd().split('\n').sort()
  assert.equal(lines.length, 2)
  for (const [rank, line] of lines.entries()) {
    assert(line.startsWith(`${rank}`) || line.startsWith(`[${rank}]`), line)
    assert(line.endsWith('got ["-n","--help","x y"]'), line)
  }
})

test('ends with the status of the rank that failed, and says which', () => {
  const { status, stderr } = aether('run', '-n', '2', script, '1', 'exit', '7', '--linger')
  assert.equal(status, 7)
  assert.match(stderr, /rank 1 .*7/)
})

test('ends with 128 + the signal that killed a rank', () => {
  const { status, stderr } = aether('run', '--ranks=2', script, '0', 'signal', 'SIGKILL', '--linger')
  assert.equal(status, 137)
  assert.match(stderr, /rank 0 .*SIGKILL/)
})

test('with --on-failure continue the others go on to their end', () => {
  const { status, stdout } = aether('run', '-n', '3', '--on-failure', 'continue', script, '1', 'exit', '3')
  assert.equal(status, 3)
  assert.equal(stdout.trimEnd().split('\n').length, 2)
})

test('a script that does not exist, or is a directory, is one clear line', () => {
  for (const [path, message] of [
    ['/nowhere/app.js', /there is no script \/nowhere\/app\.js/],
    ['/tmp', /not a file/],
  ] as const) {
    const { status, stdout, stderr } = aether('run', '-n', '2', path)
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(stderr, message)
    assert.equal(stderr.trimEnd().split('\n').length, 1)
  }
})

test('hosts that are none, too few slots, and a port that is none are told before anything is started', () => {
  for (const [words, message] of [
    [['--hosts', 'a,,b'], /'' is not a host/],
    [['--hosts=-oProxyCommand=x'], /is not a host/],
    [['-n', '3', '--hosts', 'a:1,b:1'], /slots for 2 ranks, not for 3/],
    [['--hosts', 'a', '--port', '70000'], /--port takes an integer from 0 to 65535/],
  ] as const) {
    const { status, stderr } = aether('run', ...words, script)
    assert.ok(status === 1 || status === 2, String(status))
    assert.match(stderr, message)
  }
})
