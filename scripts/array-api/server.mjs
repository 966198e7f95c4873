/**
 * The process that has the arrays of aether_bridge.py, which describes the lines that go to and fro. Every call is
 * computed before the next line is read. With arguments RANK SIZE RENDEZVOUS PARTITION it is one rank of a group. All
 * ranks get the same lines, and new arrays lie in this partition.
 */
import { openSync, readSync, writeSync } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'

const compiled = new URL(process.env.ARRAYS_MODULE ?? '../../dist/src/arrays/', import.meta.url)
const { NdArray, openArrays } = await import(new URL('index.js', compiled))
const { FUNCTIONS } = await import(new URL('functions/table.js', compiled))
const { parametersOf } = await import(new URL('functions/parameters.js', compiled))
const { DTYPES } = await import(new URL('types/dtype.js', compiled))

const [rank, size, rendezvous, partition] = process.argv.slice(2)
const xp = size === undefined ? await openArrays() : await openArrays(await group())

async function group() {
  const { join } = await import(new URL('../public/index.js', compiled))
  return join({ rank: Number(rank), size: Number(size), rendezvous })
}

/** What makes an array of no other array, and so may say how it lies over ranks. */
const creating = new Set(['arange', 'asarray', 'empty', 'eye', 'full', 'linspace', 'ones', 'zeros'])

const arrays = new Map()
let lastHandle = 0

const parameters = new Map(FUNCTIONS.map((entry) => [entry.name, entry.parameters]))

/** What is no function of the namespace. */
const others = {
  functions: () => [...parameters],
  'array.at': (x, ...items) => x.at(...items),
  'array.set': (x, value, ...items) => x.setAt(items, value) && null,
  'array.item': (x) => x.item(),
  'array.T': (x) => x.T,
  'array.mT': (x) => x.mT,
  // An array in parts prints its own rank's part.
  'array.text': (x) => inspect(size === undefined ? x : x.toArray()),
}

function here(value) {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(here)
  if ('array' in value) return arrays.get(value.array)
  if ('dtype' in value) return DTYPES[value.dtype]
  if ('int' in value) return BigInt(value.int)
  if ('float' in value) return numberOf(value.float)
  if ('complex' in value) return { re: numberOf(value.complex[0]), im: numberOf(value.complex[1]) }
  if ('slice' in value) return value.slice.map(here)
  if ('ellipsis' in value) return '...'
  throw new TypeError(`no value: ${JSON.stringify(value)}`)
}

/** A float as Python writes it. */
function numberOf(text) {
  if (text === 'nan') return Number.NaN
  return text.endsWith('inf') ? Number(text.replace('inf', 'Infinity')) : Number(text)
}

function floatText(number) {
  if (Number.isNaN(number)) return 'nan'
  return Object.is(number, -0) ? '-0.0' : String(number).replace('Infinity', 'inf')
}

function there(value) {
  if (value === null || value === undefined) return null
  if (typeof value === 'number') return { float: floatText(value) }
  if (typeof value === 'bigint') return { int: String(value) }
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(there)
  if (Object.values(DTYPES).includes(value)) return { dtype: value.name }
  if (value instanceof NdArray) {
    value.computeSync()
    lastHandle += 1
    arrays.set(lastHandle, value)
    return { array: lastHandle, dtype: value.dtype.name, shape: value.shape }
  }
  if ('re' in value) return { complex: [floatText(value.re), floatText(value.im)] }
  return { record: Object.fromEntries(Object.entries(value).map(([name, part]) => [name, there(part)])) }
}

function answer({ drop, call, positional, options }) {
  for (const handle of drop) arrays.delete(handle)
  const given = positional.map(here)
  if (call in others) return others[call](...given)
  const named = Object.entries(options)
  if (partition !== undefined && creating.has(call)) named.push(['partition', partition])
  if (named.length === 0) return xp.call(call, ...given)
  const { positional: names, isVariadic } = parametersOf(parameters.get(call))
  while (!isVariadic && given.length < names.length) given.push(undefined)
  return xp.call(call, ...given, Object.fromEntries(named.map(([name, value]) => [name, here(value)])))
}

/** The lines of standard input, one at a time. Alone, nothing is to be done between two calls, so reading may block. */
function* lines() {
  const chunk = Buffer.alloc(1 << 16)
  let rest = ''
  const input = openSync('/dev/stdin') // of its own: that of the process may not block
  for (let length = readSync(input, chunk); length > 0; length = readSync(input, chunk)) {
    rest += chunk.toString('utf8', 0, length)
    const complete = rest.split('\n')
    rest = complete.pop()
    yield* complete
  }
}

for await (const line of partition === undefined ? lines() : createInterface({ input: process.stdin })) {
  let reply
  try {
    reply = { value: there(answer(JSON.parse(line))) }
  } catch (error) {
    const { name = 'Error', message = inspect(error), code = '', stack } = error ?? {}
    if (!String(code).startsWith('ERR_AETHER_ARRAY_')) process.stderr.write(`${stack}\n`)
    reply = { error: { name, message, code } }
  }
  writeSync(1, `${JSON.stringify(reply)}\n`)
}
