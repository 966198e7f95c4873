import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { firstHost } from '../../../src/cluster/group/host-list.ts'
import { rankSettings, rendezvousSetting } from '../../../src/cluster/group/rank-environment.ts'
import { parseRendezvous } from '../../../src/cluster/group/rendezvous-place.ts'
import { ArgumentError } from '../../../src/native/index.ts'

function said(environment: Record<string, string>): string {
  const { rank, size, launcher } = rankSettings(environment)
  return `${launcher}: ${rank?.text} of ${size?.text}`
}

test('every launcher is understood, and one within another goes before it', () => {
  const slurm = { SLURM_PROCID: '3', SLURM_NTASKS: '8' }
  const mpi = { OMPI_COMM_WORLD_RANK: '1', OMPI_COMM_WORLD_SIZE: '2' }
  assert.equal(said({}), 'undefined: undefined of undefined')
  assert.equal(said(slurm), 'Slurm: 3 of 8')
  assert.equal(said({ ...slurm, SLURM_STEP_NUM_TASKS: '4' }), 'Slurm: 3 of 4')
  assert.equal(said({ PMI_RANK: '5', PMI_SIZE: '6' }), 'PMI: 5 of 6')
  assert.equal(said({ ...slurm, ...mpi }), 'Open MPI: 1 of 2')
  assert.equal(said({ ...slurm, ...mpi, AETHER_RANK: '0', AETHER_SIZE: '1' }), 'Aether: 0 of 1')
  assert.equal(said({ AETHER_RANK: '', ...mpi }), 'Open MPI: 1 of 2')
  // A batch script has a SLURM_NTASKS, but is no rank.
  assert.equal(said({ SLURM_NTASKS: '8' }), 'undefined: undefined of undefined')
})

test('under Slurm the ranks meet at the first host of the step, at a port of the step', () => {
  const slurm = { SLURM_PROCID: '3', SLURM_NTASKS: '8', SLURM_JOB_ID: '4711', SLURM_STEP_ID: '0' }
  const several = { ...slurm, SLURM_STEP_NUM_NODES: '2', SLURM_STEP_NODELIST: 'node[03-04]' }
  const place = rendezvousSetting(several)
  assert.match(place ?? '', /^tcp:node03:[23]\d{4}$/)
  assert.equal(rendezvousSetting({ ...several, SLURM_PROCID: '0' }), place)
  assert.notEqual(rendezvousSetting({ ...several, SLURM_STEP_ID: '1' }), place)
  assert.equal(rendezvousSetting({ ...slurm, SLURM_STEP_NUM_NODES: '1' }), 'local:slurm-4711-0')
  assert.equal(rendezvousSetting({ ...several, AETHER_RENDEZVOUS: 'local:x' }), 'local:x')
})

test('under mpirun the ranks of one machine meet in a space of the run; those of several have to be told', () => {
  const openMpi = { OMPI_COMM_WORLD_RANK: '1', OMPI_COMM_WORLD_SIZE: '2', PMIX_NAMESPACE: 'prterun-node1-71@1' }
  assert.equal(rendezvousSetting({ ...openMpi, OMPI_COMM_WORLD_LOCAL_SIZE: '2' }), 'local:openmpi-prterun-node1-71_1')
  assert.equal(rendezvousSetting({ ...openMpi, OMPI_COMM_WORLD_LOCAL_SIZE: '1' }), undefined)
  assert.equal(rendezvousSetting(openMpi), undefined)
  const hydra = { PMI_RANK: '1', PMI_SIZE: '2' }
  assert.match(
    rendezvousSetting({ ...hydra, MPI_LOCALNRANKS: '2' }) ?? '',
    new RegExp(`^local:hydra-${process.ppid}-\\d+$`),
  )
  assert.equal(rendezvousSetting({ ...hydra, MPI_LOCALNRANKS: '1' }), undefined)
})

test('the first host of a list in the notation of Slurm', () => {
  for (const [list, host] of [
    ['node1', 'node1'],
    ['node1,node2', 'node1'],
    ['node[03-17,20],login1', 'node03'],
    ['node[7]', 'node7'],
    ['rack1-node[3,5]-ib', 'rack1-node3-ib'],
    ['a.b.c', 'a.b.c'],
  ] as const)
    assert.equal(firstHost(list), host)
  for (const list of ['', '[', ',', '$(x)']) assert.equal(firstHost(list), undefined)
})

test('a rendezvous is a name or an address, and nothing else', () => {
  assert.deepEqual(parseRendezvous('local:a'), { kind: 'local', space: 'a' })
  for (const host of ['10.9.0.1', 'node-3.example.org', 'localhost'])
    assert.deepEqual(parseRendezvous(`tcp:${host}:7471`), { kind: 'tcp', host, port: 7471, keeper: 'rank 0' })
  assert.deepEqual(parseRendezvous('tcp:[fe80::1]:1'), { kind: 'tcp', host: 'fe80::1', port: 1, keeper: 'rank 0' })
  for (const text of [
    '',
    'tcp',
    'tcp:',
    'tcp:a',
    'tcp:a:0',
    'tcp:a:65536',
    'tcp:a:x',
    'tcp:-a:1',
    'tcp:::1:1',
    'tcp:[x]:1',
    'udp:a:1',
    'local:',
  ])
    assert.throws(
      () => parseRendezvous(text),
      (error) => error instanceof ArgumentError && error.argument === 'rendezvous',
      text,
    )
})
