/**
 * A program: calls every verbs function of the addon with right and wrong values in every place, against the stand-in
 * library, so that the right ones have objects behind them. Each call must return, or throw one of our errors, a
 * TypeError, or what the values themselves throw. Run by wrong-verbs.test.ts in a process of its own, since a mistake
 * is a crash.
 *
 *   LD_LIBRARY_PATH=<folder of the stand-in> node wrong-verbs.js [seed [calls]]
 */
import { writeSync } from 'node:fs'
import fc from 'fast-check'
import {
  AetherError,
  ASYNC_EVENT_WORDS,
  ATTRIBUTE_WORDS,
  PAIR_WORDS,
  VECTOR_WORDS,
  type VerbsAddon,
  verbsAddon,
} from '../../src/native/index.ts'
import { Attribute, CompletionBatch, QueuePairType } from '../../src/providers/index.ts'
import { numbers, OfTheProgram, others } from './wrong-value-kinds.ts'

const verbs = verbsAddon()!
const reason = verbs.load()
if (reason !== '') throw new Error(reason)

const device = verbs.openDevice('standin0').handle
const domain = verbs.allocateDomain(device)
const memory = verbs.registerMemory(domain, new Uint8Array(8192), 15 | 16).handle
const channel = verbs.createChannel(device).handle
const queue = verbs.createCompletionQueue(device, 64, channel, 0).handle
const xrcDomain = verbs.openXrcDomain(device, '', true, false)
const shared = verbs.createSharedReceiveQueue(domain, 0, 0, 16, 2).handle
const window = verbs.allocateWindow(domain, 1).handle
const address = verbs.createAddressHandle(domain, new Float64Array(VECTOR_WORDS))
const thread = verbs.allocateThreadDomain(device)
const deviceMemory = verbs.allocateDeviceMemory(device, 4096, 0)

function pairOptions(type: number): Float64Array {
  const words = new Float64Array(PAIR_WORDS)
  words.set([type, 8, 8, 2, 2, 16, 0])
  return words
}

const pairs = [QueuePairType.rc, QueuePairType.ud].map((type) => {
  const { handle } = verbs.createQueuePair(domain, queue, queue, 0, 0, pairOptions(type))
  const words = new Float64Array(ATTRIBUTE_WORDS)
  words[0] = 3
  verbs.modifyQueuePair(handle, Attribute.state, words)
  return handle
})
const stale = verbs.allocateDomain(device)
verbs.destroy(stale)
const tokens = [
  device,
  domain,
  memory,
  channel,
  queue,
  xrcDomain,
  shared,
  window,
  address,
  thread,
  deviceMemory,
  ...pairs,
]

type Right = () => unknown
const one =
  (value: unknown): Right =>
  () =>
    value
const anyOf =
  (...values: readonly unknown[]): Right =>
  () =>
    values[Math.floor(random() * values.length)]
const zero = one(0)

let state = 1
/** Of the seed, so that a failure is replayed. */
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}

/** A buffer of requests that are right but for a slot or two. */
function requests(): Float64Array {
  const words = new Float64Array(2 * 22)
  for (const at of [0, 22]) {
    words[at + 1] = Math.floor(random() * 14)
    words[at + 2] = anyOf(0, 2, 8, 10, 15)() as number
    words[at + 8] = Math.floor(random() * 3)
    words[at + 9] = anyOf(address, stale, 0)() as number
    words[at + 12] = anyOf(window, memory, 0)() as number
    words[at + 13] = anyOf(memory, window, stale, 0)() as number
    words.set([8, 8, 1, 16, 8, 1], at + 16)
    words[at + Math.floor(random() * 22)] = anyOf(...numbers)() as number
  }
  return words
}

function fields(length: number): Right {
  return () => {
    const words = new Float64Array(length)
    words[Math.floor(random() * length)] = anyOf(...numbers)() as number
    return words
  }
}

