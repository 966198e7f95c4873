/**
 * A program: calls every function of the addon with right and wrong values in every place. Each call must return, or
 * throw one of our errors, a TypeError, or what the values themselves throw. Run by wrong-values.test.ts in a process
 * of its own, since a mistake is a crash.
 *
 *   node wrong-values.js [seed [calls]]
 */
import { mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Addon, AetherError, native } from '../../src/native/index.ts'
import { pageBytes } from './resources.ts'
import { arrayCalls } from './wrong-array-numbers.ts'
import { hostile, numbers, OfTheProgram, others } from './wrong-value-kinds.ts'

const isSecondsLong = (value: unknown) => value === -1 || (typeof value === 'number' && value > 10 && value < 2 ** 31)
/** 0 to 2 are the standard streams, 1 the first process: neither is ours to close or to write to. */
const isSomebodyElses = (value: unknown) => typeof value === 'number' && value >= 0 && value < 3

const memory = native.createMemory('aether-wrong', 16 * pageBytes, 0)
const resizable = native.createMemory('aether-wrong', pageBytes, 0)
const mapped = native.mapMemory(memory, 0, 16 * pageBytes, 0)
const words = new Int32Array(mapped)
const wasm = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })
const viewAddress = native.mapView(wasm, 0, memory, 0, 16 * pageBytes)
const [readEnd, writeEnd] = native.createPipe()
const listener = native.listenStream('127.0.0.1', 0)
const streams = native.createStreamSet()
const scratch = mkdtempSync(join(tmpdir(), 'aether-wrong-'))
let fifos = 0
const userfault = (() => {
  try {
    return native.openUserfault().descriptor
  } catch {
    return readEnd
  }
})()
/** A chunk as a table has it, with buckets that no one wrote. */
const lookedAt = new Uint8Array(16 * 2 ** 20).fill(1)
/** A key `k` that is `v`. */
const snapshotString = Uint8Array.of(1, 1, 107, ...new Uint8Array(16), 1, 1, 118)
const watcher = native.createWatcher(() => {})
const closed = native.createWatcher(() => {})
closed.close()

type Right = () => unknown
const one =
  (value: unknown): Right =>
  () =>
    value
const page = one(pageBytes)
const zero = one(0)
const no = one(false)
const view = one(viewAddress)

/**
 * What each parameter may be, so that the wrong values of the others are reached. `timeout` and `closing` leave out
 * what would harm the test.
 */
