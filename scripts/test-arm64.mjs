/**
 * Tests the addon for arm64, emulated on x64 by qemu-user: `node scripts/test-arm64.mjs [--smoke | part of a path …]`.
 *
 * Runs test files, then the conformance suite of the shm provider. With parts of paths it runs only test files.
 * `--smoke` takes less than a minute: it opens a map, and one process writes into another.
 * An arm64 Node.js comes from npm, into a temporary folder.
 * What fails because qemu-user lacks something counts as skipped, and the reason is printed.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, runTests } from './node-binary.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const QEMU = '/usr/bin/qemu-aarch64-static'
const LIBRARIES = '/usr/aarch64-linux-gnu'
const NEEDED = [
  { path: QEMU, package: 'qemu-user-static' },
  { path: '/usr/bin/aarch64-linux-gnu-g++', package: 'g++-aarch64-linux-gnu' },
  { path: `${LIBRARIES}/lib/libc.so.6`, package: 'libc6-arm64-cross' },
  { path: `${LIBRARIES}/lib/libstdc++.so.6`, package: 'libstdc++6-arm64-cross' },
]
const CHOSEN = [
  'test/native/',
  'test/structures/heap.test',
  'test/structures/list.test',
  'test/structures/map.test',
  'test/structures/small.test',
  'test/rpc/shm.test',
  'test/rpc/streams.test',
  'test/rpc/unary.test',
]
/** What qemu-user 7.2 lacks: known by the text of the error, or by the name of the test if only a value is wrong. */
const LIMITS = [
  { error: /process_vm_(readv|writev): ENOSYS/, reason: 'qemu-user has no process_vm_readv and process_vm_writev' },
  { error: /futex_waitv: ENOSYS/, reason: 'qemu-user has no futex_waitv' },
  { error: /userfaultfd: ENOSYS/, reason: 'qemu-user has no userfaultfd' },
  { error: /sched_[gs]etattr: ENOSYS/, reason: 'qemu-user has no sched_setattr' },
  { error: /libibverbs\.so\.1: cannot open shared object file/, reason: 'there is no libibverbs for arm64 here' },
  {
    test: 'space that is not there is refused when it is reserved, not when it is touched',
    reason: 'qemu-user fails with EINVAL, not with ENOMEM, where no huge page is left',
  },
  { test: 'pages are faulted in on request', reason: 'qemu-user ignores MAP_POPULATE' },
]

const WITHOUT_COPY = 'memory that is not shared is copied by process_vm_readv, which qemu-user does not have'
/** Cases of the conformance suite, with how they fail for that. */
const DIFFERENT_CASES = {
  'registered private memory can be read and written': 'RemoteOperationError',
  'registered private memory receives messages': 'WorkRequestFlushed',
  'other memory is reached under the new address, to its own end': 'RemoteOperationError',
  'one key reaches whatever the process has': 'RemoteOperationError',
  'an implicit local key sends from and receives into anything': 'did not happen within',
  'the key of a closed implicit region reaches nothing': 'RemoteOperationError',
  'a range of an implicit region is prefetched': 'EFAULT',
}

const missing = NEEDED.filter(({ path }) => !existsSync(path)).map((each) => each.package)
if (missing.length > 0) {
  console.error(`Debian packages are missing: apt-get install --no-install-recommends ${missing.join(' ')}`)
  process.exit(1)
}

