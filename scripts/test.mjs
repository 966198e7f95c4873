/**
 * Runs the compiled tests: `node scripts/test.mjs [--serial] [--long] [--timeout-ms=N] [part of a path …]`.
 *
 * Each file runs in a process of its own, so that one that crashes fails alone. Files named `*.stress.test.ts` load the
 * machine on purpose: they run one by one after the others. The list is made from the sources, so a compiled test whose
 * source is gone never runs.
 *
 * Files named `*.long.test.ts` take long and seldom find anything: they run with `--long`, and nothing else then. See
 * scripts/test-long.mjs.
 *
 * Tests of test/rdma/ need a machine with RDMA: they run where AETHER_RDMA_HOST is set, which is in the guests of
 * `npm run test:rdma`. `--report=FILE` writes what became of each test as JSON.
 *
 * The exit status is 0 only when at least one test ran, none failed, and no process of a test was left behind.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from 'node:test'
import { spec as SpecReporter } from 'node:test/reporters'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
/**
 * One file, its children included: many times what any takes on an idle machine, so that a busy one does not end it.
 */
const FILE_TIMEOUT_MS = 600_000
/** Two more than processors: tests wait, for other processes above all, and would leave part of the time unused. */
const FILES_AT_ONCE = availableParallelism() + 2
/** How long the children of a finished file may take to be gone. */
const GRACE_MS = 3000
/** How long after its time a file may take to end by the SIGTERM that run() sends it. */
const TERMINATION_MS = 1000
/** From here on a file is named as slow. */
const SLOW_MS = 10_000
/** Every process of this run inherits it; that is how those left behind are found. */
const RUN_MARK = `AETHER_TEST_RUN=${process.pid}-${Date.now()}`

const { values: options, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    serial: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    report: { type: 'string' },
    'timeout-ms': { type: 'string', default: String(FILE_TIMEOUT_MS) },
  },
})
const timeoutMs = Number(options['timeout-ms'])
const hasRdma = process.env.AETHER_RDMA_HOST !== undefined

/** `*.final.test.ts` take away what others need, the power of the other guest say. */
const isFinal = (path) => path.endsWith('.final.test.ts')
const finalLast = (a, b) => isFinal(a) - isFinal(b) || (a < b ? -1 : 1)

function testFiles() {
  const sources = readdirSync(join(root, 'test'), { recursive: true })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.test.ts') && !path.includes('fixtures/'))
    .filter((path) => hasRdma || !path.startsWith('rdma/'))
    .filter((path) => path.endsWith('.long.test.ts') === options.long)
    .filter((path) => filters.length === 0 || filters.some((filter) => `test/${path}`.includes(filter)))
    .sort(finalLast)
  return sources.map((path) => join(root, 'dist/test', path.replace(/\.ts$/, '.js')))
}

const isVerdict = (event) => event.type === 'test:pass' || event.type === 'test:fail'
/** Where a file's own name is reported as a test, it ended without having run one, or badly. */
const isFileItself = (event) => event.data.nesting === 0 && event.data.name.endsWith('.test.js')

class Tally {
  passed = 0
  /** Names, with the file that each is in. */
  failed = []
  /** Names with their reasons. */
  skipped = []
  /** All of them, for the report: file, name, outcome, and the reason of a skip or a failure. */
  tests = []
  /** File -> milliseconds of its tests together. */
  times = new Map()

  /** `compiled` is the file that was run: a test may be defined in another that it imports. */
  count(event, compiled) {
    const file = relative(join(root, 'dist'), compiled).replace(/\.js$/, '.ts')
    if (event.data.details?.type === 'suite') return
    if (event.type === 'test:fail') {
      this.failed.push(isFileItself(event) ? file : `${file}: ${event.data.name}`)
      const { error } = event.data.details
      this.note(event, file, 'failed', String(error.cause?.message ?? error.message))
    } else if (event.data.skip !== undefined) {
      this.skipped.push(`${event.data.name}: ${reason(event.data.skip)}`)
      this.note(event, file, 'skipped', reason(event.data.skip))
    } else if (event.data.todo === undefined) {
      this.passed += 1
      this.note(event, file, 'passed')
    }
  }

  note({ data }, file, outcome, why) {
    if (data.nesting === 0) this.times.set(file, (this.times.get(file) ?? 0) + (data.details?.duration_ms ?? 0))
    this.tests.push({ file, name: data.name, outcome, ...(why === undefined ? {} : { reason: why }) })
  }
}

const reason = (skip) => (typeof skip === 'string' && skip !== '' ? skip : 'no reason given')

/**
 * Make a failure of what the runner lets pass (a file without a test), and say what it leaves out (how a file's process
 * ended).
 */
function judged(event) {
  if (!isVerdict(event) || !isFileItself(event)) return event
  if (event.type === 'test:pass') return failure(event, 'the file ended without running a test')
  return failure(event, ending(event.data))
}

function ending({ name, details }) {
  const error = details?.error
  if (error?.failureType === 'testTimeoutFailure' || overdue.has(name))
    return `the file did not end within ${timeoutMs} ms and was stopped (--timeout-ms=N allows more)`
  if (error?.signal) return `the process of the file was ended by ${error.signal}`
  return `the process of the file ended with status ${error?.exitCode}; what it printed stands above`
}

function failure(event, message) {
  const error = new Error(message, { cause: message })
  error.code = 'ERR_TEST_FAILURE'
  error.failureType = 'testCodeFailure'
  return { type: 'test:fail', data: { ...event.data, details: { ...event.data.details, error } } }
}

