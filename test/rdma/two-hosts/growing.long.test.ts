/** A group that grows over two hosts: over soft-RoCE, and over tcp on a cable that delays and loses packets. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Program, startProgram } from '../support/program.ts'
import { REMOTE_ADDRESS, RemoteHost } from '../support/remote-host.ts'

const SEEDS = ['10.9.0.1:7471', `${REMOTE_ADDRESS}:7471`]
const SECRET = '/tmp/growing-secret'
const MAKE_SECRET = `umask 077; echo a secret of at least thirty-two bytes > ${SECRET}`
const member = fileURLToPath(new URL('./fixtures/growing-member.js', import.meta.url))

let remote: RemoteHost

before(async () => {
  remote = await RemoteHost.connect()
  execFileSync('sh', ['-c', MAKE_SECRET])
  assert.equal((await remote.run('sh', '-c', MAKE_SECRET)).status, 0)
})
after(() => remote[Symbol.dispose]())

/** Two members here and one there, which is killed and started again; then one here. */
async function play(device: string): Promise<void> {
  const words = [process.execPath, member, device, SECRET, ...SEEDS] as const
  const here: Program[] = [startProgram(...words), startProgram(...words)]
  let there = remote.start(...words)
  try {
    await Promise.all([...here, there].map((each) => each.until(/3 members, counted/)))
    there.kill('SIGKILL')
    await Promise.all(here.map((each) => each.until(/2 members, counted/)))
    there = remote.start(...words)
    await Promise.all(here.map((each) => each.until(/2 members[\s\S]*3 members, counted/)))
    here[0]!.kill('SIGKILL')
    await there.until(/3 members[\s\S]*2 members, counted/)
    assert.match(there.output, new RegExp(`rank 3 on ${device}`))
  } finally {
    for (const each of [...here, there]) each.kill('SIGKILL')
  }
}

test('members come, are killed and come back over soft-RoCE', () => play('rxe0'))

test('members come, are killed and come back over tcp, on a cable that delays and loses packets', async () => {
  execFileSync('tc', ['qdisc', 'replace', 'dev', 'eth0', 'root', 'netem', 'delay', '5ms', '2ms', 'loss', '1%'])
  try {
    await play('tcp0')
  } finally {
    execFileSync('tc', ['qdisc', 'del', 'dev', 'eth0', 'root'])
  }
})
