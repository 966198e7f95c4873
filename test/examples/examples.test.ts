import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../repository/checkout.ts'
import { promisedOutput } from '../repository/markdown.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'

for (const name of readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.ts'))) {
  test(`${name} prints what it says`, { skip }, () => {
    const promised = promisedOutput(readFileSync(join(root, 'examples', name), 'utf8'))
    assert.ok(promised.length > 0, 'an example says what it prints, behind `// prints`')
    const script = join(root, 'dist/examples', name.replace(/\.ts$/, '.js'))
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 60_000 })
    assert.equal(status, 0, stderr)
    assert.equal(stderr, '')
    assert.deepEqual(stdout.trimEnd().split('\n'), promised)
  })
}
