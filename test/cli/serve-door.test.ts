/** `aether serve` for clients of Redis: what its options do, and what their errors say. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { RawClient } from '../redis-door/support/raw-client.ts'
import { aether } from './command-line.ts'

useRuntimeDirectory()
const folder = mkdtempSync(join(tmpdir(), 'aether-test-serve-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const withoutOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'

/** The port that it says, and how it ends. */
async function serve(...args: readonly string[]): Promise<{ port: number; said: string; ended: Promise<unknown> }> {
  const child = spawn(process.execPath, [main, 'serve', `serve-${process.pid}`, '--port', '0', ...args])
  after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let said = ''
  // Its output is read to the end: a process whose output no one takes would end.
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (text: Buffer) => {
      said += String(text)
      if (/serving index/.test(said)) resolve()
    })
    child.on('exit', () => resolve())
  })
  return { port: Number(/rediss?:\/\/\S+:(\d+)/.exec(said)![1]), said, ended }
}

test('errors of options name the fix', () => {
  const password = file('empty', '\n')
  for (const [args, words] of [
    [['--bind', '0.0.0.0'], /--bind is about clients of Redis: add --port 6379/],
    [['--port', '99999'], /--port/],
    [['--port', '0', '--maxclients', '0'], /--maxclients/],
    [['--port', '0', '--password-file', join(folder, 'none')], /--password-file cannot be read: .*none/],
    [['--port', '0', '--password-file', password], /first line of .*empty is empty: write the password there/],
    [['--port', '0', '--tls-cert', password], /add --tls-key/],
    [['--port', '0', '--tls-key', password], /add --tls-cert/],
    [['--policy', 'lru'], /--policy is one of .*allkeys-lru.*, not 'lru'/],
    [['--append', 'often'], /--append is one of always, everysec, no, not 'often'/],
    [['--append', 'everysec'], /--append everysec is for --replicas 1 with a --directory/],
    [['--append', 'no', '--directory', folder, '--replicas', '3'], /--append no is for --replicas 1/],
    [['--port', '0', '--tls-cert', password, '--tls-key', password], /not a certificate and its key in PEM/],
  ] as const) {
    const { status, stderr } = aether('serve', ...args)
    assert.ok(status === 1 || status === 2, stderr)
    assert.match(stderr, words)
  }
})

test('with a password and an address for all, clients say who they are; SHUTDOWN ends it in order', async () => {
  const { port, said, ended } = await serve('--bind', '0.0.0.0', '--password-file', file('password', 'secret\n'))
  assert.doesNotMatch(said, /may read and write everything/)
  using client = await RawClient.connect(port)
  assert.equal(await client.ask('GET', 'a'), '-NOAUTH Authentication required.')
  assert.equal(await client.ask('AUTH', 'secret'), 'OK')
  assert.equal(await client.ask('SET', 'a', '1'), 'OK')
  client.send(['SHUTDOWN'])
  assert.deepEqual(await ended, [0, null])
})

test('with a certificate, connections are encrypted, and clients show theirs', { skip: withoutOpenssl }, async () => {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2', '-nodes']
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject])
  assert.equal(made.status, 0, String(made.stderr))
  const { port, said } = await serve('--tls-cert', cert, '--tls-key', key, '--tls-ca', cert)
  assert.match(said, /clients of Redis: rediss:\/\/127\.0\.0\.1:/)
  const [certificate, privateKey] = [readFileSync(cert), readFileSync(key)]
  const options = { port, host: '127.0.0.1', servername: 'localhost', ca: certificate }
  const socket = connectTls({ ...options, cert: certificate, key: privateKey })
  await once(socket, 'secureConnect')
  using client = await RawClient.over(socket, 3)
  assert.equal(await client.ask('SET', 'a', '1'), 'OK')
  assert.equal(await client.ask('GET', 'a'), '1')
  const stranger = connectTls(options)
  const errors: string[] = []
  stranger.on('error', ({ message }) => errors.push(message))
  await new Promise((resolve) => stranger.on('close', resolve))
  assert.match(errors.join(), /certificate required|ECONNRESET/)
})