const right: Readonly<Record<string, readonly Right[]>> = {
  createMemory: [one('aether-wrong'), page, zero],
  resizeMemory: [one(resizable), page],
  reserveMemory: [one(memory), zero, page],
  releaseMemory: [one(memory), zero, page],
  populateHuge: [one(memory), zero, () => new Uint8Array(native.mapMemory(memory, 0, pageBytes, 0))],
  describeMemory: [one(memory)],
  duplicateDescriptor: [one(memory)],
  closeDescriptor: [() => native.duplicateDescriptor(memory)],
  mapMemory: [one(memory), zero, page, zero],
  unmapMemory: [() => native.mapMemory(memory, 0, pageBytes, 0)],
  addressOf: [one(words)],
  mapView: [one(wasm), page, one(memory), zero, page],
  unmapView: [one(wasm), page, page],
  makeViewReadOnly: [view, page, one('a store came')],
  openUserfault: [],
  registerUserfault: [one(userfault), view, page],
  unregisterUserfault: [one(userfault), view, page],
  installPages: [one(userfault), view, page, no],
  protectPages: [one(userfault), view, page, no],
  zapPages: [view, page],
  wakePages: [one(userfault), view, page],
  openFaultLane: [one(1), one(words), () => new Float64Array(7), page],
  closeFaultLane: [one(1)],
  takeFaults: [one(userfault), () => new Float64Array(12)],
  pollAnswering: [
    one(userfault),
    () => Int32Array.of(readEnd),
    () => new Int32Array(4),
    one(1),
    zero,
    () => new Float64Array(12),
  ],
  timeFaults: [one(userfault), () => new Float64Array(2), zero],
  poll: [() => Int32Array.of(readEnd), () => new Int32Array(4), one(1), zero],
  createPipe: [],
  createFifo: [() => join(scratch, `fifo-${++fifos}`)],
  ringPipe: [one(writeEnd)],
  drainPipe: [one(readEnd)],
  futexWait: [one(words), zero, zero, zero],
  futexWaitAny: [() => [words, words], () => Int32Array.of(1, 2), () => new Int32Array(2), zero],
  futexWake: [one(words), zero, one(1)],
  listenStream: [one('127.0.0.1'), zero],
  connectStream: [one('127.0.0.1'), one(1), one('')],
  streamAddress: [one(listener), no],
  createStreamSet: [],
  addStream: [one(streams), one(listener), one(4)],
  changeStream: [one(streams), one(listener), one(4)],
  removeStream: [one(streams), one(listener), one(4)],
  pollStreams: [one(streams), () => new Int32Array(8), () => new Uint8Array(4096), one(1000)],
  sendStream: [one(listener), () => new Uint8Array(8)],
  sendStreams: [() => Int32Array.of(listener, 0, 8), one(1), () => new Uint8Array(8), one(2)],
  answerLooks: [
    one([lookedAt]),
    one(Buffer.from('*2\r\n$3\r\nGET\r\n$1\r\nk\r\n')),
    () => new Uint8Array(64),
    () => new Float64Array(6),
  ],
  packRequests: [one(Buffer.from('*2\r\n$3\r\nGET\r\n$1\r\nk\r\n')), () => new Uint8Array(64), () => new Int32Array(6)],
  setStrings: [
    one([lookedAt]),
    one(Buffer.from('\x03set\x02\x01k\x01v', 'latin1')),
    () => new Int32Array(4),
    () => Float64Array.of(0, 1, 1, 1, 0, 64, 0, 0, 0, 1, -1, 0),
  ],
  addStrings: [one([lookedAt]), one(snapshotString), () => Float64Array.of(0, 1, 1, 64, 128, 0, ...Array(17).fill(0))],
  countStrings: [one(snapshotString), () => Float64Array.of(0)],
  packStrings: [one([lookedAt]), () => new Uint8Array(64), () => new Float64Array(21)],
  keepStreamAlive: [one(listener), one(60)],
  endStream: [one(listener)],
  openProcess: [one(process.pid)],
  openThread: [() => native.lifeThread()],
  lifeThread: [],
  killProcess: [one(readEnd)],
  createWatcher: [one(() => {})],
  readProcess: [one(process.pid), () => native.addressOf(words), () => new Uint8Array(8)],
  writeProcess: [one(process.pid), () => native.addressOf(words), () => new Uint8Array(8)],
  allowProcessAccess: [one(process.pid)],
  threadId: [],
  setAffinity: [() => native.getAffinity()],
  getAffinity: [],
  allowedProcessors: [],
  setSlice: [one(3_000_000), no],
  setTimerSlack: [one(50_000)],
  threadTurns: [one(process.pid)],
  monotonicNs: [],
  processorNs: [no],
  threadPreemptions: [],
  lockFile: [one(memory), no],
  unlockFile: [one(memory)],
  unguardEnvironment: [],
  throwSystemError: [one('mmap'), one(12)],
  ...arrayCalls,
  takeArrayMemory: [one(65_536)],
  keepArrayMemory: [() => new ArrayBuffer(8)],
  trimArrayMemory: [],
  add: [one(1), one(readEnd), one(words), zero],
  rearm: [one(1)],
  remove: [one(1)],
  ref: [],
  unref: [],
  close: [],
}

/** Ends the process, which is their purpose. */
const excluded = new Set(['exitNow', 'guardEnvironment'])
const watcherMethods = new Set(['add', 'rearm', 'remove', 'ref', 'unref', 'close'])

const missing = Object.keys(native).filter((name) => !(name in right) && !excluded.has(name))
if (missing.length > 0) throw new Error(`not called by this program: ${missing.join(', ')}`)

