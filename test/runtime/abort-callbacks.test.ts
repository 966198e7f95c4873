import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { addAbortCallback, removeAbortCallback } from '../../src/runtime/index.ts'

test('many callbacks are one listener of their signal, and none is left behind', () => {
  const controller = new AbortController()
  const { signal } = controller
  const called: number[] = []
  const callbacks = Array.from({ length: 100 }, (_, index) => () => void called.push(index))
  for (const callback of callbacks) addAbortCallback(signal, callback)
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  for (const callback of callbacks) removeAbortCallback(signal, callback)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  for (const callback of callbacks.slice(0, 3)) addAbortCallback(signal, callback)
  removeAbortCallback(signal, callbacks[1]!)
  controller.abort()
  assert.deepEqual(called, [0, 2])
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a callback may take others back', () => {
  const controller = new AbortController()
  const called: string[] = []
  const second = (): void => void called.push('second')
  addAbortCallback(controller.signal, () => {
    called.push('first')
    removeAbortCallback(controller.signal, second)
  })
  addAbortCallback(controller.signal, second)
  controller.abort()
  assert.deepEqual(called, ['first'])
})
