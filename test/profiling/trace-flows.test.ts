import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TraceEvent } from '../../src/profiling/trace/trace-event.ts'
import { TraceFlows } from '../../src/profiling/trace/trace-flows.ts'

test('of a flow that several threads began one after the other, a step belongs to what was under way, in whatever order they are shown', () => {
  const begins = (tid: number, ts: number): TraceEvent => ({
    name: 'fault',
    ph: 'B',
    ts,
    pid: 1,
    tid,
    args: { flow: 'page 7' },
  })
  const ends = (tid: number, ts: number): TraceEvent => ({ ph: 'E', ts, pid: 1, tid })
  const step = (ts: number): TraceEvent => ({
    name: 'step',
    ph: 'X',
    ts,
    dur: 1,
    pid: 1,
    tid: 9,
    args: { flow: 'page 7' },
  })
  const threads = [3, 1, 2].map((tid) => [begins(tid, 100 * tid), ends(tid, 100 * tid + 50)])
  const events = [...threads.flat(), step(110), step(210), step(310), step(360)]
  const flows = new TraceFlows()
  for (const event of events) flows.begin(event)
  flows.sort()
  for (const event of events) flows.join(event)
  const arrows = [...flows.arrows()].map(({ ph, tid, ts = 0 }) => `${ph} ${tid} ${Math.floor(ts)}`)
  assert.deepEqual(arrows, ['s 1 100', 'f 9 110', 's 2 200', 'f 9 210', 's 3 300', 'f 9 310'])
})
