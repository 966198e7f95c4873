import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandTable } from '../../src/cli/commands.ts'
import { printedHelp } from '../../src/cli/help.ts'
import { perform } from '../../src/cli/perform.ts'
import { toolTable } from '../../src/cli/tools.ts'
import { UsageError } from '../../src/cli/usage-error.ts'
import { aether } from './command-line.ts'

const COLUMNS_MAX = 120
const allCommands = [...commandTable, ...toolTable]
const packageFile = new URL('../../../package.json', import.meta.url)

test('alone, with --help, and as help, it lists the commands and the exit statuses', () => {
  const results = [aether(), aether('--help'), aether('-h'), aether('help')]
  for (const { status, stdout, stderr } of results) {
    assert.equal(status, 0)
    assert.equal(stderr, '')
    for (const { name, summary } of allCommands)
      assert.match(stdout, new RegExp(`\\n  ${name} +${summary.replaceAll('+', '\\+')}\\n`))
    assert.match(stdout, /Exit status: 0 done; 1 /)
    assert.match(stdout, /npx aether-dsm/)
  }
})

test('every command teaches with examples', async () => {
  for (const { name, load } of allCommands) {
    const help = printedHelp((await load()).help)
    assert.match(help, new RegExp(`^Usage: npx aether-dsm ${name} `))
    assert.match(help, new RegExp(`\\nExamples:\\n  npx aether-dsm ${name}`))
    const wide = help.split('\n').filter((line) => line.length > COLUMNS_MAX)
    assert.deepEqual(wide, [], `${name} --help`)
  }
  const { name, load } = allCommands[0]!
  const stdout = `${printedHelp((await load()).help)}\n`
  for (const words of [
    [name, '--help'],
    ['help', name],
  ])
    assert.deepEqual(aether(...words), { status: 0, stdout, stderr: '' })
})

test('help is where one asks for it, behind other words too; the options of a script are its own', () => {
  assert.equal(aether('bench', 'dsm', '--ranks', '2', '--help').stdout, aether('help', 'bench').stdout)
  assert.equal(aether('torture', 'structures', '-h').stdout, aether('help', 'torture').stdout)
  const printed = 'process.stdout.write(process.argv.slice(2).join())'
  const folder = mkdtempSync(join(tmpdir(), 'aether-help-'))
  try {
    writeFileSync(join(folder, 'script.mjs'), printed)
    assert.match(aether('run', '-n', '1', join(folder, 'script.mjs'), '--help').stdout, /--help/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('prints the version of the package', () => {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  assert.deepEqual(aether('--version'), { status: 0, stdout: `${version}\n`, stderr: '' })
})

test('a command line that is not understood is one line, where to look, and an exit status of its own', () => {
  assert.deepEqual(aether('dmeo'), {
    status: 2,
    stdout: '',
    stderr: "aether: there is no command 'dmeo'; did you mean 'demo'?\nSee 'npx aether-dsm help'.\n",
  })
  assert.deepEqual(aether('demo', '--node', '4'), {
    status: 2,
    stdout: '',
    stderr: "aether: there is no option '--node'; did you mean '--nodes'?\nSee 'npx aether-dsm demo --help'.\n",
  })
})

async function failsToBeUnderstood(args: string[], message: RegExp): Promise<void> {
  await assert.rejects(perform(args), (error) => error instanceof UsageError && message.test(error.message), `${args}`)
}

test('an unknown command is answered with the one that was meant', async () => {
  await failsToBeUnderstood(['frobnicate'], /there is no command 'frobnicate'; the commands are run, /)
  await failsToBeUnderstood(['help', 'rum'], /did you mean 'run'\?/)
  await failsToBeUnderstood(['--frobnicate'], /unknown option '--frobnicate'/)
})

test('a wrong option says what is wrong with it', async () => {
  await failsToBeUnderstood(['demo', '--frobnicate'], /there is no option '--frobnicate'; the options are --graph, /)
  await failsToBeUnderstood(['demo', '--node', '4'], /there is no option '--node'; did you mean '--nodes'\?/)
  await failsToBeUnderstood(['bench', 'latency', '--time', '4'], /did you mean '--time-ms'\?/)
  await failsToBeUnderstood(['demo', 'something'], /'something' is one argument too many/)
  await failsToBeUnderstood(['demo', '--nodes', '0'], /--nodes takes an integer from 1 to 64, not '0'/)
  await failsToBeUnderstood(['demo', '--nodes', 'many'], /--nodes takes an integer/)
  await failsToBeUnderstood(
    ['demo', '--coherence', 'magic'],
    /--coherence takes hardware or mesi or .* or both, not 'magic'/,
  )
  await failsToBeUnderstood(['demo', '--page-size', '5000'], /--page-size takes a multiple of 4KiB/)
  await failsToBeUnderstood(['demo', '--page-size', '64KB'], /--page-size takes a multiple of 4KiB/)
  await failsToBeUnderstood(['demo', '--kron', '99'], /--kron takes an integer from 1 to 27/)
  await failsToBeUnderstood(['demo', '--kron', '3', '--graph', 'x'], /exclude each other/)
  await failsToBeUnderstood(['demo', '--seed', '3'], /--seed needs --kron/)
  await failsToBeUnderstood(['bench'], /the name of the benchmark is missing: latency or bandwidth/)
  await failsToBeUnderstood(['bench', 'latancy'], /did you mean 'latency'\?/)
  await failsToBeUnderstood(['bench', 'toString'], /there is no benchmark 'toString'/)
  await failsToBeUnderstood(['bench', 'latency', '--sizes', '8,x'], /--sizes takes an integer/)
  await failsToBeUnderstood(['run', 'app.js'], /the number of processes is missing: -n N/)
  await failsToBeUnderstood(['run', '-n', '2'], /the name of the script is missing/)
  await failsToBeUnderstood(['run', '-n', '0', 'app.js'], /-n takes an integer from 1 to 256/)
  await failsToBeUnderstood(['run', '-n', '-1', 'app.js'], /-n takes an integer from 1 to 256, not '-1'/)
  await failsToBeUnderstood(['run', '-np', '4', 'app.js'], /there is no option '-np', as mpirun has it; write -n N/)
  await failsToBeUnderstood(['run', '--hosts', ',', 'app.js'], /--hosts: '' is not a host; write a name or address/)
  await failsToBeUnderstood(['demo', '--hosts', ','], /--hosts: '' is not a host/)
  await failsToBeUnderstood(
    ['run', '--on-failure', 'panic', '-n', '2', 'app.js'],
    /--on-failure takes stop or continue/,
  )
})

test('a reader that has seen enough is no failure', () => {
  const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
  const output = execFileSync('/bin/sh', ['-c', `"${process.execPath}" "${main}" help | head -n 1`], {
    encoding: 'utf8',
  })
  assert.equal(
    output,
    'Aether: shared memory for Node.js, between processes and, over RDMA or TCP, between machines.\n',
  )
})
