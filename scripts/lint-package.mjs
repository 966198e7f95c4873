/**
 * Checks what `npm pack` packs of a built checkout as the tools of others see it: publint the files and fields, Are The
 * Types Wrong the declarations of every door. The prebuilt addons are left out: neither looks at them.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'aether-pack-'))
try {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', scratch]
  const [{ filename }] = JSON.parse(execFileSync('npm', pack, { cwd, encoding: 'utf8' }))
  const tarball = join(scratch, filename)
  // The package is ESM: require() of it is for Node.js to resolve, which README.md says from which version on it does.
  const checks = [
    ['publint/src/cli.js', 'run', tarball, '--strict'],
    ['@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji'],
  ]
  for (const [tool, ...words] of checks) {
    const options = { cwd, encoding: 'utf8' }
    const { status, stdout, stderr } = spawnSync(process.execPath, [join('node_modules', tool), ...words], options)
    if (status === 0) continue
    process.stderr.write(`${stdout}${stderr}`)
    process.exitCode = 1
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
