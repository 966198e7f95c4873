import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import test, { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openLogin, RUN_PATIENCE_MS, runOnHosts } from '../support/hosts-run.ts'
import { type ProgramEnd, startProgram } from '../support/program.ts'
import { RemoteHost } from '../support/remote-host.ts'

const rank = fileURLToPath(new URL('../../cluster/hosts/fixtures/joining-rank.js', import.meta.url))

let remote: RemoteHost

before(async () => {
  remote = await RemoteHost.connect()
})
after(() => remote[Symbol.dispose]())

test('two hosts rank a graph over RDMA as one process alone does, bit for bit', async () => {
  await openLogin(remote)
  using demo = runOnHosts('demo', '--json', '--kron', '11', '--page-size', '4KiB')
  const { status, output }: ProgramEnd = await demo.finished(RUN_PATIENCE_MS)
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
  const { status, output } = await caller.finished(RUN_PATIENCE_MS)
  assert.equal(status, 1, output)
  assert.match(output, /RendezvousError: rank 1 cannot join at 10\.9\.0\.1:7471: the secret of this process differs/)
  const end = await listener.finished(RUN_PATIENCE_MS)
  assert.match(end.output, /aether: rank 0: the rendezvous refused 10\.9\.0\.2:\d+: it does not know the secret/)
  assert.match(end.output, /MissingMembersError: .*rank 1 did not join; the rendezvous refused 10\.9\.0\.2/)
})
