import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/**
 * Install Node.js for `arch` from npm into an empty folder: the newest release of the major.
 * Gives `path` and `version`, or the `reason` why there is none.
 */
export function installNode(folder, arch, major) {
  const name = `node-linux-${arch}`
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  // The package is for one processor, and may be for another than this.
  const flags = ['--force', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder]
  const installed = spawnSync('npm', ['install', ...flags, `${name}@${major}`], { cwd: folder, encoding: 'utf8' })
  const path = join(folder, 'node_modules', name, 'bin/node')
  if (installed.status !== 0 || !existsSync(path))
    return { reason: installed.stderr.trim() || `no bin/node in ${name}` }
  const version = JSON.parse(
    execFileSync('npm', ['ls', name, '--json', '--prefix', folder], { cwd: folder, encoding: 'utf8' }),
  ).dependencies[name].version
  return { path, version }
}

/**
 * Run scripts/test.mjs by this Node.js; where a test fails, print all that it said.
 * Gives the line of the totals, and the lines of what was skipped.
 */
export function runTests(root, node, arguments_, environment = {}) {
  const { status, signal, stdout, stderr } = spawnSync(node, ['scripts/test.mjs', ...arguments_], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    // Programs that begin with `#!/usr/bin/env node` get the same one.
    env: { ...process.env, ...environment, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  })
  if (status !== 0) console.log(stdout, stderr)
  const lines = stdout.trimEnd().split('\n')
  const totals = /, \d+ failed, /.test(lines.at(-1)) ? lines.at(-1) : `the runner ended with ${signal ?? status}`
  return { totals, skipped: lines.filter((line) => line.startsWith('skipped: ')) }
}
