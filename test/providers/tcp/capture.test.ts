/** What the device sends, as Wireshark's dissector of iWARP reads it. */
import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSecret } from '../../../src/runtime/index.ts'
import { until } from '../../cluster/support.ts'
import { Op } from '../../support/iwarp.ts'
import { Networks } from '../../support/networks.ts'
import { RankProcess } from '../../support/rank-process.ts'
import type { Opened } from './fixtures/end.ts'
import { fixture } from './survivor.ts'

const hasTshark = spawnSync('tshark', ['--version']).status === 0
const skip = hasTshark ? Networks.reasonAgainst() : 'tshark is not installed (Debian: tshark)'
const folder = mkdtempSync(join(tmpdir(), 'aether-test-capture-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Records what crosses the cable until `conversation` is over; the file. */
async function captured(networks: Networks, conversation: () => Promise<void>): Promise<string> {
  const file = join(folder, 'capture.pcapng')
  const [command = '', ...words] = networks.in(0)
  const recorder = spawn(command, [...words, 'dumpcap', '-q', '-i', 'cable', '-w', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  recorder.stderr.on('data', (chunk) => (said += chunk))
  await until(() => said.includes('File:'), 'the recording begins')
  await conversation()
  await sleep(500)
  recorder.kill('SIGINT')
  await once(recorder, 'close')
  return file
}

function decode(file: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('tshark', ['-r', file, ...words], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  assert.equal(status, 0, stderr)
  return stdout
}

const sent = ['Write', 'ReadRequest', 'ReadResponse', 'Send', 'Immediate', 'AtomicRequest', 'AtomicResponse'] as const
const ATOMIC = ['opcode', 'add_data', 'swap_data', 'compare_data'].map((name) => `iwarp_rdma.atomic.${name}`)

test('a capture decodes as iWARP, CRC and all, and says what was meant', { skip }, async () => {
  using networks = Networks.make()
  const secret = join(folder, 'secret')
  writeFileSync(secret, makeSecret(), { mode: 0o600 })
  const start = (end: 0 | 1): RankProcess => new RankProcess(fixture, { AETHER_SECRET_FILE: secret }, networks.in(end))
  const [one, other] = [start(0), start(1)]
  try {
    const file = await captured(networks, async () => {
      const ends = await Promise.all([one, other].map((end) => end.call<Opened>('open', 'tcp0', 100_000)))
      await other.call('connect', ends[0]!.endpoint, {})
      await other.call('postReceives', 4)
      await one.call('connect', ends[1]!.endpoint, {})
      assert.deepEqual(await one.call('oneOfEach', ends[1]!.token), Array(7).fill(0))
    })
    const text = decode(file, '-V', '-o', 'tcp.desegment_tcp_streams:TRUE')
    assert.doesNotMatch(text, /Malformed|Bad CRC|\[incorrect/i)
    assert.match(text, /Request frame header[\s\S]*Reply frame header/)
    const fields = ['iwarp_rdma.opcode', ...ATOMIC].flatMap((name) => ['-e', name])
    const rows = decode(file, '-T', 'fields', ...fields, '-Y', 'iwarp_rdma')
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t'))
    const opcodes = new Set(rows.flatMap(([all = '']) => all.split(',').map(Number)))
    for (const op of sent) assert.ok(opcodes.has(Op[op]), `${op} is not in ${[...opcodes]}`)
    // Fetch and add, then compare and swap: RFC 7306, section 5.
    const atomics = rows.map(([, ...atomic]) => atomic.join(' ').trim()).filter((row) => row !== '')
    assert.deepEqual(atomics, ['0 5  0', '2  2 1'])
  } finally {
    await Promise.all([one, other].map((end) => end.kill()))
  }
})
