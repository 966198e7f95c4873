import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { useRuntimeDirectory } from '../support.ts'

useRuntimeDirectory()
const program = fileURLToPath(new URL('./fixtures/joining-rank.js', import.meta.url))
const run = promisify(execFile)

/** Open MPI refuses to work for root, and to start more ranks than there are cores, unless told. */
const environment = {
  ...process.env,
  OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
  OMPI_MCA_rmaps_base_oversubscribe: '1',
}

async function skipped(launcher: string): Promise<string | false> {
  const answer = await run(launcher, ['--version']).catch((error: Error) => error)
  return answer instanceof Error ? `no ${launcher} here: ${answer.message}` : false
}

for (const launcher of ['mpirun.openmpi', 'mpirun.mpich']) {
  const options = { skip: await skipped(launcher) }
  const start = (ranks: number, ...command: string[]) =>
    run(launcher, ['-n', String(ranks), ...command], { env: environment, timeout: 60_000, killSignal: 'SIGKILL' })

  test(
    `${launcher}: ranks on one machine find each other without being told where; runs at the same time stay apart`,
    options,
    async () => {
      const [four, two] = await Promise.all([
        start(4, process.execPath, program),
        start(2, 'sh', '-c', '"$0" "$@"; exit', process.execPath, program),
      ])
      assert.deepEqual(four.stdout.trim().split('\n'), ['400', '400', '400', '400'])
      assert.deepEqual(two.stdout.trim().split('\n'), ['200', '200'])
    },
  )
}