/** Wait places and descriptors that a call may not be given. */
function isHarmful(name: string, index: number, value: unknown): boolean {
  if ((name === 'poll' || name.startsWith('futexWait')) && index === 3) return isSecondsLong(value)
  if (name === 'pollAnswering' && index === 4) return isSecondsLong(value)
  if (name === 'lockFile' && index === 1) return value === true
  if (
    name === 'closeDescriptor' ||
    name === 'ringPipe' ||
    name === 'lockFile' ||
    name.endsWith('Memory') ||
    name.endsWith('Stream') ||
    name.endsWith('Process')
  )
    return index === 0 && isSomebodyElses(value)
  return false
}

const descriptorMakers = new Set([
  'createMemory',
  'duplicateDescriptor',
  'openProcess',
  'openThread',
  'listenStream',
  'connectStream',
  'createStreamSet',
])

/** Give back what a call that succeeded has made. */
function giveBack(name: string, result: unknown): void {
  if (descriptorMakers.has(name)) native.closeDescriptor(result as number)
  if (name === 'createPipe') for (const end of result as number[]) native.closeDescriptor(end)
  if (name === 'openUserfault') native.closeDescriptor((result as { descriptor: number }).descriptor)
  if (name === 'createWatcher') (result as typeof watcher).close()
  if (name === 'mapMemory') native.unmapMemory(result as ArrayBuffer)
}

function call(name: string, self: unknown, values: readonly unknown[]): void {
  const owner = (watcherMethods.has(name) ? watcher : native) as unknown as Record<
    string,
    (...values: unknown[]) => unknown
  >
  try {
    giveBack(name, Reflect.apply(owner[name]!, self, values))
  } catch (error) {
    const isFair = error instanceof AetherError || error instanceof TypeError || error instanceof OfTheProgram
    if (!isFair) throw new Error(`${name} threw what it should not`, { cause: error })
  }
}

const names = Object.keys(right)
const selves: unknown[] = [native as Addon, watcher, closed, undefined, null, 5, {}, hostile, Object.create(watcher)]
/** Closing the watcher for good would leave nothing to test. */
const selfOf = (name: string, index: number): unknown => {
  if (watcherMethods.has(name) && index < 4) return name === 'close' ? closed : watcher
  return name === 'close' && selves[index] === watcher ? closed : selves[index]
}

// Made only when they are used: fast-check looks into its values, and some of these do not like that.
const wrong: fc.Arbitrary<Right> = fc.oneof(
  fc.constantFrom(...numbers).map(one),
  fc.constantFrom(...others),
  fc.double().map(one),
  fc.integer({ min: -100_000, max: -2 }).map(one),
)
const plan = fc.record({
  name: fc.constantFrom(...names),
  self: fc.nat({ max: selves.length - 1 }),
  // Most places are right, so that the wrong one is reached.
  places: fc.array(fc.record({ isWrong: fc.nat({ max: 2 }), make: wrong }), { minLength: 9, maxLength: 9 }),
  // Mostly as many as there are parameters; one less, or a few more.
  surplus: fc.constantFrom(0, 0, 0, 0, -1, 3),
})

const seed = Number(process.argv[2] ?? Date.now() % 2 ** 31)
const trace = process.env['AETHER_TRACE_CALLS'] === '1'
writeSync(2, `seed ${seed}\n`)
fc.assert(
  fc.property(plan, ({ name, self, places, surplus }) => {
    const rights = right[name]!
    const values = places.slice(0, Math.max(0, rights.length + surplus)).map((place, index) => {
      const value = (place.isWrong === 0 ? place.make : (rights[index] ?? place.make))()
      return isHarmful(name, index, value) ? undefined : value
    })
    if (trace) writeSync(2, `${name} ${values.map((value) => typeof value).join(' ')}\n`)
    call(name, selfOf(name, self), values)
  }),
  { seed, numRuns: Number(process.argv[3] ?? 20_000), endOnFailure: true },
)
watcher.close()
rmSync(scratch, { recursive: true })
native.unmapView(wasm, 0, 16 * pageBytes)
if (userfault !== readEnd) native.closeDescriptor(userfault)
writeSync(2, 'all calls returned or threw\n')