/** Files that did not end, and the processes that were killed with them. */
const overdue = new Set()
const killed = []

/**
 * Ends a file that SIGTERM did not end. From Node.js 24 on a file's process catches that signal, so a blocked event
 * loop never sees it. run() then waits until no process holds the file's output open.
 * Processes whose parents are gone may be from this file, so they are killed, too.
 */
function killFile(file, files) {
  const marked = new Map(processesLeft().map((each) => [each.pid, each]))
  const fileOf = (each) =>
    files.find((name) => each.arguments.includes(name)) ??
    (marked.has(each.parent) ? fileOf(marked.get(each.parent)) : undefined)
  const owners = [...marked.values()].map((each) => ({ ...each, file: fileOf(each) }))
  if (!owners.some((each) => each.file === file)) return
  overdue.add(file)
  for (const each of owners.filter((one) => one.file === file || one.file === undefined)) {
    kill(each.pid)
    if (!each.arguments.includes(file)) killed.push(each)
  }
}

/**
 * The events of each file, in the order of the files, of which `concurrency` run at a time. Each has a run() of its
 * own, since an event names only the file in which its test is defined.
 */
function startFiles(files, concurrency) {
  const outputs = files.map(() => new PassThrough({ objectMode: true, highWaterMark: Number.MAX_SAFE_INTEGER }))
  let started = 0
  const startNext = () => {
    const index = started++
    if (index >= files.length) return
    const timer = setTimeout(killFile, timeoutMs + TERMINATION_MS, files[index], files)
    const events = run({ files: [files[index]], timeout: timeoutMs })
    events.once('end', () => {
      clearTimeout(timer)
      startNext()
    })
    events.pipe(outputs[index])
  }
  // Each run() listens for the end of this process.
  process.setMaxListeners(Math.max(process.getMaxListeners(), 2 * concurrency))
  for (let index = 0; index < concurrency; index += 1) startNext()
  return outputs
}

async function runAll(files, concurrency, reporter, tally) {
  for (const [index, events] of startFiles(files, concurrency).entries()) {
    for await (const raw of events) {
      const event = judged(raw)
      if (isVerdict(event)) tally.count(event, files[index])
      // The runner's own totals are left out: each file has a run, and one line at the end tells all.
      if (event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined) continue
      reporter.write(event)
    }
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** Processes that carry this run's mark, the runner aside. */
function processesLeft() {
  const left = []
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue
    try {
      if (!readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0').includes(RUN_MARK)) continue
      const [, parent] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${entry}/status`, 'utf8'))
      const arguments_ = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')
      left.push({ pid: Number(entry), parent: Number(parent), arguments: arguments_ })
    } catch {
      // It ended while we looked, or it is another user's.
    }
  }
  return left
}

async function reapLeft() {
  if (process.platform !== 'linux') return []
  const deadline = Date.now() + GRACE_MS
  let left = processesLeft()
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(100)
    left = processesLeft()
  }
  for (const { pid } of left) kill(pid)
  return left
}

/** The files that took longest, where they took long: the suite has to stay within what CI may take. */
const slowest = (times) =>
  [...times]
    .filter(([, ms]) => ms >= SLOW_MS)
    .sort(([, left], [, right]) => right - left)
    .slice(0, 10)

async function main() {
  const files = testFiles()
  if (files.length === 0) {
    console.error(
      `No test file${filters.length > 0 ? ` whose path contains ${filters.join(' or ')}` : ''} under test/.`,
    )
    return 1
  }
  const stress = files.filter((file) => file.endsWith('.stress.test.js'))
  const others = files.filter((file) => !stress.includes(file))
  const runtimeDirectory = mkdtempSync(join(tmpdir(), 'aether-test-'))
  const [markName, markValue] = RUN_MARK.split('=')
  process.env[markName] = markValue
  // Spaces that tests open are not the user's own.
  process.env.AETHER_RUNTIME_DIRECTORY = runtimeDirectory
  // A busy machine makes much slow, and tests read what programs say.
  process.env.AETHER_WATCHDOG_MS ??= '60000'

  const tally = new Tally()
  const reporter = new SpecReporter()
  reporter.pipe(process.stdout, { end: false })
  const startedMs = Date.now()
  await runAll(others, options.serial ? 1 : FILES_AT_ONCE, reporter, tally)
  await runAll(stress, 1, reporter, tally)
  await new Promise((resolve) => reporter.once('end', resolve).end())

  const left = [...killed, ...(await reapLeft())]
  rmSync(runtimeDirectory, { recursive: true, force: true })
  for (const { pid, arguments: command } of left)
    console.error(`Left behind by a test, now killed: process ${pid}: ${command.join(' ')}`)
  for (const line of tally.skipped) console.log(`skipped: ${line}`)
  for (const line of tally.failed) console.log(`failed: ${line}`)
  for (const [file, ms] of slowest(tally.times)) console.log(`slow: ${(ms / 1000).toFixed(0)} s ${file}`)
  console.log(`${files.length} files in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`)
  const failed = tally.failed.length + (left.length > 0 ? 1 : 0)
  console.log(`${tally.passed} passed, ${failed} failed, ${tally.skipped.length} skipped`)
  if (options.report !== undefined)
    writeFileSync(
      options.report,
      JSON.stringify({ failed, tests: tally.tests, times: [...tally.times].sort((a, b) => b[1] - a[1]) }),
    )
  return failed === 0 && tally.passed > 0 ? 0 : 1
}

process.exit(await main())