const scratch = mkdtempSync(join(tmpdir(), 'aether-arm64-'))
let failed = true
try {
  execFileSync(process.execPath, [join(root, 'native/build.mjs'), '--prebuilt'], { stdio: 'inherit' })
  const node = installNode(scratch, 'arm64', process.versions.node.split('.')[0])
  if (node.path === undefined) throw new Error(`npm gave no Node.js for arm64: ${node.reason}`)
  const emulated = emulate(node.path)
  console.log(
    `Node.js ${node.version} for arm64, under ${execFileSync(QEMU, ['--version'], { encoding: 'utf8' }).split('\n')[0]}`,
  )
  const filters = process.argv.slice(2)
  if (filters[0] === '--smoke') failed = smoke(emulated)
  else if (filters.length > 0) failed = summarize(test(emulated, filters))
  else
    failed = summarize([
      ...test(emulated, CHOSEN),
      ...conform(emulated, 'one-process'),
      ...conform(emulated, 'two-processes'),
    ])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0

/**
 * A program `node` that emulates the real one. The kernel cannot start a program for arm64.
 * Node.js starts children by what it takes for its own path, so that path has to be this program.
 */
function emulate(path) {
  const folder = join(scratch, 'bin')
  const node = join(folder, 'node')
  mkdirSync(folder)
  writeFileSync(node, `#!/bin/sh\nexec ${QEMU} -L ${LIBRARIES} ${path} "$@"\n`, { mode: 0o755 })
  const ownPath = join(scratch, 'own-path.mjs')
  writeFileSync(ownPath, `process.execPath = process.argv[0] = ${JSON.stringify(node)}\n`)
  const { AETHER_NATIVE: _, ...environment } = process.env
  return { node, environment: { ...environment, NODE_OPTIONS: `--import=${ownPath}`, AETHER_TEST_CALL_MS: '600000' } }
}

function smoke({ node, environment }) {
  const runtime = join(scratch, 'run')
  mkdirSync(runtime, { mode: 0o700 })
  const map = `
    import { open } from 'aether-dsm'
    import { openStructures } from 'aether-dsm/structures'
    const space = await open('smoke')
    const shared = await openStructures(space)
    const visits = await shared.map('visits')
    visits.updateSync('/home', (count) => (count ?? 0) + 1)
    console.log(process.arch, 'map', visits.getSync('/home'))`
  const programs = [
    { flags: ['--input-type=module', '--eval', `${map}\nawait space.close()`], expected: 'arm64 map 1\n' },
    { flags: ['dist/examples/verbs-write.js'], expected: 'written by the child\n' },
  ]
  const wrong = programs.filter(({ flags, expected }) => {
    const env = { ...environment, AETHER_RUNTIME_DIRECTORY: runtime }
    const { stdout, stderr } = spawnSync(node, flags, { cwd: root, encoding: 'utf8', env, timeout: 300_000 })
    process.stdout.write(stdout)
    if (stdout !== expected) console.error(`expected ${expected}${stderr}`)
    return stdout !== expected
  })
  console.log(`${programs.length - wrong.length} passed, ${wrong.length} failed, 0 skipped`)
  return wrong.length > 0
}

function test({ node, environment }, filters) {
  const file = join(scratch, 'report.json')
  const { totals } = runTests(root, node, [`--report=${file}`, '--timeout-ms=1800000', ...filters], environment)
  if (!existsSync(file)) return [{ file: 'scripts/test.mjs', name: 'the run', outcome: 'failed', reason: totals }]
  const { tests } = JSON.parse(readFileSync(file, 'utf8'))
  return tests.map((each) => {
    const isLimit = ({ error, test }) => error?.test(each.reason) || test === each.name
    const limit = each.outcome === 'failed' ? LIMITS.find(isLimit) : undefined
    return limit === undefined ? each : { ...each, outcome: 'skipped', reason: limit.reason }
  })
}

function conform({ node, environment }, placement) {
  const program = `
    import { runProviderConformance } from ${JSON.stringify(join(root, 'dist/src/testing/index.js'))}
    const patience = 6 // Emulated processors are slow.
    const until = async (predicate, deadlineMs) => {
      const end = performance.now() + patience * deadlineMs
      while (!(await predicate())) {
        if (performance.now() > end) throw new Error('it did not happen within ' + patience * deadlineMs + ' ms')
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const allowDifferent = {}
    for (const [name, failure] of Object.entries(${JSON.stringify(DIFFERENT_CASES)}))
      allowDifferent[name] = { behaviour: ${JSON.stringify(WITHOUT_COPY)}, failure: new RegExp(failure) }
    const setup = { provider: 'shm', device: 'shm0', placement: '${placement}', until, allowDifferent }
    console.log(JSON.stringify((await runProviderConformance(setup)).results))`
  const env = { ...environment, AETHER_RUNTIME_DIRECTORY: scratch }
  const path = join(scratch, `${placement}.mjs`)
  writeFileSync(path, program)
  const { stdout, stderr } = spawnSync(node, [path], { cwd: root, encoding: 'utf8', env, maxBuffer: 2 ** 28 })
  const file = `shm conforms (${placement})`
  if (!stdout.startsWith('[')) return [{ file, name: 'the suite', outcome: 'failed', reason: stderr }]
  const outcomes = { passed: 'passed', different: 'skipped', unsupported: 'failed', failed: 'failed' }
  return JSON.parse(stdout).map((each) => ({ ...each, file, outcome: outcomes[each.outcome] }))
}

/** Print what did not pass, and the totals; true where something failed. */
function summarize(results) {
  const of = (outcome) => results.filter((each) => each.outcome === outcome)
  for (const { file, name, reason } of of('skipped')) console.log(`skipped: ${file}: ${name}: ${reason}`)
  for (const { file, name, reason } of of('failed')) console.log(`failed: ${file}: ${name}: ${reason}`)
  console.log(`${of('passed').length} passed, ${of('failed').length} failed, ${of('skipped').length} skipped`)
  return of('failed').length > 0 || of('passed').length === 0
}
