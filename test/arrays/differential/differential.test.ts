import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeOf } from '../../../src/arrays/functions/as-node.ts'
import { callEntry, mapIn } from '../../../src/arrays/functions/call.ts'
import type { Entry, NodeEntry } from '../../../src/arrays/functions/entry.ts'
import { FUNCTIONS } from '../../../src/arrays/functions/table.ts'
import { demand } from '../../../src/arrays/graph/demand.ts'
import { ArrayNode } from '../../../src/arrays/graph/node.ts'
import { drawn } from '../../support/drawn.ts'
import { startNumpy, withoutNumpy } from '../support/numpy.ts'
import { compare, isBlock } from './comparison.ts'
import { comparisons } from './comparisons/index.ts'
import { Draw } from './draw.ts'

/** What gives no elements that NumPy gives too. Tests of their own are named. */
const elsewhere: Readonly<Record<string, string>> = {
  empty: 'its elements are whatever the memory has',
  empty_like: 'as empty',
  asarray: 'namespace.test.ts',
  from_dlpack: 'it is asarray, by a name that Python needs',
  can_cast: 'namespace.test.ts',
  finfo: 'namespace.test.ts',
  iinfo: 'namespace.test.ts',
  isdtype: 'namespace.test.ts',
  result_type: 'namespace.test.ts',
  broadcast_shapes: 'namespace.test.ts',
  'random.': 'local/random/generator.test.ts',
  'sparse.': 'local/sparse/sparse.test.ts',
}

/** Calls a function of the namespace as users do, with arrays for blocks. */
function calling(entry: Entry | NodeEntry): (...operands: unknown[]) => unknown {
  return (...operands) => {
    const result = callEntry(entry, mapIn(operands, isBlock, nodeOf) as unknown[])
    return mapIn(result, (one): one is ArrayNode => one instanceof ArrayNode, demand)
  }
}

test('every function gives what NumPy gives, for all types, odd shapes and scattered elements', {
  skip: withoutNumpy,
}, async (t) => {
  await using numpy = await startNumpy()
  const names = Object.keys(comparisons)
  for (const name of drawn(names, Math.ceil(names.length / 4))) {
    await t.test(name, async () => {
      const entry = FUNCTIONS.find((candidate) => candidate.name === name)
      assert.ok(entry, `the namespace has no ${name}`)
      assert.ok(
        (await compare(name, calling(entry), comparisons[name]!, new Draw(names.indexOf(name)), numpy)) > 0,
        'no call was compared',
      )
    })
  }
})

test('every function of the namespace is compared, or it is said where it is tested', () => {
  const isTested = ({ name }: { readonly name: string }) =>
    name in comparisons || name in elsewhere || name.replace(/\..*/, '.') in elsewhere
  assert.deepEqual(
    FUNCTIONS.filter((entry) => !isTested(entry)).map(({ name }) => name),
    [],
  )
})
