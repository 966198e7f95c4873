import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { root } from './checkout.ts'

/** The paths that `npm publish` would send. */
export function packedFiles(): string[] {
  const result = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' })
  assert.equal(result.status, 0, result.stderr)
  const [packed] = JSON.parse(result.stdout) as [{ files: readonly { path: string }[] }]
  return packed.files.map((file) => file.path).sort()
}
