import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TortureResult } from '../../../tools/torture/index.ts'
import { aether } from '../../cli/command-line.ts'

test('one group: what was done to it, as a table or as JSON', () => {
  const short = [
    '--groups',
    '1',
    '--ranks',
    '3',
    '--kill-every',
    '200',
    '--stop-every',
    '100',
    '--stop-for',
    '20',
    '--lease',
    '120000',
  ]
  const { status, stdout } = aether('torture', ...short, '--coherence', 'mesi', '--place', 'machine', '--json')
  assert.equal(status, 0, stdout)
  const [{ coherence, groups, deaths, violations }] = JSON.parse(stdout) as [TortureResult]
  assert.deepEqual([coherence, groups, deaths, violations], ['mesi', 1, 1, []])
})

test('what cannot be meant is refused before anything is started', () => {
  for (const [args, sentence] of [
    [['--coherence', 'mosi'], /--coherence takes mesi or .*, not 'mosi'/],
    [['--place', 'moon'], /--place takes machine or hosts, not 'moon'/],
    [['--ranks', '2', '--survivors', '3'], /--survivors takes an integer from 1 to 2, not '3'/],
    [['--page-size', '5000'], /--page-size takes a multiple of 4096/],
  ] as const) {
    const { status, stderr } = aether('torture', ...args)
    assert.equal(status, 2)
    assert.match(stderr, sentence)
  }
})
