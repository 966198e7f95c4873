/**
 * What takes too long for every commit and seldom finds anything: `npm run test:long [-- [--list] [STEP …]]`.
 *
 * Runs the named steps, or all of them one after the other, and writes into test/long-runs.json when each last ran, on
 * which commit and with what result. Commit that file after a run.
 *
 * `--list` prints the steps and their last results and runs nothing. The exit status is 0 only when every step that was
 * run succeeded.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const record = new URL('../test/long-runs.json', import.meta.url)

const npm = (script, ...options) => ['npm', 'run', '--silent', script, '--', ...options]
const node = (...words) => ['node', ...words]
const earlyShapes = ['--shape', 'SB,MP,CoRR,CoWW,CoRW1,CoRW2,CoWR', '--coherence', 'mesi,hardware']

/** Files that draw variants. */
const drawing = [
  'agreement/graph/election-mistakes',
  'agreement/graph/hbo-mistakes',
  'agreement/mistakes',
  'arrays/differential/differential',
  'arrays/every-function',
  'arrays/rules',
  'collectives/collectives',
  'dsm/advice',
  'dsm/coherence/pins',
  'dsm/coherence/region-recovery',
  'dsm/coherent/member-deaths',
  'dsm/coherent/page-cache',
  'dsm/coherent/untouched',
  'dsm/coherent/without-userfault',
  'dsm/group-coll',
  'dsm/group-growth-machines',
  'examples/examples',
  'messaging/peers/agreement',
  'messaging/peers/shrink',
  'messaging/peers/simulated',
  'modelcheck/flips',
  'modelcheck/plays',
  'providers/arrivals',
  'providers/claims',
  'providers/conformance',
  'providers/mutants.test',
  'repository/readme',
  'structures/distributed/linearizability',
  'structures/distributed/list/linearizability',
  'structures/distributed/map/',
  'structures/distributed/mvrlu',
  'structures/distributed/processes',
  'structures/distributed/waiting/waking',
  'structures/map.test',
  'structures/sight/heap-sight',
  'tools/agreement/graph/explore-hbo',
  'tools/agreement/real/play-real',
  'tools/commands/agreement.test',
  'tools/litmus',
  'tools/simulation/deaths',
  'tools/simulation/replica',
  'tools/simulation/shard',
  'tools/simulation/simulation',
  'tools/structure-torture',
]

/** Files that take the number of deaths from the environment. */
const killing = [
  'adapters/bullmq/kill',
  'dsm/crash.stress',
  'providers/kill.stress',
  'saving/crash',
  'structures/growth.test',
  'structures/jobs',
  'structures/map.kill',
  'structures/space-containers',
  'structures/space-directory',
]

