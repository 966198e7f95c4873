/** What hot paths look at where nothing is profiled or traced, and what they would pay to look at the clock. */
import process from 'node:process'
import { native } from '../../dist/src/native/index.js'
import { TraceLevel, traceChannel } from '../../dist/src/profiling/index.js'
import { median } from './ratios.mjs'

const COUNT = 5_000_000
const ROUNDS = 15

/** Name and nanoseconds of each look, measured in turns. */
export function measureSilence() {
  const trace = traceChannel('measured')
  const flag = { isOn: false }
  const meter = { of: undefined }
  const looks = {
    'read a boolean': () => flag.isOn,
    'test for a meter that is off': () => meter.of !== undefined,
    'an event without listeners, level off': () => trace.wants(TraceLevel.Trace),
    'an event without listeners, level on': () => trace.wants(TraceLevel.Warn),
    'read the clock, for comparison': () => native.monotonicNs() < 0,
  }
  let wanted = 0
  const loops = Object.values(looks).map((look, at) => {
    // Of another text each, so that the engine compiles each apart, with its own `look` in the place of the call.
    const body = `let n = 0; for (let i = 0; i < count; i++) if (look()) n++; return n // ${at}`
    const loop = new Function('look', 'count', body)
    return () => {
      const start = process.hrtime.bigint()
      wanted += loop(look, COUNT)
      return Number(process.hrtime.bigint() - start) / COUNT
    }
  })
  const rounds = Array.from({ length: ROUNDS }, () => loops.map((loop) => loop()))
  if (wanted > 0) throw new Error('somebody listens')
  return Object.keys(looks).map((name, at) => [name, median(rounds.map((round) => round[at]))])
}
