import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ConnectionActions, ConnectionMachine, type MachineEvent } from '../../src/cm/connection-machine.ts'
import { AetherError } from '../../src/native/index.ts'

const events: readonly MachineEvent[] = [
  'start',
  'address-resolved',
  'route-resolved',
  'connect-response',
  'established',
  'accept',
  'accept-datagram',
  'reject',
  'disconnect',
  'disconnected',
  'lost',
  'device-removal',
  'failure',
  'deadline',
  'close',
]

/** Records what the machine has done. */
class Recorder {
  readonly done: string[] = []
  readonly actions: ConnectionActions
  #mishapAt: string | undefined

  constructor(mishapAt?: string) {
    this.#mishapAt = mishapAt
    const record =
      (name: string) =>
      (detail?: unknown): void => {
        this.done.push(detail === undefined || detail instanceof Error ? name : `${name} ${String(detail)}`)
        if (name === this.#mishapAt) throw new AetherError('ERR_AETHER_TEST', 'mishap')
      }
    this.actions = {
      resolveAddress: record('resolveAddress'),
      resolveRoute: record('resolveRoute'),
      preparePair: record('preparePair'),
      sendRequest: record('sendRequest'),
      readyPair: record('readyPair'),
      establish: record('establish'),
      sendReply: record('sendReply'),
      sendReject: record('sendReject'),
      errorPair: record('errorPair'),
      sendDisconnect: record('sendDisconnect'),
      release: record('release'),
      connected: record('connected'),
      failed: record('failed'),
      ended: record('ended'),
    }
  }

  count(name: string): number {
    return this.done.filter((each) => each.split(' ')[0] === name).length
  }
}

function run(machine: ConnectionMachine, ...steps: MachineEvent[]): void {
  for (const event of steps) machine.step(event)
}

test('the asking end connects, and answers the peer that leaves', () => {
  const recorder = new Recorder()
  const machine = new ConnectionMachine(recorder.actions, 'idle')
  run(machine, 'start', 'address-resolved', 'route-resolved', 'connect-response', 'disconnected')
  assert.equal(
    recorder.done.join(', '),
    'resolveAddress, resolveRoute, preparePair, sendRequest, readyPair, establish, connected, errorPair, sendDisconnect, release, ended peer',
  )
})

test('the answering end makes its queue pair ready before it answers', () => {
  const recorder = new Recorder()
  const machine = new ConnectionMachine(recorder.actions, 'requested')
  run(machine, 'accept', 'established', 'disconnect', 'disconnected')
  assert.equal(
    recorder.done.join(', '),
    'preparePair, readyPair, sendReply, connected, errorPair, sendDisconnect, release, ended local',
  )
})

test('whatever happens in whatever order: given back once, at most one verdict, nothing after the end', () => {
  const sequences = fc.array(fc.constantFrom(...events), { maxLength: 24 })
  const starts = fc.constantFrom('idle' as const, 'requested' as const)
  const mishaps = fc.constantFrom(
    undefined,
    'preparePair',
    'readyPair',
    'sendRequest',
    'sendReply',
    'errorPair',
    'sendDisconnect',
  )
  const holds = (start: 'idle' | 'requested', sequence: MachineEvent[], mishap: string | undefined): void => {
    const recorder = new Recorder(mishap)
    const machine = new ConnectionMachine(recorder.actions, start)
    run(machine, ...sequence)
    const closed = machine.state === 'closed'
    assert.equal(recorder.count('release'), closed ? 1 : 0)
    assert.ok(recorder.count('connected') <= 1)
    assert.ok(recorder.count('ended') <= 1)
    // An attempt ends in exactly one of: connected, failed, rejected by this end.
    if (closed && recorder.count('connected') === 0) {
      assert.equal(recorder.count('failed') + recorder.count('sendReject'), 1)
    }
    if (closed && recorder.count('connected') === 1) assert.equal(recorder.count('ended'), 1)
    const before = recorder.done.length
    if (!closed) return
    run(machine, ...events)
    assert.equal(recorder.done.length, before)
  }
  fc.assert(fc.property(starts, sequences, mishaps, holds), { numRuns: 3000 })
})

test('an action that throws while connecting ends the attempt with its error', () => {
  const recorder = new Recorder('preparePair')
  const machine = new ConnectionMachine(recorder.actions, 'idle')
  run(machine, 'start', 'address-resolved', 'route-resolved')
  assert.equal(machine.state, 'closed')
  assert.equal(recorder.done.slice(-3).join(', '), 'preparePair, release, failed')
})
