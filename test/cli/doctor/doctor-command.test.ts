import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { examine } from '../../../src/cli/doctor/examine.ts'
import type { Finding } from '../../../src/cli/doctor/finding.ts'
import { RecordedMachine } from '../../../src/cli/doctor/machine.ts'
import { aether } from '../command-line.ts'

const options = process.platform === 'linux' ? {} : { skip: '/proc and /sys are of Linux' }

test('doctor --json prints findings only, and the status says whether one failed', options, () => {
  const { status, stdout } = aether('doctor', '--json')
  const findings: Finding[] = JSON.parse(stdout)
  assert.ok(findings.some(({ check, level }) => check === 'addon' && level === 'ok'))
  assert.equal(status, findings.some(({ level }) => level === 'fail') ? 1 : 0)
})

test('doctor --record keeps what the findings were made of', options, () => {
  const folder = mkdtempSync(join(tmpdir(), 'aether-doctor-'))
  try {
    const file = join(folder, 'machine.json')
    const { stdout } = aether('doctor', '--record', file)
    const findings = examine(new RecordedMachine(JSON.parse(readFileSync(file, 'utf8'))))
    for (const { text } of findings) assert.ok(stdout.includes(text), text)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
