import assert from 'node:assert/strict'
import test from 'node:test'
import * as v from 'valibot'
import { z } from 'zod'
import {
  type Awaitable,
  type CallContext,
  type CallOptions,
  type Client,
  clientStream,
  defineService,
  type Handlers,
  RpcError,
  type StandardSchema,
  serverStream,
  type,
  unary,
} from '../../src/rpc/index.ts'
import { rejection, serverPair } from './support.ts'

/** What a caller writes, and what the handler gets of it. */
interface OrderInput {
  lines: { item: string; count?: number | undefined }[]
  when: string
}
interface Order {
  lines: { item: string; count: number }[]
  when: Date
}
/** What a handler gives, and what the caller gets of it. */
interface BillInput {
  total: number
  note?: string | undefined
}
interface Bill {
  total: number
  note: string
}

/** The same schemas, said in each library. */
interface Schemas {
  readonly order: StandardSchema<OrderInput, Order>
  readonly bill: StandardSchema<BillInput, Bill>
  /** Looks a name up, which takes time. */
  readonly known: StandardSchema<string, string>
}

const zod = {
  order: z.object({
    lines: z.array(z.object({ item: z.string().min(1, 'name the item'), count: z.number().default(1) })),
    when: z.string().transform((text) => new Date(text)),
  }),
  bill: z.object({ total: z.number().min(1, 'nothing is free'), note: z.string().default('thanks') }),
  known: z.string().refine(async (name) => (await Promise.resolve(name)) !== 'unicorn', 'there are none'),
}

const valibot = {
  order: v.object({
    lines: v.array(
      v.object({ item: v.pipe(v.string(), v.minLength(1, 'name the item')), count: v.optional(v.number(), 1) }),
    ),
    when: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
  }),
  bill: v.object({
    total: v.pipe(v.number(), v.minValue(1, 'nothing is free')),
    note: v.optional(v.string(), 'thanks'),
  }),
  known: v.pipeAsync(
    v.string(),
    v.checkAsync(async (name) => (await Promise.resolve(name)) !== 'unicorn', 'there are none'),
  ),
}

const libraries: Readonly<Record<string, Schemas>> = { zod, valibot }

function totalOf({ lines }: Order): number {
  return lines.reduce((sum, { count }) => sum + count, 0)
}

function shopPair({ order, bill, known }: Schemas) {
  const shop = defineService({
    name: 'shop',
    methods: {
      buy: unary({ request: order, response: bill }),
      year: unary({ request: order, response: type<number>() }),
      find: unary({ request: known, response: known }),
      bills: serverStream({ request: order, response: bill }),
      buyAll: clientStream({ request: order, response: bill }),
    },
  })
  const seen: Order[] = []
  const pair = serverPair((server) =>
    server.serve(shop, {
      buy(given) {
        seen.push(given)
        return { total: totalOf(given) }
      },
      year: ({ when }) => when.getUTCFullYear(),
      find: (name) => (name === 'horse with a horn' ? 'unicorn' : name),
      *bills({ lines }) {
        for (const { count } of lines) yield { total: count, note: `for ${count}` }
      },
      async buyAll(orders) {
        let total = 0
        for await (const each of orders) total += totalOf(each)
        return { total }
      },
    }),
  )
  return Object.assign(pair, { client: pair.channel.client(shop), seen })
}

function found(error: unknown): unknown {
  assert.ok(error instanceof RpcError, String(error))
  return [error.code, error.outcome, error.issues]
}

const when = '2020-02-02T00:00:00.000Z'
const nameless = { lines: [{ item: 'tea' }, { item: '' }], when }
const noName = ['ERR_AETHER_RPC_INVALID_REQUEST', 'refused', [{ message: 'name the item', path: ['lines', 1, 'item'] }]]
const free = ['ERR_AETHER_RPC_INVALID_RESPONSE', 'failed', [{ message: 'nothing is free', path: ['total'] }]]

