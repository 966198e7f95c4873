import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProgressLine } from '../../../src/cli/output/progress-line.ts'

function record(isTTY: boolean): { written: string[]; line: ProgressLine; pass: (ms: number) => void } {
  const written: string[] = []
  let nowMs = 1000
  const stream = { isTTY, columns: 20, write: (text: string) => written.push(text) }
  return { written, line: new ProgressLine(stream, () => nowMs), pass: (ms) => (nowMs += ms) }
}

test('on a terminal the line is rewritten in place, cut to the width, and erased in the end', () => {
  const { written, line, pass } = record(true)
  line.show('one')
  pass(1)
  line.show('too soon')
  pass(100)
  line.show('x'.repeat(50))
  line.clear()
  line.clear()
  assert.deepEqual(written, ['\r\u001b[2Kone', `\r\u001b[2K${'x'.repeat(19)}`, '\r\u001b[2K'])
})

test('in a file a line comes now and then, and none at all for short work', () => {
  const { written, line, pass } = record(false)
  line.show('at once')
  pass(2500)
  line.show('later')
  pass(100)
  line.show('too soon')
  line.clear()
  assert.deepEqual(written, ['later\n'])
})
