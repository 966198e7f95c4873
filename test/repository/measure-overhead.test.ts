/**
 * scripts/measure-overhead.mjs, by which docs/benchmarks.md says what profiling costs, still finds all that it names.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import process from 'node:process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { root } from './checkout.ts'

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }

/** A table of Markdown: the cells of its rows by their first one. */
function rowsOf(output: string, title: string): ReadonlyMap<string, readonly string[]> {
  const table = output.split('\n\n').find((part) => part.startsWith(`| ${title} |`))
  assert.ok(table, `there is no table '${title}' in\n${output}`)
  const lines = table.trimEnd().split('\n')
  const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim())
  return new Map(lines.slice(2).map((line) => [cells(line)[1]!, cells(line).slice(2, -1)]))
}

test(
  'what profiling costs is measured of requests, messages and calls, and of what is only looked at',
  options,
  async () => {
    const words = ['scripts/measure-overhead.mjs', '--sets', '1', '--rounds', '1', 'paths', 'silence']
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root })
    const paths = rowsOf(stdout, 'paths')
    for (const name of ['WRITE, post and poll', 'message of an endpoint', 'blocking call', 'call, 64 under way']) {
      const [off, ...ratios] = paths.get(name) ?? []
      assert.match(off ?? '', /^[\d.]+ (ns|µs|ms)$/, stdout)
      assert.equal(ratios.length, 2, stdout)
      for (const ratio of ratios) assert.ok(Number.parseFloat(ratio) > 0, stdout)
    }
    const silence = [...rowsOf(stdout, 'what is tested').values()]
    assert.equal(silence.length, 5)
    for (const [ns] of silence) assert.ok(Number(ns) > 0, stdout)
  },
)
