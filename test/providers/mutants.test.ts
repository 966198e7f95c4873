import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mutants } from './fixtures/mutants.ts'

const program = fileURLToPath(new URL('./fixtures/conformance-program.js', import.meta.url))
const hook = new URL('./fixtures/mutate.js', import.meta.url).href
/** A suite that hangs has not noticed anything. */
const TIMEOUT_MS = 60_000

interface Ended {
  readonly status: number | string | null | undefined
  readonly output: string
}

function run(options: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...options, program],
      { env: environment, timeout: TIMEOUT_MS },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : error.code, output: stdout + stderr })
      },
    )
  })
}

test('without a seeded bug the program passes', async () => {
  const { status, output } = await run([], process.env)
  assert.equal(status, 0, output)
})

for (const { name } of mutants) {
  test(`the suite notices: ${name}`, async (context) => {
    const { status, output } = await run(['--import', hook], { ...process.env, AETHER_TEST_MUTANT: name })
    assert.equal(status, 3, output)
    context.diagnostic(output.trim())
  })
}
