/**
 * Runs the test suite of Redis 7.0 itself against the door of an index, over the network as it offers to:
 *
 *     apt install tcl dpkg-dev redis-tools
 *     npm run build && node scripts/redis-suite.mjs [--suite PATH] [UNIT …]
 *
 * Units are such as `unit/type/list`; without one, all of redis-suite/units.txt. `--suite` names a source tree of Redis
 * that is there already. Without it, Debian's source package is fetched by apt into a temporary directory.
 *
 * Tests in redis-suite/skipped.txt are left out; each line there has its reason. Tests that need several servers, or a
 * server that the suite starts itself, leave themselves out. Each unit has a server of its own. The exit status is 0 if
 * all tests passed that ran.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs, stripVTControlCharacters } from 'node:util'

const SOURCES = `deb-src http://deb.debian.org/debian bookworm main
deb-src http://deb.debian.org/debian-security bookworm-security main
`
const TAGS = '-needs:debug -needs:repl -needs:config-maxmemory -needs:reset'
const UNIT_MS = 120_000

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = parseArgs({ allowPositionals: true, options: { suite: { type: 'string' } } })
const lines = (name) =>
  readFileSync(new URL(`redis-suite/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))

const work = mkdtempSync(join(tmpdir(), 'redis-suite-'))
try {
  const suite = copyOf(values.suite ?? fetchSuite())
  const skipped = lines('skipped.txt').map((line) => line.split(' # ')[0])
  const skipFile = join(work, 'skipped.txt')
  writeFileSync(skipFile, skipped.join('\n'))
  let [passed, failed, left] = [0, 0, 0]
  for (const unit of positionals.length > 0 ? positionals : lines('units.txt')) {
    const counts = await runUnit(suite, skipFile, unit)
    passed += counts.passed
    failed += counts.failures.size
    left += counts.left
    print(`${unit}: ${counts.passed} passed, ${counts.failures.size} failed, ${counts.left} left out`)
    for (const [failure, why] of counts.failures) print(`  ${failure}\n    ${why}`)
  }
  print(`${passed} passed, ${failed} failed, ${left} left out`)
  if (failed > 0 || passed === 0) process.exitCode = 1
} finally {
  rmSync(work, { recursive: true, force: true })
}

function print(text) {
  process.stdout.write(`${text}\n`)
}

function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}: ${stderr}`)
}

/** The source package of Debian 12, without a change to what apt of this machine knows. */
function fetchSuite() {
  const list = join(work, 'sources.list')
  writeFileSync(list, SOURCES)
  for (const folder of ['lists/partial', 'cache/archives/partial', 'source'])
    mkdirSync(join(work, folder), { recursive: true })
  const options = [
    ...['-o', `Dir::Etc::sourcelist=${list}`, '-o', 'Dir::Etc::sourceparts=-'],
    ...['-o', `Dir::State::lists=${join(work, 'lists')}`, '-o', `Dir::Cache=${join(work, 'cache')}`],
  ]
  run('apt-get', ['update', '-q', ...options])
  run('apt-get', ['source', '-q', '--download-only', ...options, 'redis'], join(work, 'source'))
  const archive = readdirSync(join(work, 'source')).find((name) => name.endsWith('.orig.tar.gz'))
  run('tar', ['xf', join(work, 'source', archive), '-C', work])
  return join(
    work,
    readdirSync(work).find((name) => /^redis-\d/.test(name)),
  )
}

/** Scripts run by EVAL alone, since there is no FUNCTION. What is said of INFO holds for any server. */
function copyOf(source) {
  const copy = join(work, 'suite')
  mkdirSync(copy)
  cpSync(join(source, 'tests'), join(copy, 'tests'), { recursive: true })
  const scripting = join(copy, 'tests/unit/scripting.tcl')
  writeFileSync(scripting, readFileSync(scripting, 'utf8').replace('foreach is_eval {0 1}', 'foreach is_eval {1}'))
  const information = join(copy, 'tests/unit/info.tcl')
  writeFileSync(information, readFileSync(information, 'utf8').replace('"external:skip"', ''))
  return copy
}

async function runUnit(suite, skipFile, unit) {
  const name = `redis-suite-${process.pid}`
  const serve = [join(root, 'dist/src/cli/main.js'), 'serve', name, '--port', '0', '--memory', '2GiB']
  const server = spawn(process.execPath, serve, { stdio: ['ignore', 'pipe', 'inherit'] })
  const counts = { passed: 0, left: 0, failures: new Map() }
  let tcl
  try {
    const port = await portOf(server)
    const options = ['--tags', TAGS, '--ignore-encoding', '--ignore-digest', '--skipfile', skipFile]
    // The suite starts further processes: all of them are a group, which is ended as a whole.
    tcl = spawn(
      'tclsh',
      ['tests/test_helper.tcl', '--host', '127.0.0.1', '--port', port, '--single', unit, ...options],
      { cwd: suite, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
    )
    const late = setTimeout(() => {
      counts.failures.set(`the unit did not end within ${UNIT_MS / 1000} s`, '')
      process.kill(-tcl.pid, 'SIGKILL')
    }, UNIT_MS)
    const ended = once(tcl, 'close')
    for await (const coloured of createInterface({ input: tcl.stdout }))
      count(counts, stripVTControlCharacters(coloured))
    const [status] = await ended
    clearTimeout(late)
    if (status !== 0 && counts.failures.size === 0) counts.failures.set(`the suite ended with ${status}`, '')
    return counts
  } finally {
    server.kill()
  }
}

/** Its output is read to the end: a process whose output no one takes would end. */
function portOf(server) {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stdout.on('data', (text) => {
      said += text
      const port = /redis:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1]
      if (port !== undefined) resolve(port)
    })
    server.on('exit', () => reject(new Error(`the server ended before it listened: ${said}`)))
  })
}

function count(counts, line) {
  if (line.startsWith('[ok]')) counts.passed += 1
  else if (/^\[(ignore|skip)\]/.test(line)) counts.left += 1
  else if (/^\[(err|exception|timeout)\]/.test(line)) counts.failures.set(line, '')
  // The suite prints all failures once more at the end of a unit.
  else if (line.startsWith('Expected')) {
    const last = [...counts.failures].at(-1)
    if (last?.[1] === '') counts.failures.set(last[0], line)
  }
}
