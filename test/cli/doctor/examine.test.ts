import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { examine } from '../../../src/cli/doctor/examine.ts'
import type { Finding } from '../../../src/cli/doctor/finding.ts'
import { RecordedMachine, type Recording, RecordingMachine } from '../../../src/cli/doctor/machine.ts'
import { parseList } from '../../../src/cli/doctor/placement.ts'
import { root } from '../../repository/checkout.ts'

function recordingOf(name: string): Recording {
  return JSON.parse(readFileSync(join(root, 'test/cli/doctor/fixtures', `${name}.json`), 'utf8'))
}

const recorded = (name: string): RecordedMachine => new RecordedMachine(recordingOf(name))

function levels(findings: readonly Finding[]): Record<string, string> {
  return Object.fromEntries(findings.map(({ check, level }) => [check, level]))
}

test('a guest with soft-RoCE lacks nothing but large packets', () => {
  const findings = examine(recorded('rxe'))
  assert.deepEqual(
    findings.filter(({ level }) => level !== 'ok').map(({ check }) => check),
    ['mtu'],
  )
  const gid = findings.find(({ check }) => check === 'gid')
  assert.match(gid?.text ?? '', /0000:0000:0000:0000:0000:ffff:0a09:0001 \(index 1, RoCE v2\)/)
})

test('an iWARP device is named so, and needs no address of RoCE', () => {
  const { files, ...rest } = recordingOf('rxe')
  const iwarp = { ...files, '/sys/class/infiniband/rxe0/node_type': '4: RNIC' }
  const findings = examine(new RecordedMachine({ ...rest, files: iwarp }))
  assert.match(textOf(findings, 'iwarp'), /rxe0 port 1 speaks iWARP/)
  assert.match(textOf(findings, 'speed'), /, iWARP/)
  assert.deepEqual(
    findings.filter(({ check }) => check === 'gid' || check === 'mtu'),
    [],
  )
})

test('each trouble of a machine has its line, its level and what mends it', () => {
  const findings = examine(recorded('troubled-mlx5'))
  assert.deepEqual(levels(findings), {
    addon: 'ok',
    modules: 'warn',
    devices: 'ok',
    permissions: 'fail',
    memlock: 'fail',
    nofile: 'warn',
    memory: 'warn',
    'shared memory': 'warn',
    hugepages: 'ok',
    userfaultfd: 'warn',
    port: 'fail',
    speed: 'ok',
    slot: 'warn',
    gid: 'warn',
    mtu: 'ok',
    'link drops': 'warn',
    'lost packets': 'warn',
    'missing receives': 'warn',
    congestion: 'warn',
    counters: 'ok',
    pacing: 'ok',
    governor: 'warn',
    numa: 'warn',
  })
  for (const { check, level, fix } of findings) if (level !== 'ok') assert.ok(fix, `${check} says what mends it`)
})

function textOf(findings: readonly Finding[], check: string): string {
  return findings
    .filter((finding) => finding.check === check)
    .map(({ text, fix }) => `${text} -> ${fix}`)
    .join('\n')
}

test('lines name the file, the counter, the card and the node', () => {
  const findings = examine(recorded('troubled-mlx5'))
  assert.match(textOf(findings, 'permissions'), /ada may not open \/dev\/infiniband\/uverbs0 -> usermod -aG rdma ada/)
  assert.match(textOf(findings, 'port'), /mlx5_0 port 2 is DOWN \(physical state Disabled\) -> check cable/)
  assert.match(textOf(findings, 'slot'), /PCIe 8.0 GT\/s PCIe x8 and could have 16.0 GT\/s PCIe x16/)
  assert.match(textOf(findings, 'lost packets'), /out_of_sequence 120\) -> .*mlnx_qos -i ens1f0/)
  assert.match(textOf(findings, 'congestion'), /np_ecn_marked_roce_packets 4711/)
  assert.match(textOf(findings, 'pacing'), /mlx5_0 can limit each queue pair, up to 100.0 Gb\/s/)
  assert.match(textOf(findings, 'numa'), /other nodes only, at distance 21 .*--cpunodebind=1/)
})

test('a machine without RDMA works: it is told how to have it, and not warned', () => {
  const facts = { user: 'ada', isRoot: false, kernel: '6.12', node: 'v20.19.0' }
  const files = { '/proc/self/limits': 'Max locked memory 8388608 8388608 bytes' }
  const findings = examine(new RecordedMachine({ facts, files, access: {} }))
  assert.ok(findings.every(({ level }) => level === 'ok'))
  assert.match(textOf(findings, 'devices'), /over TCP \(tcp0\).* rdma link add rxe0 type rxe netdev/)
})

test('a machine with a card or a module but no device is warned', () => {
  const facts = { user: 'ada', isRoot: false, kernel: '6.12', node: 'v20.19.0' }
  const card = { '/sys/bus/pci/devices/0000:01:00.0/class': '0x020700' }
  const module = { '/proc/modules': 'ib_core 409600 0 - Live 0x0' }
  for (const files of [card, module]) {
    const found = levels(examine(new RecordedMachine({ facts, files, access: {} })))
    assert.deepEqual([found['modules'], found['devices']], ['warn', 'warn'])
  }
})

test('a limit of addresses is told, with what needs them', () => {
  const facts = { user: 'ada', isRoot: false, kernel: '6.12', node: 'v20.19.0' }
  const files = { '/proc/self/limits': 'Max address space 4294967296 4294967296 bytes' }
  const findings = examine(new RecordedMachine({ facts, files, access: {} }))
  assert.match(textOf(findings, 'address space'), /4.00 GiB of addresses; .* 10 GiB .* -> ulimit -v unlimited/)
})

test('a card whose library is missing fails, in the words of the provider', () => {
  const facts = { user: 'ada', isRoot: true, kernel: '6.12', node: 'v20.19.0', noVerbs: 'libibverbs cannot be opened' }
  const files = { '/sys/class/infiniband/mlx5_0/ports/1/state': '4: ACTIVE' }
  const findings = examine(new RecordedMachine({ facts, files, access: {} }))
  assert.equal(levels(findings)['verbs library'], 'fail')
})

test('an addon that cannot be loaded fails, whatever else is there', () => {
  const facts = { user: 'ada', isRoot: false, kernel: '6.12', node: 'v20.19.0', addonRefused: 'the addon is missing' }
  const findings = examine(new RecordedMachine({ facts, files: {}, access: {} }))
  assert.equal(levels(findings)['addon'], 'fail')
})

test('a recording answers as its machine did', () => {
  const machine = new RecordingMachine(recorded('troubled-mlx5'))
  const findings = examine(machine)
  const copy = JSON.parse(JSON.stringify(machine.recording))
  assert.deepEqual(examine(new RecordedMachine(copy)), findings)
})

test('lists of processors are read as the kernel writes them', () => {
  assert.deepEqual([...parseList('0-2,5')], [0, 1, 2, 5])
  assert.deepEqual([...parseList('')], [])
})
