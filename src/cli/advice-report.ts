import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { ADVISE_DIRECTORY_VARIABLE, ADVISE_VARIABLE, type Advice, adviceText, readAdviceParts } from '../dsm/index.ts'

/**
 * Call `run`, which starts ranks, with the adviser on for all their coherent regions. When it has ended, even if it
 * failed, report on standard error which pages bounced between ranks. The ranks write their findings into a temporary
 * directory.
 */
export async function withAdvice<T>(run: () => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'aether-advise-'))
  const before = [ADVISE_VARIABLE, ADVISE_DIRECTORY_VARIABLE].map((name) => [name, process.env[name]] as const)
  process.env[ADVISE_VARIABLE] = '1'
  process.env[ADVISE_DIRECTORY_VARIABLE] = directory
  try {
    return await run()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    process.stderr.write(reportOf(directory))
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Never throws, because an error here would hide the result of the run. */
function reportOf(directory: string): string {
  let advice: Advice[]
  try {
    advice = readAdviceParts(directory)
  } catch (error) {
    return `aether: no advice: ${(error as Error).message}\n`
  }
  if (advice.length === 0) return 'aether: no advice: the ranks opened no coherent region\n'
  return advice.map((each) => `aether: ${adviceText(each)}\n`).join('')
}
