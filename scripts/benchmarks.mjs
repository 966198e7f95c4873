/** Measures what docs/benchmarks.md shows, and puts it there; see `help` below. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sections } from './benchmarks/sections.mjs'
import { acceleratorOptions, isEmulated } from './rdma-guest/accelerator.mjs'

const help = `Usage: node scripts/benchmarks.mjs [options] [SECTION…]

Runs the commands of each SECTION (default: all; soft-roce alone takes about ten minutes). Replaces in the document the text between
<!-- measured: SECTION --> and <!-- measured: end --> by the results, with machine, versions and commands.
The other text stays as it is.

Needs a build (npm run build) and an idle machine: close the browser.

  --document FILE   default docs/benchmarks.md
  --quick           short measurements, to test the script; only with --print or --document
  --print           print instead of writing

Sections: ${sections.map(({ name }) => name).join(', ')}`

const root = fileURLToPath(new URL('..', import.meta.url))
const aether = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))
const END = '<!-- measured: end -->'
const quickly = {
  '--time-ms': '5',
  '--size': '2MiB',
  '--cell-ms': '5',
  '--iterations': '20',
  '--rounds': '1',
  '--sets': '1',
  '--kron': '8',
  '--sizes': '8',
  '--keys': '1000',
  '--kills': '1',
  '--restart-mib': '1',
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    document: { type: 'string' },
    quick: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const document = options.document ?? fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url))

/** What the caller profiles, traces or has advised on would be measured, too. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^AETHER_(PROFILE$|TRACE(_|$)|ADVISE)/.test(name)),
)

/**
 * The command with short measurements: its own settings of them replaced, and those that it takes and has not set
 * added.
 */
function quick(words) {
  const isOverhead = words[0].endsWith('measure-overhead.mjs')
  const suite = words[1]
  const takes = {
    '--time-ms': ['latency', 'bandwidth', 'messaging', 'rpc', 'ops', 'spaces', 'arrays', 'index'].includes(suite),
    '--size': suite === 'spaces',
    '--sizes': suite === 'index',
    '--keys': suite === 'index',
    '--kills': suite === 'index',
    '--restart-mib': suite === 'index',
    '--cell-ms': ['collectives', 'dsm', 'structures'].includes(suite),
    '--iterations': suite === 'dsm',
    '--rounds': words[0].endsWith('.mjs') || words.includes('--loads'),
    '--sets': isOverhead,
    '--kron': isOverhead,
  }
  const wanted = Object.entries(quickly).filter(([name]) => takes[name])
  const kept = words.filter((word, index) => !takes[word] && !takes[words[index - 1]])
  return [...kept, ...wanted.flat()]
}

/** What it prints, and what it complains of. */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { text: '', complaint: '' }
    child.stdout.on('data', (chunk) => (said.text += chunk))
    child.stderr.on('data', (chunk) => (said.complaint += chunk))
    child.on('error', reject)
    child.on('close', (status) =>
      status === 0 ? resolve(said) : reject(new Error(`${args.join(' ')} ended with ${status}:\n${said.complaint}`)),
    )
  })
}

/**
 * Two ends that spin, and the kernel's worker; more than there are, and one that spins would be taken its processor
 * away in the middle.
 */
const guestProcessors = Math.max(2, Math.min(4, cpus().length))
const inGuest = ['scripts/rdma-guest.mjs', '--timeout', '900', '--processors', String(guestProcessors), '--']

/** As a user would type it. */
const typed = (words, isGuest) => {
  // A guest has the checkout, and no package that is installed.
  const program = isGuest ? ['node', 'dist/src/cli/main.js'] : ['aether']
  const command = words[0].endsWith('.mjs') ? ['node', ...words] : [...program, ...words]
  return (isGuest ? ['node', ...inGuest, ...command] : command).join(' ')
}

async function measure({ commands, tables, isGuest = false }) {
  const used = commands.map((words) => (options.quick ? quick(words) : words))
  const found = []
  for (const words of used) {
    const program = words[0].endsWith('.mjs') ? words : [aether, ...words, '--json']
    const guest = isGuest ? [...inGuest, process.execPath] : []
    found.push(await run(process.execPath, [...guest, ...program]))
  }
  const absent = new Set(found.flatMap(({ complaint }) => complaint.match(/^without .*$/gm) ?? []))
  const shown =
    tables === undefined ? found.map(({ text }) => text.trim()) : tables(found.map(({ text }) => JSON.parse(text)))
  const typedOnce = new Set(used.map((words) => typed(words, isGuest)))
  const how = `\`${[...typedOnce].join('`, `')}\``
  return [`${how}; ${machine(isGuest)}.`, ...[...absent].map((line) => `Absent: ${line}.`), ...shown].join('\n\n')
}

function machine(isGuest) {
  const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
  // The document itself changes as it is written.
  const isDirty = git('status', '--porcelain', '--', '.', ':!docs/benchmarks.md') !== ''
  const commit = `${git('rev-parse', '--short', 'HEAD')}${isDirty ? '-dirty' : ''}`
  const where = `${cpus().length} processors, ${cpus()[0]?.model ?? 'of unknown kind'}, Linux ${release()}, Node.js ${process.versions.node}`
  const date = new Date().toISOString().slice(0, 10)
  return `${where}${isGuest ? `, in a guest of ${guestProcessors} processors${guestKind()}` : ''}; Aether ${commit}, ${date}`
}

function guestKind() {
  const folder = mkdtempSync(join(tmpdir(), 'aether-benchmarks-'))
  try {
    return isEmulated(acceleratorOptions(folder)) ? ' that QEMU emulates (TCG)' : ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The document with the part of the section replaced. */
function put(document, name, text) {
  const begin = `<!-- measured: ${name} -->`
  const from = document.indexOf(begin)
  const to = document.indexOf(END, from)
  if (from < 0 || to < 0) throw new Error(`the document has no ${begin} with ${END} after it`)
  return `${document.slice(0, from)}${begin}\n${text}\n${document.slice(to)}`
}

async function main() {
  if (options.help) return console.log(help)
  if (options.quick && !options.print && options.document === undefined)
    throw new Error('--quick is not to be kept: pass --print or --document FILE')
  const unknown = positionals.find((word) => !sections.some(({ name }) => name === word))
  if (unknown !== undefined)
    throw new Error(`there is no section '${unknown}'; there are ${sections.map(({ name }) => name).join(', ')}`)
  const wanted = sections.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  for (const [index, section] of wanted.entries()) {
    console.error(`${index + 1} of ${wanted.length}: ${section.name}`)
    const text = await measure(section)
    if (options.print) console.log(`## ${section.name}\n\n${text}\n`)
    else writeFileSync(document, put(readFileSync(document, 'utf8'), section.name, text))
  }
}

try {
  await main()
} catch (error) {
  console.error(`benchmarks: ${error.message}`)
  process.exitCode = 1
}
