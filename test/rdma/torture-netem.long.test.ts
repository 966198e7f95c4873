import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { NETEM } from '../support/networks.ts'
import { tortureInGuest } from './support/guest-torture.ts'

test('three replicas over tcp are killed and stopped, and packets are late, lost and out of order: all calls have an order', async (t) => {
  execFileSync('tc', ['qdisc', 'replace', 'dev', 'lo', 'root', 'netem', ...NETEM])
  try {
    t.diagnostic(await tortureInGuest(3, 'tcp0', {}))
    t.diagnostic(execFileSync('tc', ['-s', 'qdisc', 'show', 'dev', 'lo'], { encoding: 'utf8' }))
  } finally {
    execFileSync('tc', ['qdisc', 'del', 'dev', 'lo', 'root'])
  }
})
