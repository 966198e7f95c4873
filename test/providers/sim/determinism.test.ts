import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { SimulatedFault, SimulationOptions } from '../../../src/providers/index.ts'
import { twoHosts } from './two-hosts.ts'

const everything: SimulationOptions = {
  network: { jitterNs: 3000, tail: 0.1, loss: 0.05, duplicate: 0.1, reorder: 0.1 },
  adapter: { tear: 0.5, earlyAcknowledge: 0.3, completionNs: 2000, lostWakeups: 0.1 },
}
const faults: readonly SimulatedFault[] = [
  { kind: 'clog', atNs: 20_000, from: 0, to: 1, delayNs: 5000, forNs: 10_000 },
  { kind: 'slow', atNs: 40_000, host: 1, factor: 10, forNs: 20_000 },
]

/** A run with some traffic both ways; its hash, and what was completed when. */
function run(seed: number, options: SimulationOptions): { readonly hash: string; readonly course: string } {
  const { cluster, a, b } = twoHosts(seed, options, { timeout: 6, retryCount: 6 })
  const course: string[] = []
  for (let round = 0; round < 10; round += 1) {
    a.memory.bytes.fill(round, 0, 2048)
    a.write(b, 10 * round, 0, 2048)
    b.read(a, 10 * round + 1, 4096, 1024)
    a.add(b, 10 * round + 2, 1n)
    b.receive(10 * round + 3)
    a.send(10 * round + 4)
    cluster.advance(5000)
    for (const end of [a, b]) course.push(JSON.stringify(end.completions()))
  }
  cluster.advance(1e8)
  for (const end of [a, b]) course.push(JSON.stringify(end.completions()), String(end.word(0)))
  return { hash: cluster.traceHash, course: course.join('\n') }
}

test('the same seed takes the same course, another seed another', () => {
  const hashes = new Set<string>()
  for (let seed = 1; seed <= 20; seed += 1) {
    const options = { ...everything, faults }
    const [one, again] = [run(seed, options), run(seed, options)]
    assert.equal(one.hash, again.hash)
    assert.equal(one.course, again.course)
    hashes.add(one.hash)
  }
  assert.equal(hashes.size, 20)
})

test('a fault that is left out changes the course, and one more concern does not shift the others', () => {
  assert.notEqual(run(1, { ...everything, faults }).hash, run(1, everything).hash)
  // Chance of losing wake-ups that nobody waits for is asked of nobody.
  const without = { ...everything, adapter: { ...everything.adapter, lostWakeups: 0 } }
  assert.equal(run(1, everything).hash, run(1, without).hash)
})

test('who decides instead of the seed walks through every course of a small configuration', () => {
  const courses = new Set<string>()
  const path: number[] = []
  let runs = 0
  for (let more = true; more && runs < 1000; runs += 1) {
    const asked: number[] = []
    const choose = (count: number): number => {
      const index = asked.push(count) - 1
      path[index] ??= 0
      return path[index]
    }
    const { cluster, a, b, until } = twoHosts(
      1,
      { network: { jitterNs: 0, loss: 0.5 }, choose },
      { timeout: 4, retryCount: 1 },
    )
    a.setWord(0, 1n)
    a.write(b, 1, 0, 8)
    const [[, status]] = until(a, 1) as [[number, number]]
    cluster.advance(1e7)
    courses.add(`${status} ${b.word(0)}`)
    path.length = asked.length
    while (path.length > 0 && path.at(-1) === asked[path.length - 1]! - 1) path.pop()
    more = path.length > 0
    if (more) path[path.length - 1]! += 1
  }
  // Carried out and known, carried out and not known, and not carried out.
  assert.deepEqual([...courses].sort(), ['0 1', '12 0', '12 1'])
  assert.ok(runs < 1000, `${runs} runs`)
})

test('the provider asks no clock, no chance and no event loop of the process', () => {
  const folder = new URL('../../../../src/providers/sim/', import.meta.url)
  const banned =
    /\b(Date|performance|setTimeout|setInterval|setImmediate|queueMicrotask|hrtime|WeakRef|FinalizationRegistry|Worker|allocUnsafe)\b|Math\.random|node:(crypto|timers|worker_threads|fs|perf_hooks)|\bawait\b|new Promise/
  const files = readdirSync(fileURLToPath(folder))
  assert.ok(files.length > 30)
  for (const file of files) {
    const lines = readFileSync(new URL(file, folder), 'utf8').split('\n')
    const found = lines.filter(
      (line) => banned.test(line) && !line.trimStart().startsWith('*') && !line.includes('/**'),
    )
    assert.deepEqual(found, [], file)
  }
})
