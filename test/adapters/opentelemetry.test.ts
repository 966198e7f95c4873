import assert from 'node:assert/strict'
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import {
  type OpenTelemetryOptions,
  openTelemetryClientInterceptor,
  openTelemetryServerInterceptor,
} from '../../src/adapters/opentelemetry/index.ts'
import { type Client, METADATA_BYTES_MAX, openChannel } from '../../src/rpc/index.ts'
import { root } from '../repository/checkout.ts'
import { type Pair, rejection, serverPair, until } from '../rpc/support.ts'
import { shop, shopHandlers } from './fixtures/shop.ts'
import { recordSpans, type SeenSpan } from './fixtures/spans.ts'

const recorded = recordSpans()
afterEach(() => void recorded.take())

/** What was active while handlers worked. */
let touched: (string | undefined)[] = []
afterEach(() => {
  touched = []
})

interface TracedPair extends Pair {
  readonly client: Client<typeof shop>
}

async function tracedPair(options: OpenTelemetryOptions = {}): Promise<TracedPair> {
  const pair = serverPair(
    (server) =>
      server.serve(
        shop,
        shopHandlers(() => touched.push(trace.getActiveSpan()?.spanContext().spanId)),
      ),
    {
      server: { interceptors: [openTelemetryServerInterceptor(options)] },
      channel: { interceptors: [openTelemetryClientInterceptor(options)] },
    },
  )
  await pair.channel.ready()
  return Object.assign(pair, { client: pair.channel.client(shop) })
}

/** The two ends' spans of the one call since. */
async function bothEnds(): Promise<{ readonly client: SeenSpan; readonly server: SeenSpan }> {
  const spans: SeenSpan[] = []
  await until(() => spans.push(...recorded.take()) >= 2)
  assert.equal(spans.length, 2)
  const client = spans.find(({ kind }) => kind === SpanKind.CLIENT)!
  const server = spans.find(({ kind }) => kind === SpanKind.SERVER)!
  assert.equal(server.parent, client.spanId)
  assert.equal(server.traceId, client.traceId)
  return { client, server }
}

const status = ({ attributes, failed }: SeenSpan): unknown[] => [
  attributes['rpc.response.status_code'],
  attributes['error.type'],
  failed,
]

describe('spans of calls', () => {
  it('one of each end, the server’s a child of the client’s, which is one of what was active', async () => {
    await using pair = await tracedPair({ attributes: { 'server.address': 'shop.example' } })
    const outer = recorded.provider.getTracer('test').startSpan('outer')
    const bought = await context.with(trace.setSpan(context.active(), outer), () => pair.client.buy('tea'))
    assert.equal(bought, 3)
    const { client, server } = await bothEnds()
    assert.equal(client.parent, outer.spanContext().spanId)
    assert.equal(client.traceId, outer.spanContext().traceId)
    const attributes = {
      'server.address': 'shop.example',
      'rpc.system.name': 'aether',
      'rpc.method': 'shop/buy',
      'aether.rpc.kind': 'unary',
      'rpc.response.status_code': 'OK',
    }
    for (const span of [client, server]) {
      assert.equal(span.name, 'shop/buy')
      assert.deepEqual(span.attributes, attributes)
      assert.equal(span.failed, false)
    }
    assert.deepEqual(touched, [server.spanId])
  })

  it('a call outside of any span begins a trace of its own', async () => {
    await using pair = await tracedPair()
    await pair.client.buy('tea')
    assert.equal((await bothEnds()).client.parent, undefined)
  })

  it('a handler that throws fails both spans, and nothing of its message is told', async () => {
    await using pair = await tracedPair()
    await assert.rejects(pair.client.fail('xyzzy', { metadata: { token: 'xyzzy' } }))
    const { client, server } = await bothEnds()
    assert.deepEqual(status(client), ['HANDLER', 'ERR_AETHER_RPC_HANDLER', true])
    assert.equal(client.attributes['aether.rpc.outcome'], 'failed')
    assert.deepEqual(status(server), ['HANDLER', 'TypeError', true])
    assert.doesNotMatch(client.text + server.text, /xyzzy/)
  })

  it('an error of the service is a failure of the call, not of the server', async () => {
    await using pair = await tracedPair()
    await assert.rejects(pair.client.refuse('xyzzy'))
    const { client, server } = await bothEnds()
    assert.deepEqual(status(client), ['SERVICE', 'ERR_AETHER_RPC_SERVICE', true])
    assert.deepEqual(status(server), ['SERVICE', undefined, false])
    assert.doesNotMatch(client.text + server.text, /xyzzy/)
  })

  it('a cancelled call: the caller’s span failed, the server’s did not', async () => {
    await using pair = await tracedPair()
    const controller = new AbortController()
    const stalled = rejection(pair.client.stall('', { signal: controller.signal }))
    await until(() => pair.server.active === 1)
    controller.abort()
    await stalled
    const { client, server } = await bothEnds()
    assert.deepEqual(status(client), ['ABORTED', 'AbortError', true])
    assert.deepEqual(status(server), ['CANCELLED', undefined, false])
  })

  it('a call whose time is up failed at both ends', async () => {
    await using pair = await tracedPair()
    await assert.rejects(pair.client.stall('', { timeoutMs: 20 }))
    const { client, server } = await bothEnds()
    assert.deepEqual(status(client), ['DEADLINE', 'ERR_AETHER_RPC_DEADLINE', true])
    assert.equal(client.attributes['aether.rpc.outcome'], 'unknown')
    // Whether its own clock or the caller's word came first.
    assert.ok(['DEADLINE', 'CANCELLED'].includes(server.attributes['rpc.response.status_code'] as string))
  })

  it('a call that never left has its span, and no other end', async () => {
    await using pair = await tracedPair()
    await pair.channel.close()
    await assert.rejects(pair.client.buy('tea'))
    const [client, ...others] = recorded.take()
    assert.deepEqual(others, [])
    assert.deepEqual(status(client!), ['OTHER', 'ERR_AETHER_CLOSED', true])
  })

  it('conventions of before have their names where they are asked for', async () => {
    await using pair = await tracedPair({ legacyAttributes: true })
    await pair.client.buy('tea')
    for (const { attributes } of Object.values(await bothEnds())) {
      assert.equal(attributes['rpc.system'], 'aether')
      assert.equal(attributes['rpc.service'], 'shop')
    }
  })

  it('spans go to the provider that is handed over', async () => {
    const exporter = new InMemorySpanExporter()
    const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    await using pair = await tracedPair({ tracerProvider })
    await pair.client.buy('tea')
    await until(() => exporter.getFinishedSpans().length === 2)
    assert.deepEqual(recorded.take(), [])
  })
})