const pair = anyOf(...pairs)
/** What each parameter may be, so that the wrong values of the others are reached. */
const right: Readonly<Record<keyof VerbsAddon, readonly Right[]>> = {
  load: [],
  layout: [],
  deviceNames: [],
  openDevice: [anyOf('standin0', 'standin1', 'nobody')],
  tcpDeviceNames: [],
  openTcpDevice: [anyOf('tcp-lo', 'nobody'), () => new Uint8Array(16), one(0), one(0)],
  destroy: [() => verbs.allocateDomain(device)],
  queryDevice: [one(device)],
  queryPort: [one(device), one(1)],
  queryGids: [one(device), one(1), one(8)],
  allocateDomain: [one(device)],
  readAsyncEvents: [one(device), () => new Float64Array(4 * ASYNC_EVENT_WORDS)],
  registerMemory: [one(domain), () => new Uint8Array(4096), one(15)],
  registerImplicit: [one(domain), one(1)],
  registerPhysical: [one(domain), one(1)],
  registerMemoryAsync: [one(domain), () => new Uint8Array(4096), one(15), anyOf(-1, 1, 10_000), one(4096), one(false)],
  giveUp: [() => verbs.registerMemory(domain, new Uint8Array(64), 1).handle, anyOf(true, false)],
  registerDeviceMemory: [one(domain), one(deviceMemory), zero, one(64), one(1)],
  reregisterMemory: [one(memory), anyOf(0, domain), anyOf(undefined, new Uint8Array(64)), anyOf(-1, 15)],
  advise: [one(domain), zero, one(false), () => Float64Array.of(4096, 4096, 1)],
  allocateDeviceMemory: [one(device), one(64), zero],
  copyToDeviceMemory: [one(deviceMemory), anyOf(0, 4092), () => new Uint8Array(4)],
  copyFromDeviceMemory: [one(deviceMemory), anyOf(0, 4092), () => new Uint8Array(4)],
  allocateThreadDomain: [one(device)],
  allocateParentDomain: [one(domain), anyOf(0, thread)],
  openXrcDomain: [one(device), one(''), one(true), one(false)],
  allocateWindow: [one(domain), anyOf(1, 2)],
  bindWindow: [pair, one(window), anyOf(0, memory), fields(5)],
  windowKey: [one(window)],
  createIndirectKey: [one(domain), one(4)],
  createAddressHandle: [one(domain), fields(VECTOR_WORDS)],
  attachMulticast: [pair, fields(4), zero],
  detachMulticast: [pair, fields(4), zero],
  createSharedReceiveQueue: [one(domain), anyOf(0, xrcDomain), anyOf(0, queue), one(4), one(1)],
  querySharedReceiveQueue: [one(shared)],
  modifySharedReceiveQueue: [one(shared), anyOf(-1, 8), anyOf(-1, 2)],
  postSharedReceive: [one(shared), () => requests().buffer, anyOf(1, 2), one(22)],
  createChannel: [one(device)],
  drainChannel: [one(channel), () => new Float64Array(4)],
  createCompletionQueue: [one(device), one(16), anyOf(0, channel), zero],
  resizeCompletionQueue: [one(queue), one(64)],
  armCompletionQueue: [one(queue), anyOf(true, false)],
  pollCompletions: [one(queue), () => new CompletionBatch(8).buffer],
  createQueuePair: [
    one(domain),
    anyOf(queue, queue, 0),
    one(queue),
    anyOf(0, shared),
    anyOf(0, xrcDomain),
    () => pairOptions(anyOf(2, 3, 4, 9, 10)() as number),
  ],
  openQueuePair: [one(domain), one(xrcDomain), one(5)],
  modifyQueuePair: [pair, anyOf(...Object.values(Attribute)), fields(ATTRIBUTE_WORDS)],
  modifyQueuePairAsync: [pair, anyOf(...Object.values(Attribute)), fields(ATTRIBUTE_WORDS)],
  adoptTcpStream: [
    pair,
    one(0),
    anyOf(true, false),
    anyOf(true, false),
    one(16),
    one(16),
    anyOf(0, 1, 2, 3),
    () => new Uint8Array(24),
  ],
  setRateLimit: [pair, anyOf(0, 1_000_000)],
  queryRateLimit: [pair],
  queryQueuePair: [pair, one(1), () => new Float64Array(ATTRIBUTE_WORDS)],
  postSend: [pair, () => requests().buffer, anyOf(1, 2), one(22), () => new Uint8Array(64)],
  postReceive: [pair, () => requests().buffer, anyOf(1, 2), one(22)],
}

const missing = Object.keys(verbs).filter((name) => !(name in right))
if (missing.length > 0) throw new Error(`not called by this program: ${missing.join(', ')}`)

/** The objects that the right values name must live on, and no file is to be made. */
function isHarmful(name: string, index: number, value: unknown): boolean {
  if (name === 'openXrcDomain') return index === 1 && typeof value === 'string' && value !== ''
  return (name === 'destroy' || name === 'giveUp') && tokens.includes(value as number)
}

/** Give back what a call that succeeded has made; it is refused where something uses it meanwhile. */
function giveBack(name: string, result: unknown): void {
  if (!/^(open|create|allocate|register)/.test(name)) return
  const token = typeof result === 'number' ? result : (result as { readonly handle: number }).handle
  verbs.destroy(token)
}

/** What another thread does ends as it likes. */
function letBe(result: unknown): void {
  const promise = result instanceof Promise ? result : (result as { readonly done?: unknown } | undefined)?.done
  if (promise instanceof Promise) promise.catch(() => undefined)
}

function call(name: keyof VerbsAddon, values: readonly unknown[]): void {
  if (verbs[name] === undefined) return
  try {
    const result: unknown = Reflect.apply(verbs[name] as (...values: unknown[]) => unknown, verbs, values)
    letBe(result)
    giveBack(name, result)
  } catch (error) {
    const isFair = error instanceof AetherError || error instanceof TypeError || error instanceof OfTheProgram
    if (!isFair) throw new Error(`${name} threw what it should not`, { cause: error })
  }
}

const wrong: fc.Arbitrary<Right> = fc.oneof(
  fc.constantFrom(...numbers).map(one),
  fc.constantFrom(...others),
  fc.constantFrom(stale, ...tokens).map(one),
  fc.double().map(one),
  fc.integer({ min: -100_000, max: 100_000 }).map(one),
)
const plan = fc.record({
  name: fc.constantFrom(...(Object.keys(right) as (keyof VerbsAddon)[])),
  places: fc.array(fc.record({ isWrong: fc.nat({ max: 3 }), make: wrong }), { minLength: 9, maxLength: 9 }),
  surplus: fc.constantFrom(0, 0, 0, 0, -1, 2),
  state: fc.integer({ min: 1, max: 2 ** 31 }),
})

const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31)
writeSync(2, `seed ${seed}\n`)
fc.assert(
  fc.property(plan, ({ name, places, surplus, state: start }) => {
    state = start
    const rights = right[name]
    const values = places.slice(0, Math.max(0, rights.length + surplus)).map((place, index) => {
      const value = (place.isWrong === 0 ? place.make : (rights[index] ?? place.make))()
      return isHarmful(name, index, value) ? undefined : value
    })
    call(name, values)
  }),
  { seed, numRuns: Number(process.argv[3] ?? 20_000), endOnFailure: true },
)
writeSync(2, 'all calls returned or threw\n')
