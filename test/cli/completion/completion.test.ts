import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, test } from 'node:test'
import { commandTable } from '../../../src/cli/commands.ts'
import { toolTable } from '../../../src/cli/tools.ts'
import { aether } from '../command-line.ts'

const folder = mkdtempSync(join(tmpdir(), 'aether-completion-'))
after(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, 'spaces'))
for (const name of ['shop-4026531836', 'shop-floor-4026531836', 'stage-4026531836'])
  writeFileSync(join(folder, 'spaces', name), '')

const commandNames = [...[...commandTable, ...toolTable].map(({ name }) => name), 'completion', 'help']

function shell(name: string, script: string): string {
  const environment = { ...process.env, AETHER_RUNTIME_DIRECTORY: folder }
  const { stdout, stderr, error } = spawnSync(name, ['-c', script], { encoding: 'utf8', env: environment })
  assert.ifError(error)
  assert.equal(stderr, '')
  return stdout
}

function skipped(name: string): string | false {
  return spawnSync(name, ['--version']).error === undefined ? false : `no ${name} here`
}

const scripts = { bash: aether('completion', 'bash').stdout, zsh: aether('completion', 'zsh').stdout }

/** What bash offers for the last of `words`. */
function inBash(...words: string[]): string[] {
  const typed = words.map((word) => `'${word}'`).join(' ')
  const script = `${scripts.bash}
COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _aether; printf '%s\\n' "\${COMPREPLY[@]}"`
  return shell('bash', script).trim().split('\n').sort()
}

test('bash completes commands, options, words, spaces and files', { skip: skipped('bash') }, () => {
  assert.deepEqual(inBash('aether', ''), [...commandNames].sort())
  assert.deepEqual(inBash('aether', 'do'), ['doctor'])
  assert.deepEqual(inBash('aether', 'run', '--on'), ['--on-failure'])
  assert.deepEqual(inBash('aether', 'top', '--'), ['--help', '--interval', '--json', '--once'])
  assert.deepEqual(inBash('aether', 'top', 'sh'), ['shop', 'shop-floor'])
  assert.deepEqual(inBash('aether', 'bench', 'la'), ['latency'])
  assert.deepEqual(inBash('aether', 'trace', folder), [folder])
  assert.deepEqual(inBash('aether', 'demo', '--graph', folder), [folder])
})

/** What zsh is told: its own functions of completion are replaced by ones that print what they are given. */
function inZsh(...words: string[]): string {
  const typed = words.map((word) => `'${word}'`).join(' ')
  const script = `compdef() { : }
_describe() { print -l "$1" "\${(@P)2}" }
_arguments() { print -l arguments "$@" }
${scripts.zsh}
words=(${typed}); CURRENT=${words.length}; _aether; true`
  return shell('zsh', script)
}

test('zsh is told of commands, options, words and spaces', { skip: skipped('zsh') }, () => {
  const commands = inZsh('aether', '').trim().split('\n')
  assert.equal(commands[0], 'command')
  assert.deepEqual(
    commands.slice(1).map((line) => line.slice(0, line.indexOf(':'))),
    commandNames,
  )
  assert.match(inZsh('aether', 'run', ''), /^arguments\n\*--ranks:value:_files\n\*-n:value:_files\n/)
  assert.match(inZsh('aether', 'top', ''), /\n\*--once\n[\s\S]*\n:space:_aether_spaces\n/)
  assert.match(inZsh('aether', 'completion', ''), /\n:argument:\(bash zsh\)\n/)
  const spaces = shell(
    'zsh',
    `compdef() { : }\n_describe() { print -l "\${(@P)2}" }
${scripts.zsh}\n_aether_spaces`,
  )
  assert.deepEqual(spaces.trim().split('\n'), ['shop', 'shop-floor', 'stage'])
})

test('a shell that is not known is refused', () => {
  const { status, stderr } = aether('completion', 'fish')
  assert.equal(status, 2)
  assert.match(stderr, /the shell takes bash or zsh, not 'fish'/)
})