for (const [library, schemas] of Object.entries(libraries)) {
  test(`${library}: what a schema makes of a request comes to the handler, and of an answer to the caller`, async () => {
    await using pair = shopPair(schemas)
    assert.deepEqual(await pair.client.buy({ lines: [{ item: 'tea' }], when }), { total: 1, note: 'thanks' })
    assert.deepEqual(pair.seen, [{ lines: [{ item: 'tea', count: 1 }], when: new Date(when) }])
    assert.equal(await pair.client.year({ lines: [], when }), 2020)
  })

  test(`${library}: what does not fit is refused before the handler runs, with the findings of the schema`, async () => {
    await using pair = shopPair(schemas)
    const refused = await rejection(pair.client.buy(nameless))
    assert.deepEqual(found(refused), noName)
    assert.match(String(refused), /shop\/buy: the request does not match its schema: lines\.1\.item: name the item/)
    assert.deepEqual(pair.seen, [])
    assert.deepEqual(found(await rejection(pair.client.buy({ lines: [], when }))), free)
  })

  test(`${library}: items of streams are shown to their schema, too`, async () => {
    await using pair = shopPair(schemas)
    const bills: Bill[] = []
    const lines = [3, 2, 0].map((count) => ({ item: 'tea', count }))
    const reading = (async () => {
      for await (const bill of pair.client.bills({ lines, when })) bills.push(bill)
    })()
    assert.deepEqual(found(await rejection(reading)), free)
    assert.deepEqual(bills, [
      { total: 3, note: 'for 3' },
      { total: 2, note: 'for 2' },
    ])
    assert.deepEqual(await pair.client.buyAll([{ lines, when }]), { total: 5, note: 'thanks' })
    // Its handler runs when the item comes.
    const [code, , issues] = noName
    assert.deepEqual(found(await rejection(pair.client.buyAll([{ lines, when }, nameless]))), [code, 'failed', issues])
  })

  test(`${library}: a schema may take time`, async () => {
    await using pair = shopPair(schemas)
    assert.equal(await pair.client.find('horse'), 'horse')
    for (const [name, code, outcome] of [
      ['unicorn', 'ERR_AETHER_RPC_INVALID_REQUEST', 'refused'],
      ['horse with a horn', 'ERR_AETHER_RPC_INVALID_RESPONSE', 'failed'],
    ] as const) {
      const error = await rejection(pair.client.find(name))
      assert.ok(error instanceof RpcError, String(error))
      const messages = error.issues.map(({ message }) => message)
      assert.deepEqual([error.code, error.outcome, messages], [code, outcome, ['there are none']])
    }
  })
}

// ---- what the compiler makes of them: where it infers something else this file does not compile
// ---------------------------------

const zodShop = defineService({
  name: 'zod-shop',
  errors: { soldOut: z.object({ left: z.number() }) },
  methods: { buy: unary({ request: zod.order, response: zod.bill }) },
})
const valibotShop = defineService({
  name: 'valibot-shop',
  errors: { soldOut: v.object({ left: v.number() }) },
  methods: { buy: unary({ request: valibot.order, response: valibot.bill }) },
})

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** With its members written out, so that types of the same form are the same. */
type Form<T> = T extends Date ? T : T extends object ? { [K in keyof T]: Form<T[K]> } : T
/** What a caller writes, and what it gets. */
type Called<C> = C extends (request: infer Q, options?: CallOptions) => Promise<infer A> ? Form<[Q, A]> : never
/** What a handler gets, and what it gives. */
type Served<H> = H extends (request: infer Q, context: CallContext) => Awaitable<infer A> ? Form<[Q, A]> : never

const inferred: readonly true[] = [
  true satisfies Same<Called<Client<typeof zodShop>['buy']>, Form<[OrderInput, Bill]>>,
  true satisfies Same<Served<Handlers<typeof zodShop>['buy']>, Form<[Order, BillInput]>>,
  true satisfies Same<Called<Client<typeof valibotShop>['buy']>, Form<[OrderInput, Bill]>>,
  true satisfies Same<Served<Handlers<typeof valibotShop>['buy']>, Form<[Order, BillInput]>>,
  // @ts-expect-error: the comparison tells types apart.
  true satisfies Same<Called<Client<typeof zodShop>['buy']>, Form<[Order, Bill]>>,
]

for (const [library, shop] of [
  ['zod', zodShop],
  ['valibot', valibotShop],
] as const)
  test(`${library}: client, handler and errors get their types from the schemas`, async () => {
    assert.equal(inferred.length, 5)
    await using pair = serverPair((server) =>
      server.serve(shop as typeof zodShop, {
        // @ts-expect-error: a total is a number.
        buy(order) {
          if (order.when.getUTCFullYear() > 2020) throw shop.error('soldOut', { left: 2 })
          return { total: order.lines[0]?.item }
        },
      }),
    )
    const client = pair.channel.client(shop as typeof zodShop)
    // @ts-expect-error: lines are a list.
    const refused = await rejection(client.buy({ lines: 'tea', when }))
    assert.equal(refused instanceof RpcError && refused.code, 'ERR_AETHER_RPC_INVALID_REQUEST')
    const wrong = await rejection(client.buy({ lines: [{ item: 'tea' }], when }))
    assert.equal(wrong instanceof RpcError && wrong.code, 'ERR_AETHER_RPC_INVALID_RESPONSE')
    const error = await rejection(client.buy({ lines: [], when: '2021-01-01T00:00:00.000Z' }))
    assert.ok(shop.isError(error, 'soldOut'), String(error))
    const left: number = error.details.left
    assert.equal(left, 2)
  })
