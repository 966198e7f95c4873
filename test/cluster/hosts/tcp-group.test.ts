import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { Hosts, hostsFolder, secretFile } from '../../support/hosts.ts'

const otherSecret = secretFile('other', 'incorrect horse battery staple, and then some\n')

test('ranks of different hosts join over TCP, meet at barriers, and leave together', async () => {
  await using hosts = await Hosts.start(3)
  await hosts.all('join')
  await hosts.all('barriers', 20)
  await hosts.all('closeGroup')
})

test('without the secret of the others nobody gets in, and both ends are told', async () => {
  await using hosts = await Hosts.start(2, (rank) => (rank === 1 ? { AETHER_SECRET_FILE: otherSecret } : {}))
  const waiting = hosts.on(0, 'join', 3000)
  await assert.rejects(hosts.on(1, 'join', 3000), {
    name: 'RendezvousError',
    code: 'ERR_AETHER_RENDEZVOUS_REFUSED',
    message: /the secret of this process differs/,
  })
  await assert.rejects(waiting, {
    name: 'MissingMembersError',
    message: /refused 127\.0\.0\.1:\d+: it does not know the secret/,
  })
  const { err } = await hosts.kill(0)
  assert.match(err, /aether: rank 0: the rendezvous refused 127\.0\.0\.1:\d+: it does not know the secret/)
})

test('a region of the protocol is kept the same across hosts; hardware is refused, auto takes the protocol', async () => {
  await using hosts = await Hosts.start(2)
  await hosts.all('join')
  const opened = await hosts.all<{ coherence: string }>('open', 'r', { size: 65_536 })
  assert.deepEqual(
    opened.map(({ coherence }) => coherence),
    ['directory', 'directory'],
  )
  await assert.rejects(hosts.on(0, 'open', 'h', { size: 4096, coherence: 'hardware' }), {
    name: 'UnsupportedError',
    message: /several machines/,
  })
  await hosts.all('hammer', 'r', 3, 90)
  const [sum] = await Promise.all([hosts.on<bigint>(0, 'fetchAdd', 'r', 3 * 4096, 0n), hosts.all('barrier')])
  assert.equal(sum, 2n * (90n + 30n))
  await hosts.all('closeGroup')
})

test('a rank that is killed is dead to the others at once', async () => {
  await using hosts = await Hosts.start(3)
  await hosts.all('join')
  const waiting = [0, 2].map((rank) => hosts.on(rank, 'barrier'))
  await hosts.kill(1)
  for (const wait of waiting) await assert.rejects(wait, { name: 'MemberEndedError', message: /rank 1/ })
})

test('what a rank lacks to join over TCP is an error of its own, and told to the others', async () => {
  const cases: readonly (readonly [Record<string, string>, object])[] = [
    [{ AETHER_SECRET_FILE: '' }, { name: 'SecretError', message: /give secretFile, or set AETHER_SECRET_FILE/ }],
    [{ AETHER_SECRET_FILE: secretFile('open', 'x'.repeat(40), 0o644) }, { name: 'SecretError', message: /chmod 600/ }],
    [{ AETHER_RENDEZVOUS: 'tcp:127.0.0.1' }, { name: 'ArgumentError', message: /tcp:HOST:PORT/ }],
  ]
  for (const [environment, error] of cases) {
    await using hosts = await Hosts.start(1, () => environment)
    await assert.rejects(hosts.on(0, 'join', 5000), error)
  }
})

test('a rank that cannot go on says why to those who wait for it', async () => {
  await using hosts = await Hosts.start(2, (rank) => (rank === 1 ? { AETHER_DEVICE: 'nonesuch0' } : {}))
  const waiting = hosts.on(0, 'join')
  await assert.rejects(hosts.on(1, 'join'), { message: /no device "nonesuch0"/ })
  await assert.rejects(waiting, { name: 'MemberEndedError', message: /rank 1 .*it gave up: .*nonesuch0/ })
})

test('ranks of several machines are connected over TCP', async () => {
  await using hosts = await Hosts.start(2, () => ({ AETHER_DEVICE: 'tcp-lo' }))
  await hosts.all('join')
  const opened = await hosts.all<{ coherence: string }>('open', 'r', { size: 65_536 })
  assert.deepEqual(
    opened.map(({ coherence }) => coherence),
    ['directory', 'directory'],
  )
  await hosts.all('closeGroup')
})

test('ranks of one machine that meet over TCP share its memory', async () => {
  await using hosts = await Hosts.start(2, () => ({
    AETHER_DEVICE: '',
    AETHER_RUNTIME_DIRECTORY: join(hostsFolder, 'together'),
  }))
  await hosts.all('join')
  const opened = await hosts.all<{ coherence: string }>('open', 'r', { size: 65_536 })
  assert.deepEqual(
    opened.map(({ coherence }) => coherence),
    ['hardware', 'hardware'],
  )
  await hosts.all('closeGroup')
})

test('a rank that falls silent is dead to the others, though its process lives', async () => {
  await using hosts = await Hosts.start(2, () => ({ AETHER_SILENCE_MS: '4000' }))
  await hosts.all('join')
  const waiting = hosts.on(0, 'barrier')
  process.kill(hosts.ranks[1]!.processId, 'SIGSTOP')
  await assert.rejects(waiting, { name: 'MemberEndedError', message: /rank 1/ })
})

test('a silence that cannot be meant is refused by name', async () => {
  await using hosts = await Hosts.start(1, () => ({ AETHER_SILENCE_MS: '10' }))
  await assert.rejects(hosts.on(0, 'join'), {
    name: 'ArgumentError',
    message: /AETHER_SILENCE_MS must be at least 2000/,
  })
})

test('a port at which rank 0 cannot listen is named', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1' }, resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  try {
    await using hosts = await Hosts.start(1, () => ({ AETHER_RENDEZVOUS: `tcp:127.0.0.1:${address.port}` }))
    await assert.rejects(hosts.on(0, 'join'), {
      name: 'RendezvousError',
      code: 'ERR_AETHER_RENDEZVOUS_UNREACHABLE',
      message: new RegExp(`cannot listen at 127.0.0.1:${address.port}: another program listens there`),
    })
  } finally {
    server.close()
  }
})

test('ranks under mpirun need only be told where to meet', async () => {
  await using hosts = await Hosts.start(2, (rank) => ({
    AETHER_RANK: '',
    AETHER_SIZE: '',
    ...(rank === 0
      ? { OMPI_COMM_WORLD_RANK: '0', OMPI_COMM_WORLD_SIZE: '2' }
      : { PMI_RANK: '1', PMI_SIZE: '2', SLURM_PROCID: '0', SLURM_NTASKS: '1' }),
  }))
  await hosts.all('join')
  await hosts.all('closeGroup')
})
