import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { aether } from '../../cli/command-line.ts'

test('aether agreement NAME --real: what processes of this machine did, in ms', () => {
  const words = ['protected-memory-paxos', '--real', '--delay-ms', '50', '--processes', '2', '--kill', 'M0']
  const { status, stdout, stderr } = aether('agreement', ...words)
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^ms +P0 +P1 +M0 +M1 +M2$/m)
  assert.match(stdout, /^ *[\d.]+ .*◆.* decides v/m)
  assert.match(stdout, /^P\d decides v\d at [\d.]+ ms$/m)
  assert.match(stdout, /^in all: .*writes/m)
})

test('options of real plays say what they take, and what they need', () => {
  const refused = (message: RegExp, ...words: string[]): void => {
    const { status, stderr } = aether('agreement', ...words)
    assert.deepEqual([status, message.test(stderr)], [2, true], stderr)
  }
  refused(/--lie needs --real/, 'fast-and-robust', '--lie', 'P0=silent')
  refused(/paxos is for processes that do not lie/, 'paxos', '--real', '--lie', 'P0=silent')
  refused(/--lie takes P0 to P2 with silent, tampers/, 'fast-and-robust', '--real', '--lie', 'P3=silent')
  refused(/--seed orders what happens/, 'paxos', '--real', '--seed', '1')
  refused(/--delay-ms takes an integer/, 'paxos', '--real', '--delay-ms', '0')
  refused(/--kill takes P0 to P2 and M0 to M2/, 'paxos', '--real', '--kill', 'P7')
})
