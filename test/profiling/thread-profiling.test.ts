import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineCounters, threadProfile, threadProfiling } from '../../src/profiling/index.ts'
import { open } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

const links = defineCounters('test.links', ['messages'], { labelled: 'link' })

test('a difference holds over the entering and the leaving of a space, whatever ended in between', async () => {
  const [one, other] = ['one', 'other'].map((label) => threadProfiling().counters(links, label))
  one!.add('messages', 1000)
  other!.add('messages', 5000)
  const outside = threadProfile()
  const space = await open('profiled')
  one!.add('messages', 1)
  one!.close()
  assert.equal(threadProfile().since(outside).total('test.links', 'messages'), 1)
  const inside = threadProfile()
  await space.close()
  other!.add('messages', 2)
  other!.close()
  assert.equal(threadProfile().since(inside).total('test.links', 'messages'), 2)
  assert.equal(threadProfile().since(outside).total('test.links', 'messages'), 3)
})
