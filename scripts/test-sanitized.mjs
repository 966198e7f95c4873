/**
 * Runs the native tests with the addon built with AddressSanitizer and UndefinedBehaviorSanitizer:
 * `node scripts/test-sanitized.mjs [part of a path …]`.
 *
 * A report of either fails the run, and so does a leak with a frame in the addon (Node.js itself leaves much behind at
 * its end, which is no concern of ours). First two seeded mistakes, an overflow and a leak, have to be reported: what
 * cannot see those proves nothing.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const addon = join(root, 'native', 'build', 'Sanitized', 'aether.node')
const scratch = mkdtempSync(join(tmpdir(), 'aether-sanitized-'))
const filters = process.argv.slice(2)
const compiler = process.env.CXX ?? 'g++'

function stop(message) {
  console.error(message)
  rmSync(scratch, { recursive: true, force: true })
  process.exit(1)
}

/** The library of the compiler that built the addon: it has to be loaded before anything else of the process. */
function library(name) {
  const path = execFileSync(compiler, [`-print-file-name=${name}`], { encoding: 'utf8' }).trim()
  if (!existsSync(path)) stop(`${name} of ${compiler} is missing (Debian: it comes with libgcc-12-dev): ${path}`)
  return path
}

const preload = `${library('libasan.so')}:${library('libubsan.so')}`

/**
 * AddressSanitizer reports into files of `folder`, one a process, so that the tests see the standard error that they
 * expect. UndefinedBehaviorSanitizer, where both are loaded, writes to standard error and ends the process.
 */
function environment(folder, detectLeaks) {
  mkdirSync(folder, { recursive: true })
  const common = `log_path=${join(folder, 'report')}`
  return {
    ...process.env,
    LD_PRELOAD: preload,
    AETHER_NATIVE: addon,
    // How a process ends is not changed: most leaks are Node's, and LeakSanitizer now and then fails itself. The
    // reports decide.
    ASAN_OPTIONS: `${common}:detect_leaks=${detectLeaks ? 1 : 0}:exitcode=0:detect_stack_use_after_return=1`,
    LSAN_OPTIONS: `${common}:exitcode=0:max_leaks=0`,
    // Its log_path reaches AddressSanitizer, and would put it back to standard error were it left out.
    UBSAN_OPTIONS: `${common}:print_stacktrace=1:halt_on_error=1:exitcode=66`,
  }
}

/** A frame in the addon, with or without debug information; or in the seeded one. */
const ours = /aether\.node|\/native\/[a-z]+\.(cc|h):|seeded\.cc:/

/**
 * Whether the addon made the leak: it allocated, or had Node-API allocate on its behalf. What the engine allocates for
 * its own heap when it is called is left behind by the engine.
 */
function isOurs(leak) {
  const frames = leak.split('\n').filter((line) => /^ *#\d+ /.test(line))
  const first = frames.findIndex((frame) => ours.test(frame))
  return first >= 0 && !frames.slice(0, first).some((frame) => frame.includes('v8::internal::'))
}

/** The reports of a folder that concern us: every error, and the leaks that the addon made. */
function reportsOf(folder) {
  const found = []
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8')
    if (/ERROR: AddressSanitizer|AddressSanitizer CHECK failed/.test(text)) found.push(text)
    else found.push(...text.split('\n\n').filter((block) => /leak of \d+ byte/.test(block) && isOurs(block)))
  }
  return found
}

const leaksUnseen = 'LeakSanitizer has encountered a fatal error'

/** Whether the kernel lets LeakSanitizer look (it stops the process by ptrace). */
function canDetectLeaks() {
  const folder = join(scratch, 'probe')
  spawnSync(process.execPath, ['--eval', ''], { env: environment(folder, true), stdio: 'ignore' })
  return !readdirSync(folder).some((name) => readFileSync(join(folder, name), 'utf8').includes(leaksUnseen))
}

