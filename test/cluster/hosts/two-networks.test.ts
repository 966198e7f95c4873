/** Ranks on two machines, as far as the network tells, over a tcp device. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Networks } from '../../support/networks.ts'

const skip = Networks.reasonAgainst()
const folder = mkdtempSync(join(tmpdir(), 'aether-test-networks-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const script = fileURLToPath(new URL('./fixtures/everything-rank.js', import.meta.url))
const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

/** Stands in for ssh: a host is a network namespace with a runtime directory of its own. */
function sshInto({ names: [a, b] }: Networks): string {
  const path = join(folder, 'ssh.sh')
  const body = `host="$1"; shift
case "$host" in a) name=${a};; *) name=${b};; esac
export AETHER_RUNTIME_DIRECTORY=${folder}/$host
exec ip netns exec "$name" /bin/sh -c "$*"
`
  writeFileSync(path, body)
  return path
}

interface Result {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** In the first namespace, with two ranks there and one in the other. */
const run = (networks: Networks, ...words: readonly string[]): Promise<Result> => aether('run', networks, ...words)

async function aether(job: 'run' | 'demo', networks: Networks, ...words: readonly string[]): Promise<Result> {
  const [command = '', ...before] = networks.in(0)
  const options = ['--hosts', 'a:2,b:1', '--ssh', `/bin/sh ${sshInto(networks)}`, '--address', networks.addresses[0]!]
  const args = [...before, process.execPath, main, job, ...options, ...words]
  const child = spawn(command, args, { env: { ...process.env, AETHER_DEVICE: '' }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close') as Promise<[number]>
  const [[status], out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { status, out, err }
}

test('regions of every protocol, locks, collectives, messages and structures span machines', { skip }, async () => {
  using networks = Networks.make()
  const { status, out, err } = await run(networks, script)
  assert.equal(status, 0, out + err)
  assert.deepEqual(
    out.trimEnd().split('\n').sort(),
    [0, 1, 2].map((rank) => `[${rank}] all of it on tcp0`),
  )
})

test('when the rank on the other machine is killed, the others go on', { skip }, async () => {
  using networks = Networks.make()
  const { status, out, err } = await run(networks, '--on-failure', 'continue', script, 'die')
  assert.equal(status, 137, out + err)
  for (const rank of [0, 1]) assert.ok(out.includes(`[${rank}] the others went on`), out + err)
})

test('the demo ranks a graph on two machines, as one process does', { skip }, async () => {
  using networks = Networks.make()
  const { status, out, err } = await aether('demo', networks, '--kron', '10', '--json')
  assert.equal(status, 0, out + err)
  assert.equal((JSON.parse(out) as { right: boolean }).right, true)
})
