import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { RegionTrace } from '../../../src/dsm/coherent/region-trace.ts'
import { setTraceLevel, TraceLevel, type TraceMessage } from '../../../src/profiling/index.ts'

test('faults of two regions are slices of their own on the track that they share', () => {
  const heard: TraceMessage[] = []
  const listener = (message: unknown): number => heard.push(message as TraceMessage)
  setTraceLevel(TraceLevel.Debug)
  subscribe('aether:dsm', listener)
  const [one, other] = ['one', 'other'].map((name, id) => new RegionTrace(name, id, 0)) as [RegionTrace, RegionTrace]
  one.demanded(7, false, 'touch')
  other.demanded(7, true, 'call')
  other.granted(7, true)
  one.granted(7, false)
  unsubscribe('aether:dsm', listener)
  const open = new Map<string, unknown>()
  for (const { slice, fields } of heard) {
    assert.ok(slice?.phase === 'begin' || slice?.phase === 'end')
    const key = `${slice.track} ${slice.id}`
    if (slice.phase === 'begin') {
      assert.equal(open.has(key), false, `${key} begins twice`)
      open.set(key, fields['region'])
    } else {
      assert.equal(open.get(key), fields['region'], `${key} ends elsewhere`)
      open.delete(key)
    }
  }
  assert.deepEqual([heard.length, open.size], [4, 0])
})
