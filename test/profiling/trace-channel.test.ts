import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import process from 'node:process'
import { test } from 'node:test'
import { TraceLevel, traceChannel } from '../../src/profiling/index.ts'

test('nothing is built where nobody listens', () => {
  const trace = traceChannel('test-quiet')
  assert.equal(trace.enabled, false)
  trace.publish(TraceLevel.Event, 'never', () => assert.fail('fields were built'))
})

test('a subscriber of the diagnostics channel gets type and fields', () => {
  const trace = traceChannel('test-heard')
  const heard: unknown[] = []
  const listener = (message: unknown) => heard.push(message)
  subscribe('aether:test-heard', listener)
  trace.publish(TraceLevel.Event, 'joined', () => ({ slot: 3 }))
  unsubscribe('aether:test-heard', listener)
  trace.publish(TraceLevel.Event, 'left')
  assert.deepEqual(heard, [{ level: 2, type: 'joined', fields: { slot: 3 } }])
})

test('AETHER_TRACE_<ROOM> prints up to AETHER_TRACE_LEVEL on standard error', () => {
  const module = new URL('../../src/profiling/index.js', import.meta.url).href
  const program = `
    const { traceChannel, TraceLevel } = await import(${JSON.stringify(module)})
    const trace = traceChannel('dsm')
    trace.publish(TraceLevel.Event, 'grant', () => ({ page: 7, version: 12n }))
    trace.publish(TraceLevel.Detail, 'detail')`
  const environment = { ...process.env, AETHER_TRACE_DSM: '1' }
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: environment,
    encoding: 'utf8',
  })
  assert.match(stderr, /^aether:dsm \[\d+\.0\] grant \{"page":7,"version":"12"\}\n$/)
})
