import { subscribe } from 'node:diagnostics_channel'
import * as door from '../../../src/public/profiling.ts'
import { inLists, type Recipes } from '../recipe.ts'

export async function profilingRecipes(): Promise<Recipes> {
  const layout = door.defineCounters('bad.arguments', ['name', 'other'], { gauges: ['other'], labelled: 'label' })
  const area = door.threadProfiling()
  subscribe('aether:rdma', () => {})
  door.setTraceLevel(door.TraceLevel.Trace)
  return {
    module: door,
    objects: inLists({
      Profile: door.threadProfile(),
      CounterBlock: area.counters(layout),
      HistogramBlock: area.histogram('bad.times'),
      ProfilingArea: area,
      TraceChannel: door.traceChannel('rdma'),
    }),
    values: {
      name: () => 'name',
      counters: () => ['name', 'other'],
      label: () => 'label',
      layout: () => layout,
      counter: () => 'name',
      amount: () => 1,
      value: () => 1,
      ns: () => 1,
      findings: () => [],
      earlier: () => door.threadProfile(),
      sources: () => [{ profile: door.threadProfile() }],
      profiles: () => [door.threadProfile()],
      json: () => door.threadProfile().toJSON(),
      buffer: () => new SharedArrayBuffer(131_072),
      level: () => door.TraceLevel.Info,
      room: () => 'rdma',
      type: () => 'event',
      wanted: () => false,
    },
    calls: {
      metricsHandler: { args: () => [() => []] },
      defineCounters: { args: () => ['name', ['a', 'b'], {}] },
    },
    data: ['slice', 'layout'],
    async close() {},
  }
}
