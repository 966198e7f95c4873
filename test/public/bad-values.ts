/** Values that a program in JavaScript may pass by mistake; made anew for each call. */
export const badValues: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => -1,
  () => -0,
  () => 1.5,
  () => 2 ** 31,
  () => 2 ** 32,
  () => 2 ** 53,
  () => 99_999,
  () => 1e300,
  () => 'x',
  () => '',
  () => '99999',
  () => 'a\0b',
  () => 'x'.repeat(70_000),
  () => true,
  () => false,
  () => Symbol('s'),
  () => 1n,
  () => -1n,
  () => 2n ** 64n,
  () => [],
  () => [undefined],
  () => [{}],
  () => [1, 'x'],
  () => ({}),
  () => ({ unknownOption: 1 }),
  () => Object.create(null),
  () => ({ length: -1, name: 5 }),
  () => () => undefined,
  () => new Date(Number.NaN),
  () => new Map([['size', 1]]),
  () => new Error('not an argument'),
  () => new Uint8Array(0),
  () => new Uint8Array(3),
  () => new BigUint64Array(1),
  () => detached(),
  () => new ArrayBuffer(0),
  () => new SharedArrayBuffer(8),
]

function detached(): Uint8Array {
  const bytes = new Uint8Array(16)
  structuredClone(bytes, { transfer: [bytes.buffer] })
  return bytes
}

/** A value as a report shows it. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 20 ? `${value.slice(0, 20)}…` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) return `[${value.slice(0, 4).map(shownValue).join(', ')}]`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return `a ${value.constructor.name}`
  const properties = Object.entries(value).map(([name, each]) => `${name}: ${shownValue(each)}`)
  return `{ ${properties.join(', ')} }`
}
