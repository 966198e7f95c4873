import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkTrace, mergeTrace, setTraceLevel, TraceLevel, type TraceMessage } from '../../src/profiling/index.ts'
import { createServer, defineService, openChannel, type, unary } from '../../src/rpc/index.ts'

const channels = ['aether:rpc', 'aether:messaging', 'aether:cm']
const heard: TraceMessage[] = []
const listener = (message: unknown): void => void heard.push(message as TraceMessage)
before(() => {
  for (const name of channels) subscribe(name, listener)
  setTraceLevel(TraceLevel.Trace)
})
after(() => {
  for (const name of channels) unsubscribe(name, listener)
  setTraceLevel(TraceLevel.Info)
})

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }
const vault = defineService({
  name: 'vault',
  methods: {
    open: unary({ request: type<string>(), response: type<string>() }),
    slip: unary({ request: type<string>() }),
  },
})

test(
  'calls at both ends with their codes, the link and the connection are told; what is said, keys and metadata are not',
  options,
  async () => {
    {
      await using server = createServer().serve(vault, {
        open: async (text) => `xyzzy-answer ${text}`,
        slip: () => {
          throw new Error('xyzzy-error')
        },
      })
      const { port } = await server.listen({ device: 'shm0', address: '127.0.0.1' })
      await using channel = openChannel({ device: 'shm0', address: '127.0.0.1', port })
      const client = channel.client(vault)
      await client.open('xyzzy-request', { metadata: { token: 'xyzzy-token' }, idempotencyKey: 'xyzzy-key' })
      await assert.rejects(client.slip('xyzzy-request'))
    }
    const told = (channel: string, type: string): TraceMessage[] =>
      heard.filter((message) => message.channel === channel && message.type === type)
    const calls = (type: string): unknown[][] =>
      told('rpc', type).map(({ fields, slice }) => [fields['method'], fields['code'], slice?.phase])
    assert.deepEqual(calls('call'), [
      ['vault/open', undefined, 'begin'],
      ['vault/slip', undefined, 'begin'],
    ])
    assert.deepEqual(calls('serve'), calls('call'))
    assert.deepEqual(calls('returned'), [
      ['vault/open', 'OK', 'end'],
      ['vault/slip', 'ERR_AETHER_RPC_HANDLER', 'end'],
    ])
    assert.deepEqual(calls('answered'), [
      ['vault/open', 'OK', 'end'],
      ['vault/slip', 'Handler', 'end'],
    ])
    // Each slice that begins ends, under its own number.
    const ids = (phase: string): unknown[] =>
      heard
        .flatMap(({ slice }) => (slice?.phase === phase && 'id' in slice ? [`${slice.track} ${slice.id}`] : []))
        .sort()
    assert.deepEqual(ids('begin'), ids('end'))
    for (const type of ['requested', 'connecting', 'accepting', 'connected', 'ended'])
      assert.ok(told('cm', type).length > 0, type)
    for (const type of ['sent', 'delivered', 'ended']) assert.ok(told('messaging', type).length > 0, type)
    const text = JSON.stringify(heard, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    assert.doesNotMatch(text, /xyzzy/)
  },
)

interface Event {
  readonly name: string
  readonly ph: string
  readonly ts: number
  readonly pid: number
  readonly tid: number
  readonly id?: number
  readonly args: Record<string, unknown>
}

/** A slice that begins and ends. */
interface Slice {
  readonly begin: Event
  readonly end: Event
}

test(
  'in a trace file arrows lead from each call to its handler in the other process, and back to where the answer was taken',
  options,
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'aether-trace-'))
    try {
      const file = join(directory, 'calls.json')
      const script = fileURLToPath(new URL('./fixtures/traced-calls.js', import.meta.url))
      const env = { ...process.env, AETHER_TRACE_FILE: file, AETHER_TRACE_FILTER: 'channel=rpc' }
      const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
      const { processes, flows } = mergeTrace(file)
      const text = readFileSync(file, 'utf8')
      const { faults, unfinished } = checkTrace(text)
      assert.deepEqual([faults, unfinished, processes, flows], [[], 0, 2, 5])

      const { traceEvents: events } = JSON.parse(text) as { traceEvents: Event[] }
      const slices = events
        .filter(({ ph }) => ph === 'B')
        .map((begin): Slice => {
          const ends = events.filter(({ ph, tid, ts }) => ph === 'E' && tid === begin.tid && ts >= begin.ts)
          return { begin, end: ends.reduce((first, each) => (each.ts < first.ts ? each : first)) }
        })
      const around = (point: Event): Slice =>
        slices.find(({ begin, end }) => begin.tid === point.tid && begin.ts <= point.ts && point.ts <= end.ts)!
      const arrows = (name: string): [Slice, Slice][] =>
        events
          .filter((event) => event.ph === 's' && event.name === name)
          .map((from) => {
            const to = events.find(({ ph, id }) => ph === 'f' && id === from.id)!
            assert.ok(from.ts <= to.ts)
            return [around(from), around(to)]
          })
      const methods = ['station/count', 'station/mark', 'station/mark', 'station/pid', 'station/stall']
      const there = arrows('caused')
      assert.deepEqual(there.map(([{ begin }]) => begin.name).sort(), methods)
      for (const [call, handler] of there) {
        assert.equal(handler.begin.name, call.begin.name)
        assert.notEqual(handler.begin.pid, call.begin.pid)
        assert.equal(typeof call.begin.args['flow'], 'string')
        assert.equal(handler.begin.args['answers'], call.begin.args['flow'])
      }
      // Nobody took what became of the call whose time was up, or the server had given it up in time.
      const back = arrows('answered').filter(([handler]) => handler.begin.name !== 'station/stall')
      assert.deepEqual(back.map(([{ begin }]) => begin.name).sort(), methods.slice(0, 4))
      for (const [handler, call] of back) {
        assert.ok(there.some(([one, other]) => one === call && other === handler))
        assert.ok(handler.end.ts <= call.end.ts)
      }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  },
)
