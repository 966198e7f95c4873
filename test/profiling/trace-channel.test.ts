import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { test } from 'node:test'
import { setTraceLevel, TraceLevel, type TraceMessage, traceChannel, traceClockNs } from '../../src/profiling/index.ts'

const module = new URL('../../src/profiling/index.js', import.meta.url).href

/** What a program that publishes so says on standard error. */
function printed(publishing: string, environment: Record<string, string>): string {
  const program = `
    const { traceChannel, TraceLevel } = await import(${JSON.stringify(module)})
    const trace = traceChannel('dsm')
    ${publishing}`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })
  return stderr
}

test('nothing is built where nobody listens', () => {
  const trace = traceChannel('test-quiet')
  assert.equal(trace.enabled, false)
  assert.equal(trace.wants(TraceLevel.Error), false)
  trace.publish(TraceLevel.Error, 'never', () => assert.fail('fields were built'))
})

test('a subscriber of the diagnostics channel gets channel, level, time, type and fields', () => {
  const trace = traceChannel('test-heard')
  const heard: TraceMessage[] = []
  const listener = (message: unknown) => heard.push(message as TraceMessage)
  subscribe('aether:test-heard', listener)
  const before = traceClockNs()
  trace.publish(TraceLevel.Info, 'joined', () => ({ slot: 3 }))
  const after = traceClockNs()
  unsubscribe('aether:test-heard', listener)
  trace.publish(TraceLevel.Info, 'left')
  assert.equal(heard.length, 1)
  const { timeNs, ...rest } = heard[0]!
  assert.ok(before <= timeNs && timeNs <= after)
  const expected = { channel: 'test-heard', level: 3, rank: undefined, type: 'joined', fields: { slot: 3 } }
  assert.deepEqual(rest, { ...expected, slice: undefined })
})

test('a subscriber gets what is as fine as the level says, and no more', () => {
  const trace = traceChannel('test-level')
  const types: string[] = []
  const listener = (message: unknown) => types.push((message as TraceMessage).type)
  subscribe('aether:test-level', listener)
  trace.publish(TraceLevel.Debug, 'before')
  setTraceLevel(TraceLevel.Debug)
  trace.publish(TraceLevel.Debug, 'finer')
  trace.publish(TraceLevel.Trace, 'finest')
  setTraceLevel(TraceLevel.Info)
  trace.publish(TraceLevel.Debug, 'after')
  unsubscribe('aether:test-level', listener)
  assert.deepEqual(types, ['finer'])
})

test('AETHER_TRACE_<ROOM> prints a line an event on standard error: time, rank, thread, channel, level, type, fields', () => {
  const events = `trace.publish(TraceLevel.Info, 'grant', () => ({ page: 7, version: 12n, why: 'it left', gone: undefined }))
    trace.publish(TraceLevel.Debug, 'detail')`
  const line = /^\d+\.\d{9} (-|r\d+) \d+\.0 aether:dsm INFO grant page=7 version=12 why="it left"\n$/
  assert.match(printed(events, { AETHER_TRACE_DSM: '1', AETHER_RANK: '' }), line)
  assert.equal(line.exec(printed(events, { AETHER_TRACE_DSM: '1', AETHER_RANK: '3' }))?.[1], 'r3')
  assert.equal(printed(events, { AETHER_TRACE_RDMA: '1' }), '')
})

test('AETHER_TRACE_LEVEL is a name or a number; what it is not is said and ignored', () => {
  const events = `for (const level of [1, 2, 3, 4, 5]) trace.publish(level, 'at' + level)`
  const told = (level: string): string[] | null =>
    printed(events, { AETHER_TRACE_DSM: '1', AETHER_TRACE_LEVEL: level }).match(/at\d/g)
  assert.deepEqual(told('ERROR'), ['at1'])
  assert.deepEqual(told('warn'), ['at1', 'at2'])
  assert.deepEqual(told('4'), ['at1', 'at2', 'at3', 'at4'])
  assert.deepEqual(told('TRACE'), ['at1', 'at2', 'at3', 'at4', 'at5'])
  const said = printed(events, { AETHER_TRACE_DSM: '1', AETHER_TRACE_LEVEL: 'loud' })
  assert.match(said, /^aether: AETHER_TRACE_LEVEL takes ERROR, WARN, INFO, DEBUG or TRACE, not 'loud'; it is ignored\n/)
  assert.deepEqual(said.match(/at\d/g), ['at1', 'at2', 'at3'])
})

test('AETHER_TRACE_FILTER says which lines are printed', () => {
  const events = `for (const page of [1, 2, 30]) for (const type of ['fault', 'sent'])
    trace.publish(TraceLevel.Info, type, () => ({ page }))`
  const told = (filter: string): string =>
    printed(events, { AETHER_TRACE_DSM: '1', AETHER_TRACE_FILTER: filter })
      .split('\n')
      .map((line) => line.split(' ').slice(5).join(' '))
      .join(';')
  assert.equal(told('type=fault'), 'fault page=1;fault page=2;fault page=30;')
  assert.equal(told('type=f*,page=2..40'), 'fault page=2;fault page=30;')
  assert.equal(told('page!=2|30'), 'fault page=1;sent page=1;')
  // As the lines write it, and as a room is called.
  for (const channel of ['dsm', 'aether:dsm', 'aether:d*', 'rpc|aether:dsm'])
    assert.equal(told(`page=1,type=sent,channel=${channel}`), 'sent page=1;', channel)
  for (const channel of ['dsm', 'aether:dsm', '*']) assert.equal(told(`channel!=${channel}`), '', channel)
  assert.equal(told('channel=aether:rpc'), '')
  assert.match(
    printed(events, { AETHER_TRACE_DSM: '1', AETHER_TRACE_FILTER: 'page' }),
    /^aether: AETHER_TRACE_FILTER takes/,
  )
})

test('bytes, keys and secrets are not written down, should somebody publish them', () => {
  const events = `trace.publish(TraceLevel.Info, 'slip', () => ({ key: 'k9', remoteKey: 4711, secret: 'xyzzy', token: 12,
    payload: 'plugh', frame: new Uint8Array([104, 105]), object: { secret: 'xyzzy' }, ranks: [1, 2], page: 7 }))`
  const line = printed(events, { AETHER_TRACE_DSM: '1' })
  const written =
    'slip key=[hidden] remoteKey=[hidden] secret=[hidden] token=[hidden] payload=[hidden] frame="[2 bytes]" object=[object] ranks=1,2 page=7\n'
  assert.equal(line.split(' ').slice(5).join(' '), written)
})
