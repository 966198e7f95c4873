/** Values that a function of the addon does not expect, for the programs that call every function with them. */

/** What a value itself throws when it is looked at. */
export class OfTheProgram extends Error {}

const detached = (): Int32Array => {
  const array = new Int32Array(16)
  structuredClone(array, { transfer: [array.buffer] })
  return array
}

const outOfBounds = (): Int32Array => {
  const Resizable = ArrayBuffer as unknown as new (length: number, options: { maxByteLength: number }) => ArrayBuffer
  const buffer = new Resizable(64, { maxByteLength: 128 })
  const array = new Int32Array(buffer, 32, 8)
  ;(buffer as unknown as { resize(length: number): void }).resize(16)
  return array
}

export const hostile: object = new Proxy(
  {},
  {
    get: () => {
      throw new OfTheProgram('get')
    },
    getPrototypeOf: () => {
      throw new OfTheProgram('getPrototypeOf')
    },
  },
)

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const thrower: unknown[] = []
Object.defineProperty(thrower, 0, {
  get: () => {
    throw new OfTheProgram('element')
  },
})

export const numbers: readonly number[] = [
  -1,
  -0,
  0,
  1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  4095,
  4096,
  8192,
  2 ** 31,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 32,
  2 ** 48,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  1e300,
  Number.MIN_VALUE,
]

export const others: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  () => '',
  () => '4096',
  () => 'a\0b',
  () => '\ud800',
  () => 'x'.repeat(100_000),
  () => 7n,
  () => Symbol.iterator,
  () => ({}),
  () => Object.create(null),
  () => [],
  () => [1, 2, 3],
  () => thrower,
  () => [new Int32Array(1), {}],
  () => new Array(2 ** 31),
  () => () => {},
  () => new Date(0),
  () => hostile,
  revoked,
  () => new Proxy(new Int32Array(4), {}),
  () => new Proxy([new Int32Array(4)], {}),
  () => new Int32Array(0),
  () => new Int32Array(4),
  () => new Int32Array(4).fill(-1),
  () => new Int32Array(4).fill(2 ** 31 - 1),
  detached,
  () => detached().buffer,
  outOfBounds,
  () => new DataView(new ArrayBuffer(8), 3),
  () => new Uint8Array(3),
  () => new Float64Array(2),
  () => new BigInt64Array(2),
  () => new ArrayBuffer(0),
  () => new ArrayBuffer(4096),
  () => new SharedArrayBuffer(4096),
  () => new WebAssembly.Memory({ initial: 1 }),
  () => WebAssembly.Memory.prototype,
]
