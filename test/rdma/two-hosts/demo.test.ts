import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Program, type ProgramEnd, startProgram } from '../support/program.ts'
import { RemoteHost } from '../support/remote-host.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const aether = at('../../../src/cli/main.js')
const login = `${process.execPath} ${at('../support/login.js')}`
const onHosts = ['--hosts', 'here,there', '--ssh', login, '--address', '10.9.0.1']
/** Starting a process with its threads takes a minute in an emulated guest. */
const PATIENCE_MS = 400_000

/** Signs of life are late where a processor is emulated and shared. */
const SILENCE_MS = 20_000

let remote: RemoteHost
let sshd: Program

before(async () => {
  remote = await RemoteHost.connect()
  sshd = remote.start(process.execPath, at('../support/login-main.js'))
  await sshd.until(/login is open/)
})
after(() => remote[Symbol.dispose]())

function run(...words: readonly string[]): Program {
  return startProgram('env', `AETHER_SILENCE_MS=${SILENCE_MS}`, process.execPath, aether, ...words)
}

test('two hosts rank a graph over RDMA as one process alone does, bit for bit', async () => {
  using demo = run('demo', '--json', ...onHosts, '--kron', '11', '--page-size', '4KiB')
  const { status, output }: ProgramEnd = await demo.finished(PATIENCE_MS)
  assert.equal(status, 0, output)
  const { pageRank } = JSON.parse(output.slice(output.indexOf('{'))) as {
    pageRank: { groups: { same: boolean; coherence: string; members: { bytesIn: number }[] }[] }
  }
  const [group] = pageRank.groups
  assert.deepEqual([group?.same, group?.coherence], [true, 'mesi'])
  assert.ok(
    group?.members.every(({ bytesIn }) => bytesIn > 0),
    'pages went both ways',
  )
})

test('without the secret of rank 0 the other host is refused, at both ends, before it is told anything', async () => {
  const rank = at('../../cluster/hosts/fixtures/joining-rank.js')
  for (const [name, secret] of [
    ['mine', 'the secret of the first host, and of nobody else'],
    ['theirs', 'the secret of the second host, and of nobody else'],
  ] as const)
    writeFileSync(`/tmp/${name}`, `${secret}\n`, { mode: 0o600 })
  const variables = (own: number, file: string): string[] => [
    `AETHER_RANK=${own}`,
    'AETHER_SIZE=2',
    'AETHER_RENDEZVOUS=tcp:10.9.0.1:7471',
    `AETHER_SECRET_FILE=${file}`,
  ]
  const script = `umask 077 && echo 'the secret of the second host, and of nobody else' > /tmp/theirs && exec env ${variables(1, '/tmp/theirs').join(' ')} ${process.execPath} ${rank}`
  using listener = startProgram('env', ...variables(0, '/tmp/mine'), process.execPath, rank)
  using caller = remote.start('sh', '-c', script)
  const { status, output } = await caller.finished(PATIENCE_MS)
  assert.equal(status, 1, output)
  assert.match(output, /RendezvousError: rank 1 cannot join at 10\.9\.0\.1:7471: this process has another secret/)
  const end = await listener.finished(PATIENCE_MS)
  assert.match(end.output, /aether: rank 0: the rendezvous refused 10\.9\.0\.2:\d+: it does not know the secret/)
  assert.match(end.output, /MissingMembersError: .*rank 1 did not come; the rendezvous refused 10\.9\.0\.2/)
})

// The last: the other guest does not come back.
test('a host whose power is cut in the middle is named by the launcher and by the rank that is left, in bounded time', async () => {
  const script = at('./fixtures/survivor.js')
  using launched = run('run', ...onHosts, '--on-failure', 'continue', script)
  await launched.until(/\[1\] computing/, PATIENCE_MS)
  remote.cutPower()
  const { status, output } = await launched.finished(PATIENCE_MS)
  assert.match(output, /aether: rank 1 \(process \d+ on there\) is lost: nothing was heard from it for 20 s/)
  assert.match(output, /\[0\] rank 1 died: \S/)
  assert.match(output, /\[0\] barrier: ERR_AETHER_MEMBER_ENDED/)
  assert.match(output, /\[0\] page: ERR_AETHER_PAGE_LOST/)
  assert.equal(status, 255, output)
})
