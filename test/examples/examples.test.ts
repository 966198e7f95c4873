import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { whyNoMesi } from '../../tools/demo/mesi-support.ts'
import { root } from '../repository/checkout.ts'
import { promisedOutput } from '../repository/markdown.ts'
import { drawn } from '../support/drawn.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'

/** Why an example that takes views of a coherent region cannot run here. */
function whyNot(text: string): string | false {
  return /coherence: 'mesi'/.test(text) && /= region\.(float64|view)/.test(text) && (whyNoMesi() ?? false)
}

/** The programs of the folder, and those that have a folder in common. */
function examples(): string[] {
  return ['.', 'arrays'].flatMap((folder) =>
    readdirSync(join(root, 'examples', folder))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  )
}

const all = examples()
// Half of them each time, since each starts programs.
for (const name of drawn(all, Math.ceil(all.length / 2))) {
  const text = readFileSync(join(root, 'examples', name), 'utf8')
  test(`${name} prints what it says`, { skip: skip || whyNot(text) }, () => {
    const promised = promisedOutput(text)
    assert.ok(promised.length > 0, 'an example says what it prints, behind `// prints`')
    const script = join(root, 'dist/examples', name.replace(/\.ts$/, '.js'))
    // The example itself says whether it is a program or the script of a group.
    const ranks = /run -n (\d+)/.exec(text)?.[1]
    const launcher = ranks === undefined ? [] : [join(root, 'dist/src/cli/main.js'), 'run', '-n', ranks]
    const { status, stdout, stderr } = spawnSync(process.execPath, [...launcher, script], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    assert.equal(status, 0, stderr)
    assert.equal(stderr, '')
    assert.deepEqual(stdout.trimEnd().split('\n'), promised)
  })
}
