import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  type ConformanceReport,
  conformanceCases,
  connectionCases,
  formatConnectionReport,
  formatReport,
  type Placement,
  runConnectionConformance,
  runProviderConformance,
} from '../../../src/testing/index.ts'
import { Machines } from '../../support/machines.ts'
import { tcpConnectionsUnsupported, tcpUnsupported } from './unsupported.ts'

interface Result {
  readonly name: string
  readonly outcome: string
}

const unsupported = (results: readonly Result[]): readonly string[] =>
  results.filter(({ outcome }) => outcome === 'unsupported').map(({ name }) => name)

for (const placement of ['one-process', 'two-processes'] satisfies Placement[]) {
  test(`tcp conforms, both ends in ${placement.replace('-', ' ')}`, async () => {
    const setup = { provider: 'tcp', device: 'tcp-lo', placement, allowUnsupported: tcpUnsupported }
    const report = await runProviderConformance(setup)
    console.log(formatReport(report))
    assert.equal(report.failed, 0)
    assert.equal(report.results.length, conformanceCases.length)
    // Nothing is excused that works.
    assert.deepEqual([...unsupported(report.results)].sort(), Object.keys(tcpUnsupported).sort())
  })
}

test('tcp conforms between two network namespaces', { skip: Machines.reasonAgainst() }, () => {
  using machines = new Machines(2)
  const fixture = fileURLToPath(new URL('./fixtures/conforming.js', import.meta.url))
  const [command = '', ...words] = [...machines.networks.in(0), process.execPath, fixture, ...machines.networks.in(1)]
  const env = { ...process.env, AETHER_SECRET_FILE: machines.secretFile }
  const { stdout, stderr } = spawnSync(command, words, { encoding: 'utf8', env })
  assert.notEqual(stdout, '', stderr)
  const report = JSON.parse(stdout) as ConformanceReport
  assert.equal(report.failed, 0, formatReport(report))
  assert.deepEqual([...unsupported(report.results)].sort(), Object.keys(tcpUnsupported).sort())
})

test('the connection manager conforms over tcp, by IPv4 and by IPv6', async () => {
  const setup = { device: 'tcp-lo', address: '127.0.0.1', address6: '::1', allowUnsupported: tcpConnectionsUnsupported }
  const report = await runConnectionConformance(setup)
  console.log(formatConnectionReport(report))
  assert.equal(report.failed, 0)
  assert.equal(report.results.length, connectionCases.length)
  assert.deepEqual([...unsupported(report.results)].sort(), Object.keys(tcpConnectionsUnsupported).sort())
})
