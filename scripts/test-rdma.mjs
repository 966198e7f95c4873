/**
 * Runs the compiled tests of test/rdma/ on real kernel RDMA, in throw-away guests:
 * `node scripts/test-rdma.mjs [--long] [--boot NAME …] [part of a path …]`.
 *
 * Of the boots two run at the same time: the files in test/rdma/ run one after the other in one guest, those in
 * test/rdma/conformance/ in another; those in test/rdma/two-hosts/ in the first of two guests joined by a cable, whose
 * second does what they tell it (test/rdma/support/remote-host.ts). At the end a table says what ran, and what was
 * skipped and why.
 *
 * The boot `siw` has the kernel's software iWARP, which is compiled for it (rdma-guest/siw.mjs); where that cannot be,
 * it is skipped. It is made with `--long`, and where it is named.
 *
 * Emulated kernels crash at times. Where the second guest ended although no test cut its power (which leaves the file
 * `power-cut` in the shared folder), the first is stopped, and both are booted again, once.
 *
 * With `--boot` (one-host, two-hosts, conformance, siw) it makes only the named boots, one after the other.
 *
 * With `--long` it runs the files named `*.long.test.ts`, and no others; without, all others.
 *
 * Where this machine cannot boot guests, that is said and the run is skipped; with AETHER_RDMA_REQUIRED=1 it fails
 * instead.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isEmulated } from './rdma-guest/accelerator.mjs'
import { temporaryFolder } from './rdma-guest/cleanup.mjs'
import { missingSentence } from './rdma-guest/requirements.mjs'
import { runGuests } from './rdma-guest/run-guests.mjs'
import { siwModules } from './rdma-guest/siw.mjs'
import { printSummary } from './rdma-guest/summary.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const DEFAULT_TIMEOUT_S = 1800
/** One file. Less than the boot has, so that the report comes back when a file hangs. */
const FILE_TIMEOUT_S = 700

const { values: options, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    boot: { type: 'string', multiple: true },
    'timeout-s': { type: 'string', default: String(DEFAULT_TIMEOUT_S) },
  },
})
const timeoutS = Number(options['timeout-s'])
const fileTimeoutS = Math.min(FILE_TIMEOUT_S, timeoutS / 2)

const allBoots = [
  { name: 'one-host', hosts: 1, folder: 'test/rdma' },
  { name: 'two-hosts', hosts: 2, folder: 'test/rdma/two-hosts' },
  { name: 'conformance', hosts: 1, folder: 'test/rdma/conformance' },
  { name: 'siw', hosts: 1, folder: 'test/rdma/siw', isLong: true, prepare: prepareSiw },
]
const boots =
  options.boot === undefined ? allBoots.filter(({ isLong }) => options.long || !isLong) : options.boot.map(namedBoot)
/** Emulated, a boot keeps one processor busy. */
const bootsAtOnce = options.boot === undefined ? 2 : 1

function namedBoot(name) {
  const boot = allBoots.find((each) => each.name === name)
  if (boot !== undefined) return boot
  console.error(`No boot is named ${name}. The boots: ${allBoots.map((each) => each.name).join(', ')}.`)
  process.exit(2)
}

/** The guest loads the modules from there: test/rdma/siw/support/siw.ts. */
function prepareSiw() {
  process.env.AETHER_SIW_MODULES = siwModules((text) => console.error(`rdma-guest: ${text}`))
}

const isLong = (boot) => options.long || boot.isLong === true

function testFiles(boot) {
  const { folder } = boot
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.test.ts') && name.endsWith('.long.test.ts') === isLong(boot))
    .map((name) => `${folder}/${name}`)
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .sort()
}

async function runBoot(boot, share) {
  const files = testFiles(boot)
  if (files.length === 0) return undefined
  try {
    boot.prepare?.()
  } catch (error) {
    console.log(`skipped: the boot ${boot.name} was not made. ${error.message}`)
    return undefined
  }
  const result = await bootOnce(boot, files, join(share, boot.name))
  const { companionEnd } = result.run
  if (companionEnd === undefined) return result
  console.log(`== ${boot.name}: the second host ended by itself; both are booted again. ${companionEnd}`)
  return bootOnce(boot, files, join(share, `${boot.name}-again`))
}

async function bootOnce(boot, files, reportFolder) {
  const { name, hosts, folder } = boot
  mkdirSync(reportFolder)
  const reportFile = join(reportFolder, 'report.json')
  // One file after the other: they share one device, and count what is left on it.
  const tests = [
    'node',
    'scripts/test.mjs',
    '--serial',
    `--timeout-ms=${fileTimeoutS * 1000}`,
    `--report=${reportFile}`,
    ...(isLong(boot) ? ['--long'] : []),
    ...files,
  ]
  const remote = ['node', 'dist/test/rdma/support/remote-host-main.js']
  console.log(`== ${name}: ${files.map((file) => relative(folder, file)).join(' ')}`)
  const startedMs = Date.now()
  const run = await runGuests({
    ...{ hosts, timeoutS, share: reportFolder, directory: root, companion: hosts === 2 },
    mayEnd: () => existsSync(join(reportFolder, 'power-cut')),
    label: name,
    command: (host) => (host === 0 ? tests : remote),
  })
  const report = existsSync(reportFile) ? JSON.parse(readFileSync(reportFile, 'utf8')) : undefined
  return { name, files, report, run, seconds: (Date.now() - startedMs) / 1000 }
}

/** In the order of the boots, however they end. */
async function runBoots(share) {
  const results = []
  let started = 0
  const serve = async () => {
    while (started < boots.length) {
      const index = started++
      results[index] = await runBoot(boots[index], share)
    }
  }
  await Promise.all(Array.from({ length: bootsAtOnce }, serve))
  return results.filter((result) => result !== undefined)
}

async function main() {
  // Emulated guests are slow, and tests read what programs say.
  process.env.AETHER_WATCHDOG_MS ??= '60000'
  process.env.AETHER_TEST_CALL_MS ??= '300000'
  const missing = missingSentence({ tests: true })
  if (missing !== undefined) {
    const isRequired = process.env.AETHER_RDMA_REQUIRED === '1'
    console.log(`${isRequired ? 'failed' : 'skipped'}: the tests on real RDMA did not run. ${missing}`)
    return isRequired ? 1 : 0
  }
  if (boots.every((boot) => testFiles(boot).length === 0)) {
    console.error(
      `No test file${filters.length > 0 ? ` whose path contains ${filters.join(' or ')}` : ''} under test/rdma/.`,
    )
    return 1
  }
  const share = temporaryFolder()
  const results = await runBoots(share)
  if (results.some(({ run }) => isEmulated(run.accelerator))) {
    console.log('\nThe processor of the guests was emulated (no usable /dev/kvm): everything ran some 15 times slower.')
  }
  // All that were to run may have been skipped.
  if (results.length === 0) return 0
  return printSummary(results) ? 0 : 1
}

process.exit(await main())