describe('spans of streams', () => {
  it('answers: until they have been read, each made within the server’s span', async () => {
    await using pair = await tracedPair()
    const read: string[] = []
    for await (const item of pair.client.list(3)) read.push(item)
    assert.deepEqual(read, ['item 0', 'item 1', 'item 2'])
    const { client, server } = await bothEnds()
    assert.deepEqual(
      [status(client), status(server)],
      [
        ['OK', undefined, false],
        ['OK', undefined, false],
      ],
    )
    assert.deepEqual(touched, [server.spanId, server.spanId, server.spanId])
  })

  it('answers that are left: cancelled, and no failure', async () => {
    await using pair = await tracedPair()
    for await (const _ of pair.client.list(1_000_000)) break
    const { client, server } = await bothEnds()
    assert.deepEqual(
      [status(client), status(server)],
      [
        ['CANCELLED', undefined, false],
        ['CANCELLED', undefined, false],
      ],
    )
  })

  it('answers that nobody reads any more: when their signal is aborted', async () => {
    await using pair = await tracedPair()
    const end = new AbortController()
    const items = pair.client.list(1_000_000, { signal: end.signal })[Symbol.asyncIterator]()
    await items.next()
    end.abort()
    const { client } = await bothEnds()
    assert.deepEqual(status(client), ['ABORTED', 'AbortError', true])
    await assert.rejects(async () => {
      for (;;) if ((await items.next()).done === true) return
    })
    assert.deepEqual(recorded.take(), [])
  })

  it('requests', async () => {
    await using pair = await tracedPair()
    assert.equal(await pair.client.total([1, 2, 3]), 6)
    const { client, server } = await bothEnds()
    assert.deepEqual(status(client), ['OK', undefined, false])
    assert.deepEqual(touched, [server.spanId])
  })

  it('both ways, the requests made within the caller’s span', async () => {
    await using pair = await tracedPair()
    const active: (string | undefined)[] = []
    async function* prices(): AsyncGenerator<number, void> {
      for (const price of [5, 7]) {
        active.push(trace.getActiveSpan()?.spanContext().spanId)
        yield price
      }
    }
    const read: number[] = []
    for await (const price of pair.client.haggle(prices())) read.push(price)
    assert.deepEqual(read, [4, 6])
    const { client, server } = await bothEnds()
    assert.deepEqual(active, [client.spanId, client.spanId])
    assert.deepEqual(touched, [server.spanId, server.spanId])
    assert.equal(server.attributes['aether.rpc.kind'], 'bidirectional')
  })

  it('requests that fail: a failure at the caller, whose server is not to blame', async () => {
    await using pair = await tracedPair()
    async function* prices(): AsyncGenerator<number, void> {
      yield 1
      throw new RangeError('no more')
    }
    const answer = pair.client.total(prices())
    await assert.rejects(answer, RangeError)
    const { client, server } = await bothEnds()
    assert.deepEqual(status(client), ['OTHER', 'RangeError', true])
    assert.deepEqual(status(server), ['CANCELLED', undefined, false])
  })
})

