import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandTable } from '../../src/cli/commands.ts'
import { toolTable } from '../../src/cli/tools.ts'
import { aether } from './command-line.ts'

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

test('every command teaches with examples', () => {
  for (const { name } of allCommands) {
    const { status, stdout } = aether(name, '--help')
    assert.equal(status, 0)
    assert.match(stdout, new RegExp(`^Usage: aether ${name} `))
    assert.match(stdout, new RegExp(`\\nExamples:\\n  aether ${name}`))
    assert.equal(aether('help', name).stdout, stdout)
  }
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

function failsToBeUnderstood(args: string[], message: RegExp): void {
  const { status, stdout, stderr } = aether(...args)
  assert.equal(status, 2, `${args}`)
  assert.equal(stdout, '')
  assert.match(stderr, message)
  assert.match(stderr, /\nSee 'aether [a-z -]+'\.\n$/)
  assert.doesNotMatch(stderr, /\n {4}at /)
}

test('an unknown command is answered with the one that was meant', () => {
  failsToBeUnderstood(['dmeo'], /^aether: there is no command 'dmeo'; did you mean 'demo'\?\n/)
  failsToBeUnderstood(['frobnicate'], /there is no command 'frobnicate'; the commands are run, /)
  failsToBeUnderstood(['help', 'rum'], /did you mean 'run'\?/)
  failsToBeUnderstood(['--frobnicate'], /unknown option '--frobnicate'/)
})

test('a wrong option says what is wrong with it', () => {
  failsToBeUnderstood(['demo', '--frobnicate'], /there is no option '--frobnicate'; the options are --graph, /)
  failsToBeUnderstood(['demo', '--node', '4'], /there is no option '--node'; did you mean '--nodes'\?/)
  failsToBeUnderstood(['bench', 'latency', '--time', '4'], /did you mean '--time-ms'\?/)
  failsToBeUnderstood(['demo', 'something'], /'something' is one argument too many/)
  failsToBeUnderstood(['demo', '--nodes', '0'], /--nodes takes an integer from 1 to 64, not '0'/)
  failsToBeUnderstood(['demo', '--nodes', 'many'], /--nodes takes an integer/)
  failsToBeUnderstood(['demo', '--coherence', 'magic'], /--coherence takes hardware or mesi or .* or both, not 'magic'/)
  failsToBeUnderstood(['demo', '--page-size', '5000'], /--page-size takes a multiple of 4KiB/)
  failsToBeUnderstood(['demo', '--page-size', '64KB'], /--page-size takes a multiple of 4KiB/)
  failsToBeUnderstood(['demo', '--kron', '99'], /--kron takes an integer from 1 to 27/)
  failsToBeUnderstood(['demo', '--kron', '3', '--graph', 'x'], /exclude each other/)
  failsToBeUnderstood(['demo', '--seed', '3'], /--seed needs --kron/)
  failsToBeUnderstood(['bench'], /the name of the benchmark is missing: latency or bandwidth/)
  failsToBeUnderstood(['bench', 'latancy'], /did you mean 'latency'\?/)
  failsToBeUnderstood(['bench', 'toString'], /there is no benchmark 'toString'/)
  failsToBeUnderstood(['bench', 'latency', '--sizes', '8,x'], /--sizes takes an integer/)
  failsToBeUnderstood(['run', 'app.js'], /the number of processes is missing: -n N/)
  failsToBeUnderstood(['run', '-n', '2'], /the name of the script is missing/)
  failsToBeUnderstood(['run', '-n', '0', 'app.js'], /-n takes an integer from 1 to 256/)
  failsToBeUnderstood(['run', '-n', '-1', 'app.js'], /-n takes an integer from 1 to 256, not '-1'/)
  failsToBeUnderstood(['run', '-np', '4', 'app.js'], /there is no option '-np', as mpirun has it; write -n N/)
  failsToBeUnderstood(['run', '--hosts', ',', 'app.js'], /--hosts: '' is not a host; write a name or address/)
  failsToBeUnderstood(['demo', '--hosts', ','], /--hosts: '' is not a host/)
  failsToBeUnderstood(['run', '--on-failure', 'panic', '-n', '2', 'app.js'], /--on-failure takes stop or continue/)
})

test('a reader that has seen enough is no failure', () => {
  const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
  const output = execFileSync('/bin/sh', ['-c', `"${process.execPath}" "${main}" help | head -n 1`], {
    encoding: 'utf8',
  })
  assert.equal(output, 'Aether: shared memory for Node.js, between processes and, over RDMA, between machines.\n')
})