/** Each step: what it looks for, its command, and what it sets in the environment. */
const steps = [
  { name: 'files', purpose: 'every test in a *.long.test.ts', command: node('scripts/test.mjs', '--long') },
  {
    name: 'histories',
    purpose: '2,220 histories of structures between machines, judged',
    command: node('scripts/test.mjs', 'test/structures/distributed/linearizability'),
    environment: { AETHER_TEST_HISTORIES: '600' },
  },
  {
    name: 'values',
    purpose: 'every wrong value at every place of every public function and of every function of arrays',
    command: node('scripts/test.mjs', 'test/public/bad-arguments', 'arrays/differential/wrong-arguments'),
    environment: { AETHER_TEST_VALUES: 'all' },
  },
  {
    name: 'variants',
    purpose: 'all variants of which other runs draw some (test/support/drawn.ts)',
    command: node('scripts/test.mjs', ...drawing),
    environment: { AETHER_TEST_VALUES: 'all' },
  },
  {
    name: 'coherence',
    purpose: 'members die at any step, and pages are held, in 1,250 plays of each protocol',
    command: node('scripts/test.mjs', 'dsm/coherence/region-recovery', 'dsm/coherence/pins'),
    environment: { AETHER_SEEDS: '1250' },
  },
  {
    name: 'litmus',
    purpose: '15,000 rounds of each shape with real processes',
    command: npm('litmus', '--rounds', '15000', '--ranks', '2,3', ...earlyShapes, '--evictions', 'without'),
  },
  {
    name: 'litmus-quick',
    purpose: 'every shape with every protocol, with and without evictions',
    command: npm('litmus', '--quick'),
  },
  {
    name: 'kills',
    purpose: 'a thousand processes killed at random moments, or at each step, by each of these tests',
    command: node('scripts/test.mjs', ...killing),
    environment: { AETHER_TEST_KILLS: '1000' },
  },
  {
    name: 'tcp',
    purpose: 'tcp devices: 300 deaths and ends of threads, 40,000 hostile conversations',
    command: node('scripts/test.mjs', 'providers/tcp/'),
    environment: { AETHER_TEST_KILLS: '300', AETHER_TEST_MUTANTS: '20000' },
  },
  {
    name: 'tcp-frames',
    purpose: 'a million frames each at tcp devices, before a proof, after it, and from peers that are not Aether',
    command: node('scripts/test.mjs', '--timeout-ms=3600000', 'providers/tcp/frame-fuzz'),
    environment: { AETHER_TEST_FRAMES: '1000000' },
  },
  {
    name: 'tcp-sanitized',
    purpose: 'the same for a while with AddressSanitizer and UBSan',
    command: node('scripts/test-sanitized.mjs', 'providers/tcp/'),
    environment: { AETHER_TEST_KILLS: '30', AETHER_TEST_MUTANTS: '2000', AETHER_TEST_FRAMES: '100000' },
  },
  {
    name: 'redis-suite',
    purpose: "Redis' own test suite against the door of an index",
    command: node('scripts/redis-suite.mjs'),
  },
  {
    name: 'redis-fuzz',
    purpose: 'a million random commands and 20,000 spoiled streams, at a door and at redis-server',
    command: node('scripts/test.mjs', '--long', '--timeout-ms=3600000', 'redis-door/fuzz'),
  },
  { name: 'modelcheck', purpose: 'every interleaving of three nodes, too', command: npm('modelcheck') },
  { name: 'simulate', purpose: '50,000 simulated clusters', command: npm('simulate', '--seeds', '50000') },
  {
    name: 'replicas',
    purpose: '5,000 simulated groups of replicas',
    command: npm('simulate', 'replicas', '--seeds', '5000'),
  },
  {
    name: 'replicas-disks',
    purpose: '1,500 simulated groups of replicas whose disks fail with them',
    command: npm('simulate', 'replicas', '--disks', '--seeds', '1500'),
  },
  { name: 'torture', purpose: 'processes killed and stopped', command: npm('torture', '--seconds', '60') },
  {
    name: 'torture-structures',
    purpose: 'the same for every structure',
    command: npm('torture', 'structures', '--seconds', '300'),
  },
  {
    name: 'twice',
    purpose: 'nothing that an earlier run left on the machine is in the way',
    command: node('scripts/test.mjs', 'test/cluster/', 'test/native/', 'test/dsm/group'),
  },
  {
    name: 'sanitized',
    purpose: 'native tests with AddressSanitizer and UBSan',
    command: node('scripts/test-sanitized.mjs'),
  },
  {
    name: 'node-versions',
    purpose: 'what depends on Node.js, on every version that is supported',
    command: node('scripts/test-node-versions.mjs'),
  },
  {
    name: 'arm64',
    purpose: 'the native tests, structures, RPC and the conformance suite on arm64, emulated',
    command: node('scripts/test-arm64.mjs'),
  },
  {
    name: 'rdma-connections',
    purpose: 'a thousand connections made and ended on real RDMA',
    command: node('scripts/test-rdma.mjs', '--boot', 'one-host', 'rdma/connections', 'rdma/cm'),
    environment: { AETHER_RDMA_REQUIRED: '1', AETHER_TEST_CONNECTIONS: '1000' },
  },
  {
    name: 'rdma',
    purpose: 'the long tests on real RDMA, in guests',
    command: node('scripts/test-rdma.mjs', '--long'),
    environment: { AETHER_RDMA_REQUIRED: '1' },
  },
]

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false } },
})

function lastRuns() {
  return existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : {}
}

function printList() {
  const runs = lastRuns()
  for (const { name, purpose } of steps) {
    const run = runs[name]
    const when =
      run === undefined ? 'never ran' : `${run.result} on ${run.date}, commit ${run.commit}, ${run.minutes} min`
    console.log(`${name.padEnd(20)} ${purpose.padEnd(64)} ${when}`)
  }
}

async function runStep({ name, purpose, command, environment }) {
  console.log(`\n== ${name}: ${purpose}\n   ${command.join(' ')}`)
  const startedMs = Date.now()
  const [file, ...words] = command
  const child = spawn(file, words, { cwd: root, stdio: 'inherit', env: { ...process.env, ...environment } })
  const [status, signal] = await once(child, 'exit')
  const run = {
    result: status === 0 ? 'passed' : `failed (${signal ?? `status ${status}`})`,
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim(),
    minutes: Number(((Date.now() - startedMs) / 60_000).toFixed(1)),
  }
  writeFileSync(record, `${JSON.stringify({ ...lastRuns(), [name]: run }, undefined, 2)}\n`)
  return status === 0
}

const unknown = names.filter((name) => !steps.some((step) => step.name === name))
if (unknown.length > 0) {
  console.error(`No step is named ${unknown.join(' or ')}. The steps: ${steps.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}
let ok = true
if (!options.list)
  for (const step of steps) if (names.length === 0 || names.includes(step.name)) ok = (await runStep(step)) && ok
printList()
process.exit(ok ? 0 : 1)