describe('what goes along', () => {
  it('metadata of the call stay, and baggage that finds no room beside them is left out', async () => {
    const entries = { thing: { value: 'x'.repeat(3000) } }
    const baggage = propagation.setBaggage(context.active(), propagation.createBaggage(entries))
    const token = 'y'.repeat(METADATA_BYTES_MAX - 2000)
    await using pair = await tracedPair()
    assert.equal(await context.with(baggage, () => pair.client.buy('tea', { metadata: { token } })), 3)
    await bothEnds()
  })

  it('baggage that finds room arrives', async () => {
    const entries = { customer: { value: 'ada' } }
    const baggage = propagation.setBaggage(context.active(), propagation.createBaggage(entries))
    await using pair = serverPair(
      (server) =>
        server.serve(shop, {
          ...shopHandlers(() => undefined),
          buy: (what, { metadata }) => {
            const customer = propagation.getActiveBaggage()?.getEntry('customer')?.value
            return customer === 'ada' && metadata['mine'] === what ? 1 : 0
          },
        }),
      {
        server: { interceptors: [openTelemetryServerInterceptor()] },
        channel: { interceptors: [openTelemetryClientInterceptor()] },
      },
    )
    await pair.channel.ready()
    const client = pair.channel.client(shop)
    assert.equal(await context.with(baggage, () => client.buy('tea', { metadata: { mine: 'tea' } })), 1)
  })

  it('nothing, and no span, where nobody asked for spans', async () => {
    const seen: unknown[] = []
    await using pair = serverPair((server) =>
      server.serve(shop, {
        ...shopHandlers(() => undefined),
        buy: (what, { metadata }) => {
          seen.push(metadata)
          return what.length
        },
      }),
    )
    await pair.channel.ready()
    const outer = recorded.provider.getTracer('test').startSpan('outer')
    await context.with(trace.setSpan(context.active(), outer), () => pair.channel.client(shop).buy('tea'))
    assert.deepEqual(seen, [{}])
    assert.deepEqual(recorded.take(), [])
  })
})

it('between processes the server’s spans have those of the caller as parents; a call that lends memory is one of them', {
  skip: process.platform === 'linux' ? false : 'shared memory needs Linux',
}, async () => {
  const child = fork(fileURLToPath(new URL('./fixtures/traced-shop.js', import.meta.url)))
  const exited = once(child, 'exit')
  try {
    const [port] = (await once(child, 'message')) as [number]
    {
      await using channel = openChannel(
        { device: 'shm0', address: '127.0.0.1', port },
        { interceptors: [openTelemetryClientInterceptor()] },
      )
      const client = channel.client(shop)
      await client.buy('tea')
      assert.equal(client.buySync('blocking'), 8)
      for await (const _ of client.list(2));
      await using buffer = await channel.allocate(4096)
      assert.equal(await client.stock('tea', { source: buffer }), 4096)
    }
    const here = recorded.take()
    const answer = once(child, 'message')
    child.send('spans')
    const [there] = (await answer) as [SeenSpan[]]
    assert.deepEqual(
      here.map(({ name }) => name),
      ['shop/buy', 'shop/buy', 'shop/list', 'shop/stock'],
    )
    const links = ({ name, traceId }: SeenSpan, parent: string | undefined): unknown[] => [name, traceId, parent]
    assert.deepEqual(
      there.map((span) => links(span, span.parent)),
      here.map((span) => links(span, span.spanId)),
    )
  } finally {
    child.disconnect()
    await exited
  }
})

it('where @opentelemetry/api is not installed, the rest works and the error says what to install', () => {
  const directory = mkdtempSync(join(tmpdir(), 'aether-alone-'))
  try {
    cpSync(join(root, 'dist/src'), join(directory, 'src'), { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
    writeFileSync(
      join(directory, 'alone.js'),
      `import { PackageMissingError, openTelemetryClientInterceptor, openTelemetryServerInterceptor } from './src/adapters/opentelemetry/index.js'
       for (const make of [openTelemetryClientInterceptor, openTelemetryServerInterceptor]) {
         try {
           make()
         } catch (error) {
           console.log(error instanceof PackageMissingError, error.packageName, error.code, error.message)
         }
       }`,
    )
    const environment = { ...process.env, AETHER_NATIVE: join(root, 'native/build/Release/aether.node') }
    const script = join(directory, 'alone.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env: environment, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const said =
      'true @opentelemetry/api ERR_AETHER_PACKAGE_MISSING @opentelemetry/api is not installed: npm install @opentelemetry/api'
    assert.equal(stdout, `${said}\n${said}\n`)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