const seededSource = `
#define NAPI_VERSION 9
#include <node_api.h>
#include <cstdlib>
static napi_value overflow(napi_env, napi_callback_info) { volatile size_t size = 8; volatile char* bytes = static_cast<char*>(malloc(size)); bytes[size] = 1; return nullptr; }
static napi_value leak(napi_env, napi_callback_info) { for (int i = 0; i < 100; i++) { volatile char* bytes = new char[77]; bytes[0] = 1; } return nullptr; }
static napi_value undefined(napi_env, napi_callback_info) { volatile int most = 2147483647; most = most + 1; return nullptr; }
NAPI_MODULE_INIT() {
  napi_property_descriptor all[] = {{"overflow", nullptr, overflow, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
                                    {"leak", nullptr, leak, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
                                    {"undefined", nullptr, undefined, nullptr, nullptr, nullptr, napi_enumerable, nullptr}};
  napi_define_properties(env, exports, 3, all);
  return exports;
}
`

/** Mistakes made on purpose in a tiny addon of the same name have to be found. */
function checkSeeded(detectLeaks) {
  const source = join(scratch, 'seeded.cc')
  const seeded = join(scratch, 'aether.node')
  writeFileSync(source, seededSource)
  const include = createRequire(import.meta.url)('node-api-headers').include_dir
  const flags = ['-std=c++17', '-fPIC', '-shared', '-O1', '-g', '-fsanitize=address,undefined', `-I${include}`]
  execFileSync(compiler, [...flags, source, '-o', seeded], { stdio: 'inherit' })
  for (const mistake of ['overflow', 'undefined', ...(detectLeaks ? ['leak'] : [])]) {
    const folder = join(scratch, mistake)
    const { stderr } = spawnSync(process.execPath, ['--eval', `require(${JSON.stringify(seeded)}).${mistake}()`], {
      env: environment(folder, detectLeaks),
      encoding: 'utf8',
    })
    if (reportsOf(folder).length === 0 && !stderr.includes('runtime error:'))
      stop(`The sanitizers are not at work: a seeded mistake (${mistake}) was not reported.`)
  }
}

/** The tests must load the addon that was built for this, and it must be instrumented. */
function checkLoaded() {
  const face = join(root, 'dist', 'src', 'native', 'index.js')
  if (!existsSync(face)) stop('Build first: npm run build')
  const program = `import(${JSON.stringify(face)}).then(({ native }) => {
    native.monotonicNs()
    console.log(require('node:fs').readFileSync('/proc/self/maps', 'utf8'))
  })`
  const { stdout, stderr } = spawnSync(process.execPath, ['--eval', program], {
    env: environment(join(scratch, 'loaded'), false),
    encoding: 'utf8',
  })
  if (!stdout.includes(addon) || !stdout.includes('libasan')) stop(`The sanitized addon was not loaded: ${stderr}`)
  const binary = readFileSync(addon, 'latin1')
  for (const symbol of ['__asan_report_load', '__ubsan_handle'])
    if (!binary.includes(symbol)) stop(`${addon} is not instrumented: it has no ${symbol}…`)
}

execFileSync(process.execPath, [join(root, 'native', 'build.mjs'), '--sanitize'], { stdio: 'inherit' })
const detectLeaks = canDetectLeaks()
if (!detectLeaks)
  console.log('LeakSanitizer may not look into processes here (ptrace is refused): leaks are not looked for.')
checkLoaded()
checkSeeded(detectLeaks)

const folder = join(scratch, 'tests')
const wanted = filters.length > 0 ? filters : ['test/native/']
const tests = spawn(process.execPath, [join(root, 'scripts', 'test.mjs'), ...wanted], {
  env: environment(folder, detectLeaks),
  stdio: ['ignore', 'pipe', 'pipe'],
})
let undefinedBehaviour = 0
for (const [from, to] of [
  [tests.stdout, process.stdout],
  [tests.stderr, process.stderr],
])
  from.setEncoding('utf8').on('data', (text) => {
    undefinedBehaviour += text.split('runtime error:').length - 1
    to.write(text)
  })
const [status, signal] = await once(tests, 'close')
const reports = reportsOf(folder)
if (undefinedBehaviour > 0) reports.push('undefined behaviour: see the output above')
for (const report of reports) console.error(`${report}\n`)
const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
const unseen = texts.filter((text) => text.includes(leaksUnseen)).length
console.log(
  `sanitizers: ${reports.length} reports that concern the addon; ${texts.length} processes reported anything at all`,
)
// Under load, where threads end while it looks: "Tracer caught signal 11".
if (unseen > 0) console.log(`LeakSanitizer itself failed in ${unseen} processes: their leaks were not looked for.`)
rmSync(scratch, { recursive: true, force: true })
process.exit(status === 0 && signal === null && reports.length === 0 ? 0 : 1)
